// The two clients towards Slack. A 429 makes the SDK's client pause all its calls, so what a person waits for (views, look-ups)
// never shares one with background posts. Neither repeats a call by itself: the SDK's own retries post messages twice.

import type { Logger } from "@slack/logger";
import { WebClient } from "@slack/web-api";
import { toPortError } from "./slack-error.ts";

export type Answer = { readonly [field: string]: unknown };
/** One Web API call, one attempt. Rejects with PortError. */
export type Call = (method: string, args: { readonly [name: string]: unknown }) => Promise<Answer>;

export type Clients = {
  /** For what a person waits for: short time limit. */
  readonly quick: Call;
  /** For posts, updates and read-backs. */
  readonly background: Call;
};

/** A modal must open within 3 s of the click (Slack's trigger life), so no single call may take that long (ms). */
const QUICK_TIMEOUT_MS = 1_800;
/** DESIGN.md: every call is answered within 10 s. */
const BACKGROUND_TIMEOUT_MS = 9_000;

export function createClients(token: string, apiUrl: string | null, logger: Logger): Clients {
  const common = {
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger,
    ...(apiUrl === null ? {} : { slackApiUrl: apiUrl }),
  };
  const quick = new WebClient(token, { ...common, timeout: QUICK_TIMEOUT_MS });
  const background = new WebClient(token, { ...common, timeout: BACKGROUND_TIMEOUT_MS });
  return { quick: caller(quick), background: caller(background) };
}

function caller(client: WebClient): Call {
  return async (method, args) => {
    try {
      return { ...(await client.apiCall(method, args)) };
    } catch (error) {
      throw toPortError(error);
    }
  };
}
