// Calls to Slack: the two clients, the meaning of their errors, and private answers through a `response_url`. After a 429, the SDK pauses
// all calls of a client. So calls that a person waits for (views, look-ups) do not share a client with background posts. Neither client
// retries, because the SDK's retries can post a message twice.

import type { Logger } from "@slack/logger";
import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
  type WebClientOptions,
} from "@slack/web-api";
import { type Dispatcher, request } from "undici";
import { PortError } from "../../ports.ts";
import type { Message } from "./blocks/rich.ts";

export type Answer = { readonly [field: string]: unknown };
/** Makes one attempt at a Web API call. Rejects with PortError. */
export type Call = (method: string, args: { readonly [name: string]: unknown }) => Promise<Answer>;

/** Replaces the connections of Slack's packages, for example to use a proxy. `fetch` sends each call over the dispatcher. */
export type Connections = {
  readonly dispatcher: Dispatcher;
  readonly fetch: NonNullable<WebClientOptions["fetch"]>;
};

export type Clients = {
  /** For calls that a person waits for. It has a short time limit. */
  readonly quick: Call;
  /** For posts, updates and read-backs. */
  readonly background: Call;
};

/**
 * The time limit of calls that a person waits for (ms). Slack's trigger expires 3 s after the click, so a call that opens a window must end
 * well before that. We answer a submit within 2 s and a command within 3 s.
 */
export const QUICK_MS = 1_800;
/** Every call must end within 10 s; this leaves a margin (ms). */
const BACKGROUND_TIMEOUT_MS = 9_000;

type Reach = {
  /** The connections to use. The caller closes them. */
  readonly through?: Connections | undefined;
  /** The time limit of `quick` (ms). */
  readonly quickMs?: number | undefined;
};

export function createClients(
  token: string,
  apiUrl: string | null,
  logger: Logger,
  { through, quickMs = QUICK_MS }: Reach = {},
): Clients {
  const common = {
    ...(through === undefined ? {} : { fetch: through.fetch }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger,
    ...(apiUrl === null ? {} : { slackApiUrl: apiUrl }),
  };
  const quick = new WebClient(token, { ...common, timeout: quickMs });
  const background = new WebClient(token, { ...common, timeout: BACKGROUND_TIMEOUT_MS });
  return { quick: createCall(quick), background: createCall(background) };
}

function createCall(client: WebClient): Call {
  return async (method, args) => {
    try {
      return { ...(await client.apiCall(method, args)) };
    } catch (error) {
      throw toPortError(error);
    }
  };
}

// Decides whether a failed call to Slack may have been applied, and whether to try again.

/** Slack itself failed. docs.slack.dev: "the request may have partly succeeded". */
export const SLACK_FAILED: ReadonlySet<string> = new Set([
  "internal_error",
  "fatal_error",
  "request_timeout",
  "service_unavailable",
]);
/** The call itself is valid. It may succeed once Slack or the operator has fixed the cause. */
const MAY_SUCCEED_LATER = new Set([
  "ratelimited",
  "rate_limited",
  "message_limit_exceeded",
  "team_added_to_org",
  "invalid_auth",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "not_authed",
  "missing_scope",
]);
/** Failures before any byte of the request was sent. */
const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ENETUNREACH",
  "EHOSTUNREACH",
]);

const WORDS: { readonly [code: string]: string } = {
  not_in_channel: "Countersign is not in this channel",
  channel_not_found: "Countersign can't see this channel",
  is_archived: "the channel is archived",
  restricted_action: "the workspace does not let Countersign post in this channel",
  missing_scope: "the Slack app lacks a scope; install it again from manifest.yml",
};

export function toPortError(error: unknown): PortError {
  if (error instanceof WebAPIPlatformError) {
    const { ok, error: code }: { ok: unknown; error: unknown } = error.data;
    // The SDK reports any 200 without `ok: true` as an error from Slack, even a proxy's HTML page, a list or an empty object.
    return ok === false && typeof code === "string" && ERROR_CODE.test(code)
      ? platform(code, error)
      : unreadable(error);
  }
  if (error instanceof WebAPIRateLimitedError) {
    const retryAfterMs = error.retryAfter * 1_000;
    return new PortError("Slack asks us to slow down", {
      applied: "no",
      retry: "later",
      code: "http_429",
      retryAfterMs,
      cause: error,
    });
  }
  if (error instanceof WebAPIHTTPError) {
    const applied = error.statusCode >= 500 ? "maybe" : "no";
    const code = `http_${error.statusCode}`;
    return new PortError(`Slack answered HTTP ${error.statusCode}`, {
      applied,
      retry: "later",
      code,
      cause: error,
    });
  }
  const causes = error instanceof WebAPIRequestError ? codesOf(error.original) : codesOf(error);
  const applied = causes.some((code) => NOT_CONNECTED.has(code)) ? "no" : "maybe";
  return new PortError("Slack did not answer", {
    applied,
    retry: "later",
    code: causes[0] ?? "no_answer",
    cause: error,
  });
}

/** docs.slack.dev: an error code is a single lower-case word. */
const ERROR_CODE = /^[a-z][a-z0-9_]{1,80}$/;

