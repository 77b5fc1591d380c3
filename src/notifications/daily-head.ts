// Posts the audit's head once a day (UTC), so that it is out of reach of a person who can change the database.

import type { Context } from "../domain/context.ts";
import { PLANNED } from "../domain/posted-message.ts";
import type { EventLog } from "../ports.ts";
import type { AuditEvidence, AuditLog } from "../ports/audit-store.ts";
import type { AuditReaders, NotificationStore } from "../ports/notification.ts";
import type { DocumentStore } from "../ports/store.ts";
import { nullIfNeverReadable } from "./never-readable.ts";

type Deps = {
  readonly store: AuditLog & AuditEvidence & NotificationStore & DocumentStore;
  readonly audit: AuditReaders;
  readonly context: () => Context;
  readonly log: EventLog;
};

/** The name of the document with the day on which the audit's head was last posted. */
const HEAD_DAY = "audit head day";

/**
 * Resolves to the last day on which the head was posted. The stored day is not sealed, so it counts only until this process knows the day
 * itself: `known`. Rejects with PortError if the store fails.
 */
export async function addDailyHead(
  { store, audit, context, log }: Deps,
  known: string | null,
): Promise<string | null> {
  const { now, nonce } = context();
  const day = new Date(now).toISOString().slice(0, 10);
  const last = known ?? (await store.document(HEAD_DAY).catch(nullIfNeverReadable));
  if (last === day) return day;
  const head = await store.auditHead();
  if (head === null) return known;
  const { seq, link } = head;
  log.info({ seq, link, publicKey: store.auditPublicKey() }, "the audit's head");
  const notification = { id: nonce(), kind: "head", entry: seq, madeAt: now, post: PLANNED } as const;
  if (audit.channel !== null) await store.addNotifications([{ ...notification, to: audit.channel }]);
  await store.putDocument(HEAD_DAY, day);
  return day;
}
