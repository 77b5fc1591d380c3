// Creates the notifications that follow from the audit. The audit records what happened, so a crash loses no notification: a missing one is
// added after the restart. A notification about the same entry to the same recipient is never added twice.

import { isUndo, type KeptEntry } from "../audit/entry.ts";
import { STOP_REASON } from "../domain/brake.ts";
import type { Context } from "../domain/context.ts";
import type { ChannelId, UserId } from "../domain/ids.ts";
import { isList, parseJson } from "../domain/json.ts";
import type { AuditPlace } from "../domain/audit/hash-chain.ts";
import { actionIn } from "../domain/listed-item.ts";
import { markDisputeClosed, markDisputed } from "../domain/approval-transitions.ts";
import type { Policy } from "../domain/policy/policy.ts";
import { PLANNED } from "../domain/posted-message.ts";
import type { Run } from "../domain/run.ts";
import { cardSlot } from "../domain/slot.ts";
import { createLookAtHead } from "../engine/audit-positions.ts";
import type { Clock } from "../engine/clock.ts";
import type { Integrity } from "../engine/integrity.ts";
import { readProven } from "../engine/proven-entries.ts";
import type { RunEngine } from "../engine/run-engine.ts";
import { type EventLog, PortError } from "../ports.ts";
import {
  type AuditReaders,
  type Notification,
  type NotificationFacts,
  type NotificationStore,
  NOTIFICATIONS_CURSOR,
} from "../ports/notification.ts";
import type { DocumentStore, RunStore } from "../ports/store.ts";
import type { AuditEvidence, AuditLog } from "../ports/audit-store.ts";

import { addDailyHead } from "./daily-head.ts";
import { nullIfNeverReadable } from "./never-readable.ts";
import { reachOf } from "./reach.ts";
import { createWeekEnds, lookBackIn } from "./announce-look-back.ts";

export type NotificationDeps = {
  readonly store: RunStore & AuditLog & AuditEvidence & NotificationStore & DocumentStore;
  readonly audit: AuditReaders;
  readonly context: () => Context;
  readonly log: EventLog;
};

const BATCH = 200;
const FOLLOWED = [
  "decided",
  "voted",
  "settled",
  "closed",
  "disputed",
  "dispute-closed",
  "tampering-found",
  "redacted",
  "frozen",
  "freeze-lifted",
  "week-ended",
] as const;

export type NotificationWriterDeps = NotificationDeps & {
  readonly engine: Pick<RunEngine, "changeAnywhere">;
  readonly integrity: Pick<Integrity, "found">;
};

export type NotificationWriter = {
  /** Creates the notifications of the newest entries. Only one replica may call it at a time. */
  write(): Promise<void>;
  /** Must be called instead of `write` while another replica may write. It forgets all but the newest entry. Rejects with PortError. */
  handOver(): Promise<void>;
};

export function createNotificationWriter(deps: NotificationWriterDeps): NotificationWriter {
  const { store, log } = deps;
  let place: AuditPlace | null = null;
  let headDay: string | null = null;
  let weekEnds = createWeekEnds(deps);
  const look = createLookAtHead(store);

  /** Another replica may write when a standby takes over, so each looks for itself. */
  async function newestEntry(): Promise<AuditPlace> {
    const { head, lost } = await look();
    if (lost !== null) {
      log.error({ entry: lost.seq }, LOST);
      // The standby that took over has the cursor and the weeks that belong to its audit.
      place = null;
      weekEnds = createWeekEnds(deps);
    }
    return head;
  }

  return {
    async write() {
      const head = await newestEntry();
      place = await followUp(deps, place?.seq ?? (await firstCursor(deps)), head);
      await weekEnds.note();
      headDay = await addDailyHead(deps, headDay);
    },
    async handOver() {
      [place, headDay] = [null, null];
      await newestEntry();
    },
  };
}

const LOST =
  "the newest entries of the audit are gone, perhaps because a standby took over without them; notifications continue after the last remaining entry that was followed";

/**
 * If the audit is older than the cursor, its past causes no notifications. The stored cursor is not sealed. One that is no entry would
 * silence everything, so the newest notification then says how far the audit was followed. The next notification stores the cursor again,
 * and not this function, so that a crash does not hide the finding. A low cursor does no harm, because no notification is added twice.
 */
