// The freezes in force, derived from the audit. A freeze counts from the moment its entry is written. Only a signed entry lifts a freeze.
// An entry that is not proven also counts as a freeze if it calls itself one, because a freeze can only stop an agent.

import pRetry from "p-retry";
import type { AuditEntry } from "../audit/entry.ts";
import type { AuditPlace } from "../domain/audit/hash-chain.ts";
import { BEGINNING } from "../domain/audit/verify-chain.ts";
import { type Freeze, type FreezeEntry, freezesAfter, unknownFreeze } from "../domain/freeze.ts";
import type { EventLog } from "../ports.ts";
import type { AuditLog, Finding } from "../ports/audit-store.ts";
import { type ProvenReads, readAfter, type ReadRow } from "./proven-entries.ts";

export type Freezes = {
  /** Returns the freezes in force, oldest first. */
  now(): readonly Freeze[];
  /** Returns the place of the last freeze or end of one that `now` takes into account. */
  knownTo(): AuditPlace;
  /** Reads the entries written since the last call. Rejects with PortError if the store fails. */
  refresh(): Promise<void>;
  /**
   * Writes the entry, which is in force when this resolves. Rejects with PortError if the store fails. The entry may then be stored all the
   * same, and is in force after the next `refresh`.
   */
  write(entry: AuditEntry): Promise<void>;
  /** Calls the listener when `now` may return something else than before. */
  onChange(listener: () => void): void;
  /** Sets the one listener for rows that this program did not write. It may hear of the same row again. */
  onForged(listener: (finding: Finding) => void): void;
};

const FREEZE_KINDS = ["frozen", "freeze-lifted"] as const;
/** If a freeze cannot be read back for about ten seconds, `write` rejects (ms). */
const RETRY = { retries: 20, minTimeout: 50, maxTimeout: 1_000 };

const LOST =
  "freezes in force are gone from the audit; they hold in this process until it ends or someone lifts them, so freeze again";

export function createFreezes(
  store: Pick<AuditLog, "audit"> & ProvenReads,
  log: Pick<EventLog, "error">,
): Freezes {
  let inForce: readonly Freeze[] = [];
  let place = BEGINNING;
  let lastRead: Promise<void> = Promise.resolve();
  const listeners: (() => void)[] = [];
  let reportForged: (finding: Finding) => void = () => undefined;

  async function read(): Promise<void> {
    const before = inForce;
    const { rows, reached, isCut, isAnew } = await readAfter(store, place, FREEZE_KINDS);
    // A row that was not read may be a freeze.
    const unread = isCut ? rows.slice(-1).map(({ seq }) => unknownFreeze(seq)) : [];
    const lost = isAnew ? before.filter((freeze) => !rows.some(({ seq }) => seq === freeze.entry)) : [];
    if (lost.length > 0) log.error({ entries: lost.map((freeze) => freeze.entry) }, LOST);
    // A lost freeze stays in force, because only a signed entry lifts one.
    inForce = freezesAfter(inForce, [...rows.flatMap(freezeEntries), ...unread]);
    place = reached;
    for (const row of rows) if (row.type === "forged") reportForged(row.finding);
    if (inForce !== before) for (const listener of listeners) listener();
  }

  /** Runs reads one after the other, so that no older answer replaces a newer one. */
  function refresh(): Promise<void> {
    lastRead = lastRead.then(read, read);
    return lastRead;
  }

  return {
    now: () => inForce,
    knownTo: () => place,
    refresh,
    async write(entry) {
      await store.audit([entry]);
      // A freeze that is written must count at once, and not only after a restart.
      await pRetry(refresh, RETRY);
    },
    onChange: (listener) => void listeners.push(listener),
    onForged: (listener) => void (reportForged = listener),
  };
}

function freezeEntries(row: ReadRow): readonly FreezeEntry[] {
  if (row.type === "proven") return [row.kept];
  return row.what === "frozen" ? [unknownFreeze(row.seq)] : [];
}
