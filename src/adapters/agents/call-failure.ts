// Turns a failed HTTP call into a PortError with a stable code and plain words.

import { z } from "zod";
import { PortError } from "../../ports.ts";

type Facts = {
  readonly method: "GET" | "POST";
  readonly timeoutMs: number;
  readonly timedOut: boolean;
  /** The time was over while the call waited for a free connection. */
  readonly isQueued: boolean;
  /** No connection was made, to the service or to the proxy. */
  readonly notConnected: "service" | "proxy" | null;
};

/** `publicWords` omits the address. It is left out if `words` has none. */
type FailureWords = { readonly code: string; readonly words: string; readonly publicWords?: string };

/** Failures that always come before the first byte of a request. */
const BEFORE_SENDING = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_CLOSED",
  "UND_ERR_DESTROYED",
  "UND_ERR_INVALID_ARG",
]);

const Fault = z.object({ code: z.string().optional().catch(undefined), name: z.string() });

export function failureOf(to: {
  who: string;
  base: URL;
  maxBodyBytes: number;
}): (error: unknown, facts: Facts) => PortError {
  return (error, facts) => {
    const parsed = Fault.safeParse(error);
    const fault = parsed.success ? (parsed.data.code ?? parsed.data.name) : "unknown fault";
    const neverSent = facts.notConnected !== null || BEFORE_SENDING.has(fault);
    const told = facts.timedOut
      ? timedOut(to.who, facts)
      : facts.notConnected === "proxy"
        ? notThroughProxy(to, error, fault)
        : describe(to, fault, neverSent);
    const isUnsent = facts.timedOut ? facts.isQueued : neverSent;
    const applied = facts.method === "GET" || isUnsent ? "no" : "maybe";
    // A parser's error contains the bytes that it could not read. They may echo our own request, including the key.
    const cause = told.code === "garbled" ? undefined : error;
    const publicMessage = told.publicWords ?? told.words;
    return new PortError(told.words, { code: told.code, publicMessage, applied, retry: "later", cause });
  };
}

/** undici reports the answer of a proxy only in the message of its error. */
const PROXY_STATUS = /\b[1-5]\d\d\b/;

function notThroughProxy(
  { who, base }: { who: string; base: URL },
  error: unknown,
  fault: string,
): FailureWords {
  const status = error instanceof Error ? PROXY_STATUS.exec(error.message)?.[0] : undefined;
  const why = fault === "UND_ERR_ABORTED" && status !== undefined ? `it answered HTTP ${status}` : fault;
  const wordsOf = (address: string): string =>
    `${who} cannot be reached: the proxy made no connection to ${address} (${why}).`;
  return { code: "proxy", words: wordsOf(base.host), publicWords: wordsOf("it") };
}

function timedOut(who: string, { timeoutMs, isQueued }: Facts): FailureWords {
  const within = `within ${timeoutMs / 1_000} s`;
  const words = isQueued
    ? `${who} was not asked: no connection to it was free ${within}.`
    : `${who} did not answer ${within}.`;
  return { code: "timeout", words };
}

function describe(
  { who, base, maxBodyBytes }: Parameters<typeof failureOf>[0],
  fault: string,
  neverSent: boolean,
): FailureWords {
  switch (fault) {
    case "ECONNREFUSED":
      return {
        code: "connection_refused",
        words: `${who} refused the connection: nothing listens at ${base.host}.`,
        publicWords: `${who} refused the connection: nothing listens at its address.`,
      };
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return {
        code: "dns",
        words: `${who} has an unknown host name: ${base.hostname} could not be looked up (${fault}).`,
        publicWords: `${who} has an unknown host name, which could not be looked up (${fault}).`,
      };
    case "UND_ERR_CONNECT_TIMEOUT":
      return {
        code: "connect_timeout",
        words: `${who} cannot be reached: ${base.host} did not take the connection.`,
        publicWords: `${who} cannot be reached: it did not take the connection.`,
      };
    case "UND_ERR_RES_EXCEEDED_MAX_SIZE":
      return {
        code: "too_large",
        words: `${who} sent an answer that is larger than ${sizeWords(maxBodyBytes)}.`,
      };
    case "UND_ERR_CLOSED":
    case "UND_ERR_DESTROYED":
      return { code: "closed", words: `${who} was not asked: Countersign is stopping.` };
    default:
      return neverSent ? notConnected(who, base, fault) : broken(who, fault);
  }
}

const KiB = 1024;

function sizeWords(bytes: number): string {
  if (bytes >= KiB * KiB) return `${Math.floor(bytes / KiB / KiB)} MiB`;
  return bytes >= KiB ? `${Math.floor(bytes / KiB)} KiB` : `${bytes} bytes`;
}

function notConnected(who: string, base: URL, fault: string): FailureWords {
  const secure = base.protocol === "https:" && !["EHOSTUNREACH", "ENETUNREACH", "EMFILE"].includes(fault);
  return secure
    ? {
        code: "tls",
        words: `${who} offers no secure connection at ${base.host} that can be trusted (${fault}).`,
        publicWords: `${who} offers no secure connection that can be trusted (${fault}).`,
      }
    : {
        code: "unreachable",
        words: `${who} cannot be reached at ${base.host} (${fault}).`,
        publicWords: `${who} cannot be reached (${fault}).`,
      };
}

function broken(who: string, fault: string): FailureWords {
  if (fault.startsWith("HPE_") || fault === "HTTPParserError" || fault.startsWith("UND_ERR_HEADERS"))
    return { code: "garbled", words: `${who} answered with something that is not valid HTTP (${fault}).` };
  return {
    code: "reset",
    words: `${who} broke the connection before its answer was complete (${fault}).`,
  };
}
