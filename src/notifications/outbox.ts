// Sends the notifications. Each follows the state machine of a run's messages (domain/message-transitions.ts): marked before it is sent,
// looked for when its answer was lost, its late copies removed. Direct messages cannot be read back without a further scope, so there a
// notification whose answer was lost is sent again: a second receipt does no harm, while a missing one would be silent. A person's
// receipts share a message of each quarter of an hour, unless a rule wants them at once; the first after a calm time goes at once.

import { shardOfName } from "../domain/ids.ts";
import { createBackgroundLoop } from "../engine/background-work.ts";
import { endedWithin } from "../engine/clock.ts";
import type { Notification } from "../ports/notification.ts";
import { createNotificationWriter } from "./from-audit.ts";
import {
  type Act,
  createReceiptTimes,
  nextAct,
  type ReceiptTimes,
  type SendDeps,
  sendOne,
  sendTogether,
} from "./send-notifications.ts";

export type NotificationOutbox = {
  start(): void;
  /** Starts nothing more and waits for what is under way, at most `ms`. */
  stop(ms: number): Promise<void>;
};

const ROUND_EVERY_MS = 1_000;
/** The longest wait after failures of the store (ms). */
const SLOWEST_RETRY_MS = 30_000;
/** How many waiting notifications one round handles. */
const AT_ONCE = 500;
/** Who holds this shard follows the audit. */
const WRITER_SHARD = 0;

export function createNotificationOutbox(deps: SendDeps): NotificationOutbox {
  const writer = createNotificationWriter(deps);
  const senders = createSenders(deps);

  // Each replica sends to its own share of people and channels. One of them writes what is to be sent.
  const isMine = ({ to }: Notification): boolean => deps.engine.holdsShard(shardOfName(to));

  async function round(): Promise<void> {
    if (deps.engine.holdsShard(WRITER_SHARD)) await writer.write();
    const mine = (await deps.store.notifications(AT_ONCE)).filter(isMine);
    deps.metrics.notificationsWaiting(mine.length);
    senders.send(mine);
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
const MAX_SENDING = 2;
type Senders = { send(notifications: readonly Notification[]): void; stop(): Promise<unknown> };
/** `key`: the same work is never in progress twice. */
type Work = { readonly key: string; readonly act: () => Promise<void> };

function createSenders(deps: SendDeps): Senders {
  const { log } = deps;
  const underWay = new Map<string, Promise<void>>();
  const receipts = createReceiptTimes(deps.clock);
  let stopped = false;
  let waiting: Work[] = [];

  function send(notifications: readonly Notification[]): void {
    waiting = dueWork(deps, notifications, receipts, () => stopped);
    next();
  }

  function next(): void {
    while (underWay.size < MAX_SENDING) {
      const work = stopped ? undefined : waiting.shift();
      if (work === undefined) return;
      if (!underWay.has(work.key)) begin(work);
    }
  }

  function begin({ key, act }: Work): void {
    const sending = act()
      .catch((error: unknown) => log.error({ error }, "could not send a notification; trying again"))
      .finally(() => {
        underWay.delete(key);
        next();
      });
    underWay.set(key, sending);
  }

  function stop(): Promise<unknown> {
    stopped = true;
    return Promise.allSettled(underWay.values());
  }

  return { send, stop };
}

type Due = { readonly notification: Notification; readonly act: Act };

/** Alerts first, receipts last. */
function dueWork(
  deps: SendDeps,
  notifications: readonly Notification[],
  receipts: ReceiptTimes,
  stopping: () => boolean,
): Work[] {
  const now = deps.clock.monotonic();
  const due = notifications.flatMap((notification): Due[] => {
    const act = nextAct(notification, now);
    return act === null ? [] : [{ notification, act }];
  });
  const isShared = ({ notification, act }: Due): boolean => notification.kind === "receipt" && act === "post";
  const isAlert = ({ notification }: Due): boolean => notification.kind === "dispute";
  const single = due.filter((each) => !isShared(each));
  const byPerson = Map.groupBy(due.filter(isShared), ({ notification }) => notification.to);
  const one = ({ notification, act }: Due): Work => ({
    key: notification.id,
    act: () => sendOne(deps, notification, act, stopping),
  });
  const together = [...byPerson].filter(([to]) => !receipts.mustWait(to));
  return [
    ...single.filter(isAlert).map(one),
    ...single.filter((each) => !isAlert(each)).map(one),
    ...together.map(([to, some]) => ({
      key: `receipts ${to}`,
      act: () =>
        sendTogether(
          deps,
          some.map(({ notification }) => notification),
          receipts,
          stopping,
        ),
    })),
  ];
}
