// Sends notifications: one alone, or the receipts of one person in one message. Each has its mark, its attempt and its outcome.

import type { Outcome } from "../domain/effect.ts";
import { ChannelId, parsed } from "../domain/ids.ts";
import {
  applyMessageOutcome,
  markPosting,
  nextMessageAct,
  recoverMessage,
} from "../domain/message-transitions.ts";
import { type PostedMessage, REFUSED_TRIES, refusalsOf } from "../domain/posted-message.ts";
import type { Clock } from "../engine/clock.ts";
import type { WarnQuietly } from "../engine/logging.ts";
import { outcomeOf, performMessageAct, type SlackMessage } from "../engine/perform-effect.ts";
import { type Chat, type Counters, PortError } from "../ports.ts";
import {
  type Notification,
  type NotificationFacts,
  type NotificationSender,
  RECEIPTS_AT_ONCE,
  SEVERAL_RECEIPTS,
} from "../ports/notification.ts";
import { factsOf, factsToSend, type NotificationWriterDeps } from "./from-audit.ts";
import { type PictureDeps, postWithPicture } from "./announce-look-back.ts";

export type SendDeps = NotificationWriterDeps &
  PictureDeps & {
    readonly notificationSender: NotificationSender;
    readonly chat: Pick<Chat, "waitForTurn">;
    readonly engine: { readonly holdsShard: (shard: number) => boolean };
    readonly clock: Clock;
    readonly warnQuietly: WarnQuietly;
    readonly metrics: Pick<Counters, "notificationsWaiting">;
  };

export type Act = "post" | "find" | "sweep" | "recover";

export function nextAct({ kind, post }: Notification, now: number): Act | null {
  // Only a notification that is not under way is asked about, so its mark is one of a dead process, or the store failed to take the
  // outcome.
  if (post.type === "sending") return "recover";
  const gaveUp = post.type === "refused" && refusalsOf(post) >= REFUSED_TRIES;
  // What is posted is never updated: a notification says what happened.
  const next = nextMessageAct(post, post.type === "up" || gaveUp ? null : kind);
  return next === null || next.at > now || next.act === "update" ? null : next.act;
}

