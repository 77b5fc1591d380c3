import {
  ErrorCode,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from "@slack/web-api";
import { describe, expect, test } from "vitest";
import { toPortError } from "#src/adapters/slack/clients.ts";

const platform = (error: string): Error => new WebAPIPlatformError({ ok: false, error });

describe("an error code of Slack", () => {
  test.each([
    // The same call would be refused again.
    ["not_in_channel", "no", "never"],
    ["channel_not_found", "no", "never"],
    ["is_archived", "no", "never"],
    ["invalid_blocks", "no", "never"],
    ["msg_too_long", "no", "never"],
    ["msg_blocks_too_long", "no", "never"],
    ["message_not_found", "no", "never"],
    ["cant_update_message", "no", "never"],
    ["user_not_in_channel", "no", "never"],
    ["a_word_of_tomorrow", "no", "never"],
    // It may succeed after someone has fixed something.
    ["ratelimited", "no", "later"],
    ["invalid_auth", "no", "later"],
    ["token_revoked", "no", "later"],
    ["missing_scope", "no", "later"],
    // It may have been carried out.
    ["internal_error", "maybe", "later"],
    ["fatal_error", "maybe", "later"],
    ["request_timeout", "maybe", "later"],
    ["service_unavailable", "maybe", "later"],
  ])("%s: applied %s, retry %s", (code, applied, retry) => {
    expect(toPortError(platform(code))).toMatchObject({ applied, retry, code });
  });
});

describe("a 200 that is not an answer from Slack", () => {
  test.each<[string, object]>([
    ["a page of HTML, as the SDK hands it on", { ok: false, error: "<html><title>Busy</title></html>" }],
    ["a sentence", { ok: false, error: "Upstream is gone" }],
    ["nothing", { ok: false, error: "" }],
    ["a list", []],
    ["an empty object", {}],
    ["an error code without ok", { error: "not_in_channel" }],
    ["a refusal without an error code", { ok: false }],
    ["a refusal as text", { ok: "false", error: "not_in_channel" }],
  ])("may have been applied: %s", (_what, data) => {
    const error = toPortError(new WebAPIPlatformError(data as { ok: false; error: string }));
    expect(error).toMatchObject({ applied: "maybe", retry: "later", code: "garbled" });
    expect(error.message).not.toContain("<");
  });
});

test("a rate limit says how long to wait, in milliseconds", () => {
  expect(toPortError(new WebAPIRateLimitedError(30))).toMatchObject({
    applied: "no",
    retry: "later",
    code: "http_429",
    retryAfterMs: 30_000,
  });
});

test.each([
  [400, "no"],
  [403, "no"],
  [404, "no"],
  [500, "maybe"],
  [502, "maybe"],
  [503, "maybe"],
])("HTTP %i: applied %s", (status, applied) => {
  const error = new WebAPIHTTPError(status, "words", {});
  expect(toPortError(error)).toMatchObject({ applied, retry: "later", code: `http_${status}` });
});

const withCode = (code: string, cause?: unknown): Error =>
  Object.assign(new Error(code, { cause }), { code });

describe("a broken connection", () => {
  test.each([
    ["ECONNREFUSED", "no"],
    ["ENOTFOUND", "no"],
    ["EAI_AGAIN", "no"],
    ["UND_ERR_CONNECT_TIMEOUT", "no"],
    ["ECONNRESET", "maybe"],
    ["EPIPE", "maybe"],
    ["UND_ERR_SOCKET", "maybe"],
    ["UND_ERR_HEADERS_TIMEOUT", "maybe"],
  ])("%s: applied %s", (code, applied) => {
    const original = new TypeError("fetch failed", { cause: withCode(code) });
    expect(toPortError(new WebAPIRequestError(original))).toMatchObject({ applied, retry: "later" });
  });

  test("without a known reason may have been applied", () => {
    expect(toPortError(new Error("odd"))).toMatchObject({
      applied: "maybe",
      retry: "later",
      code: "no_answer",
    });
    expect(toPortError("a text")).toMatchObject({ applied: "maybe", retry: "later", code: "no_answer" });
  });

  test("whose causes form a circle is read to its end", () => {
    const one = withCode("EODD");
    one.cause = one;
    expect(toPortError(one)).toMatchObject({ applied: "maybe", code: "EODD" });
  });
});

test("the SDK's error classes are the ones that we distinguish", () => {
  expect(platform("x")).toMatchObject({ code: ErrorCode.PlatformError });
});
