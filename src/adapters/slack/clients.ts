// The two Slack clients. After a 429 the SDK pauses all calls of a client, so calls that a person waits for (views, look-ups) do not
// share one with background posts. Neither client retries: the SDK's retries can post a message twice.

import type { Logger } from "@slack/logger";
import { WebClient } from "@slack/web-api";
import { toPortError } from "./slack-error.ts";

export type Answer = { readonly [field: string]: unknown };
/** One Web API call, one attempt. Rejects with PortError. */
export type Call = (method: string, args: { readonly [name: string]: unknown }) => Promise<Answer>;

export type Clients = {
  /** For calls that a person waits for: a short time limit. */
  readonly quick: Call;
  /** For posts, updates and read-backs. */
  readonly background: Call;
};

/** Slack's trigger expires 3 s after the click, so a call that opens a modal must end well before that (ms). */
const QUICK_TIMEOUT_MS = 1_800;
/** DESIGN.md: every call takes at most 10 s (ms). */
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
