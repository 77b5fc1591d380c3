// Builds the Slack adapter: makes the first calls, and creates the two clients, the ports for the use cases, and the Bolt app.

import type { Logger } from "@slack/logger";
import pRetry from "p-retry";
import type { Bot } from "../../bot.ts";
import type { Clock } from "../../engine/clock.ts";
import {
  type Chat,
  type Counters,
  type EventLog,
  type OwnMessages,
  type PacedEffect,
  type People,
  PortError,
} from "../../ports.ts";
import type { NotificationSender } from "../../ports/notification.ts";
import type { SlackHealth } from "../../ports/monitoring.ts";
import type { AuditLog, DocumentStore } from "../../ports/store.ts";
import { appOfBot, type SlackSelf, slackSelf } from "./answers.ts";
import type { Deployment } from "./blocks/deployment.ts";
import { createSlackApp, type SlackApp, type Transport } from "./bolt-app.ts";
import { createCardReplacements, createOpenedForms, createSuggestedRuns } from "./click-memory.ts";
import { createChat } from "./chat.ts";
import {
  type Call,
  type Connections,
  createClients,
  createReplacer,
  createResponder,
  type Responder,
} from "./clients.ts";
import { createFiles } from "./files.ts";
import { drawHome } from "./home-and-queue.ts";
import { createLiveHomes, type LiveHomesDeps } from "./live-homes.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { createNotificationSender } from "./notifications.ts";
import { createOwnMessages } from "./orphans.ts";
import { createPeople } from "./people.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";
import { createSlackCalls, REFUSED_TOKEN, type SlackCalls } from "./slack-calls.ts";

export type SlackOptions = {
  readonly transport: Transport;
  readonly botToken: string;
  readonly apiUrl: string | null;
  /** The connections to use, which the caller closes. Undefined to connect directly. */
  readonly through: Connections | undefined;
  /** The time limit of calls that a person waits for (ms). The default suits Slack. */
  readonly quickMs?: number | undefined;
  /** Whether the installation consists of a single process. */
  readonly alone: boolean;
  readonly command: string;
  readonly deployment: Deployment;
  /** The name of this installation in the marks of its messages. */
  readonly home: string;
  /** SLACK_APP_ID. Null if it is not set; then only Slack says which app this is. */
  readonly appId: string | null;
  readonly rejectedRequests: (reason: string) => void;
  readonly logger: Logger;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly metrics: Pick<Counters, "slackCall">;
  readonly documents: DocumentStore;
  readonly auditLog: Pick<AuditLog, "auditEnd">;
  readonly digest: (text: string) => string;
  readonly nonce: () => string;
};

export type UseCases = Pick<
  ListenerDeps,
  | "startRun"
  | "adoptRun"
  | "queries"
  | "openForm"
  | "submitDecision"
  | "stopRun"
  | "claimRequest"
  | "askRequester"
  | "freeze"
  | "undoDecision"
  | "openStorm"
  | "review"
  | "submitReview"
  | "noteRefusal"
  | "exportEvidence"
  | "reportWeek"
  | "dispute"
  | "closeDispute"
  | "cards"
  | "orphans"
  | "acknowledge"
> &
  Pick<Bot, "onRun" | "onFreezes" | "onChangeByOtherReplica" | "holdsShard">;

export type SlackAdapter = {
  readonly self: SlackSelf;
  readonly chat: Chat;
  readonly notificationSender: NotificationSender;
  readonly ownMessages: OwnMessages;
  readonly people: People;
  /** `started` returns null until Slack has been reached and the app has started. */
  health(started: () => Pick<SlackApp, "connection"> | null): SlackHealth;
  /** A separate step, because the listeners need the use cases, which in turn need `chat` and `people`. */
  app(useCases: UseCases): SlackApp;
};