function unreadable(cause: Error): PortError {
  const facts = { applied: "maybe", retry: "later", code: "garbled" } as const;
  // The original error would put the whole page into the log.
  return new PortError("Slack's answer cannot be read", { ...facts, cause: cause.name });
}

function platform(code: string, cause: Error): PortError {
  const words = WORDS[code] ?? `Slack refused (${code})`;
  if (SLACK_FAILED.has(code)) return new PortError(words, { applied: "maybe", retry: "later", code, cause });
  return new PortError(words, {
    applied: "no",
    retry: MAY_SUCCEED_LATER.has(code) ? "later" : "never",
    code,
    cause,
  });
}

/** Returns the `code`s along the chain of causes. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    if ("code" in at && typeof at.code === "string") codes.push(at.code);
  }
  return codes;
}

// Sends private answers through a `response_url`, and replaces clicked messages.

const TIMEOUT_MS = 5_000;
/** How much of Slack's answer is read (characters). The answer is "ok" or a short JSON object. */
const ANSWER_CHARS = 1_000;

/** Sends a message through a `response_url`. Rejects with PortError. Follows no redirects. */
export type Responder = (
  url: string,
  /** With `replace_original`, this content replaces the clicked message for everyone who sees it. */
  message: { text: string; blocks?: Message["blocks"]; replace_original?: true },
) => Promise<void>;
/** Replaces the clicked message. Resolves only if Slack says that it accepted the message. */
export type Replacer = (
  url: string,
  message: Message & { readonly [field: string]: unknown },
) => Promise<void>;

export function createResponder(apiUrl: string | null, through?: Connections): Responder {
  return async (url, message) => {
    const content = { response_type: "ephemeral", replace_original: false, ...message };
    await postTo(url, content, { apiUrl, through });
  };
}

export function createReplacer(apiUrl: string | null, through?: Connections): Replacer {
  return async (url, message) => {
    const says = await postTo(url, { ...message, replace_original: true }, { apiUrl, through });
    if (says === "ok" || says === true) return;
    const applied = says === false ? "no" : "maybe";
    throw new PortError(NOT_ACCEPTED, { applied, retry: "never", code: "not_replaced" });
  };
}

const NOT_ACCEPTED = "Slack did not accept the answer";

/** Resolves to the word "ok" or the `ok` field of Slack's answer, or to null if it has neither. */
async function postTo(
  url: string,
  message: object,
  { apiUrl, through }: { apiUrl: string | null; through: Connections | undefined },
): Promise<"ok" | boolean | null> {
  if (!isSlackAddress(url, ANSWER_HOSTS, apiUrl)) {
    const facts = { applied: "no", retry: "never", code: "foreign_response_url" } as const;
    throw new PortError("not Slack's address", facts);
  }
  const body = JSON.stringify(message);
  const headers = { "content-type": "application/json" };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const noAnswer = (cause: unknown): never => {
    throw new PortError(NOT_ACCEPTED, { applied: "maybe", retry: "never", code: "no_answer", cause });
  };
  const connections = through === undefined ? {} : { dispatcher: through.dispatcher };
  const options = { method: "POST" as const, headers, body, signal, ...connections };
  const answer = await request(url, options).catch(noAnswer);
  if (answer.statusCode >= 200 && answer.statusCode < 300) return okIn(await firstChars(answer.body));
  await answer.body.dump();
  const code = `http_${answer.statusCode}`;
  const applied = answer.statusCode >= 500 ? "maybe" : "no";
  throw new PortError(NOT_ACCEPTED, { applied, retry: "never", code });
}

/** Resolves to an empty text if the connection broke, because then there is no answer. */
async function firstChars(body: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  try {
    for await (const part of body) {
      text += part.toString("utf8");
      if (text.length > ANSWER_CHARS) break;
    }
    return text;
  } catch {
    return "";
  }
}

function okIn(text: string): "ok" | boolean | null {
  if (text.trim() === "ok") return "ok";
  try {
    const answer: unknown = JSON.parse(text);
    const ok = typeof answer === "object" && answer !== null && "ok" in answer ? answer.ok : null;
    return typeof ok === "boolean" ? ok : null;
  } catch {
    return null;
  }
}

// Addresses from payloads and answers are not trusted. They must be on a host of Slack's, or on the host of SLACK_API_URL, which sandboxes
// and proxies set.

/** The host of response URLs (docs.slack.dev, handling user interaction). */
export const ANSWER_HOSTS = /^hooks\.slack\.com$/;
/** The hosts of uploads. Slack chooses one, always below its own domain. */
export const UPLOAD_HOSTS = /^[a-z0-9-]+(\.[a-z0-9-]+)*\.slack\.com$/;

/** `apiUrl` is SLACK_API_URL. Its host is accepted on any port, but never over a weaker protocol than its own. */
export function isSlackAddress(url: string, hosts: RegExp, apiUrl: string | null): boolean {
  const { protocol = "", hostname = "", port, username, password } = URL.parse(url) ?? {};
  if (username !== "" || password !== "") return false;
  if (protocol === "https:" && hosts.test(hostname) && port === "") return true;
  const api = apiUrl === null ? null : URL.parse(apiUrl);
  return api !== null && hostname === api.hostname && (protocol === "https:" || protocol === api.protocol);
}
