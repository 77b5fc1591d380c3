// How far a process has read the audit. After a standby without the newest entries takes over, new entries get the numbers of the lost ones.
// So a position is a number and a link, and a reader checks that the entry at its position is still the same before it reads on.

import type { AuditEntry } from "../audit/entry.ts";
import type { AuditPlace } from "../domain/audit/hash-chain.ts";
import { BEGINNING } from "../domain/audit/verify-chain.ts";
import type { AuditEvidence, AuditLog } from "../ports/audit-store.ts";

type NumberedRow = Awaited<ReturnType<AuditLog["numbersAfter"]>>[number];

export const BATCH = 1_000;

/**
 * Reads the first rows of these kinds after `place`, which is the place of such a row, in one query if there are none. `isAnew`: that row is
 * gone, perhaps into an archive, so these are the first rows of all. The caller reads on by number.
 */
export async function rowsAfter(
  store: Pick<AuditLog, "numbersAfter">,
  { seq, link }: AuditPlace,
  kinds: readonly AuditEntry["what"][],
): Promise<{ readonly rows: readonly NumberedRow[]; readonly isAnew: boolean }> {
  const isAtBeginning = seq === BEGINNING.seq;
  if (!isAtBeginning) {
    const [here, ...rows] = await store.numbersAfter(seq - 1, kinds, BATCH);
    if (here?.seq === seq && here.link === link) return { rows, isAnew: false };
  }
  return { rows: await store.numbersAfter(BEGINNING.seq, kinds, BATCH), isAnew: !isAtBeginning };
}

/** Resolves to whether the entry is still in the audit, whose newest entry is `head`. */
export async function isInAudit(
  store: Pick<AuditEvidence, "auditLink">,
  head: AuditPlace,
  { seq, link }: AuditPlace,
): Promise<boolean> {
  if (seq === BEGINNING.seq) return true;
  if (seq === head.seq) return link === head.link;
  return seq < head.seq && (await store.auditLink(seq)) === link;
}

/** The function resolves to the newest entry, and to the one of its last call if that one is gone. */
export function createLookAtHead(store: Pick<AuditLog, "auditHead"> & Pick<AuditEvidence, "auditLink">) {
  let seen = BEGINNING;
  return async (): Promise<{ readonly head: AuditPlace; readonly lost: AuditPlace | null }> => {
    const head = (await store.auditHead()) ?? BEGINNING;
    const lost = (await isInAudit(store, head, seen)) ? null : seen;
    seen = head;
    return { head, lost };
  };
}
