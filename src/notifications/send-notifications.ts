// Sends notifications: a single one, or the receipts of one person in one message. Each notification is marked, sent, and stored with its
// outcome.

import type { Outcome } from "../domain/effect.ts";
import { ChannelId, parsed } from "../domain/ids.ts";
import { applyMessageOutcome, LOST, markPosting, nextMessageAct } from "../domain/message-transitions.ts";
import { type PostedMessage, REFUSED_TRIES, refusalsOf } from "../domain/posted-message.ts";
import type { Clock } from "../engine/clock.ts";
import { nextTry, type WarnQuietly } from "../engine/logging.ts";
import { outcomeOf, performMessageAct, type SlackMessage } from "../engine/perform-effect.ts";
import { type Chat, type Counters, type People, PortError } from "../ports.ts";
import {
  type Notification,
  type NotificationFacts,
  type NotificationSender,
  isAlarm,
  RECEIPTS_AT_ONCE,
  SEVERAL_RECEIPTS,
} from "../ports/notification.ts";
import { factsOf, factsToSend, reportIfForged, type NotificationWriterDeps } from "./from-audit.ts";
import { type PictureDeps, postWithPicture } from "./announce-look-back.ts";
import type { Outcomes } from "./outcomes.ts";
import { refuseIfHidden, REQUESTER_NOT_SHOWN } from "./requester-sees.ts";

export type SendDeps = NotificationWriterDeps &
  PictureDeps & {
    readonly notificationSender: NotificationSender;
    readonly chat: Pick<Chat, "waitForTurn">;
    readonly people: Pick<People, "lookUp">;
    readonly engine: { readonly holdsShard: (shard: number) => boolean };
    readonly clock: Clock;
    readonly warnQuietly: WarnQuietly;
    readonly outcomes: Outcomes;
    readonly metrics: Pick<Counters, "notificationsWaiting" | "alarmsWaiting">;
  };

const NO_ENTRY = { type: "refused", words: "the audit has no such entry", code: "no_entry" } as const;

export type Act = "post" | "find" | "sweep" | "recover";

export function nextAct({ kind, post }: Notification, monotonic: number): Act | null {
  // This is never called for a notification in progress. The mark was therefore left by a dead process, or its outcome could not be stored.
  if (post.type === "sending") return "recover";
  // A posted notification is never updated, because it says what happened at the time.
  const next = nextMessageAct(post, post.type === "up" ? null : kind);
  return next === null || next.at > monotonic || next.act === "update" ? null : next.act;
}

export async function sendOne(
  deps: SendDeps,
  read: Notification,
  due: Act,
  isStopping: () => boolean,
): Promise<void> {
  const { store, chat, clock, outcomes } = deps;
  if (outcomes.isKept(read.id)) return;
  if (due !== "recover")
    await chat.waitForTurn({
      channel: read.to,
      kind: due === "post" ? "post" : "read",
      urgency: isAlarm(read) ? 0 : 2,
    });
  // Another round may have sent it in the meantime.
  const notification = isStopping() ? null : await store.notification(read.id);
  const act = notification === null ? null : nextAct(notification, clock.monotonic());
  if (notification === null || act !== due) return;
  if (act === "recover") {
    const post = applyMessageOutcome("post", notification.post, LOST, clock.monotonic());
    return store.saveNotification({ ...notification, post }, true);
  }
  const post = act === "post" ? markPosting(notification.post, clock.now()) : notification.post;
  const marked = { ...notification, post };
  // A direct message is sent again after a lost answer, whether it is marked or not, so we save the commit of the mark.
  if (act === "post" && isReadable(notification)) await store.saveNotification(marked, true);
  await saveOutcome(deps, marked, act, await perform(deps, marked, act));
}

