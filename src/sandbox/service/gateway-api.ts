// The token gateway's endpoints: answers from the local model, and counts tokens per key.

import { z } from "zod";
import type { Answer, Incoming } from "./exchange.ts";
import * as wire from "./gateway-wire.ts";
import { jsonObject } from "./json-body.ts";
import { complete, countTokens, embed, localModelName } from "./local-model.ts";
import type { Route } from "./routes.ts";

export type GatewayRoute = "healthz" | "chat" | "messages" | "embeddings" | "usage";

export const gatewayRoutes: readonly Route<GatewayRoute>[] = [
  { name: "chat", method: "POST", path: "/v1/chat/completions" },
  { name: "messages", method: "POST", path: "/v1/messages" },
  { name: "embeddings", method: "POST", path: "/v1/embeddings" },
  { name: "healthz", method: "GET", path: "/healthz" },
  { name: "usage", method: "GET", path: "/usage" },
];

/** The four of the interface document; `/usage` is the sandbox's own. */
const listedEndpoints = gatewayRoutes
  .filter(({ name }) => name !== "usage")
  .map(({ method, path }) => `${method} ${path}`);

export type Usage = { requests: number; input_tokens: number; output_tokens: number };
export type GatewayStatus = { readonly status: string; readonly message: string };

export type GatewayApi = {
  readonly now: () => number;
  readonly status: () => GatewayStatus;
  /** The key in these headers, if it is a right one. */
  readonly keyIn: (headers: Incoming<GatewayRoute>["headers"]) => string | null;
  readonly usage: Map<string, Usage>;
};

type Request = Incoming<GatewayRoute>;
type Metered = { readonly answer: Answer; readonly input: number; readonly output: number };

class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function createGatewayApi(api: GatewayApi): (request: Request) => Promise<Answer> {
  let count = 0;

  function meter(key: string, { answer, input, output }: Metered): Answer {
    const usage = usageOf(api, key);
    usage.requests += 1;
    usage.input_tokens += input;
    usage.output_tokens += output;
    return answer;
  }

  function answer(request: Request): Answer {
    if (request.found.name === null) return unknownEndpoint(request.found.allow);
    const route = request.found.name;
    if (route === "healthz")
      return json(200, { service: "sandbox-gateway", ...api.status(), endpoints: listedEndpoints });
    const key = api.keyIn(request.headers);
    if (key === null) return refused(401, "A valid key is required.", { "www-authenticate": "Bearer" });
    if (route === "usage") return json(200, usageOf(api, key));
    if (route === "embeddings") return meter(key, embeddings(request));
    count += 1;
    const made = { id: `local${count.toString(36).padStart(8, "0")}`, created: Math.floor(api.now() / 1000) };
    return meter(key, route === "chat" ? chat(request, made) : messages(request, made));
  }

  return async (request) => {
    try {
      return answer(request);
    } catch (error) {
      if (error instanceof Refused) return refused(error.status, error.message);
      throw error;
    }
  };
}

type Made = Pick<wire.Told, "id" | "created">;

function chat(request: Request, made: Made): Metered {
  const asked = read(request, wire.chatRequest);
  const limit = asked.max_completion_tokens ?? asked.max_tokens ?? Infinity;
  const told = tell(asked, made, limit);
  const includeUsage = asked.stream_options?.include_usage === true;
  return metered(told, asked.stream ? wire.chatStream(told, includeUsage) : wire.chatAnswer(told));
}

function messages(request: Request, made: Made): Metered {
  const asked = read(request, wire.messagesRequest);
  const system = asked.system === undefined ? [] : [{ role: "system", content: asked.system }];
  const told = tell({ ...asked, messages: [...system, ...asked.messages] }, made, asked.max_tokens);
  return metered(told, asked.stream ? wire.messagesStream(told) : wire.messagesAnswer(told));
}

function embeddings(request: Request): Metered {
  const { input, dimensions, encoding_format } = read(request, wire.embeddingsRequest);
  const tokens = input.reduce((sum, text) => sum + countTokens(text), 0);
  const vectors = input.map((text) => embed(text, dimensions));
  const told = { model: localModelName, tokens, base64: encoding_format === "base64" };
  return { answer: wire.embeddingsAnswer(vectors, told), input: tokens, output: 0 };
}

type Conversation = { readonly messages: readonly { readonly role: string; readonly content: string }[] };

/** Whatever model was asked for, the answer names the one that spoke. */
function tell({ messages }: Conversation, made: Made, limit: number): wire.Told {
  const last = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const completion = complete(last, limit);
  return {
    ...made,
    model: localModelName,
    completion,
    inputTokens: messages.reduce((sum, { content }) => sum + countTokens(content), 0),
    outputTokens: countTokens(completion.words.join("")),
  };
}

const metered = (told: wire.Told, answer: Answer): Metered => ({
  answer,
  input: told.inputTokens,
  output: told.outputTokens,
});

function read<T>(request: Request, schema: z.ZodType<T>): T {
  const body = jsonObject(request);
  if (!body.ok) throw new Refused(body.status, body.message);
  const parsed = schema.safeParse(body.value);
  if (!parsed.success) throw new Refused(400, z.prettifyError(parsed.error));
  return parsed.data;
}

function usageOf({ usage }: GatewayApi, key: string): Usage {
  const known = usage.get(key) ?? { requests: 0, input_tokens: 0, output_tokens: 0 };
  usage.set(key, known);
  return known;
}

function json(status: number, record: object, headers: Record<string, string> = {}): Answer {
  return { status, headers, body: JSON.stringify(record) };
}

/** Readable in both conventions: one looks for `error.message`, the other also for `type: "error"`. */
function refused(status: number, message: string, headers: Record<string, string> = {}): Answer {
  const code = status === 401 ? "unauthorized" : status === 404 ? "not_found" : "invalid_request";
  return json(status, { type: "error", error: { type: code, code, message } }, headers);
}

function unknownEndpoint(allow: readonly string[]): Answer {
  if (allow.length === 0) return refused(404, "There is no such endpoint.");
  return refused(405, `This endpoint takes ${allow.join(" or ")} only.`, { allow: allow.join(", ") });
}
