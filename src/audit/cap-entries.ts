// Approvals that no person touched must not grow the audit without bound. A request that comes and goes gets a few full entries an hour;
// after that it is counted. The count becomes an entry when the hour or the run is over.

import { findApproval, isWatched, type Run, type Untouched } from "../domain/run.ts";
import { type AuditEntry, auditEntry } from "./entry.ts";

const WINDOW_MS = 60 * 60_000;
/** How many closings get a full entry in each window, for one approval and for one run. Our choice. */
export const MAX_ENTRIES_PER_APPROVAL = 4;
export const MAX_ENTRIES_PER_RUN = 60;
/** Once the texts of a window have this many characters, only digests follow. Our choice. */
const TEXT_CHARS_PER_RUN = 1024 * 1024;

type Capped = { readonly run: Run; readonly audit: readonly AuditEntry[] };

/** The entries to write for a change, and the run with the new counts. */
export function capUndecidedEntries(
  before: Run,
  after: Run,
  entries: readonly AuditEntry[],
  at: number,
): Capped {
  const audit: AuditEntry[] = [];
  let count = after.untouched ?? null;
  for (const entry of entries) {
    if (!isUntouched(before, entry)) {
      audit.push(entry);
      continue;
    }
    if (count !== null && at - count.since >= WINDOW_MS) {
      audit.push(...summaryOf(after, count, at));
      count = null;
    }
    const told = tell(count ?? { since: at, told: {}, chars: 0, omitted: 0 }, entry);
    count = told.count;
    audit.push(...told.entries);
  }
  if (count !== null && !isWatched(after)) {
    audit.push(...summaryOf(after, count, at));
    count = null;
  }
  return { run: withCount(after, count), audit };
}

/** The service withdrew it or it expired, and no one had voted. */
function isUntouched(before: Run, { what, outcome, approval }: AuditEntry): boolean {
  if (what !== "closed" || outcome === "unwatched" || approval === null) return false;
  return findApproval(before, approval)?.votes.length === 0;
}

type Told = { readonly count: Untouched; readonly entries: readonly AuditEntry[] };

function tell(count: Untouched, entry: AuditEntry): Told {
  const id = entry.approval ?? "";
  // The service chooses the id, which may be the name of a property that every object has.
  const before = Object.hasOwn(count.told, id) ? (count.told[id] ?? 0) : 0;
  const all = Object.values(count.told).reduce((sum, each) => sum + each, 0);
  if (before >= MAX_ENTRIES_PER_APPROVAL || all >= MAX_ENTRIES_PER_RUN)
    return { count: { ...count, omitted: count.omitted + 1 }, entries: [] };
  // The digest covers the run's own fields too, so the entry needs nothing else about them.
  const { text = "", context: _digest, contextText = "", ...bare } = entry;
  const kept = count.chars < TEXT_CHARS_PER_RUN;
  const chars = count.chars + (kept ? text.length + contextText.length : 0);
  const told = { ...count.told, [id]: before + 1 };
  return { count: { ...count, told, chars }, entries: [kept ? entry : bare] };
}

function summaryOf(run: Run, { since, omitted }: Untouched, at: number): AuditEntry[] {
  if (omitted === 0) return [];
  const outcome = "only the first of each hour are told one by one";
  return [auditEntry(run, { at, what: "coalesced", outcome, times: omitted, since })];
}

function withCount(run: Run, count: Untouched | null): Run {
  if (count === (run.untouched ?? null)) return run;
  const { untouched: _before, ...rest } = run;
  return count === null ? rest : { ...rest, untouched: count };
}
