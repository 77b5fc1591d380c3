// The freezes in force, derived from the audit. A freeze counts from the moment its entry is written. Only a signed entry lifts a freeze.
// An entry that is not proven also counts as a freeze if it calls itself one, because a freeze can only stop an agent.

import pRetry from "p-retry";
import type { AuditEntry } from "../audit/entry.ts";
import type { AuditPlace } from "../domain/audit/hash-chain.ts";
import { BEGINNING } from "../domain/audit/verify-chain.ts";
import {
  type Freeze,
  type FreezeEntry,
  freezesAfter,
  freezesLost,
  lostAfter,
  unknownFreeze,
} from "../domain/freeze.ts";
import type { EventLog } from "../ports.ts";
import type { AuditLog, Finding } from "../ports/audit-store.ts";
import { type ProvenReads, readAfter, type ReadRow } from "./proven-entries.ts";

export type Freezes = {
  /** Returns the freezes in force: those whose entries are gone from the audit, and then the others, oldest first. */
  now(): readonly Freeze[];
  /** Returns whether the entry of this freeze is gone from the audit. Then it holds only in this process, and may be written again. */
  isLost(freeze: Freeze): boolean;
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
/** The waits between reads (ms). If a freeze cannot be read back for about 17 seconds, `write` rejects. */
const RETRY = { retries: 20, minTimeout: 50, maxTimeout: 1_000 };

const LOST =
  "freezes in force are gone from the audit; they hold in this process until it ends or someone lifts them, so freeze the same channels again";

export function createFreezes(
  store: Pick<AuditLog, "audit"> & ProvenReads,
  log: Pick<EventLog, "error">,
): Freezes {
  const known = createKnownFreezes(log);
  let place = BEGINNING;
  let lastRead: Promise<void> = Promise.resolve();
  const listeners: (() => void)[] = [];
  let reportForged: (finding: Finding) => void = () => undefined;

  async function read(): Promise<void> {
    const { rows, reached, isCut, isAnew } = await readAfter(store, place, FREEZE_KINDS);
    // A row that was not read may be a freeze.
    const unread = isCut ? rows.slice(-1).map(({ seq }) => unknownFreeze(seq)) : [];
    place = reached;
    for (const row of rows) if (row.type === "forged") reportForged(row.finding);
    const changed = known.take([...rows.flatMap(freezeEntries), ...unread], isAnew);
    if (changed) for (const listener of listeners) listener();
  }

  /** Runs reads one after the other, so that no older answer replaces a newer one. */
  function refresh(): Promise<void> {
    lastRead = lastRead.then(read, read);
    return lastRead;
  }

  return {
    now: known.all,
    isLost: known.isLost,
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

/** A lost freeze stays in force, because only a signed entry lifts one. */
function createKnownFreezes(log: Pick<EventLog, "error">) {
  let lost: readonly Freeze[] = [];
  let inAudit: readonly Freeze[] = [];
  let all: readonly Freeze[] = [];
  return {
    all: () => all,
    isLost: (freeze: Freeze) => lost.includes(freeze),
    /** Returns whether `all` has changed. `isAnew`: these are all entries of the audit, and not only those after the last call. */
    take(entries: readonly FreezeEntry[], isAnew: boolean): boolean {
      const before = { lost, inAudit };
      lost = isAnew ? freezesLost(all, entries) : lostAfter(lost, entries);
      inAudit = freezesAfter(isAnew ? [] : inAudit, entries);
      const news = lost.filter((freeze) => !before.lost.includes(freeze));
      if (news.length > 0) log.error({ entries: news.map((freeze) => freeze.entry) }, LOST);
      if (inAudit === before.inAudit && lost.length === before.lost.length) return false;
      all = [...lost, ...inAudit];
      return true;
    },
  };
}

function freezeEntries(row: ReadRow): readonly FreezeEntry[] {
  if (row.type === "proven") return [row.kept];
  return row.what === "frozen" ? [unknownFreeze(row.seq)] : [];
}
