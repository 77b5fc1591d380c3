// Builds the Slack adapter once Slack has been reached: the ports for the use cases, and the Bolt app.

import type { Logger } from "@slack/logger";
import type { Bot } from "../../bot.ts";
import type { Clock } from "../../engine/clock.ts";
import type { Chat, EventLog, OwnMessages, PacedEffect, People } from "../../ports.ts";
import type { NotificationSender } from "../../ports/notification.ts";
import type { SlackHealth } from "../../ports/monitoring.ts";
import type { DocumentStore, FormStore } from "../../ports/store.ts";
import type { AuditLog } from "../../ports/audit-store.ts";
import type { SlackSelf } from "./answers.ts";
import type { Deployment } from "./blocks/deployment.ts";
import { createSlackApp, type SlackApp, type Transport } from "./bolt-app.ts";
import { createCardReplacements, createOnce } from "./click-memory.ts";
import { createChat } from "./chat.ts";
import { type Call, type Connections, createReplacer, createResponder, type Responder } from "./clients.ts";
import { createFiles } from "./files.ts";
import { drawHome } from "./home-and-queue.ts";
import { createLiveHomes, type LiveHomesDeps } from "./live-homes.ts";
import type { BotParts, ListenerDeps } from "./listener-deps.ts";
import { createNotificationSender } from "./notifications.ts";
import { createOwnMessages } from "./orphans.ts";
import { createPeople } from "./people.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";
import type { ReachedSlack } from "./reach-slack.ts";
import type { SlackCalls } from "./slack-calls.ts";

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
  readonly rejectedRequests: (reason: string) => void;
  readonly logger: Logger;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly documents: DocumentStore;
  readonly auditLog: Pick<AuditLog, "auditHead">;
  readonly digest: (text: string) => string;
  readonly nonce: () => string;
  readonly macOf: FormStore["macOf"];
};

type BotForSlack = BotParts & Pick<Bot, "onRun" | "onFreezes" | "onChangeByOtherReplica" | "holdsShard">;

export type SlackAdapter = {
  readonly self: SlackSelf;
  readonly chat: Chat;
  readonly notificationSender: NotificationSender;
  readonly ownMessages: OwnMessages;
  readonly people: People;
  /** `started` returns null until Slack has been reached and the app has started. */
  health(started: () => Pick<SlackApp, "connection"> | null): SlackHealth;
  /** A separate step, because the listeners need the use cases, which in turn need `chat` and `people`. */
  app(bot: BotForSlack): SlackApp;
};

export function createSlack(
  { calls, quick, background, self, appId }: ReachedSlack,
  options: SlackOptions,
): SlackAdapter {
  const { apiUrl, through, quickMs, clock } = options;
  const answerAt = createResponder(apiUrl, through);
  const now = (): number => clock.now();
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
    app: (bot) => {
      const facts = { team: self.team, self: self.user, quick, answerAt, replacements };
      const deps = createListenerDeps({ ...options, sharers }, bot, facts);
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
  { onRun, onFreezes, onChangeByOtherReplica, holdsShard, ...parts }: BotForSlack,
  facts: Facts,
): ListenerDeps {
  const { command, deployment, nonce, macOf, clock, log } = options;
  const homes = createLiveHomes(
    { ...options, holdsShard },
    (user, choice) => void drawHome(deps, user, choice),
  );
  onRun((run) => homes.changed(run));
  onFreezes(() => homes.freezesChanged());
  onChangeByOtherReplica(() => void homes.refresh());
  const deps = {
    ...parts,
    ...facts,
    command,
    deployment,
    once: createOnce(),
    homes,
    nonce,
    macOf,
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
