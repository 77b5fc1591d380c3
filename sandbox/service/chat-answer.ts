// A completion in the first convention's format, at once or as a stream.

import { outputTokens, type StreamPiece, textOf, type ModelReply } from "./local-model.ts";

export function chatAnswer(told: ModelReply): object {
  const message = { role: "assistant", content: textOf(told), refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason(told) }];
  return { ...head(told, "chat.completion"), choices, usage: usage(told) };
}

export function* chatStream(told: ModelReply, includeUsage: boolean): Iterable<StreamPiece> {
  const shared = { ...head(told, "chat.completion.chunk"), ...(includeUsage ? { usage: null } : {}) };
  const chunk = (delta: object, finish_reason: string | null = null) =>
    data({ ...shared, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  yield { text: chunk({ role: "assistant", content: "" }), tokens: 0 };
  for (const content of told.completion.pieces) yield { text: chunk({ content }), tokens: 1 };
  yield { text: chunk({}, finishReason(told)), tokens: 0 };
  if (includeUsage) yield { text: data({ ...shared, choices: [], usage: usage(told) }), tokens: 0 };
  yield { text: "data: [DONE]\n\n", tokens: 0 };
}

const data = (record: object): string => `data: ${JSON.stringify(record)}\n\n`;
const finishReason = ({ completion }: ModelReply) => (completion.ended.by === "limit" ? "length" : "stop");
const head = ({ id, created, model }: ModelReply, object: string) => ({
  id: `chatcmpl-${id}`,
  object,
  created,
  model,
});
const usage = (told: ModelReply) => ({
  prompt_tokens: told.inputTokens,
  completion_tokens: outputTokens(told),
  total_tokens: told.inputTokens + outputTokens(told),
});
