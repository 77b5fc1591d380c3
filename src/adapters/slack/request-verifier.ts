// In HTTP mode the first and the only one to meet a request: what is not rightly signed, in time and new gets no further. Bolt,
// which checks again by its own rules, sees a request only when all of its bytes are here and known to be Slack's.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { claimedSignature, isSigned, replayMarkOf, type Unsigned, WINDOW_MS } from "./signature.ts";

/** Where Slack posts; DESIGN.md's contract. Nothing is added to it: no query, no slash at its end, no other case. */
export const EVENTS_PATH = "/slack/events";
/** Slack sends some ten headers, proxies add some more. */
const MAX_HEADERS = 100;
/** A signature is good for twice the window at most: from the earliest clock to the latest. */
const KEEP_MS = 2 * WINDOW_MS;

export type ReplayCache = {
  /** True the first time only. Rejects when nobody can say. */
  markSeen(mark: string, at: number, keepMs: number): Promise<boolean>;
  /** The request came to nothing, so Slack may send it again. */
  unmark(mark: string): Promise<void>;
};

export type RequestVerifierOptions = {
  readonly signingSecret: string;
  readonly now: () => number;
  readonly seen: ReplayCache;
  readonly rejectedRequests: (because: string) => void;
  /** Takes the request when it is proved to be Slack's; `rawBody` holds its bytes. */
  readonly behind: RequestListener;
  readonly readBody?: ReadBody;
};

type Because =
  | Unsigned
  | BodyFault
  | "other-path"
  | "other-method"
  | "too-many-headers"
  | "other-content"
  | "forged"
  | "replayed"
  | "not-text"
  | "store-silent";

const STATUS: Readonly<Record<Because, number>> = {
  "other-path": 404,
  "other-method": 405,
  "too-many-headers": 431,
  "other-content": 415,
  unsigned: 401,
  "malformed-signature": 401,
  "out-of-time": 401,
  forged: 401,
  "too-large": 413,
  "too-slow": 408,
  "cut-off": 400,
  "too-busy": 503,
  "not-text": 400,
  replayed: 409,
  "store-silent": 503,
};

export function createRequestVerifier(options: RequestVerifierOptions): RequestListener {
  const readBody = options.readBody ?? createReadBody();
  return (request, response) => {
    pass({ ...options, readBody }, request, response).catch(() => {
      options.rejectedRequests("guard-failed");
      if (!response.headersSent) response.writeHead(500, { connection: "close" }).end();
    });
  };
}

type Guarding = RequestVerifierOptions & { readonly readBody: ReadBody };

async function pass(options: Guarding, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const no = (because: Because): void => refuse(options, because, request, response);
  const type = contentType(request);
  const wrong = wrongOutside(request) ?? (type === null ? "other-content" : null);
  if (wrong !== null || type === null) return no(wrong ?? "other-content");
  const claimed = claimedSignature(request, options.now());
  if (claimed === "unsigned" && type === FORM) return knock(options, request, response);
  if (typeof claimed === "string") return no(claimed);
  const body = await options.readBody(request);
  if (typeof body === "string") return no(body);
  if (!isSigned(claimed, body, options.signingSecret)) return no("forged");
  if (!isUtf8(body)) return no("not-text");
  const mark = replayMarkOf(claimed);
  const first = await options.seen.markSeen(mark, options.now(), KEEP_MS).catch(() => null);
  if (first !== true) return no(first === null ? "store-silent" : "replayed");
  response.once("close", () => {
    // Slack tries events again that ended so, within the same second with the same signature.
    if (response.statusCode >= 500) void options.seen.unmark(mark).catch(() => undefined);
  });
  // Bolt reads a form only under its bare name.
  request.headers["content-type"] = type;
  options.behind(Object.assign(request, { rawBody: body }), response);
}

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";

function contentType({ headersDistinct }: IncomingMessage): string | null {
  const given = headersDistinct["content-type"] ?? [];
  const bare = (given[0] ?? "").toLowerCase().replace(/; ?charset="?utf-8"?$/, "");
  return given.length === 1 && (bare === FORM || bare === JSON_TYPE) ? bare : null;
}

function wrongOutside({ url, method, rawHeaders, headers }: IncomingMessage): Because | null {
  if (url !== EVENTS_PATH) return "other-path";
  if (method !== "POST") return "other-method";
  if (rawHeaders.length / 2 > MAX_HEADERS) return "too-many-headers";
  return headers["content-encoding"] === undefined ? null : "other-content";
}

/** Bytes of an ssl_check with its token, generously. */
const KNOCK_BYTES = 1_000;
const KNOCK = /^(token=[\w-]*&)?ssl_check=1(&token=[\w-]*)?$/;

/** Slack looks at our certificate now and then, with an unsigned form that says only that. It gets a constant, and nobody hears of it. */
async function knock(options: Guarding, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const no = (because: Because): void => refuse(options, because, request, response);
  const length = Number(request.headers["content-length"] ?? Number.NaN);
  if (!(length <= KNOCK_BYTES)) return no("unsigned");
  const body = await options.readBody(request);
  if (typeof body === "string") return no(body);
  if (!KNOCK.test(body.toString("latin1"))) return no("unsigned");
  response.writeHead(200, { "content-length": 0 }).end();
}

function refuse(
  { rejectedRequests }: Guarding,
  because: Because,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  rejectedRequests(because);
  const allow = because === "other-method" ? { allow: "POST" } : {};
  response.writeHead(STATUS[because], { connection: "close", "content-length": 0, ...allow }).end();
  // What is still on its way is nobody's any more.
  if (!request.complete) response.once("finish", () => request.destroy());
}

// The body of a request from a stranger: so much, so soon, or not at all.

export type BodyFault = "too-large" | "too-slow" | "cut-off" | "too-busy";

/** Slack's largest payloads, a modal of 250 kB in form encoding, stay below it (bytes). */
export const MAX_BODY_BYTES = 1_000_000;
/** Slack sends at once, and wants its answer within 3 s (ms). */
const BODY_MS = 3_000;
/** Of all bodies that are being read at one moment (bytes). */
const MAX_HELD_BYTES = 32_000_000;

export type ReadBody = (request: IncomingMessage) => Promise<Buffer | BodyFault>;

export function createReadBody({ bodyMs = BODY_MS, maxHeld = MAX_HELD_BYTES } = {}): ReadBody {
  let held = 0;
  return (request) => {
    if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) return Promise.resolve("too-large");
    const chunks: Buffer[] = [];
    let size = 0;
    const { promise, resolve } = Promise.withResolvers<Buffer | BodyFault>();
    const timer = setTimeout(() => resolve("too-slow"), bodyMs);
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      held += chunk.length;
      chunks.push(chunk);
      if (size > MAX_BODY_BYTES) resolve("too-large");
      else if (held > maxHeld) resolve("too-busy");
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", () => resolve("cut-off"));
    request.once("close", () => resolve("cut-off"));
    return promise.finally(() => {
      clearTimeout(timer);
      request.removeAllListeners("data");
      held -= size;
    });
  };
}
