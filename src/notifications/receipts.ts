// Sends the receipts of one person together: one message for each quarter of an hour.

import type { Outcome } from "../domain/effect.ts";
import { markPosting } from "../domain/message-transitions.ts";
import type { Clock } from "../engine/clock.ts";
import { outcomeOf } from "../engine/perform-effect.ts";
import { type Notification, type NotificationFacts, RECEIPTS_AT_ONCE, SEVERAL_RECEIPTS } from "../ports.ts";
import { factsOf } from "./from-audit.ts";
import { nextAct, saveOutcome, type SendDeps } from "./send-one.ts";

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
