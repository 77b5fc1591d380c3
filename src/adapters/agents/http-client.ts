// The connections to one base address, and HTTP calls over them. A call is one attempt with one hard time limit for connecting,
// headers and body together. It follows no redirect and keeps no body beyond its cap.

import { Agent, buildConnector, type Dispatcher } from "undici";
import { failureOf } from "./call-failure.ts";

export type Answer = {
  readonly status: number;
  readonly body: string;
  /** Null: the body is valid UTF-8. Otherwise its bytes, one character for each, while `body` has U+FFFD for the invalid ones. */
  readonly spoiled: string | null;
  readonly retryAfter: string | null;
};

export type Call = {
  readonly method: "GET" | "POST";
  /** Below the base address. */
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  readonly timeoutMs: number;
};

/** `call` rejects with PortError when no complete answer comes. For a GET `applied` is "no": reading changes nothing. */
export type HttpClient = { call(call: Call): Promise<Answer>; close(): Promise<void> };

export type HttpClientOptions = {
  /** The other side, as a sentence begins with it: "The agent service". */
  readonly who: string;
  readonly baseUrl: string;
  readonly connections: number;
  readonly maxBodyBytes: number;
  /** False: every call opens a connection of its own. */
  readonly keepAlive: boolean;
  /** Replaces our own connections. The caller closes it. */
  readonly dispatcher?: Dispatcher | undefined;
};

/** Shorter than the limit of a whole call, so that we can tell a dead address, to which nothing was sent, from a lost answer. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Drops a byte order mark, which JSON.parse refuses. */
const utf8 = new TextDecoder("utf-8", { fatal: true });
const anyBytes = new TextDecoder();

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const base = new URL(options.baseUrl);
  const prefix = base.pathname.replace(/\/+$/, "");
  const unsent = new WeakSet<object>();
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

type To = {
  readonly base: URL;
  readonly prefix: string;
  readonly unsent: WeakSet<object>;
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
    reject(explain(error, { method, timeoutMs, timedOut, neverSent: unsent.has(error) }));
  };
  const timer = setTimeout(() => {
    timedOut = true;
    const late = new Error("the time is over");
    // A call that still waits for a connection has no controller yet. We give it up here, and abort it when its turn comes.
    if (controller === null) failed(late);
    else controller.abort(late);
  }, timeoutMs);
  const heard = collect((answer) => {
    clearTimeout(timer);
    resolve(answer);
  });
  dispatcher.dispatch(
    { origin: base.origin, path: prefix + path, method, headers, body },
    {
      ...heard,
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

function connections(options: HttpClientOptions, unsent: WeakSet<object>): Agent {
  const connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });
  return new Agent({
    connections: options.connections,
    pipelining: options.keepAlive ? 1 : 0,
    // Over HTTP/2 undici would repeat a request by itself after a GOAWAY.
    allowH2: false,
    maxResponseSize: options.maxBodyBytes,
    // The time limit of the call covers these.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (target, done) => {
      connector(target, (...result) => {
        if (result[0] !== null) unsent.add(result[0]);
        done(...result);
      });
    },
  });
}
