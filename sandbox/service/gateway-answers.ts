// What the local model answers to a request, in the convention of its endpoint.

import type { z } from "zod";
import { chatAnswer, chatStream } from "./chat-answer.ts";
import { embed, embeddingsAnswer } from "./embedding.ts";
import type { Incoming } from "./exchange.ts";
import * as ask from "./gateway-ask.ts";
import { GatewayRefusal } from "./gateway-errors.ts";
import { jsonObject } from "./json-body.ts";
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
type Spoken = {
  readonly tokens: { readonly input: number; readonly output: number };
  readonly whole: object;
  /** Null: a stream was not asked for. */
  readonly pieces: Iterable<StreamPiece> | null;
};

/** Throws a GatewayRefusal for what cannot be answered. */
export function answerTo(endpoint: MeteredEndpoint, request: Request, made: Made): Spoken {
  switch (endpoint) {
    case "chat":
      return chat(request, made);
    case "messages":
      return messages(request, made);
    case "embeddings":
      return embeddings(request);
  }
}

function chat(request: Request, made: Made): Spoken {
  const asked = read(request, ask.chatRequest);
  const maxTokens = asked.max_completion_tokens ?? asked.max_tokens ?? Infinity;
  const stopAt = typeof asked.stop === "string" ? [asked.stop] : (asked.stop ?? []);
  const told = tell(asked, made, { maxTokens, stopAt });
  const includeUsage = asked.stream_options?.include_usage === true;
  return spoken(told, chatAnswer(told), asked.stream === true ? chatStream(told, includeUsage) : null);
}

function messages(request: Request, made: Made): Spoken {
  checkVersion(request.headers["anthropic-version"]);
  const asked = read(request, ask.messagesRequest);
  const system = asked.system === undefined ? [] : [{ role: "system", content: asked.system }];
  const limits = { maxTokens: asked.max_tokens, stopAt: asked.stop_sequences ?? [] };
  const told = tell({ ...asked, messages: [...system, ...asked.messages] }, made, limits);
  return spoken(told, messageAnswer(told), asked.stream === true ? messageStream(told) : null);
}

function embeddings(request: Request): Spoken {
  const { model, input, dimensions, encoding_format } = read(request, ask.embeddingsRequest);
  const tokens = input.reduce((sum, text) => sum + countTokens(text), 0);
  const vectors = input.map((text) => embed(text, dimensions));
  const cost = { model: named("embedding", model), tokens, base64: encoding_format === "base64" };
  return { tokens: { input: tokens, output: 0 }, whole: embeddingsAnswer(vectors, cost), pieces: null };
}

const spoken = (told: ModelReply, whole: object, pieces: Iterable<StreamPiece> | null): Spoken => ({
  tokens: { input: told.inputTokens, output: outputTokens(told) },
  whole,
  pieces,
});

type Conversation = {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
};

function tell({ model, messages }: Conversation, made: Made, limits: Limits): ModelReply {
  const last = messages.findLast(({ role }) => role === "user")?.content ?? "";
  return {
    ...made,
    model: named("text", model),
    completion: complete(last, limits),
    inputTokens: messages.reduce((sum, { content }) => sum + countTokens(content), 0),
  };
}

function named(kind: keyof typeof localModels, asked: string): string {
  const model = modelFor(kind, asked);
  if (model !== null) return model;
  const message = `There is no model "${asked}" here for this. The one there is runs on this machine: "${localModels[kind]}".`;
  throw new GatewayRefusal(404, message, { code: "model_not_found" });
}

/** The second convention's clients name the date of the version they speak. */
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
