// Sends the notifications: each is marked before it is sent, looked for when its answer was lost, and its late copies are removed. Direct
// messages cannot be read back without a further scope, so there a notification whose answer was lost is sent again: a second receipt
// does no harm, while a missing one would be silent.

import type { Outcome } from "../domain/effect.ts";
import { ChannelId, parsed } from "../domain/ids.ts";
import { applyMessageOutcome, triesOf } from "../domain/message-outcome.ts";
import { POST_LINGER_MS, type PostedMessage, REFUSED_TRIES } from "../domain/posted-message.ts";
import { createBackgroundLoop } from "../engine/background-loop.ts";
import { type Clock, endedWithin } from "../engine/clock.ts";
import { outcomeOf } from "../engine/perform-effect.ts";
import { type Chat, type Notification, type NotificationSender, PortError } from "../ports.ts";
import { createNotificationWriter, factsOf, type NotificationDeps } from "./from-audit.ts";

export type NotificationOutbox = {
  start(): void;
  /** Starts nothing more and waits for what is under way, at most `ms`. */
  stop(ms: number): Promise<void>;
};

type Deps = NotificationDeps & {
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
      const act = nextAct(notification.post, clock.monotonic());
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

type Act = "post" | "find" | "sweep";

/** A mark that this process did not make is that of a dead process, and its answer is lost. */
function nextAct(post: PostedMessage, now: number): Act | null {
  switch (post.type) {
    case "planned":
      return post.notBefore <= now ? "post" : null;
    case "sending":
      return post.at + POST_LINGER_MS <= now ? "find" : null;
    case "unsure":
      return post.lookAt <= now ? "find" : null;
    case "refused":
      return post.retryAt <= now && post.tries < REFUSED_TRIES ? "post" : null;
    case "up":
      return post.sweepAt !== null && post.sweepAt <= now ? "sweep" : null;
  }
}

async function sendOne(deps: Deps, read: Notification, due: Act, stopping: () => boolean): Promise<void> {
  const { store, chat, clock } = deps;
  const kind = due === "post" ? "post" : "read";
  await chat.waitForTurn({ channel: read.to, kind, urgency: read.kind === "dispute" ? 0 : 2 });
  // Another round may have sent it meanwhile.
  const notification = stopping() ? null : await store.notification(read.id);
  const act = notification === null ? null : nextAct(notification.post, clock.monotonic());
  if (notification === null || act === null) return;
  const marked = { ...notification, post: begun(notification.post, act, clock.monotonic()) };
  // A direct message is sent again after a lost answer, marked or not, so this commit is saved.
  if (parsed(ChannelId, notification.to) !== null) await store.saveNotification(marked, true);
  const outcome = await performed(deps, marked, act);
  const post = applyMessageOutcome(act, marked.post, outcome, clock.monotonic());
  const over =
    (post.type === "up" && !sweeps(notification, post)) ||
    (post.type === "refused" && post.tries >= REFUSED_TRIES);
  await store.saveNotification({ ...notification, post }, !over);
  if (act !== "sweep") logNotification(deps, notification, post);
}

/** A late copy in a channel must be looked for; in a direct message that is impossible. */
function sweeps({ to }: Notification, post: Extract<PostedMessage, { type: "up" }>): boolean {
  return post.sweepAt !== null && parsed(ChannelId, to) !== null;
}

function begun(post: PostedMessage, act: Act, now: number): PostedMessage {
  if (act === "sweep") return post;
  const tries = triesOf(post);
  return act === "post"
    ? { type: "sending", at: now, tries: tries + 1 }
    : { type: "unsure", lookAt: now, tries: Math.max(tries, 1) };
}

async function performed(
  { store, notificationSender }: Deps,
  notification: Notification,
  act: Act,
): Promise<Outcome> {
  try {
    if (act === "find") return { type: "found", copies: await notificationSender.find(notification) };
    if (act === "sweep") return await sweep(notificationSender, notification);
    const facts = await factsOf(store, notification);
    if (facts === null) return { type: "refused", words: "the audit has no such entry" };
    return {
      type: "posted",
      ts: await notificationSender.post(notification, facts),
      shows: notification.kind,
    };
  } catch (error) {
    if (error instanceof PortError) return outcomeOf(error);
    throw error;
  }
}

async function sweep(notificationSender: NotificationSender, notification: Notification): Promise<Outcome> {
  const { post } = notification;
  for (const copy of post.type === "up" ? await notificationSender.find(notification) : [])
    if (post.type === "up" && copy !== post.ts) await notificationSender.remove(notification, copy);
  return { type: "swept" };
}

function logNotification({ log }: Deps, { kind, entry, to }: Notification, post: PostedMessage): void {
  const facts = { notification: kind, entry, to, type: post.type };
  if (post.type === "refused") log.error({ ...facts, words: post.words }, "Slack refused a notification");
  else log.info(facts, "notification settled");
}
