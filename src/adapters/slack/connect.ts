// The first call to Slack: who are we, in which workspace? A refused token ends the start; an unreachable Slack is tried again.

import pRetry from "p-retry";
import { type EventLog, PortError } from "../../ports.ts";
import type { Call } from "./clients.ts";
import { appOfBot, type SlackSelf, slackSelf } from "./answers.ts";

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
export async function whoAmI(call: Call, log: EventLog): Promise<SlackSelf> {
  try {
    return await untilAnswered(async () => slackSelf(await call("auth.test", {})), isRefusedToken, log);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    throw new Error(
      `Slack refuses SLACK_BOT_TOKEN (${error.code}). Copy it again from the app's «OAuth & Permissions» page.`,
      { cause: error },
    );
  }
}

/**
 * The id of the app that this bot belongs to: Slack's own word, and `configured` must agree with it where both are known. Rejects
 * with one line for people when it is not known: without it nobody could say which payloads are ours.
 */
export async function whichApp(
  call: Call,
  { bot }: Pick<SlackSelf, "bot">,
  configured: string | null,
  log: EventLog,
): Promise<string> {
  try {
    const told = await untilAnswered(async () => appOfBot(await call("bots.info", { bot })), isFinal, log);
    if (configured === null || configured === told) return told;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    if (configured !== null) return configured;
    throw new Error(
      `Slack does not say which app SLACK_BOT_TOKEN belongs to (${error.code}). Set SLACK_APP_ID to the «App ID» of the app's «Basic Information» page.`,
      { cause: error },
    );
  }
  throw new Error(
    "SLACK_APP_ID is not the app that SLACK_BOT_TOKEN belongs to. Copy both from the pages of one app, or leave SLACK_APP_ID out.",
  );
}

const isRefusedToken = ({ code }: PortError): boolean => REFUSED.has(code);
/** «garbled» is an answer, and the next one would be the same. */
const isFinal = (error: PortError): boolean =>
  error.retry === "never" ||
  isRefusedToken(error) ||
  error.code === "missing_scope" ||
  error.code === "garbled";

/** Asks again and again until Slack answers. Rejects with the PortError that is final, and with what is none. */
async function untilAnswered<Answer>(
  ask: () => Promise<Answer>,
  final: (error: PortError) => boolean,
  log: EventLog,
): Promise<Answer> {
  return pRetry(ask, {
    retries: Number.POSITIVE_INFINITY,
    maxTimeout: 30_000,
    shouldRetry: ({ error }) => error instanceof PortError && !final(error),
    onFailedAttempt: ({ error }) => {
      if (error instanceof PortError && final(error)) return;
      const code = error instanceof PortError ? error.code : error.name;
      log.warn({ code }, "Slack can't be reached; trying again. `npm run doctor` tells what is wrong");
    },
  });
}