/** Rejects with a one-line message for operators if Slack refuses the bot token, or if the app's id is unknown or wrong. */
export async function createSlack(options: SlackOptions): Promise<SlackAdapter> {
  const { apiUrl, through, quickMs, clock, log } = options;
  const calls = createSlackCalls({ monotonic: clock.monotonic, metrics: options.metrics });
  const clients = createClients(options.botToken, apiUrl, options.logger, { through, quickMs });
  const quick = calls.observe(clients.quick);
  const background = calls.observe(clients.background);
  const answerAt = createResponder(apiUrl, through);
  const now = (): number => clock.now();
  const self = await whoAmI(quick, log);
  const appId = await whichApp(quick, self, options.appId, log);
  const { chat, notificationSender, ownMessages, replacements, queues, sharers } = createSenders(options, {
    quick,
    call: background,
    self,
    answerAt,
  });
  const people = createPeople(quick, self, clock, quickMs);
  return {
    self,
    chat,
    notificationSender,
    ownMessages,
    people,
    health: createHealth(calls, background, queues),
    app: (useCases) => {
      const facts = { team: self.team, self: self.user, quick, answerAt, replacements };
      const deps = createListenerDeps({ ...options, sharers }, useCases, facts);
      return createSlackApp({ ...options, self, appId, teamOf: people.teamOf, now }, deps);
    },
  };
}

function createHealth(calls: SlackCalls, call: Call, queues: SlackHealth["queues"]): SlackAdapter["health"] {
  return (started) => ({
    connection: () => started()?.connection() ?? "starting",
    tokenRefusal: calls.tokenRefusal,
    unanswered: calls.unanswered,
    checkToken: (maxAgeMs) => calls.checkToken(call, maxAgeMs),
    queues,
  });
}

type Facts = Pick<ListenerDeps, "team" | "self" | "quick" | "answerAt" | "replacements">;

function createListenerDeps(
  options: SlackOptions & Pick<LiveHomesDeps, "sharers">,
  { onRun, onFreezes, onChangeByOtherReplica, holdsShard, ...useCases }: UseCases,
  facts: Facts,
): ListenerDeps {
  const { command, deployment, nonce, clock, log } = options;
  const homes = createLiveHomes(
    { ...options, holdsShard },
    (user, choice) => void drawHome(deps, user, choice),
  );
  onRun((run) => homes.changed(run));
  onFreezes(() => homes.freezesChanged());
  onChangeByOtherReplica(() => void homes.refresh());
  const deps = {
    ...useCases,
    ...facts,
    command,
    deployment,
    forms: createOpenedForms(),
    homes,
    suggestedRuns: createSuggestedRuns(nonce),
    nonce,
    clock,
    log,
  };
  return deps;
}

type Sending = {
  readonly quick: Call;
  readonly call: Call;
  readonly self: SlackSelf;
  readonly answerAt: Responder;
};

/** Creates everything that posts and updates messages. All of it shares one rate limiter. */
function createSenders(options: SlackOptions, { quick, call, self, answerAt }: Sending) {
  const { apiUrl, through, clock, digest, deployment, home, command } = options;
  const monotonic = (): number => clock.monotonic();
  const limiter = createRateLimiter(clock);
  const files = createFiles(call, apiUrl, through);
  const releaseUpdate: RateLimiter["releaseUpdate"] = (channel, ts) => limiter.releaseUpdate(channel, ts);
  const replacements = createCardReplacements({ monotonic, releaseUpdate });
  const replaceAt = createReplacer(apiUrl, through);
  const replacing = { replaceAt, replacements };
  const chat = createChat({
    call,
    limiter,
    files,
    answerAt,
    ...replacing,
    self,
    deployment,
    digest,
    home,
    monotonic,
  });
  const shared = { call, limiter, self, deployment, digest };
  const ownMessages = createOwnMessages({ ...shared, quick, home, command });
  const notificationSender = createNotificationSender({ ...shared, files, command });
  const shown = { queues: () => queuesOf(limiter), sharers: () => limiter.sharers() };
  return { chat, notificationSender, ownMessages, replacements, ...shown };
}

function queuesOf(limiter: RateLimiter): ReturnType<SlackHealth["queues"]> {
  const waiting = (kind: PacedEffect["kind"]): number => limiter.waiting(kind);
  return {
    post: waiting("post"),
    update: waiting("update"),
    read: waiting("read"),
    sweep: waiting("sweep"),
    other: waiting("other"),
  };
}

// The first calls to Slack find out who we are, in which workspace, and for which app. A refused token ends the start. If Slack is
// unreachable, we try again.

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
