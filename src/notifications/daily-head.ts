// Posts the audit's head once a day (UTC), so that it is out of reach of a person who can change the database.

import type { Context } from "../domain/context.ts";
import { PLANNED } from "../domain/posted-message.ts";
import type { EventLog } from "../ports.ts";
import type { AuditEvidence, AuditLog } from "../ports/audit-store.ts";
import type { AuditReaders, NotificationStore } from "../ports/notification.ts";
import type { DocumentStore } from "../ports/store.ts";

type Deps = {
  readonly store: AuditLog & AuditEvidence & NotificationStore & DocumentStore;
  readonly audit: AuditReaders;
  readonly context: () => Context;
  readonly log: EventLog;
};

/** The name of the document with the day on which the audit's head was last posted. */
const HEAD_DAY = "audit head day";

/** Rejects with PortError if the store fails. */
export async function addDailyHead({ store, audit, context, log }: Deps): Promise<void> {
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
