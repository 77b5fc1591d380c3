// Counts and logs the runs with unreadable answers. If whole answers or the list of approvals stay unreadable, this is recorded on the run.
// `observe` records single items that cannot be read.

import type { RunKey } from "../domain/ids.ts";
import { isWatched, type Run, runId, unreadableNow } from "../domain/run.ts";
import { allUnreadable, listsNone, type Unreadable } from "../domain/snapshot.ts";
import { type Counters, type EventLog, type FetchedRun, PortError } from "../ports.ts";
import type { Clock } from "./clock.ts";
import type { RunEngine } from "./run-engine.ts";
import { isUseless } from "./service-answers.ts";

/** How long answers must stay unreadable before this is recorded (ms). A single unreadable answer may be a hiccup of a proxy. */
const UNREADABLE_AFTER_MS = 10_000;
/** How long the list must be missing before this is recorded (ms). A service may show the state a moment before the list. */
const NO_LIST_AFTER_MS = 60_000;

export type UnreadableRuns = {
  /** Takes the result of a fetch. Costs nothing while everything can be read. Rejects if the store fails. */
  noteFetch(key: RunKey, fetched: FetchedRun | PortError): Promise<void>;
  counts(): UnreadableCounts;
};

export type UnreadableCounts = {
  /** The number of runs with pending approvals that cannot be read. */
  readonly runs: number;
  readonly approvals: number;
  /** The number of runs whose answers cannot be used, so that it is unknown whether an approval is pending. */
  readonly unanswered: number;
};

type Deps = {
  engine: Pick<RunEngine, "change" | "onPlan" | "onDrop">;
  clock: Clock;
  log: EventLog;
  metrics: Counters;
};

/**
 * One run's unreadable answers: since when (monotonic ms), and whether they are recorded on the run. A fetch outside the poller, as at a
 * submit, may end the record; the next poll then makes it again.
 */
type Doubt = { readonly what: "answer" | "list"; readonly since: number; recorded: boolean };
type Reason = { readonly what: Doubt["what"]; readonly code: string; readonly why: string };

export function createUnreadableRuns(deps: Deps): UnreadableRuns {
  const { clock, engine } = deps;
  const doubts = new Map<RunKey, Doubt>();
  const onReadable = (run: Run): void => {
    const doubt = doubts.get(run.key);
    if (doubt !== undefined && !(doubt.what === "list" && hasCard(run))) doubt.recorded = false;
  };
  const counts = countPlans(deps, { onReadable, onGone: (key) => void doubts.delete(key) });

  async function noteFetch(key: RunKey, fetched: FetchedRun | PortError): Promise<void> {
    const reason = reasonOf(fetched);
    if (reason === null) return void (doubts.size > 0 && doubts.delete(key));
    const before = doubts.get(key);
    const now = clock.monotonic();
    const doubt = before?.what === reason.what ? before : { what: reason.what, since: now, recorded: false };
    doubts.set(key, doubt);
    const patienceMs = reason.what === "answer" ? UNREADABLE_AFTER_MS : NO_LIST_AFTER_MS;
    if (doubt.recorded || now - doubt.since < patienceMs) return;
    const saved = await engine.change(key, (run) => withDoubt(run, reason, clock.now()));
    doubt.recorded = saved !== null;
  }

  return { noteFetch, counts };
}

/** Returns null if the answer can be read, or if the fetch failed for another reason. */
function reasonOf(fetched: FetchedRun | PortError): Reason | null {
  if (fetched instanceof PortError) {
    return isUseless(fetched) ? { what: "answer", code: fetched.code, why: fetched.message } : null;
  }
  if (fetched.type === "missing" || !listsNone(fetched.snapshot)) return null;
  return { what: "list", code: "no-list", why: "the run waits for approval, and nothing says for what" };
}

/** A missing list is not recorded while an approval is pending here, because that approval has its card. */
function withDoubt(run: Run, { what, ...reason }: Reason, now: number): Run {
  if (!isWatched(run) || (what === "list" && hasCard(run))) return run;
  const unreadable = allUnreadable(run.unreadable, what, reason, now);
  return unreadable === run.unreadable ? run : { ...run, unreadable };
}

const hasCard = ({ approvals }: Run): boolean => approvals.some(({ state }) => state.type === "pending");

type Listeners = { readonly onReadable: (run: Run) => void; readonly onGone: (key: RunKey) => void };

function countPlans(
  { engine, log, metrics }: Deps,
  { onReadable, onGone }: Listeners,
): () => UnreadableCounts {
  const unreadByRun = new Map<RunKey, number>();
  const unanswered = new Set<RunKey>();
  /** What was last logged about each run. A run that flaps between readable and unreadable is logged once. */
  const logged = new Map<RunKey, string>();
  let approvals = 0;

  function setCounts(key: RunKey, unreadable: Unreadable | null): void {
    const before = unreadByRun.get(key) ?? 0;
    const count = unreadable === null || unreadable.what === "answer" ? 0 : unreadable.count;
    if (count === 0) unreadByRun.delete(key);
    else unreadByRun.set(key, count);
    if (unreadable?.what === "answer") unanswered.add(key);
    else unanswered.delete(key);
    approvals += count - before;
    if (count !== before) metrics.unreadable(approvals);
  }

  function forget(key: RunKey): void {
    logged.delete(key);
    onGone(key);
  }

  engine.onPlan((run) => {
    const unreadable = unreadableNow(run);
    setCounts(run.key, unreadable);
    if (!isWatched(run)) forget(run.key);
    if (unreadable === null) onReadable(run);
    else logUnreadable(log, logged, run, unreadable);
  });
  engine.onDrop((key) => {
    setCounts(key, null);
    forget(key);
  });
  return () => ({ runs: unreadByRun.size, approvals, unanswered: unanswered.size });
}

function logUnreadable(log: EventLog, logged: Map<RunKey, string>, run: Run, unreadable: Unreadable): void {
  const { what, count, items } = unreadable;
  const codes = [...new Set(items.map(({ code }) => code))].toSorted();
  const cause = [what, ...codes].join(" ");
  if (logged.get(run.key) === cause) return;
  logged.set(run.key, cause);
  const message =
    what === "answer" ? "the answers about a run cannot be used" : "approvals of a run cannot be read";
  log.warn({ run: run.key, runId: runId(run), what, codes, count }, message);
}
