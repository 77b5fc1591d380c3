// The connections to one base address, and one HTTP call over them: one attempt, one hard time limit over connecting,
// headers and body together, no redirect followed, no body kept beyond its cap.

import { Agent, buildConnector, type Dispatcher } from "undici";
import { failureOf } from "./failure.ts";

export type Answer = {
  readonly status: number;
  readonly body: string;
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

/** `call` rejects with PortError when no whole answer came. Its `applied` is "no" for a GET: reading applies nothing. */
export type Line = { call(call: Call): Promise<Answer>; close(): Promise<void> };

export type LineOptions = {
  /** The other side as sentences begin with it: «The agent service». */
  readonly who: string;
  readonly baseUrl: string;
  readonly connections: number;
  readonly maxBodyBytes: number;
  /** False: every call has a connection of its own. */
  readonly keepAlive: boolean;
  /** In the place of connections of our own; whoever made it closes it. */
  readonly dispatcher?: Dispatcher | undefined;
};

/** Below the limit of a whole call, so that a dead address is told from a lost answer: nothing was sent to it. */
const CONNECT_TIMEOUT_MS = 5_000;

export function createLine(options: LineOptions): Line {
  const base = new URL(options.baseUrl);
  const prefix = base.pathname.replace(/\/+$/, "");
  const unsent = new WeakSet<object>();
  const { dispatcher = connections(options, unsent) } = options;
  let closing: Promise<void> | null = null;
  const explain = failureOf({ who: options.who, base, maxBodyBytes: options.maxBodyBytes });

  return {
    async call({ method, path, headers = {}, body, timeoutMs }) {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), timeoutMs);
      try {
        const response = await dispatcher.request({
          origin: base.origin,
          path: prefix + path,
          method,
          headers,
          body: body ?? null,
          signal: limit.signal,
        });
        const text = await response.body.text();
        const retryAfter = response.headers["retry-after"];
        return {
          status: response.statusCode,
          body: text,
          retryAfter: typeof retryAfter === "string" ? retryAfter : null,
        };
      } catch (error) {
        const neverSent = error instanceof Error && unsent.has(error);
        throw explain(error, { method, timeoutMs, timedOut: limit.signal.aborted, neverSent });
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      if (dispatcher !== options.dispatcher) await (closing ??= dispatcher.close());
    },
  };
}

function connections(options: LineOptions, unsent: WeakSet<object>): Agent {
  const connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });
  return new Agent({
    connections: options.connections,
    pipelining: options.keepAlive ? 1 : 0,
    // Over HTTP/2 the client sends a request again by itself when the server says goodbye.
    allowH2: false,
    maxResponseSize: options.maxBodyBytes,
    // The call's own limit covers these.
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
