// The two conventions' payloads: what may be asked, and how a completion is told, at once or as a stream.

import { z } from "zod";
import type { Answer } from "./exchange.ts";
import type { Completion } from "./local-model.ts";

const text = z.union([
  z.string(),
  z
    .array(z.looseObject({ type: z.literal("text"), text: z.string() }))
    .transform((parts) => parts.map((part) => part.text).join("\n")),
]);
const message = z.looseObject({ role: z.string(), content: text });
const conversation = z.object({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().default(false),
});
const tokenLimit = z.int().min(1);

export const chatRequest = conversation.extend({
  max_tokens: tokenLimit.nullish(),
  max_completion_tokens: tokenLimit.nullish(),
  stream_options: z.object({ include_usage: z.boolean().default(false) }).nullish(),
});
export const messagesRequest = conversation.extend({ max_tokens: tokenLimit, system: text.optional() });
export const embeddingsRequest = z.object({
  model: z.string().min(1),
  input: z.union([z.string().transform((one) => [one]), z.array(z.string()).min(1).max(2048)]),
  dimensions: z.int().min(8).max(3072).default(256),
  encoding_format: z.enum(["float", "base64"]).default("float"),
});

/** One completion and what it cost. */
export type Told = {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970, as the first convention has it. */
  readonly created: number;
  readonly completion: Completion;
  readonly inputTokens: number;
  readonly outputTokens: number;
};

const json = (record: object): Answer => ({ status: 200, body: JSON.stringify(record) });
const stream = (pieces: Iterable<string>): Answer => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: pieces,
});

export function chatAnswer(told: Told): Answer {
  const finish_reason = told.completion.cutOff ? "length" : "stop";
  const content = told.completion.words.join("");
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason }];
  return json({ ...chatHead(told, "chat.completion"), choices, usage: chatUsage(told) });
}

export function chatStream(told: Told, includeUsage: boolean): Answer {
  return stream(chatPieces(told, includeUsage));
}

function* chatPieces(told: Told, includeUsage: boolean): Iterable<string> {
  const head = chatHead(told, "chat.completion.chunk");
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  yield chunk({ role: "assistant", content: "" });
  for (const content of told.completion.words) yield chunk({ content });
  yield chunk({}, told.completion.cutOff ? "length" : "stop");
  if (includeUsage) yield `data: ${JSON.stringify({ ...head, choices: [], usage: chatUsage(told) })}\n\n`;
  yield "data: [DONE]\n\n";
}

const chatHead = ({ id, created, model }: Told, object: string) => ({
  id: `chatcmpl-${id}`,
  object,
  created,
  model,
});
const chatUsage = ({ inputTokens, outputTokens }: Told) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

export function messagesAnswer(told: Told): Answer {
  const content = [{ type: "text", text: told.completion.words.join("") }];
  const usage = { input_tokens: told.inputTokens, output_tokens: told.outputTokens };
  return json({ ...messageHead(told), content, stop_reason: stopReason(told), usage });
}

export function messagesStream(told: Told): Answer {
  return stream(messagePieces(told));
}

function* messagePieces(told: Told): Iterable<string> {
  const event = (type: string, rest: object = {}) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const usage = { input_tokens: told.inputTokens, output_tokens: 0 };
  yield event("message_start", { message: { ...messageHead(told), content: [], stop_reason: null, usage } });
  yield event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  for (const text of told.completion.words) {
    yield event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  }
  yield event("content_block_stop", { index: 0 });
  const delta = { stop_reason: stopReason(told), stop_sequence: null };
  yield event("message_delta", { delta, usage: { output_tokens: told.outputTokens } });
  yield event("message_stop");
}

const messageHead = ({ id, model }: Told) => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
  stop_sequence: null,
});
const stopReason = ({ completion }: Told) => (completion.cutOff ? "max_tokens" : "end_turn");

export function embeddingsAnswer(
  vectors: readonly number[][],
  told: { readonly model: string; readonly tokens: number; readonly base64: boolean },
): Answer {
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    // Little-endian 32-bit floats, as clients of the first convention decode them.
    embedding: told.base64 ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector,
  }));
  const usage = { prompt_tokens: told.tokens, total_tokens: told.tokens };
  return json({ object: "list", data, model: told.model, usage });
}
