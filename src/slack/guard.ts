// In HTTP mode the first and the only one to meet a request: what is not rightly signed, in time and new gets no further. Bolt,
// which checks again by its own rules, sees a request only when all of its bytes are here and known to be Slack's.

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type BodyFault, createReadBody, type ReadBody } from "./request-body.ts";
import { claimedSignature, isSigned, markOf, type Unsigned, WINDOW_MS } from "./signature.ts";

/** Where Slack posts; DESIGN.md's contract. Nothing is added to it: no query, no slash at its end, no other case. */
export const EVENTS_PATH = "/slack/events";
/** Slack sends some ten headers, proxies add some more. */
const MAX_HEADERS = 100;
/** A signature is good for twice the window at most: from the earliest clock to the latest. */
const KEEP_MS = 2 * WINDOW_MS;

export type Seen = {
  /** True the first time only. Rejects when nobody can say. */
  markSeen(mark: string, at: number, keepMs: number): Promise<boolean>;
  /** The request came to nothing, so Slack may send it again. */
  unmark(mark: string): Promise<void>;
};

export type GuardOptions = {
  readonly signingSecret: string;
  readonly now: () => number;
  readonly seen: Seen;
  readonly turnedAway: (because: string) => void;
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

export function createGuard(options: GuardOptions): RequestListener {
  const readBody = options.readBody ?? createReadBody();
  return (request, response) => {
    pass({ ...options, readBody }, request, response).catch(() => {
      options.turnedAway("guard-failed");
      if (!response.headersSent) response.writeHead(500, { connection: "close" }).end();
    });
  };
}

type Guarding = GuardOptions & { readonly readBody: ReadBody };

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
  const mark = markOf(claimed);
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
  { turnedAway }: Guarding,
  because: Because,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  turnedAway(because);
  const allow = because === "other-method" ? { allow: "POST" } : {};
  response.writeHead(STATUS[because], { connection: "close", "content-length": 0, ...allow }).end();
  // What is still on its way is nobody's any more.
  if (!request.complete) response.once("finish", () => request.destroy());
}
