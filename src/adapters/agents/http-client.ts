// The connections to one base address, and HTTP calls over them. A call is one attempt with one hard time limit for connecting, headers and
// body together. It follows no redirects and keeps no body beyond its size limit.

import { Agent, buildConnector, Client, type Dispatcher, Pool } from "undici";
import { z } from "zod";
import { oneLine } from "../../domain/text/excerpt.ts";
import { failureOf } from "./call-failure.ts";
import { readJson } from "./json-body.ts";

export type Answer = {
  readonly status: number;
  readonly body: string;
  /** Null if the body is valid UTF-8. Otherwise its bytes, one character for each; `body` then has U+FFFD for the invalid ones. */
  readonly spoiled: string | null;
  readonly retryAfter: string | null;
};

export type Call = {
  readonly method: "GET" | "POST";
  /** The path below the base address. */
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly timeoutMs: number;
};

/** `call` rejects with PortError if no complete answer arrives. For a GET `applied` is "no", because reading changes nothing. */
export type HttpClient = { call(call: Call): Promise<Answer>; close(): Promise<void> };

export type HttpClientOptions = {
  /** The name of the other side at the beginning of a sentence: "The agent service". */
  readonly who: string;
  readonly baseUrl: string;
  readonly connections: number;
  readonly maxBodyBytes: number;
  /** If false, every call opens its own connection. */
  readonly keepAlive: boolean;
  /** Opens the connections, through a proxy if there is one. The default is direct connections. */
  readonly open?: ((options: Agent.Options) => Dispatcher) | undefined;
  /** Replaces our own connections. The caller closes it. */
  readonly dispatcher?: Dispatcher | undefined;
};

/** Shorter than the limit of a whole call, so that we can distinguish a dead address, to which nothing was sent, from a lost answer. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Drops a byte order mark, which JSON.parse refuses. */
const utf8 = new TextDecoder("utf-8", { fatal: true });
const anyBytes = new TextDecoder();

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const base = new URL(options.baseUrl);
  const prefix = base.pathname.replace(/\/+$/, "");
  const unsent: Unsent = new WeakMap();
  const { dispatcher = connections(options, unsent) } = options;
  let closing: Promise<void> | null = null;
  const explain = failureOf({ who: options.who, base, maxBodyBytes: options.maxBodyBytes });

  return {
    call: (call) => ask(dispatcher, { base, prefix, unsent, explain }, call),
    async close() {
      if (dispatcher !== options.dispatcher) await (closing ??= dispatcher.close());
    },
  };
}

/** Failures to connect to the service or to the proxy. In these cases nothing was sent. */
type Unsent = WeakMap<object, "service" | "proxy">;

type To = {
  readonly base: URL;
  readonly prefix: string;
  readonly unsent: Unsent;
  readonly explain: ReturnType<typeof failureOf>;
};

/**
 * We use undici's `dispatch` because `request` makes a stream and an abort signal for every call. They cost a third of a poll, and
 * live long enough to fill the old generation of the heap.
 */
function ask(dispatcher: Dispatcher, { base, prefix, unsent, explain }: To, call: Call): Promise<Answer> {
  const { method, path, headers = {}, body = null, timeoutMs } = call;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let controller: Dispatcher.DispatchController | null = null;
  let timedOut = false;
  const failed = (error: Error): void => {
    clearTimeout(timer);
    const notConnected = unsent.get(error) ?? null;
    const isQueued = timedOut && controller === null;
    reject(explain(error, { method, timeoutMs, timedOut, isQueued, notConnected }));
  };
  const timer = setTimeout(() => {
    timedOut = true;
    const late = new Error("the time is over");
    // A call that still waits for a connection has no controller yet. We reject it now, and abort it when its turn comes.
    if (controller === null) failed(late);
    else controller.abort(late);
  }, timeoutMs);
  const collected = collect((answer) => {
    clearTimeout(timer);
    resolve(answer);
  });
  dispatcher.dispatch(
    { origin: base.origin, path: prefix + path, method, headers, body },
    {
      ...collected,
      onRequestStart: (started) => {
        controller = started;
        if (timedOut) started.abort(new Error("the time is over"));
      },
      onResponseError: (_, error) => failed(error),
    },
  );
  return promise;
}

/** Collects the parts of an answer. */
function collect(
  done: (answer: Answer) => void,
): Pick<Dispatcher.DispatchHandler, "onResponseStart" | "onResponseData" | "onResponseEnd"> {
  const pieces: Buffer[] = [];
  let status = 0;
  let retryAfter: string | null = null;
  return {
    onResponseStart: (_, code, headers) => {
      status = code;
      const given = headers["retry-after"];
      retryAfter = typeof given === "string" ? given : null;
    },
    onResponseData: (_, piece) => void pieces.push(piece),
    onResponseEnd: () => done({ status, ...decoded(Buffer.concat(pieces)), retryAfter }),
  };
}

