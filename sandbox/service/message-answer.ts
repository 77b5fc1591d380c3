// A completion in the format of the second convention (Anthropic), as a whole or as a stream.

import { outputTokens, type StreamPiece, textOf, type ModelReply } from "./local-model.ts";

export function messageAnswer(reply: ModelReply): object {
  const content = [{ type: "text", text: textOf(reply), citations: null }];
  return { ...head(reply), content, ...ending(reply), usage: usage(reply, outputTokens(reply)) };
}

export function* messageStream(reply: ModelReply): Iterable<StreamPiece> {
  const event = (type: string, rest: object = {}): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const noEnding = { stop_reason: null, stop_sequence: null, stop_details: null };
  const message = { ...head(reply), content: [], ...noEnding, usage: usage(reply, 0) };
  yield { text: event("message_start", { message }), tokens: 0 };
  const content_block = { type: "text", text: "", citations: null };
  yield { text: event("content_block_start", { index: 0, content_block }), tokens: 0 };
  yield { text: event("ping"), tokens: 0 };
  for (const text of reply.completion.pieces) {
    const delta = { type: "text_delta", text };
    yield { text: event("content_block_delta", { index: 0, delta }), tokens: 1 };
  }
  yield { text: event("content_block_stop", { index: 0 }), tokens: 0 };
  const spent = { input_tokens: reply.inputTokens, output_tokens: outputTokens(reply) };
  yield { text: event("message_delta", { delta: ending(reply), usage: spent }), tokens: 0 };
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
