// The freezes in force, as the audit has them. A freeze counts from the moment its entry is written; only a signed entry lifts one.

import pRetry from "p-retry";
import type { AuditEntry } from "../audit/entry.ts";
import { type Freeze, freezesAfter } from "../domain/freeze.ts";
import type { AuditLog } from "../ports/store.ts";

export type Freezes = {
  /** Oldest first. */
  now(): readonly Freeze[];
  /** Reads the entries that were written since the last call. Rejects with PortError when the store fails. */
  refresh(): Promise<void>;
  /** Writes the entry, which is in force when this resolves. Rejects with PortError; then it may be stored, and is in force after the next read. */
  write(entry: AuditEntry): Promise<void>;
};

const KINDS = ["frozen", "freeze-lifted"] as const;
const AT_ONCE = 1_000;
/** A freeze that cannot be read back for about ten seconds (ms) is reported as a failure. */
const RETRY = { retries: 20, minTimeout: 50, maxTimeout: 1_000 };

export function createFreezes(store: Pick<AuditLog, "audit" | "auditAfter" | "provenEntry">): Freezes {
  let known: readonly Freeze[] = [];
  let cursor = 0;

  let last: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    for (let more = true; more;) {
      const entries = await store.auditAfter(cursor, KINDS, AT_ONCE);
      const proven = await Promise.all(entries.map(({ seq }) => store.provenEntry(seq)));
      // An entry that is not proven freezes all the same: that can only stop an agent.
      const valid = entries.filter(({ entry }, at) => entry.what === "frozen" || proven[at]?.ok === true);
      known = freezesAfter(known, valid);
      cursor = entries.at(-1)?.seq ?? cursor;
      more = entries.length === AT_ONCE;
    }
  }

  /** One after the other, so that no older answer overtakes a newer one. */
  function refresh(): Promise<void> {
    last = last.then(read, read);
    return last;
  }

  return {
    now: () => known,
    refresh,
    async write(entry) {
      await store.audit([entry]);
      // Once it is written, it must not wait for a restart to count.
      await pRetry(refresh, RETRY);
    },
  };
}