function decoded(bytes: Buffer): Pick<Answer, "body" | "spoiled"> {
  try {
    return { body: utf8.decode(bytes), spoiled: null };
  } catch {
    return { body: anyBytes.decode(bytes), spoiled: bytes.toString("latin1") };
  }
}

function connections(options: HttpClientOptions, unsent: Unsent): Dispatcher {
  const { connections: most, keepAlive, maxBodyBytes, open = (given) => new Agent(given) } = options;
  const settings: Pool.Options = {
    connections: most,
    pipelining: keepAlive ? 1 : 0,
    // Over HTTP/2 undici would repeat a request by itself after a GOAWAY.
    allowH2: false,
    maxResponseSize: maxBodyBytes,
    // The time limit of the call covers these.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const connect = noting(unsent, "service", buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false }));
  return open({
    ...settings,
    connectTimeout: CONNECT_TIMEOUT_MS,
    connect,
    factory: (origin, { connect: chosen = connect }: Pool.Options) => {
      // A proxy's agent connects in its own way.
      const proxied = typeof chosen === "function" && chosen !== connect;
      const all = { ...settings, connect: proxied ? noting(unsent, "proxy", chosen) : connect };
      return most === 1 ? new Client(origin, all) : new Pool(origin, all);
    },
  });
}

function noting(
  unsent: Unsent,
  to: "service" | "proxy",
  connect: buildConnector.connector,
): buildConnector.connector {
  return (target, done) => {
    connect(target, (...result) => {
      if (result[0] !== null) unsent.set(result[0], to);
      done(...result);
    });
  };
}

// Reads an error answer of the service: what it says, in plain words, and how long we must wait (`Retry-After`).

/** The maximum number of characters of the service's own words in one of our sentences. */
const MAX_WORDS_CHARS = 300;
const MAX_CODE_CHARS = 60;
/** A shorter key is not masked: it could be part of ordinary words. */
const MIN_SECRET_CHARS = 4;
/** The longest wait (ms). With a longer one we would not notice when the service is back. */
const MAX_RETRY_AFTER_MS = 60 * 60_000;

const Text = z.string().catch("");
const nothing = { code: "", message: "" };

/** The error record of docs/agent-service.md, and the error formats of other frameworks. */
const ErrorBody = z.union([
  z.object({ error: z.object({ code: Text, message: Text }) }).transform(({ error }) => error),
  z.object({ error: z.string() }).transform(({ error }) => ({ code: "", message: error })),
  z.object({ message: z.string() }).transform(({ message }) => ({ code: "", message })),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ code: "", message: detail })),
  z.unknown().transform(() => nothing),
]);

/** "Conflict". Not by an import of node:http: adapters/http/server.ts says why. */
export const statusName = (status: number): string | undefined =>
  process.getBuiltinModule("node:http").STATUS_CODES[status];

/** "The agent service answered HTTP 409 (invalid_request): Approval 'a' is already resolved." Never contains `secret`. */
export function answerInWords(who: string, answer: Answer, secret = ""): string {
  const { code, message } = errorIn(answer.body);
  const name = clean(code.replace(PARENTHESES, ""), secret, MAX_CODE_CHARS) || statusName(answer.status);
  const redirect = answer.status >= 300 && answer.status < 400 ? ", a redirect, which is not followed" : "";
  const head = `${who} answered HTTP ${answer.status}${name === undefined ? "" : ` (${name})`}${redirect}`;
  if (isMarkup(answer.body)) return `${head}, with a page of HTML or XML.`;
  const words = clean(message, secret, MAX_WORDS_CHARS);
  return words === "" ? `${head}.` : `${head}: ${words}`;
}

/** They would end the code early (ANSWERED in delivery-words.ts). */
const PARENTHESES = /[()]/g;

const isMarkup = (body: string): boolean => /^\s*</.test(body);

/** The service's text on one line, with invisible characters made visible. */
export function clean(text: string, secret: string, maxChars: number): string {
  const safe = secret.length < MIN_SECRET_CHARS ? text : text.replaceAll(secret, "[key]");
  return oneLine(safe, maxChars);
}

function errorIn(body: string): { code: string; message: string } {
  const json = readJson(body);
  if (json.ok) return ErrorBody.parse(json.value);
  return { code: "", message: body };
}

/** Parses seconds or a date (RFC 9110 §10.2.3). Returns null if the header is neither. */
export function retryAfterMs(header: string | null, now: number): number | null {
  const text = header?.trim() ?? "";
  // Date.parse accepts nearly anything; an HTTP date ends in GMT.
  const date = text.endsWith("GMT") ? Date.parse(text) : NaN;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : date - now;
  return Number.isNaN(ms) ? null : Math.ceil(Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS));
}
