// Sends the notifications. Each follows the state machine of a run's messages (domain/message-transitions.ts): it is marked before it is
// sent, it is looked for if its answer was lost, and its late copies are removed. Direct messages cannot be read back without a further
// scope, so a direct message whose answer was lost is sent again: a second receipt does no harm, but a missing one goes unnoticed.
//
// Unless a rule wants receipts at once, a person gets them at most every quarter of an hour, in one message. Receipts that Slack refused are
// sent one by one.

import { shardOfName } from "../domain/ids.ts";
import { refusalsOf } from "../domain/posted-message.ts";
import { createBackgroundLoop } from "../engine/background-work.ts";
import { endedWithin } from "../engine/clock.ts";
import { createQuietErrors } from "../engine/logging.ts";
import { isAlarm, type Notification } from "../ports/notification.ts";
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
import { createStrangeKinds } from "./unknown-kinds.ts";

export type NotificationOutbox = {
  start(): void;
  /** Starts nothing more and waits at most `ms` for work in progress. */
  stop(ms: number): Promise<void>;
};

const ROUND_EVERY_MS = 1_000;
/** The longest wait after failures of the store (ms). */
const SLOWEST_RETRY_MS = 30_000;
/** The maximum number of notifications that one round handles. Those that must still wait do not count: they must not keep back others. */
const BATCH = 500;
/** The replica that holds this shard creates the notifications that follow from the audit. */
const WRITER_SHARD = 0;

export function createNotificationOutbox(deps: SendDeps): NotificationOutbox {
  const writer = createNotificationWriter(deps);
  const addHidden = createStrangeKinds(deps);
  const receipts = createReceiptTimes(deps.clock);
  const senders = createSenders(deps, receipts);

  // Each replica sends to its own share of people and channels. Only one replica creates the notifications.
  const isOurs = ({ to }: Notification): boolean => deps.engine.holdsShard(shardOfName(to));

  async function sendWaiting(): Promise<void> {
    const { store, metrics, clock } = deps;
    const waiting = { all: 0, alarms: 0 };
    const due = await store.notifications(BATCH, (notification) => {
      const act = nextAct(notification, clock.monotonic());
      if (!isOurs(notification) || isHeld(notification, act, receipts)) return false;
      waiting.all += 1;
      if (isAlarm(notification)) waiting.alarms += 1;
      return act !== null;
    });
    metrics.notificationsWaiting(waiting.all);
    metrics.alarmsWaiting(waiting.alarms);
    senders.send(due);
  }

  async function round(): Promise<void> {
    try {
      if (deps.engine.holdsShard(WRITER_SHARD)) {
        await writer.write();
        await addHidden();
      } else await writer.handOver();
    } finally {
      // If the audit cannot be followed, what waits already is sent all the same.
      await deps.outcomes.storeKept();
      await sendWaiting();
    }
  }

  const loop = createBackgroundLoop(deps, {
    pass: round,
    everyMs: ROUND_EVERY_MS,
    retryMs: [ROUND_EVERY_MS, SLOWEST_RETRY_MS],
    failure: "could not write or send the notifications of the audit",
  });

  const stop = (ms: number): Promise<void> => endedWithin(deps.clock, ms, [loop.stop(), senders.stop()]);

  return { start: () => loop.start(0), stop };
}

/** The maximum number of sends in progress, without alarms. Each takes two commits to disk, and a burst of receipts must not delay decisions. */
const MAX_SENDING = 2;
/** For each recipient. Slack may hold back the messages to one person for minutes, and the alarms to others must not wait for that. */
const MAX_ALARMS = 1;
/**
 * `look`: finds or removes what an earlier send left. Slack limits reads apart from posts, so alarms that are looked for have places of their
 * own, and the next alarm is posted meanwhile.
 */
type Lane = "alarm" | "look" | "other";
type Senders = { send(notifications: readonly Notification[]): void; stop(): Promise<unknown> };
/** Work with the same key is never in progress twice. */
type Work = {
  readonly key: string;
  readonly to: Notification["to"];
  readonly lane: Lane;
  readonly act: () => Promise<void>;
};

