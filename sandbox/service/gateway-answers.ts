// The local model's answers to requests, in the convention of the endpoint.

import type { z } from "zod";
import { chatAnswer, chatStream } from "./chat-answer.ts";
import { embed, embeddingsAnswer } from "./embedding.ts";
import type { Incoming } from "./exchange.ts";
import * as ask from "./gateway-ask.ts";
import { GatewayRefusal } from "./gateway-errors.ts";
import { jsonObject } from "./request-json.ts";
import {
  complete,
  countTokens,
  type Limits,
  localModels,
  modelFor,
  outputTokens,
  type StreamPiece,
  type ModelReply,
} from "./local-model.ts";
import { messageAnswer, messageStream } from "./message-answer.ts";
import type { MeteredEndpoint } from "./usage.ts";

type Request = Pick<Incoming<string>, "headers" | "body">;
type Made = Pick<ModelReply, "id" | "created">;
type GatewayAnswer = {
  readonly tokens: { readonly input: number; readonly output: number };
  readonly whole: object;
  /** The pieces of a stream. Null if the request did not ask for one. */
  readonly pieces: Iterable<StreamPiece> | null;
};

/** Answers a request. Throws a GatewayRefusal if the request cannot be answered. */
export function answerTo(endpoint: MeteredEndpoint, request: Request, made: Made): GatewayAnswer {
  switch (endpoint) {
    case "chat":
      return chat(request, made);
    case "messages":
      return messages(request, made);
    case "embeddings":
      return embeddings(request);
  }
}

function chat(request: Request, made: Made): GatewayAnswer {
  const body = read(request, ask.chatRequest);
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? Infinity;
  const stopAt = typeof body.stop === "string" ? [body.stop] : (body.stop ?? []);
  const reply = replyTo(body, made, { maxTokens, stopAt });
  const includeUsage = body.stream_options?.include_usage === true;
  return answerOf(reply, chatAnswer(reply), body.stream === true ? chatStream(reply, includeUsage) : null);
}

function messages(request: Request, made: Made): GatewayAnswer {
  checkVersion(request.headers["anthropic-version"]);
  const body = read(request, ask.messagesRequest);
  const system = body.system === undefined ? [] : [{ role: "system", content: body.system }];
  const limits = { maxTokens: body.max_tokens, stopAt: body.stop_sequences ?? [] };
  const reply = replyTo({ ...body, messages: [...system, ...body.messages] }, made, limits);
  return answerOf(reply, messageAnswer(reply), body.stream === true ? messageStream(reply) : null);
}

function embeddings(request: Request): GatewayAnswer {
  const { model, input, dimensions, encoding_format } = read(request, ask.embeddingsRequest);
  const tokens = input.reduce((sum, text) => sum + countTokens(text), 0);
  const vectors = input.map((text) => embed(text, dimensions));
  const cost = { model: named("embedding", model), tokens, base64: encoding_format === "base64" };
  return { tokens: { input: tokens, output: 0 }, whole: embeddingsAnswer(vectors, cost), pieces: null };
}

const answerOf = (reply: ModelReply, whole: object, pieces: Iterable<StreamPiece> | null): GatewayAnswer => ({
  tokens: { input: reply.inputTokens, output: outputTokens(reply) },
  whole,
  pieces,
});

type Conversation = {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
};

function replyTo({ model, messages }: Conversation, made: Made, limits: Limits): ModelReply {
  const last = messages.findLast(({ role }) => role === "user")?.content ?? "";
  return {
    ...made,
    model: named("text", model),
    completion: complete(last, limits),
    inputTokens: messages.reduce((sum, { content }) => sum + countTokens(content), 0),
  };
}

function named(kind: keyof typeof localModels, requested: string): string {
  const model = modelFor(kind, requested);
  if (model !== null) return model;
  const message = `There is no model "${requested}" for this request. The only one runs on this machine: "${localModels[kind]}".`;
  throw new GatewayRefusal(404, message, { code: "model_not_found" });
}

/** Clients of the second convention send the date of their API version. */
function checkVersion(version: unknown): void {
  if (version === undefined || (typeof version === "string" && /^\d{4}-\d\d-\d\d$/.test(version))) return;
  throw new GatewayRefusal(400, "anthropic-version: must be a date such as 2023-06-01.");
}

function read<T>(request: Request, schema: z.ZodType<T>): T {
  const body = jsonObject(request);
  if (!body.ok) throw new GatewayRefusal(body.status, body.message);
  const parsed = schema.safeParse(body.value);
  if (!parsed.success) throw new GatewayRefusal(400, ask.faultsIn(parsed.error));
  return parsed.data;
}