async function firstCursor({ store, integrity }: NotificationWriterDeps): Promise<number> {
  const stored = await store
    .document(NOTIFICATIONS_CURSOR)
    .catch((error: unknown) => nullIfNeverReadable(error) ?? "{");
  const head = (await store.auditHead())?.seq ?? 0;
  if (typeof stored === "number" && stored <= head) return stored;
  const notified = await store.newestNotified(head);
  const cursor = notified === 0 ? head : notified;
  if (stored === null) await store.putDocument(NOTIFICATIONS_CURSOR, cursor);
  else integrity.found({ id: `notifications after ${notified}`, words: wrongCursor(cursor), run: null });
  return cursor;
}

const wrongCursor = (cursor: number): string =>
  `notifications: the stored number of the last audit entry that was followed is no entry of this audit. They continue after entry ${cursor}.`;

/** Resolves to the last entry that was followed. */
async function followUp(deps: NotificationWriterDeps, cursor: number, head: AuditPlace): Promise<AuditPlace> {
  const { store } = deps;
  if (head.seq <= cursor) return head;
  const { entries, reached } = await entriesAfter(deps, cursor, head);
  const notifications = notificationsOf(deps, entries);
  for (const kept of entries) await markCard(deps, kept);
  if (notifications.length > 0) {
    await store.addNotifications(notifications);
    await store.putDocument(NOTIFICATIONS_CURSOR, reached.seq);
  }
  return reached;
}

/** Returns the notifications that follow from these entries. */
export function notificationsOf(
  { audit, context }: NotificationDeps,
  entries: readonly KeptEntry[],
): readonly Notification[] {
  const { now, nonce, policy } = context();
  return entries.flatMap((kept) =>
    addressees(kept, audit, policy).map(({ kind, to }): Notification => {
      return { id: nonce(), kind, entry: kept.seq, to, madeAt: now, post: PLANNED };
    }),
  );
}

type Read = { readonly entries: readonly KeptEntry[]; readonly reached: AuditPlace };

async function entriesAfter(deps: NotificationWriterDeps, cursor: number, head: AuditPlace): Promise<Read> {
  const entries = await deps.store.auditAfter(cursor, FOLLOWED, BATCH).catch(nullIfNeverReadable);
  if (entries === null) return readableAfter(deps, cursor, head);
  return { entries, reached: entries.length === BATCH ? (entries.at(-1) ?? head) : head };
}

/**
 * The others must be followed although one cannot be read. It is reported if it is forged. Otherwise a newer release wrote it, in another
 * replica, and only that release can follow it.
 */
async function readableAfter(deps: NotificationWriterDeps, cursor: number, head: AuditPlace): Promise<Read> {
  const rows = await deps.store.auditRows(cursor, BATCH);
  const entries: KeptEntry[] = [];
  for (const { seq } of rows) {
    const kept = await deps.store.auditEntry(seq).catch(nullIfNeverReadable);
    if (kept === null) await reportIfForged(deps, seq);
    else if (isFollowed(kept)) entries.push(kept);
  }
  return { entries, reached: rows.at(-1) ?? head };
}

/** Reports the entry if it is there and differs from what this program wrote. Checks of the whole audit find one that is missing. */
export async function reportIfForged(
  { store, integrity, log }: Pick<NotificationWriterDeps, "store" | "integrity" | "log">,
  seq: number,
): Promise<void> {
  const reading = await readProven(store, seq);
  if (reading?.type === "forged") integrity.found(reading.finding);
  if (reading?.type === "unreadable")
    log.warn({ entry: seq }, "an entry of the audit has a form that this release does not know");
}

export const isFollowed = ({ entry }: KeptEntry): boolean => FOLLOWED.some((what) => what === entry.what);

function addressees(
  { entry }: KeptEntry,
  { admins, channel }: AuditReaders,
  policy: Policy,
): Pick<Notification, "kind" | "to">[] {
  if (entry.what === "decided" || entry.what === "voted" || isUndo(entry))
    return entry.by === null ? [] : [{ kind: receiptKind(entry, policy), to: entry.by.user }];
  if (entry.what === "settled" || entry.what === "closed") return toRequester(entry);
  if (entry.what === "week-ended") return channel === null ? [] : [{ kind: "look-back", to: channel }];
  // The card shows that the dispute is closed, and so does the evidence of the run.
  if (entry.what === "dispute-closed") return [];
  const readers: readonly (UserId | ChannelId)[] = channel === null ? admins : [...admins, channel];
  // A frozen channel is notified as well, so that people there know who froze it.
  const frozenChannel =
    isFreeze(entry) && entry.channel !== null && entry.channel !== channel ? [entry.channel] : [];
  return [...readers, ...frozenChannel].map((to) => ({ kind: kindOf(entry), to }));
}

