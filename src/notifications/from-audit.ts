// Creates the notifications that follow from the audit. The audit says what happened, so a crash loses no notification: a missing one is
// added after the restart, and a notification about the same entry to the same address is never added twice.

import type { KeptEntry } from "../audit/entry.ts";
import type { Context } from "../domain/context.ts";
import type { ChannelId, UserId } from "../domain/ids.ts";
import { isRecord, type Json } from "../domain/json.ts";
import { PLANNED } from "../domain/posted-message.ts";
import type { AuditReaders, EventLog, Notification, NotificationFacts } from "../ports.ts";
import type { AuditEvidence, AuditLog, DocumentStore, NotificationStore, RunStore } from "../ports/store.ts";

export type NotificationDeps = {
  readonly store: RunStore & AuditLog & AuditEvidence & NotificationStore & DocumentStore;
  readonly audit: AuditReaders;
  readonly context: () => Context;
  readonly log: EventLog;
};

/** The store's name for the last audit entry that is turned into notifications. */
const CURSOR = "audit letters";
/** The store's name for the day of the last head. */
const HEAD_DAY = "audit head day";
const AT_ONCE = 200;
const FOLLOWED = ["decided", "voted", "disputed", "tampering-found", "redacted"] as const;

export function createNotificationWriter(deps: NotificationDeps): { write(): Promise<void> } {
  let cursor: number | null = null;
  return {
    async write() {
      cursor ??= await firstCursor(deps);
      cursor = await followUp(deps, cursor);
      await addDailyHead(deps);
    },
  };
}

/** An audit that is older than the cursor gets no notifications about its past. */
async function firstCursor({ store }: NotificationDeps): Promise<number> {
  const kept = await store.document(CURSOR);
  if (typeof kept === "number") return kept;
  const seq = (await store.auditHead())?.seq ?? 0;
  await store.putDocument(CURSOR, seq);
  return seq;
}

async function followUp({ store, audit, context }: NotificationDeps, cursor: number): Promise<number> {
  const head = (await store.auditHead())?.seq ?? 0;
  if (head <= cursor) return cursor;
  const entries = await store.auditAfter(cursor, FOLLOWED, AT_ONCE);
  const { now, nonce } = context();
  const notifications = entries.flatMap((each) =>
    addressees(each, audit).map(({ kind, to }): Notification => {
      return { id: nonce(), kind, entry: each.seq, to, madeAt: now, post: PLANNED };
    }),
  );
  const reached = entries.length === AT_ONCE ? (entries.at(-1)?.seq ?? head) : head;
  if (notifications.length > 0) {
    await store.addNotifications(notifications);
    await store.putDocument(CURSOR, reached);
  }
  return reached;
}

function addressees(
  { entry }: KeptEntry,
  { admins, channel }: AuditReaders,
): Pick<Notification, "kind" | "to">[] {
  if (entry.what === "decided" || entry.what === "voted")
    return entry.by === null ? [] : [{ kind: "receipt", to: entry.by.user }];
  const all: readonly (UserId | ChannelId)[] = channel === null ? admins : [...admins, channel];
  return all.map((to) => ({ kind: kindOf(entry), to }));
}

function kindOf({ what }: KeptEntry["entry"]): Notification["kind"] {
  if (what === "redacted") return "redaction";
  return what === "disputed" ? "dispute" : "tampering";
}

/** Posts the audit's head once a day (UTC), out of reach of somebody who has the database. */
async function addDailyHead({ store, audit, context, log }: NotificationDeps): Promise<void> {
  const { now, nonce } = context();
  const day = new Date(now).toISOString().slice(0, 10);
  if ((await store.document(HEAD_DAY)) === day) return;
  const head = await store.auditHead();
  if (head === null) return;
  const { seq, link } = head;
  log.info({ seq, link, publicKey: store.auditPublicKey() }, "the audit's head");
  const notification = { id: nonce(), kind: "head", entry: seq, madeAt: now, post: PLANNED } as const;
  if (audit.channel !== null) await store.addNotifications([{ ...notification, to: audit.channel }]);
  await store.putDocument(HEAD_DAY, day);
}

/** Null: the entry is missing, which means that somebody changed the audit. */
export async function factsOf(
  store: AuditLog & RunStore,
  notification: Notification,
): Promise<NotificationFacts | null> {
  const entry = await store.auditEntry(notification.entry);
  if (entry === null) return null;
  const { refers } = entry.entry;
  const about = refers === undefined ? null : await store.auditEntry(refers);
  const { run, digest, approval } = (about ?? entry).entry;
  // The digest of an entry about no approval does not cover a request.
  const text = digest === null || approval === null ? null : await store.auditText(digest);
  const stored = run === null ? null : await store.load(run);
  return { entry, about, action: actionIn(text), channel: stored?.run.channel ?? null };
}

/** The text of a request is run id, approval id and everything the service sent. */
function actionIn(text: string | null): string | null {
  if (text === null) return null;
  const parts = JSON.parse(text) as Json;
  const content = Array.isArray(parts) ? (parts[2] as Json) : null;
  const action = isRecord(content) ? content["action"] : content;
  return typeof action === "string" ? action : null;
}
