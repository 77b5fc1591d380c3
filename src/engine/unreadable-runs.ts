// Runs with unreadable answers: counted, logged once, and recorded on the run when whole answers or the list of approvals stay
// unreadable. `observe` records single items that cannot be read.

import type { RunKey } from "../domain/ids.ts";
import { isWatched, type Run, runId, unreadableNow } from "../domain/run.ts";
import { allUnreadable, listsNone, type Unreadable } from "../domain/snapshot.ts";
import { type Counters, type EventLog, type FetchedRun, PortError } from "../ports.ts";
import type { Clock } from "./clock.ts";
import type { RunEngine } from "./run-engine.ts";
import { isUseless } from "./service-answers.ts";

/** How long answers must stay unreadable (ms); a single one may be a hiccup of a proxy. */
const UNREADABLE_AFTER_MS = 10_000;
/** How long the list must stay away (ms); a service may need a moment between the state and the list. */
const NO_LIST_AFTER_MS = 60_000;

export type UnreadableRuns = {
  /** Takes the result of a fetch. Costs nothing while everything can be read. Rejects when the store fails. */
  looked(key: RunKey, fetched: FetchedRun | PortError): Promise<void>;
  counts(): UnreadableCounts;
};

export type UnreadableCounts = {
  /** Runs with pending approvals that cannot be read. */
  readonly runs: number;
  readonly approvals: number;
  /** Runs whose answers cannot be used, so it is unknown whether an approval is pending. */
  readonly unanswered: number;
};

type Deps = {
  engine: Pick<RunEngine, "change" | "onPlan">;
  clock: Clock;
  log: EventLog;
  metrics: Counters;
};

/** For one run: since when (monotonic, ms), and whether it is recorded on the run. */
type Doubt = { readonly what: "answer" | "list"; readonly since: number; recorded: boolean };
type Reason = { readonly what: Doubt["what"]; readonly code: string; readonly why: string };

export function createUnreadableRuns(deps: Deps): UnreadableRuns {
  const { clock, engine } = deps;
  const doubts = new Map<RunKey, Doubt>();
  const counts = countPlans(deps, (key) => void doubts.delete(key));

  async function looked(key: RunKey, fetched: FetchedRun | PortError): Promise<void> {
    const reason = reasonOf(fetched);
    if (reason === null) return void (doubts.size > 0 && doubts.delete(key));
    const before = doubts.get(key);
    const now = clock.monotonic();
    const doubt = before?.what === reason.what ? before : { what: reason.what, since: now, recorded: false };
    doubts.set(key, doubt);
    const after = reason.what === "answer" ? UNREADABLE_AFTER_MS : NO_LIST_AFTER_MS;
    if (doubt.recorded || now - doubt.since < after) return;
    const kept = await engine.change(key, (run) => withDoubt(run, reason, clock.now()));
    doubt.recorded = kept !== null;
  }

  return { looked, counts };
}

/** Null: the answer can be read, or the fetch failed in another way. */
function reasonOf(fetched: FetchedRun | PortError): Reason | null {
  if (fetched instanceof PortError) {
    return isUseless(fetched) ? { what: "answer", code: fetched.code, why: fetched.message } : null;
  }
  if (fetched.type === "missing" || !listsNone(fetched.snapshot)) return null;
  return { what: "list", code: "no-list", why: "the run waits for approval, and nothing says for what" };
}

/** What is pending here already has its card. */
function withDoubt(run: Run, { what, ...reason }: Reason, now: number): Run {
  const shown = what === "list" && run.approvals.some(({ state }) => state.type === "pending");
  if (!isWatched(run) || shown) return run;
  const unreadable = allUnreadable(run.unreadable, what, reason, now);
  return unreadable === run.unreadable ? run : { ...run, unreadable };
}

function countPlans({ engine, log, metrics }: Deps, gone: (key: RunKey) => void): () => UnreadableCounts {
  const unread = new Map<RunKey, number>();
  const unanswered = new Set<RunKey>();
  /** A run that flaps between the two is logged once. */
  const logged = new Map<RunKey, string>();
  let approvals = 0;

  engine.onPlan((run) => {
    const unreadable = unreadableNow(run);
    const before = unread.get(run.key) ?? 0;
    const known = unreadable === null || unreadable.what === "answer" ? 0 : unreadable.count;
    if (known === 0) unread.delete(run.key);
    else unread.set(run.key, known);
    if (unreadable?.what === "answer") unanswered.add(run.key);
    else unanswered.delete(run.key);
    approvals += known - before;
    if (!isWatched(run)) {
      logged.delete(run.key);
      gone(run.key);
    }
    if (unreadable !== null) tellLog(log, logged, run, unreadable);
    if (known !== before) metrics.unreadable(approvals);
  });
  return () => ({ runs: unread.size, approvals, unanswered: unanswered.size });
}

function tellLog(log: EventLog, logged: Map<RunKey, string>, run: Run, unreadable: Unreadable): void {
  const { what, count, items } = unreadable;
  const codes = [...new Set(items.map(({ code }) => code))].toSorted();
  const said = [what, ...codes].join(" ");
  if (logged.get(run.key) === said) return;
  logged.set(run.key, said);
  const says =
    what === "answer" ? "the answers about a run cannot be used" : "approvals of a run cannot be read";
  log.warn({ run: run.key, runId: runId(run), what, codes, count }, says);
}