/** The name of a combined rule contains the names of its rules. `includes` may match too much, but an early receipt does no harm. */
function receiptKind({ policy: decidedUnder }: KeptEntry["entry"], { rules }: Policy): Notification["kind"] {
  const rulesAtOnce = rules.filter(({ receiptAtOnce }) => receiptAtOnce);
  const atOnce = rulesAtOnce.some(({ name }) => decidedUnder?.rule.includes(name) === true);
  return atOnce ? "receipt-at-once" : "receipt";
}

/** The requester is notified of a decision that the service confirmed, and of a request that expired. The run's thread reports stops. */
function toRequester(entry: KeptEntry["entry"]): Pick<Notification, "kind" | "to">[] {
  const { what, outcome, requester, by, reason } = entry;
  if (requester === null || by?.user === requester.user || (by === null && reason === STOP_REASON)) return [];
  if (what === "settled" && outcome === "confirmed") return [{ kind: "answered", to: requester.user }];
  return what === "closed" && outcome === "expired" ? [{ kind: "expired", to: requester.user }] : [];
}

const isFreeze = ({ what }: KeptEntry["entry"]): boolean => what === "frozen" || what === "freeze-lifted";

function kindOf(entry: KeptEntry["entry"]): Notification["kind"] {
  const { what } = entry;
  if (isFreeze(entry)) return "freeze";
  if (what === "redacted") return "redaction";
  return what === "disputed" ? "dispute" : "tampering";
}

/** Marks a disputed decision on its card. Marking it again changes nothing, so a crash before the cursor moves on does no harm. */
async function markCard({ engine, log }: NotificationWriterDeps, { seq, entry }: KeptEntry): Promise<void> {
  const { what, run: key, approval, by, at, refers = 0, reason } = entry;
  if ((what !== "disputed" && what !== "dispute-closed") || key === null || approval === null || by === null)
    return;
  const { user } = by;
  const mark = (run: Run): Run =>
    what === "disputed"
      ? markDisputed(run, approval, { entry: seq, by: user, at })
      : markDisputeClosed(run, approval, refers, { by: user, at, words: reason ?? "" });
  try {
    await engine.changeAnywhere(key, mark);
  } catch (error) {
    // If only this run cannot be changed, the admins must be alerted all the same. While the store fails, the alert waits as well.
    if (error instanceof PortError && error.retry === "later") throw error;
    log.error({ run: key, entry: seq, error }, "could not mark a card as disputed");
  }
}

/** Resolves to null if the entry is missing or cannot be read, which means that someone changed the audit. */
export async function factsToSend(
  deps: Pick<NotificationDeps, "store" | "context"> & { readonly clock: Clock },
  notification: Notification,
): Promise<NotificationFacts | null> {
  const facts = await factsOf(deps, notification);
  if (facts === null || notification.kind !== "look-back") return facts;
  const lookBack = await lookBackIn(deps, facts.entry);
  return lookBack === null ? null : { ...facts, lookBack };
}

/** Resolves to the facts of the notification without the figures of a look back, or to null as above. */
export async function factsOf(
  { store, context }: Pick<NotificationDeps, "store" | "context">,
  notification: Notification,
): Promise<NotificationFacts | null> {
  const entry = await store.auditEntry(notification.entry).catch(nullIfNeverReadable);
  if (entry === null) return null;
  const { refers } = entry.entry;
  const about = refers === undefined ? null : await store.auditEntry(refers).catch(nullIfNeverReadable);
  const { run, digest, approval } = (about ?? entry).entry;
  // If the entry is not about an approval, its digest does not belong to a request.
  const text = digest === null || approval === null ? null : await store.auditText(digest);
  // A run that cannot be read must not keep people from an alert, which may be about that very run. Only the link is missing then.
  const stored = run === null ? null : await store.load(run).catch(nullIfNeverReadable);
  const card = approval === null ? undefined : stored?.run.posts[cardSlot(approval)];
  return {
    entry,
    about,
    // The entry is signed, but its text stands in a row of its own.
    action: text !== null && context().digest(text) === digest ? actionOfText(text) : null,
    channel: stored?.run.channel ?? null,
    card: card?.type === "up" ? card.ts : null,
    ...(entry.entry.what === "disputed" && about !== null && { reach: await reachOf(store, about) }),
  };
}

/** The text of a request is a list of the run id, the approval id and everything that the service sent. */
function actionOfText(text: string): string | null {
  const parts = parseJson(text);
  const [, approval, content = null] = isList(parts) ? parts : [];
  return typeof approval === "string" ? actionIn(content, approval) : null;
}
