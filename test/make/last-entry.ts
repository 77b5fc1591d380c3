// The newest entry of the audit.

import type { AuditLog } from "#src/ports/audit-store.ts";

export async function lastEntry(store: Pick<AuditLog, "auditHead" | "auditEntry">) {
  const head = await store.auditHead();
  return head === null ? undefined : (await store.auditEntry(head.seq))?.entry;
}
