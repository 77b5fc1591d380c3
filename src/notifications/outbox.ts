// Sends the notifications. Each follows the state machine of a run's messages (domain/message-transitions.ts): marked before it is sent,
// looked for when its answer was lost, its late copies removed. Direct messages cannot be read back without a further scope, so there a
// notification whose answer was lost is sent again: a second receipt does no harm, while a missing one would be silent.

import type { Outcome } from "../domain/effect.ts";
import { ChannelId, parsed } from "../domain/ids.ts";
import {
  applyMessageOutcome,
  markPosting,
  nextMessageAct,
  recoverMessage,
} from "../domain/message-transitions.ts";
import { type PostedMessage, REFUSED_TRIES } from "../domain/posted-message.ts";
import { createBackgroundLoop } from "../engine/background-loop.ts";
import { type Clock, endedWithin } from "../engine/clock.ts";
import { outcomeOf, performMessageAct, type SlackMessage } from "../engine/perform-effect.ts";
import { type Chat, type Notification, type NotificationSender, PortError } from "../ports.ts";
import { createNotificationWriter, factsOf, type NotificationWriterDeps } from "./from-audit.ts";

export type NotificationOutbox = {
  start(): void;
  /** Starts nothing more and waits for what is under way, at most `ms`. */
  stop(ms: number): Promise<void>;
};

type Deps = NotificationWriterDeps & {
  readonly notificationSender: NotificationSender;
  readonly chat: Pick<Chat, "waitForTurn">;
  readonly clock: Clock;
};

const ROUND_EVERY_MS = 1_000;
/** The longest wait after failures of the store (ms). */
const SLOWEST_RETRY_MS = 30_000;
/** How many waiting notifications one round handles. */
const AT_ONCE = 500;

export function createNotificationOutbox(deps: Deps): NotificationOutbox {
  const writer = createNotificationWriter(deps);
  const senders = createSenders(deps);

  async function round(): Promise<void> {
    await writer.write();
    senders.send(await deps.store.notifications(AT_ONCE));
  }

  const loop = createBackgroundLoop(deps, {
    pass: round,
    everyMs: ROUND_EVERY_MS,
    retryMs: [ROUND_EVERY_MS, SLOWEST_RETRY_MS],
    failure: "could not write or send the notifications of the audit",
  });

  async function stop(ms: number): Promise<void> {
    await endedWithin(deps.clock, ms, [loop.stop(), senders.stop()]);
  }

  return { start: () => loop.start(0), stop };
}

/** How many are sent at once: each takes two commits to the disk, and a burst of receipts must not delay decisions. */
const POSTMEN = 2;

type Senders = { send(notifications: readonly Notification[]): void; stop(): Promise<unknown> };

/** The same notification is never in progress twice. */
function createSenders(deps: Deps): Senders {
  const { clock, log } = deps;
  const underWay = new Map<Notification["id"], Promise<void>>();
  let stopped = false;

  let waiting: Notification[] = [];

  function send(notifications: readonly Notification[]): void {
    const isAlert = ({ kind }: Notification): boolean => kind === "dispute";
    waiting = [...notifications.filter(isAlert), ...notifications.filter((each) => !isAlert(each))];
    next();
  }

  function next(): void {
    while (underWay.size < POSTMEN) {
      const notification = stopped ? undefined : waiting.shift();
      if (notification === undefined) return;
      const act = nextAct(notification, clock.monotonic());
      if (act !== null && !underWay.has(notification.id)) begin(notification, act);
    }
  }

  function begin(notification: Notification, act: Act): void {
    const { id, kind, entry } = notification;
    const sending = sendOne(deps, notification, act, () => stopped)
      .catch((error: unknown) =>
        log.error({ notification: kind, entry, error }, "could not send a notification; trying again"),
      )
      .finally(() => {
        underWay.delete(id);
        next();
      });
    underWay.set(id, sending);
  }

  function stop(): Promise<unknown> {
    stopped = true;
    return Promise.allSettled(underWay.values());
  }

  return { send, stop };
}

type Act = "post" | "find" | "sweep" | "recover";

function nextAct({ kind, post }: Notification, now: number): Act | null {
  // Only a notification that is not under way is asked about, so its mark is one of a dead process, or the store failed to take the
  // outcome.
  if (post.type === "sending") return "recover";
  const gaveUp = post.type === "refused" && post.tries >= REFUSED_TRIES;
  // What is posted is never updated: a notification says what happened.
  const next = nextMessageAct(post, post.type === "up" || gaveUp ? null : kind);
  return next === null || next.at > now || next.act === "update" ? null : next.act;
}

async function sendOne(deps: Deps, read: Notification, due: Act, stopping: () => boolean): Promise<void> {
  const { store, chat, clock } = deps;
  if (due !== "recover")
    await chat.waitForTurn({
      channel: read.to,
      kind: due === "post" ? "post" : "read",
      urgency: read.kind === "dispute" ? 0 : 2,
    });
  // Another round may have sent it meanwhile.
  const notification = stopping() ? null : await store.notification(read.id);
  const act = notification === null ? null : nextAct(notification, clock.monotonic());
  if (notification === null || act !== due) return;
  if (act === "recover") {
    const post = recoverMessage(notification.post, clock.monotonic());
    return store.saveNotification({ ...notification, post }, true);
  }
  const post = act === "post" ? markPosting(notification.post, clock.now()) : notification.post;
  // A direct message is sent again after a lost answer, marked or not, so this commit is saved.
  if (act === "post" && isReadable(notification))
    await store.saveNotification({ ...notification, post }, true);
  await settle(deps, { ...notification, post }, act);
}

async function settle(deps: Deps, notification: Notification, act: Exclude<Act, "recover">): Promise<void> {
  const { store, clock } = deps;
  const outcome = await performed(deps, notification, act);
  const post = applyMessageOutcome(act, notification.post, outcome, clock.monotonic());
  // A late copy in a channel must be looked for; in a direct message that is impossible.
  const done = post.type === "up" && (post.sweepAt === null || !isReadable(notification));
  const gaveUp = post.type === "refused" && post.tries >= REFUSED_TRIES;
  await store.saveNotification({ ...notification, post }, !done && !gaveUp);
  if (act !== "sweep") logNotification(deps, notification, post);
}

function isReadable({ to }: Notification): boolean {
  return parsed(ChannelId, to) !== null;
}

async function performed(
  deps: Deps,
  notification: Notification,
  act: Exclude<Act, "recover">,
): Promise<Outcome> {
  try {
    return await performMessageAct(act, notification.post, messageOf(deps, notification));
  } catch (error) {
    return outcomeOf(error);
  }
}

function messageOf({ store, notificationSender }: Deps, notification: Notification): SlackMessage {
  return {
    shows: notification.kind,
    post: async () => {
      const facts = await factsOf(store, notification);
      if (facts !== null) return notificationSender.post(notification, facts);
      const never = { applied: "no", retry: "never", code: "no_entry" } as const;
      throw new PortError("the audit has no such entry", never);
    },
    find: () => notificationSender.find(notification),
    remove: (ts) => notificationSender.remove(notification, ts),
  };
}

function logNotification({ log }: Deps, { kind, entry, to }: Notification, post: PostedMessage): void {
  const facts = { notification: kind, entry, to, type: post.type };
  if (post.type === "refused") log.error({ ...facts, words: post.words }, "Slack refused a notification");
  else log.info(facts, "notification settled");
}
