// Observes every call to Slack: counts it, and notes whether Slack answers and still accepts the bot token.

import { WebAPIPlatformError } from "@slack/web-api";
import { type Counters, PortError } from "../../ports.ts";
import type { SlackHealth } from "../../ports/monitoring.ts";
import { scopesHeld, scopesNeeded } from "./answers.ts";
import { type Answer, type Call, SLACK_FAILED } from "./clients.ts";

/** Error codes for a token that stays invalid however long we wait. */
export const REFUSED_TOKEN: ReadonlySet<string> = new Set([
  "invalid_auth",
  "not_authed",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "not_allowed_token_type",
]);

/** Without a scope of these calls, no one can be verified, or nothing is posted. */
const VITAL = /^(users|usergroups|chat)\.|^conversations\.(info|members)$/;
/** Scopes that the app does without. Slack asks for one if somebody uses a command in a direct message. */
const OF_DIRECT_MESSAGES = /^(im|mpim):/;

type Deps = {
  readonly monotonic: () => number;
  readonly metrics: Pick<Counters, "slackCall">;
};

export type SlackCalls = Pick<SlackHealth, "tokenRefusal" | "unanswered"> & {
  /** Returns the same call, with every use observed. */
  observe(call: Call): Call;
  /** Makes sure that the last observation is at most `maxAgeMs` old. Never rejects. */
  checkToken(call: Call, maxAgeMs: number): Promise<void>;
};

export function createSlackCalls({ monotonic, metrics }: Deps): SlackCalls {
  let latest: { readonly refused: string | null; readonly at: number } | null = null;
  let unanswered: ReturnType<SlackHealth["unanswered"]> = null;
  const missing = createMissingScopes(monotonic);
  const note = (refused: string | null): void => void (latest = { refused, at: monotonic() });

  function noteError(method: string, error: unknown): void {
    if (!(error instanceof PortError)) return;
    const outcome = outcomeOf(error);
    metrics.slackCall(method, outcome);
    const now = monotonic();
    unanswered = outcome === "failed" ? { first: unanswered?.first ?? now, newest: now } : null;
    if (REFUSED_TOKEN.has(error.code)) note(error.code);
    if (error.code === "missing_scope") missing.refuses(method, error);
  }

  function noteAnswer(method: string, answer: Answer): void {
    metrics.slackCall(method, "ok");
    unanswered = null;
    note(null);
    missing.answers(method, answer);
  }

  function observe(call: Call): Call {
    return async (method, args) => {
      try {
        const answer = await call(method, args);
        noteAnswer(method, answer);
        return answer;
      } catch (error) {
        noteError(method, error);
        throw error;
      }
    };
  }

  async function checkToken(call: Call, maxAgeMs: number): Promise<void> {
    if (latest !== null && monotonic() - latest.at < maxAgeMs) return;
    await call("auth.test", {}).catch(() => undefined);
  }

  const tokenRefusal = (): string | null => latest?.refused ?? (missing.isAny() ? "missing_scope" : null);
  return { observe, checkToken, tokenRefusal, unanswered: () => unanswered };
}

/** These look-ups are not made any more once the policy names no group or channel. While a card waits, they are made every five minutes. */
const OF_POLICY = /^(?:usergroups\.|conversations\.members$)/;
const SCOPE_FORGOTTEN_MS = 15 * 60_000;

/** Remembers the methods that Slack refuses because of a scope. A success of another method proves nothing about them. */
function createMissingScopes(monotonic: () => number) {
  const missing = new Map<string, { readonly needed: readonly string[]; readonly at: number }>();
  return {
    isAny: () =>
      [...missing].some(
        ([method, { at }]) => !OF_POLICY.test(method) || monotonic() - at < SCOPE_FORGOTTEN_MS,
      ),
    refuses(method: string, { cause }: PortError): void {
      const needed = cause instanceof WebAPIPlatformError ? scopesNeeded(cause.data) : [];
      if (VITAL.test(method) && needed.length > 0 && !needed.some((scope) => OF_DIRECT_MESSAGES.test(scope)))
        missing.set(method, { needed, at: monotonic() });
    },
    answers(method: string, answer: Answer): void {
      missing.delete(method);
      if (missing.size === 0) return;
      const held = scopesHeld(answer);
      for (const [refused, { needed }] of missing)
        if (needed.every((scope) => held.includes(scope))) missing.delete(refused);
    },
  };
}

const SLACK_OUTCOMES = ["ok", "refused", "rate_limited", "failed"] as const;

/** "refused" means that Slack understood the call. "failed" means that Slack failed, gave no answer, or did not answer itself. */
function outcomeOf({ code, cause }: PortError): (typeof SLACK_OUTCOMES)[number] {
  if (code === "http_429" || code === "ratelimited" || code === "rate_limited") return "rate_limited";
  const isFromSlack = cause instanceof WebAPIPlatformError && code !== "garbled";
  return isFromSlack && !SLACK_FAILED.has(code) ? "refused" : "failed";
}