async function saveOutcome(
  deps: SendDeps,
  notification: Notification,
  act: Exclude<Act, "recover">,
  outcome: Outcome,
): Promise<void> {
  const post = paced(notification, act, outcome, deps.clock);
  // A late copy must be looked for in a channel. In a direct message this is impossible.
  const done = post.type === "up" && (post.sweepAt === null || !isReadable(notification));
  const isGivenUp = isOftenRefused(post) && !mustArrive(deps, notification, outcome);
  await deps.outcomes.save({ ...notification, post }, !done && !isGivenUp);
  if (outcome.type === "later" || outcome.type === "unsure")
    warnOfFailure(deps, { ...notification, post }, outcome);
  else if (outcome.type === "refused" && outcome.code === REQUESTER_NOT_SHOWN)
    deps.log.info(
      { entry: notification.entry },
      "a requester is not notified, because Slack does not say that they see the channel",
    );
  else if (act !== "sweep") logNotification(deps, { ...notification, post }, isGivenUp);
}

const isOftenRefused = (post: PostedMessage): boolean =>
  post.type === "refused" && refusalsOf(post) >= REFUSED_TRIES;

/** The interval at which an alarm is tried again after it was refused often (ms). */
const ALARM_RETRY_MS = 60 * 60_000;

/** Returns the message after the attempt. A message that was refused often is tried again more slowly. */
function paced(
  { post: before }: Notification,
  act: Exclude<Act, "recover">,
  outcome: Outcome,
  { monotonic }: Pick<Clock, "monotonic">,
): PostedMessage {
  const post = applyMessageOutcome(act, before, outcome, monotonic());
  return post.type === "refused" && isOftenRefused(post)
    ? { ...post, retryAt: monotonic() + ALARM_RETRY_MS }
    : post;
}

/**
 * Returns whether the notification is never given up, however often it is refused: somebody may invite the app into the channel later. An
 * alarm is given up if its recipient no longer gets alarms, or if its audit entry is gone.
 */
function mustArrive({ audit }: SendDeps, notification: Notification, outcome: Outcome): boolean {
  const { to } = notification;
  const isReader = to === audit.channel || audit.admins.some((admin) => admin === to);
  return isAlarm(notification) && isReader && !(outcome.type === "refused" && outcome.code === NO_ENTRY.code);
}

function isReadable({ to }: Notification): boolean {
  return parsed(ChannelId, to) !== null;
}

async function perform(
  deps: SendDeps,
  notification: Notification,
  act: Exclude<Act, "recover">,
): Promise<Outcome> {
  try {
    return await performMessageAct(act, notification.post, messageOf(deps, notification));
  } catch (error) {
    return outcomeOf(error);
  }
}

function messageOf(deps: SendDeps, notification: Notification): SlackMessage {
  const { notificationSender } = deps;
  return {
    shows: notification.kind,
    post: async () => {
      const facts = await factsToSend(deps, notification);
      if (facts !== null) {
        await refuseIfHidden(deps.people, notification, facts);
        return postWithPicture(deps, notification, facts);
      }
      await reportIfForged(deps, notification.entry);
      const noRetry = { applied: "no", retry: "never", code: NO_ENTRY.code } as const;
      throw new PortError(NO_ENTRY.words, noRetry);
    },
    find: () => notificationSender.find(notification),
    remove: (ts) => notificationSender.remove(notification, ts),
  };
}

function warnOfFailure(
  { warnQuietly, clock }: SendDeps,
  { kind, entry, to, post }: Notification,
  { type, code = "" }: Extract<Outcome, { type: "later" | "unsure" }>,
): void {
  const ids = { code, effect: `notification ${kind}`, outcome: type, entry, to };
  // A posted message failed only to be swept, and its `notBefore` is for updates.
  const progress = post.type === "up" ? { tries: post.tries } : post;
  const facts = { ...ids, ...nextTry(progress, clock) };
  warnQuietly(`${type} ${code}`, facts, "notification failed");
}

