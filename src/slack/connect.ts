// The first call to Slack: who are we, in which workspace? A refused token ends the start; an unreachable Slack is tried again.

import pRetry from "p-retry";
import type { FlowLog } from "../flow/flow-log.ts";
import { PortError } from "../flow/ports.ts";
import type { Call } from "./clients.ts";
import { type SlackSelf, slackSelf } from "./wire.ts";

/** Slack's words for a token that will not become good by waiting. */
const REFUSED = new Set([
  "invalid_auth",
  "not_authed",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "not_allowed_token_type",
]);

/** Rejects with one line for people when Slack refuses the token. */
export async function whoAmI(call: Call, log: FlowLog): Promise<SlackSelf> {
  const ask = async (): Promise<SlackSelf> => slackSelf(await call("auth.test", {}));
  const refused = (error: Error): boolean => error instanceof PortError && REFUSED.has(error.code);
  try {
    return await pRetry(ask, {
      retries: Number.POSITIVE_INFINITY,
      maxTimeout: 30_000,
      shouldRetry: ({ error }) => error instanceof PortError && !refused(error),
      onFailedAttempt: ({ error }) => {
        if (refused(error)) return;
        const code = error instanceof PortError ? error.code : error.name;
        log.warn({ code }, "Slack can't be reached; trying again. `npm run doctor` tells what is wrong");
      },
    });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    throw new Error(
      `Slack refuses SLACK_BOT_TOKEN (${error.code}). Copy it again from the app's «OAuth & Permissions» page.`,
      { cause: error },
    );
  }
}
