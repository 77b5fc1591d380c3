// A completion in the format of the first convention (OpenAI), as a whole or as a stream.

import { outputTokens, type StreamPiece, textOf, type ModelReply } from "./local-model.ts";

export function chatAnswer(reply: ModelReply): object {
  const message = { role: "assistant", content: textOf(reply), refusal: null };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason(reply) }];
  return { ...head(reply, "chat.completion"), choices, usage: usage(reply) };
}

export function* chatStream(reply: ModelReply, includeUsage: boolean): Iterable<StreamPiece> {
  const shared = { ...head(reply, "chat.completion.chunk"), ...(includeUsage ? { usage: null } : {}) };
  const chunk = (delta: object, finish_reason: string | null = null) =>
    data({ ...shared, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  yield { text: chunk({ role: "assistant", content: "" }), tokens: 0 };
  for (const content of reply.completion.pieces) yield { text: chunk({ content }), tokens: 1 };
  yield { text: chunk({}, finishReason(reply)), tokens: 0 };
  if (includeUsage) yield { text: data({ ...shared, choices: [], usage: usage(reply) }), tokens: 0 };
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
const usage = (reply: ModelReply) => ({
  prompt_tokens: reply.inputTokens,
  completion_tokens: outputTokens(reply),
  total_tokens: reply.inputTokens + outputTokens(reply),
});