function logNotification(
  { log }: Pick<SendDeps, "log">,
  { kind, entry, to, post }: Notification,
  isGivenUp: boolean,
): void {
  const facts = { notification: kind, entry, to, type: post.type };
  if (post.type !== "refused") log.info(facts, "notification settled");
  else
    log.error(
      { ...facts, words: post.words },
      isGivenUp
        ? "a notification is given up, because Slack refused it too often"
        : "Slack refused a notification",
    );
}

// The receipts of one person share one message for each quarter of an hour.

/** The minimum time between two messages with receipts for the same person (ms). */
const RECEIPTS_EVERY_MS = 15 * 60_000;

export type ReceiptTimes = {
  mustWait(to: Notification["to"]): boolean;
  sent(to: Notification["to"]): void;
};

/** Remembers when each person last got receipts. Only in memory, so after a restart the next receipts are sent at once. */
export function createReceiptTimes({ monotonic }: Pick<Clock, "monotonic">): ReceiptTimes {
  const times = new Map<Notification["to"], number>();
  const isOver = (at: number): boolean => monotonic() - at >= RECEIPTS_EVERY_MS;
  return {
    mustWait: (to) => !isOver(times.get(to) ?? -Infinity),
    sent: (to) => {
      for (const [person, at] of times) if (isOver(at)) times.delete(person);
      times.set(to, monotonic());
    },
  };
}

/** Sends the receipts, which must all be for the same person. */
export async function sendTogether(
  deps: SendDeps,
  receipts: readonly Notification[],
  times: ReceiptTimes,
  isStopping: () => boolean,
): Promise<void> {
  const toSend = receipts.filter(({ id }) => !deps.outcomes.isKept(id));
  for (let from = 0; from < toSend.length && !isStopping(); from += RECEIPTS_AT_ONCE) {
    const part = toSend.slice(from, from + RECEIPTS_AT_ONCE);
    const [first] = part;
    if (first !== undefined && (await sendReceipts(deps, first.to, part, isStopping))) times.sent(first.to);
  }
}

/** Posts one message with all of these receipts that are still to be sent. Resolves to whether it was posted. */
async function sendReceipts(
  deps: SendDeps,
  to: Notification["to"],
  read: readonly Notification[],
  isStopping: () => boolean,
): Promise<boolean> {
  const { store, chat, clock } = deps;
  await chat.waitForTurn({ channel: to, kind: "post", urgency: 2 });
  if (isStopping()) return false;
  const newest = await Promise.all(read.map(({ id }) => store.notification(id)));
  const marked = newest
    .filter((receipt) => receipt !== null)
    .filter((receipt) => nextAct(receipt, clock.monotonic()) === "post")
    .map((receipt) => ({ ...receipt, post: markPosting(receipt.post, clock.now()) }));
  const withFacts = await Promise.all(
    marked.map(async (receipt) => ({ receipt, facts: await factsOf(deps, receipt) })),
  );
  for (const { receipt, facts } of withFacts) if (facts === null) await reportIfForged(deps, receipt.entry);
  const complete = withFacts.flatMap(({ receipt, facts }) => (facts === null ? [] : [{ receipt, facts }]));
  const outcome = complete.length === 0 ? null : await postReceipts(deps, to, complete);
  for (const { receipt, facts } of withFacts)
    await saveOutcome(deps, receipt, "post", facts === null || outcome === null ? NO_ENTRY : outcome);
  return outcome?.type === "posted";
}

async function postReceipts(
  { notificationSender }: SendDeps,
  to: Notification["to"],
  receipts: readonly { readonly receipt: Notification; readonly facts: NotificationFacts }[],
): Promise<Outcome> {
  const [first, ...others] = receipts;
  try {
    if (first !== undefined && others.length === 0) {
      const ts = await notificationSender.post(first.receipt, first.facts);
      return { type: "posted", ts, shows: first.receipt.kind };
    }
    const ts = await notificationSender.postReceipts(to, receipts);
    return { type: "posted", ts, shows: SEVERAL_RECEIPTS };
  } catch (error) {
    return outcomeOf(error);
  }
}
