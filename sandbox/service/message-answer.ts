// A completion in the words of the second convention, at once or as a stream.

import { outputTokens, type StreamPiece, textOf, type ModelReply } from "./local-model.ts";

export function messageAnswer(told: ModelReply): object {
  const content = [{ type: "text", text: textOf(told), citations: null }];
  return { ...head(told), content, ...ending(told), usage: usage(told, outputTokens(told)) };
}

export function* messageStream(told: ModelReply): Iterable<StreamPiece> {
  const event = (type: string, rest: object = {}): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const noEnding = { stop_reason: null, stop_sequence: null, stop_details: null };
  const message = { ...head(told), content: [], ...noEnding, usage: usage(told, 0) };
  yield { text: event("message_start", { message }), tokens: 0 };
  const content_block = { type: "text", text: "", citations: null };
  yield { text: event("content_block_start", { index: 0, content_block }), tokens: 0 };
  yield { text: event("ping"), tokens: 0 };
  for (const text of told.completion.pieces) {
    const delta = { type: "text_delta", text };
    yield { text: event("content_block_delta", { index: 0, delta }), tokens: 1 };
  }
  yield { text: event("content_block_stop", { index: 0 }), tokens: 0 };
  const spent = { input_tokens: told.inputTokens, output_tokens: outputTokens(told) };
  yield { text: event("message_delta", { delta: ending(told), usage: spent }), tokens: 0 };
  yield { text: event("message_stop"), tokens: 0 };
}

const head = ({ id, model }: ModelReply) => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
  container: null,
});
const usage = ({ inputTokens }: ModelReply, output_tokens: number) => ({
  input_tokens: inputTokens,
  cache_creation_input_tokens: null,
  cache_read_input_tokens: null,
  output_tokens,
});

function ending({ completion: { ended } }: ModelReply) {
  const words = { itself: "end_turn", limit: "max_tokens", sequence: "stop_sequence" } as const;
  const stop_sequence = ended.by === "sequence" ? ended.sequence : null;
  return { stop_reason: words[ended.by], stop_sequence, stop_details: null };
}
