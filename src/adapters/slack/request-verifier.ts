// Checks every HTTP request before Bolt sees it (HTTP mode only). Passes on only complete requests that Slack signed recently and that
// arrive for the first time. Bolt then checks the signature again by its own rules, which accept replays and future times.

import { isUtf8 } from "node:buffer";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { ReplayCache } from "../../ports/store.ts";

/** Where Slack posts, as in manifest.http.yml. The path must match exactly: no query, no trailing slash, the same case. */
export const EVENTS_PATH = "/slack/events";
/** Slack sends about ten headers; proxies add a few more. */
const MAX_HEADERS = 100;
/** How far Slack's clock may be ahead of ours, or behind it (ms). */
const WINDOW_MS = 5 * 60_000;
/** How long a signature can be valid (ms), because Slack's clock may be a whole window ahead of ours or behind it. */
const KEEP_MS = 2 * WINDOW_MS;

export type RequestVerifierOptions = {
  readonly signingSecret: string;
  readonly now: () => number;
  readonly seen: ReplayCache;
  readonly rejectedRequests: (reason: string) => void;
  /** Receives the verified requests. Their `rawBody` contains the bytes. */
  readonly next: RequestListener;
  readonly readBody?: ReadBody;
};

type RejectionReason =
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

const STATUS: Readonly<Record<RejectionReason, number>> = {
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
    verify({ ...options, readBody }, request, response).catch(() => {
      options.rejectedRequests("verifier-failed");
      if (!response.headersSent) response.writeHead(500, { connection: "close" }).end();
    });
  };
}

type Options = RequestVerifierOptions & { readonly readBody: ReadBody };

async function verify(options: Options, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reject = (reason: RejectionReason): void => respondRejected(options, reason, request, response);
  const type = contentType(request);
  const fault = headFault(request) ?? (type === null ? "other-content" : null);
  if (fault !== null || type === null) return reject(fault ?? "other-content");
  const claimed = claimedSignature(request, options.now());
  if (claimed === "unsigned" && type === FORM) return answerSslCheck(options, request, response);
  if (typeof claimed === "string") return reject(claimed);
  const body = await options.readBody(request);
  if (typeof body === "string") return reject(body);
  if (!isSigned(claimed, body, options.signingSecret)) return reject("forged");
  if (!isUtf8(body)) return reject("not-text");
  const mark = replayMarkOf(claimed);
  const isFirst = await options.seen.markSeen(mark, options.now(), KEEP_MS).catch(() => null);
  if (isFirst !== true) return reject(isFirst === null ? "store-silent" : "replayed");
  response.once("close", () => {
    // After a 5xx, Slack sends an event again. Within the same second, it has the same signature.
    if (response.statusCode >= 500) void options.seen.unmark(mark).catch(() => undefined);
  });
  // Bolt does not read a form whose content type has parameters.
  request.headers["content-type"] = type;
  options.next(Object.assign(request, { rawBody: body }), response);
}

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";

function contentType({ headersDistinct }: IncomingMessage): string | null {
  const values = headersDistinct["content-type"] ?? [];
  const bare = (values[0] ?? "").toLowerCase().replace(/; ?charset="?utf-8"?$/, "");
  return values.length === 1 && (bare === FORM || bare === JSON_TYPE) ? bare : null;
}

function headFault({ url, method, rawHeaders, headers }: IncomingMessage): RejectionReason | null {
  if (url !== EVENTS_PATH) return "other-path";
  if (method !== "POST") return "other-method";
  if (rawHeaders.length / 2 > MAX_HEADERS) return "too-many-headers";
  return headers["content-encoding"] === undefined ? null : "other-content";
}

/** More than an ssl_check with a token needs (bytes). */
const SSL_CHECK_BYTES = 1_000;
const SSL_CHECK = /^(token=[\w-]*&)?ssl_check=1(&token=[\w-]*)?$/;

/**
 * Answers the unsigned form with which Slack occasionally checks our certificate. The answer is an empty 200, and Bolt never sees the form.
 */
async function answerSslCheck(
  options: Options,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const reject = (reason: RejectionReason): void => respondRejected(options, reason, request, response);
  const length = Number(request.headers["content-length"] ?? Number.NaN);
  if (!(length <= SSL_CHECK_BYTES)) return reject("unsigned");
  const body = await options.readBody(request);
  if (typeof body === "string") return reject(body);
  if (!SSL_CHECK.test(body.toString("latin1"))) return reject("unsigned");
  response.writeHead(200, { "content-length": 0 }).end();
}

function respondRejected(
  { rejectedRequests }: Options,
  reason: RejectionReason,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  rejectedRequests(reason);
  const allow = reason === "other-method" ? { allow: "POST" } : {};
  response.writeHead(STATUS[reason], { connection: "close", "content-length": 0, ...allow }).end();
  // Stop receiving a body that will not be read.
  if (!request.complete) response.once("finish", () => request.destroy());
}

// Reads the body of an unverified request, within limits on size, time and memory.

export type BodyFault = "too-large" | "too-slow" | "cut-off" | "too-busy";

/** Slack's largest payload, a 250 kB modal in form encoding, stays below this (bytes). */
export const MAX_BODY_BYTES = 1_000_000;
/** Slack sends the whole body at once, and expects an answer within 3 s (ms). */
const BODY_MS = 3_000;
/** The limit for all bodies that are being read at the same time (bytes). */
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

// Slack's request signature: HMAC-SHA256 over version, timestamp and raw body (docs.slack.dev, verifying requests).

export type Signature = { readonly timestamp: string; readonly hmac: Buffer };
type Unsigned = "unsigned" | "malformed-signature" | "out-of-time";

const TIMESTAMP = /^\d{10}$/;
const SIGNATURE = /^v0=([0-9a-f]{64})$/;

/** Reads the signature headers, before any byte of the body is read. A repeated header makes the signature malformed. */
function claimedSignature({ headersDistinct }: IncomingMessage, now: number): Signature | Unsigned {
  const signatures = headersDistinct["x-slack-signature"] ?? [];
  const timestamps = headersDistinct["x-slack-request-timestamp"] ?? [];
  if (signatures.length === 0 || timestamps.length === 0) return "unsigned";
  const [signature = ""] = signatures;
  const [timestamp = ""] = timestamps;
  const hmac = SIGNATURE.exec(signature)?.[1];
  if (hmac === undefined || !TIMESTAMP.test(timestamp) || signatures.length + timestamps.length > 2)
    return "malformed-signature";
  if (Math.abs(now - Number(timestamp) * 1_000) > WINDOW_MS) return "out-of-time";
  return { timestamp, hmac: Buffer.from(hmac, "hex") };
}

/** Checks the signature of the raw bytes, comparing in constant time. */
function isSigned({ timestamp, hmac }: Signature, body: Buffer, secret: string): boolean {
  const expected = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest();
  return timingSafeEqual(expected, hmac);
}

/** Identifies the request in the replay cache. A hash, so that the cache never holds a signature. */
function replayMarkOf({ hmac }: Signature): string {
  return createHash("sha256").update(hmac).digest("hex");
}
