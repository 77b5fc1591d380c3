// Listens to every call to Slack: counts it, and knows whether Slack still takes the bot token.

import { WebAPIPlatformError } from "@slack/web-api";
import { type Counters, PortError } from "../../ports.ts";
import type { SlackHealth } from "../../ports/monitoring.ts";
import type { Call } from "./clients.ts";

/** Error codes for a token that stays invalid however long we wait. */
export const REFUSED_TOKEN: ReadonlySet<string> = new Set([
  "invalid_auth",
  "not_authed",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "not_allowed_token_type",
]);

type Deps = {
  readonly monotonic: () => number;
  readonly metrics: Pick<Counters, "slackCall">;
};

export type SlackCalls = Pick<SlackHealth, "tokenRefusal"> & {
  /** The same call, listened to. */
  hear(call: Call): Call;
  checkToken(call: Call, maxAgeMs: number): Promise<void>;
};

export function createSlackCalls({ monotonic, metrics }: Deps): SlackCalls {
  let known: { readonly refused: string | null; readonly at: number } | null = null;
  const note = (refused: string | null): void => void (known = { refused, at: monotonic() });

  function heard(method: string, error: unknown): void {
    if (!(error instanceof PortError)) return;
    metrics.slackCall(method, outcomeOf(error));
    if (REFUSED_TOKEN.has(error.code)) note(error.code);
  }

  function hear(call: Call): Call {
    return async (method, args) => {
      try {
        const answer = await call(method, args);
        metrics.slackCall(method, "ok");
        note(null);
        return answer;
      } catch (error) {
        heard(method, error);
        throw error;
      }
    };
  }

  async function checkToken(call: Call, maxAgeMs: number): Promise<void> {
    if (known !== null && monotonic() - known.at < maxAgeMs) return;
    await call("auth.test", {}).catch(() => undefined);
  }

  return { hear, checkToken, tokenRefusal: () => known?.refused ?? null };
}

const SLACK_OUTCOMES = ["ok", "refused", "rate_limited", "failed"] as const;

/** "refused": Slack answered with an error. "failed": no answer, or none of Slack's. */
function outcomeOf({ code, cause }: PortError): (typeof SLACK_OUTCOMES)[number] {
  if (code === "http_429" || code === "ratelimited" || code === "rate_limited") return "rate_limited";
  return cause instanceof WebAPIPlatformError && code !== "garbled" ? "refused" : "failed";
}
