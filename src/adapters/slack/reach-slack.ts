// The first calls to Slack find out who we are, in which workspace, and for which app. A refused token ends the start. If Slack is
// unreachable, we try again.

import type { Logger } from "@slack/logger";
import pRetry from "p-retry";
import type { Clock } from "../../engine/clock.ts";
import { type Counters, type EventLog, PortError } from "../../ports.ts";
import { appOfBot, type SlackSelf, slackSelf } from "./answers.ts";
import { type Call, type Connections, createClients } from "./clients.ts";
import { appTokenRefusal } from "./socket-opening.ts";
import { createSlackCalls, REFUSED_TOKEN, type SlackCalls } from "./slack-calls.ts";

export type ReachOptions = {
  readonly botToken: string;
  /** Only in Socket Mode. */
  readonly appToken?: string;
  readonly apiUrl: string | null;
  /** The connections to use, which the caller closes. Undefined to connect directly. */
  readonly through: Connections | undefined;
  /** The time limit of calls that a person waits for (ms). The default suits Slack. */
  readonly quickMs?: number | undefined;
  /** SLACK_APP_ID. Null if it is not set; then only Slack says which app this is. */
  readonly appId: string | null;
  readonly logger: Logger;
  readonly log: EventLog;
  readonly clock: Pick<Clock, "monotonic">;
  readonly metrics: Pick<Counters, "slackCall">;
};

/** Slack, once it has accepted the tokens. */
export type ReachedSlack = {
  readonly calls: SlackCalls;
  readonly quick: Call;
  readonly background: Call;
  readonly self: SlackSelf;
  readonly appId: string;
};

/** Rejects with a one-line message for operators if Slack refuses a token, or if the app's id is unknown or wrong. */
export async function reachSlack(options: ReachOptions): Promise<ReachedSlack> {
  const { botToken, appToken, apiUrl, through, quickMs, logger, log, clock, metrics } = options;
  const calls = createSlackCalls({ monotonic: clock.monotonic, metrics });
  const clients = createClients(botToken, apiUrl, logger, { through, quickMs });
  const quick = calls.observe(clients.quick);
  const background = calls.observe(clients.background);
  const self = await whoAmI(quick, log);
  const appId = await whichApp(quick, self, options.appId, log);
  if (appToken !== undefined)
    await refuseBadAppToken(createClients(appToken, apiUrl, logger, { through, quickMs }).quick);
  return { calls, quick, background, self, appId };
}

/** Rejects with a one-line message for operators if Slack refuses the token. */
export async function whoAmI(call: Call, log: EventLog): Promise<SlackSelf> {
  try {
    return await retryUntilAnswered(async () => slackSelf(await call("auth.test", {})), isRefusedToken, log);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    throw new Error(
      `Slack refuses SLACK_BOT_TOKEN (${error.code}). Copy it again from the app's "OAuth & Permissions" page.`,
      { cause: error },
    );
  }
}

/**
 * Resolves to the id of the app that this bot belongs to, according to Slack. `configured` must agree with it, and replaces it if Slack
 * does not name an app. Rejects with a one-line message for operators if neither is known, because then we cannot tell which payloads are
 * for us.
 */
async function whichApp(
  call: Call,
  { bot }: Pick<SlackSelf, "bot">,
  configured: string | null,
  log: EventLog,
): Promise<string> {
  try {
    const app = await retryUntilAnswered(
      async () => appOfBot(await call("bots.info", { bot })),
      isFinal,
      log,
    );
    if (configured === null || configured === app) return app;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    if (configured !== null) return configured;
    throw new Error(
      `Slack does not say which app SLACK_BOT_TOKEN belongs to (${error.code}). Set SLACK_APP_ID to the "App ID" on the app's "Basic Information" page.`,
      { cause: error },
    );
  }
  throw new Error(
    "SLACK_BOT_TOKEN does not belong to the app that SLACK_APP_ID names. Copy both from the pages of the same app, or leave SLACK_APP_ID out.",
  );
}

/** Rejects only if Slack has no such token. Everything else shows when the socket opens, which the start does not wait for. */
async function refuseBadAppToken(call: Call): Promise<void> {
  await call("auth.test", {}).catch((error: unknown) => {
    if (error instanceof PortError && NO_SUCH_TOKEN.has(error.code)) throw appTokenRefusal(error);
  });
}

const NO_SUCH_TOKEN: ReadonlySet<string> = new Set(["invalid_auth", "account_inactive", "token_revoked"]);

const isRefusedToken = ({ code }: PortError): boolean => REFUSED_TOKEN.has(code);
/** An unreadable answer ("garbled") is final too, because Slack would give the same answer again. */
const isFinal = (error: PortError): boolean =>
  error.retry === "never" ||
  isRefusedToken(error) ||
  error.code === "missing_scope" ||
  error.code === "garbled";

/** Repeats `ask` until Slack answers. Rejects with the first final PortError, and with any other kind of error. */
async function retryUntilAnswered<Answer>(
  ask: () => Promise<Answer>,
  isFinalError: (error: PortError) => boolean,
  log: EventLog,
): Promise<Answer> {
  return pRetry(ask, {
    retries: Number.POSITIVE_INFINITY,
    maxTimeout: 30_000,
    shouldRetry: ({ error }) => error instanceof PortError && !isFinalError(error),
    onFailedAttempt: ({ error }) => {
      if (error instanceof PortError && isFinalError(error)) return;
      const code = error instanceof PortError ? error.code : error.name;
      log.warn({ code }, "cannot reach Slack; trying again. `npm run doctor` says what is wrong");
    },
  });
}
