// The endpoints of the token gateway: authentication and limits. `gateway-answers.ts` creates the answers.

import { nameOfKey } from "./api-keys.ts";
import type { Answer, Incoming } from "./exchange.ts";
import { answerTo } from "./gateway-answers.ts";
import { GatewayRefusal, refusalAnswer } from "./gateway-errors.ts";
import type { StreamPiece } from "./local-model.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Route } from "./routes.ts";
import type { Ledger, MeteredEndpoint } from "./usage.ts";

export type GatewayRoute = "healthz" | MeteredEndpoint;

export const gatewayRoutes: readonly Route<GatewayRoute>[] = [
  { name: "chat", method: "POST", path: "/v1/chat/completions" },
  { name: "messages", method: "POST", path: "/v1/messages" },
  { name: "embeddings", method: "POST", path: "/v1/embeddings" },
  { name: "healthz", method: "GET", path: "/healthz" },
];

const endpoints = gatewayRoutes.map(({ method, path }) => `${method} ${path}`);

export type GatewayStatus = { readonly status: string; readonly message: string };

export type GatewayApi = {
  readonly now: () => number;
  readonly newId: () => string;
  readonly status: () => GatewayStatus;
  /** Returns the key in these headers, or null if there is no valid one. */
  readonly keyIn: (headers: Incoming<GatewayRoute>["headers"]) => string | null;
  readonly limit: RateLimit;
  readonly ledger: Ledger;
  /** Resolves when the current state of the ledger is on disk. */
  readonly saved: () => Promise<void>;
  /** Awaited before each token of a stream. */
  readonly pace: () => Promise<void>;
};

type Request = Incoming<GatewayRoute>;

export function createGatewayApi(api: GatewayApi): (request: Request) => Promise<Answer> {
  async function answer(request: Request, id: string): Promise<Answer> {
    const { found } = request;
    if (found.name === null) throw unknownEndpoint(found.allow);
    if (found.name === "healthz") return json({ service: "sandbox-gateway", ...api.status(), endpoints });
    const key = api.keyIn(request.headers);
    if (key === null) throw noKey();
    return metered(api, { request, endpoint: found.name, key: nameOfKey(key), id });
  }

  return async (request) => {
    const id = api.newId();
    const result = await answer(request, id).catch((error: unknown) => {
      if (error instanceof GatewayRefusal) return refusalAnswer(error, `req_${id}`);
      throw error;
    });
    // Each convention reads its own header.
    const ids = { "request-id": `req_${id}`, "x-request-id": `req_${id}` };
    return { ...result, headers: { ...ids, ...result.headers } };
  };
}

type MeteredRequest = {
  readonly request: Request;
  readonly endpoint: MeteredEndpoint;
  readonly key: string;
  readonly id: string;
};

async function metered(api: GatewayApi, { request, endpoint, key, id }: MeteredRequest): Promise<Answer> {
  const count = (counts: Parameters<Ledger["add"]>[2]) => api.ledger.add(key, endpoint, counts);
  try {
    const wait = api.limit.take(key);
    if (wait !== null) throw tooMany(wait);
    const made = { id: `local${id}`, created: Math.floor(api.now() / 1000) };
    const { tokens, whole, pieces } = answerTo(endpoint, request, made);
    const output_tokens = pieces === null ? tokens.output : 0;
    count({ requests: 1, input_tokens: tokens.input, output_tokens });
    await api.saved();
    if (pieces === null) return json(whole);
    const body = streamed(api, pieces, () => count({ output_tokens: 1 }));
    return { status: 200, headers: { "content-type": "text/event-stream" }, body };
  } catch (error) {
    if (error instanceof GatewayRefusal) {
      count({ refused: 1 });
      await api.saved();
    }
    throw error;
  }
}

/** Counts each token when it is sent, so a client that disconnects pays only for what it received. */
async function* streamed(
  api: GatewayApi,
  pieces: Iterable<StreamPiece>,
  count: () => void,
): AsyncGenerator<string> {
  try {
    for (const { text, tokens } of pieces) {
      if (tokens > 0) await api.pace();
      yield text;
      if (tokens > 0) count();
    }
  } finally {
    await api.saved();
  }
}

const json = (record: object): Answer => ({ status: 200, body: JSON.stringify(record) });

function unknownEndpoint(allow: readonly string[]): GatewayRefusal {
  if (allow.length === 0) {
    return new GatewayRefusal(404, `There is no such endpoint. The gateway has ${endpoints.join(", ")}.`);
  }
  const headers = { allow: allow.join(", ") };
  return new GatewayRefusal(405, `This endpoint accepts only ${allow.join(" or ")}.`, { headers });
}

const noKey = () =>
  new GatewayRefusal(
    401,
    "A valid key is required: Authorization: Bearer <API_KEY>, or x-api-key: <API_KEY>.",
    {
      headers: { "www-authenticate": "Bearer" },
    },
  );

function tooMany(waitMs: number): GatewayRefusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const headers = { "retry-after": String(seconds) };
  return new GatewayRefusal(429, `Too many requests with this key: try again in ${seconds} s.`, { headers });
}