function createSenders(deps: SendDeps, receipts: ReceiptTimes): Senders {
  const logQuietly = createQuietErrors(deps);
  const underWay = new Map<string, Promise<void>>();
  const places = createPlaces();
  let stopped = false;
  let waiting: Work[] = [];

  function send(notifications: readonly Notification[]): void {
    waiting = dueWork(deps, notifications, receipts, () => stopped);
    next();
  }

  function next(): void {
    if (stopped) return;
    waiting = waiting.filter((work) => {
      const hasPlace = places.hasOne(work);
      if (hasPlace && !underWay.has(work.key)) begin(work);
      return !hasPlace;
    });
  }

  function begin(work: Work): void {
    const { key, act } = work;
    places.take(work);
    const sent = act()
      .catch((error: unknown) =>
        logQuietly("not sent", { error }, "could not send a notification; trying again"),
      )
      .finally(() => {
        underWay.delete(key);
        places.free(work);
        next();
      });
    underWay.set(key, sent);
  }

  function stop(): Promise<unknown> {
    stopped = true;
    return Promise.allSettled(underWay.values());
  }

  return { send, stop };
}

/** Counts the work in progress: of alarms for each recipient, of all others together. */
function createPlaces() {
  const taken = new Map<string, number>();
  const kindOf = ({ lane, to }: Work): string => (lane === "other" ? lane : `${lane} ${to}`);
  const takenOf = (work: Work): number => taken.get(kindOf(work)) ?? 0;
  return {
    hasOne: (work: Work): boolean => takenOf(work) < (work.lane === "other" ? MAX_SENDING : MAX_ALARMS),
    take: (work: Work): void => void taken.set(kindOf(work), takenOf(work) + 1),
    free(work: Work): void {
      if (takenOf(work) === 1) taken.delete(kindOf(work));
      else taken.set(kindOf(work), takenOf(work) - 1);
    },
  };
}

type Due = { readonly notification: Notification; readonly act: Act };

function laneOf(notification: Notification, act: Act): Lane {
  if (!isAlarm(notification)) return "other";
  return act === "post" ? "alarm" : "look";
}

/** Returns whether the receipt may share a message. After a refusal it may not: one of several receipts may have been the reason. */
const isShared = ({ kind, post }: Notification, act: Act | null): boolean =>
  kind === "receipt" && act === "post" && refusalsOf(post) === 0;

/** Returns whether the receipt is kept on purpose, because its person got a message with receipts a short time ago. */
const isHeld = (notification: Notification, act: Act | null, receipts: ReceiptTimes): boolean =>
  isShared(notification, act) && receipts.mustWait(notification.to);

/** Returns the work that is due: alarms first, receipts last. */
function dueWork(
  deps: SendDeps,
  notifications: readonly Notification[],
  receipts: ReceiptTimes,
  isStopping: () => boolean,
): Work[] {
  const due = notifications.flatMap((notification): Due[] => {
    const act = nextAct(notification, deps.clock.monotonic());
    return act === null || isHeld(notification, act, receipts) ? [] : [{ notification, act }];
  });
  const mayShare = ({ notification, act }: Due): boolean => isShared(notification, act);
  const single = due.filter((item) => !mayShare(item));
  const byPerson = Map.groupBy(due.filter(mayShare), ({ notification }) => notification.to);
  const sendAlone = ({ notification, act }: Due): Work => ({
    key: notification.id,
    to: notification.to,
    lane: laneOf(notification, act),
    act: () => sendOne(deps, notification, act, isStopping),
  });
  return [
    ...single.map(sendAlone).toSorted((a, b) => Number(a.lane === "other") - Number(b.lane === "other")),
    ...[...byPerson].map(([to, items]) => ({
      key: `receipts ${to}`,
      to,
      lane: "other" as const,
      act: () =>
        sendTogether(
          deps,
          items.map(({ notification }) => notification),
          receipts,
          isStopping,
        ),
    })),
  ];
}