export async function sendOne(
  deps: SendDeps,
  read: Notification,
  due: Act,
  stopping: () => boolean,
): Promise<void> {
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

async function settle(
  deps: SendDeps,
  notification: Notification,
  act: Exclude<Act, "recover">,
): Promise<void> {
  await saveOutcome(deps, notification, act, await performed(deps, notification, act));
}

async function saveOutcome(
  deps: SendDeps,
  notification: Notification,
  act: Exclude<Act, "recover">,
  outcome: Outcome,
): Promise<void> {
  const { store, clock } = deps;
  const post = applyMessageOutcome(act, notification.post, outcome, clock.monotonic());
  // A late copy in a channel must be looked for; in a direct message that is impossible.
  const done = post.type === "up" && (post.sweepAt === null || !isReadable(notification));
  const gaveUp = post.type === "refused" && refusalsOf(post) >= REFUSED_TRIES;
  await store.saveNotification({ ...notification, post }, !done && !gaveUp);
  if (outcome.type === "later" || outcome.type === "unsure")
    warnOfFailure(deps, { ...notification, post }, outcome);
  else if (act !== "sweep") logNotification(deps, notification, post);
}

function isReadable({ to }: Notification): boolean {
  return parsed(ChannelId, to) !== null;
}

async function performed(
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
      if (facts !== null) return postWithPicture(deps, notification, facts);
      const never = { applied: "no", retry: "never", code: "no_entry" } as const;
      throw new PortError("the audit has no such entry", never);
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
  const at = post.type === "planned" ? post.notBefore : post.type === "unsure" ? post.lookAt : null;
  const next = {
    try: "tries" in post ? post.tries : null,
    nextTryMs: at === null ? null : at - clock.monotonic(),
  };
  const facts = { code, effect: `notification ${kind}`, outcome: type, entry, to, ...next };
  warnQuietly(`${type} ${code}`, facts, "notification failed");
}

function logNotification(
  { log }: Pick<SendDeps, "log">,
  { kind, entry, to }: Notification,
  post: PostedMessage,
): void {
  const facts = { notification: kind, entry, to, type: post.type };
  if (post.type === "refused") log.error({ ...facts, words: post.words }, "Slack refused a notification");
  else log.info(facts, "notification settled");
}

// The receipts of one person, together: one message for each quarter of an hour.

/** After a message with receipts the next ones of the same person wait for so long (ms), and then share a message. */
const RECEIPTS_EVERY_MS = 15 * 60_000;

export type ReceiptTimes = {
  mustWait(to: Notification["to"]): boolean;
  sent(to: Notification["to"]): void;
};

/** When each person last got receipts. In memory only: after a restart the next ones go at once. */
export function createReceiptTimes({ monotonic }: Pick<Clock, "monotonic">): ReceiptTimes {
  const times = new Map<Notification["to"], number>();
  const isOver = (at: number): boolean => monotonic() - at >= RECEIPTS_EVERY_MS;
  return {
    mustWait: (to) => !isOver(times.get(to) ?? -Infinity),
    sent: (to) => {
      for (const [known, at] of times) if (isOver(at)) times.delete(known);
      times.set(to, monotonic());
    },
  };
}

/** `receipts`: of one person. */
export async function sendTogether(
  deps: SendDeps,
  receipts: readonly Notification[],
  times: ReceiptTimes,
  stopping: () => boolean,
): Promise<void> {
  for (let from = 0; from < receipts.length && !stopping(); from += RECEIPTS_AT_ONCE) {
    const part = receipts.slice(from, from + RECEIPTS_AT_ONCE);
    const [first] = part;
    if (first !== undefined && (await sendReceipts(deps, first.to, part, stopping))) times.sent(first.to);
  }
}

/** One message for all that are still to be sent. Resolves to whether it was posted. If one of them is saved and another is not, that one
 * is sent again. */
async function sendReceipts(
  deps: SendDeps,
  to: Notification["to"],
  read: readonly Notification[],
  stopping: () => boolean,
): Promise<boolean> {
  const { store, chat, clock } = deps;
  await chat.waitForTurn({ channel: to, kind: "post", urgency: 2 });
  if (stopping()) return false;
  const newest = await Promise.all(read.map(({ id }) => store.notification(id)));
  const marked = newest
    .filter((each) => each !== null)
    .filter((each) => nextAct(each, clock.monotonic()) === "post")
    .map((each) => ({ ...each, post: markPosting(each.post, clock.now()) }));
  const known = await Promise.all(
    marked.map(async (receipt) => ({ receipt, facts: await factsOf(store, receipt) })),
  );
  const told = known.flatMap(({ receipt, facts }) => (facts === null ? [] : [{ receipt, facts }]));
  const outcome = told.length === 0 ? null : await postedTogether(deps, to, told);
  for (const { receipt, facts } of known)
    await saveOutcome(deps, receipt, "post", facts === null || outcome === null ? NO_ENTRY : outcome);
  return outcome?.type === "posted";
}

const NO_ENTRY: Outcome = { type: "refused", words: "the audit has no such entry", code: "no_entry" };

async function postedTogether(
  { notificationSender }: SendDeps,
  to: Notification["to"],
  told: readonly { readonly receipt: Notification; readonly facts: NotificationFacts }[],
): Promise<Outcome> {
  const [first, ...others] = told;
  try {
    if (first !== undefined && others.length === 0) {
      const ts = await notificationSender.post(first.receipt, first.facts);
      return { type: "posted", ts, shows: first.receipt.kind };
    }
    const ts = await notificationSender.postReceipts(to, told);
    return { type: "posted", ts, shows: SEVERAL_RECEIPTS };
  } catch (error) {
    return outcomeOf(error);
  }
}
