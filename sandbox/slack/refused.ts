import type { Code } from "./errors.ts";

/** Slack says no: answered with HTTP 200, `ok: false` and this error code. */
export class Refused extends Error {
  readonly code: Code;
  readonly more: Record<string, unknown>;

  constructor(code: Code, more: Record<string, unknown> = {}) {
    super(code);
    this.code = code;
    this.more = more;
  }
}

/** A refusal with the sentences Slack puts in `response_metadata.messages`. */
export const refusedWith = (code: Code, messages: readonly string[]): Refused =>
  new Refused(code, { response_metadata: { messages: messages.map((message) => `[ERROR] ${message}`) } });

/** Too many calls: answered with HTTP 429. */
export class RateLimited extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super("ratelimited");
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
