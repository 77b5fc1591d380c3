// Says of a failed Slack call whether it may have been applied, and whether another try is worth it.

import {
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from "@slack/web-api";
import { PortError } from "../../ports.ts";

/** docs.slack.dev: "the request may have partly succeeded". */
const MAYBE_APPLIED = new Set(["internal_error", "fatal_error", "request_timeout", "service_unavailable"]);
/** The call itself is right. It may succeed once Slack or the operator has fixed the cause. */
const PASSES_LATER = new Set([
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
/** Failures before a byte of the request was written. */
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
    // The SDK reports any 200 without `ok: true` as an error of Slack, even a proxy's HTML page, a list or an empty object.
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
  // The cause would carry the whole page into the log.
  return new PortError("Slack's answer cannot be read", { ...facts, cause: cause.name });
}

function platform(code: string, cause: Error): PortError {
  const words = WORDS[code] ?? `Slack refused (${code})`;
  if (MAYBE_APPLIED.has(code)) return new PortError(words, { applied: "maybe", retry: "later", code, cause });
  return new PortError(words, {
    applied: "no",
    retry: PASSES_LATER.has(code) ? "later" : "never",
    code,
    cause,
  });
}

/** The `code`s along the chain of causes. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    if ("code" in at && typeof at.code === "string") codes.push(at.code);
  }
  return codes;
}
