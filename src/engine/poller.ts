// Polls every unfinished run: fetches a run when it is due and compares the answer with the previous one. An answer without changes
// touches neither the store nor Slack.

import type { Context } from "../domain/context.ts";
import type { RunId, RunKey } from "../domain/ids.ts";
import { isOutdated } from "../domain/observe.ts";
import { lastNewsAt, newsMark, nextPollMs } from "../domain/poll-schedule.ts";
import type { Plan } from "../domain/reconcile.ts";
import { contextFields } from "../domain/run-context.ts";
import { isMissing, isWatched, type Run, runId } from "../domain/run.ts";
import { type AgentService, type Counters, type EventLog, type FetchedRun, PortError } from "../ports.ts";
import type { Clock } from "./clock.ts";
import { DueQueue } from "./background-work.ts";
import { askedAtOf, observeFetched } from "./fresh-facts.ts";
import { createQuietWarnings, type WarnQuietly } from "./logging.ts";
import type { RunEngine } from "./run-engine.ts";
import { CircuitOpenError, type ServiceBreaker } from "./service-breaker.ts";
import type { UnreadableRuns } from "./unreadable-runs.ts";
import { inTurn, type Watchdog } from "./watchdog.ts";

export type Poller = {
  /** Returns the number of watched runs and the number of fetches in progress. */
  counts(): { readonly watched: number; readonly inFlight: number };
  /** Returns how long the most overdue poll has been waiting for a free slot (ms). */
  lagMs(): number;
  /** Starts no more fetches. Answers that arrive later are discarded. */
  stop(): void;
};

export type PollLimits = { readonly minMs: number; readonly maxMs: number; readonly maxInFlight: number };

type GivenDeps = {
  agents: Pick<AgentService, "fetchRun">;
  engine: Pick<RunEngine, "change" | "onPlan" | "onDrop">;
  breaker: ServiceBreaker;
  unreadable: Pick<UnreadableRuns, "noteFetch">;
  context: () => Context;
  clock: Clock;
  random: () => number;
  log: EventLog;
  metrics: Counters;
  watchdog: Pick<Watchdog, "begin">;
};
type Deps = GivenDeps & { readonly rulesVersion: RulesVersion };

/** Returns a number that grows with each change of the policy and of the freezes in force. */
type RulesVersion = () => number;

/**
 * After such a change, an answer that is known must be applied once more. The change itself is applied to all runs at once; this reaches
 * the runs that it missed because the store failed, or because they were being saved.
 */
function createRulesVersion(context: () => Context): RulesVersion {
  let { policy, freezes } = context();
  let changes = 0;
  return () => {
    const now = context();
    if (now.policy !== policy || now.freezes !== freezes) changes += 1;
    ({ policy, freezes } = now);
    return changes;
  };
}

/** If this many runs or more have unreadable answers, the fault is reported for the service as a whole. */
const SERVICE_WIDE_RUNS = 3;

/** Fingerprinting and applying a longer answer takes milliseconds each, so the event loop runs in between. */
const LONG_CHARS = 65_536;

/** One watched run. Kept small, because there may be tens of thousands. */
type Entry = {
  readonly key: RunKey;
  readonly id: RunId;
  /** Since when the run's `newsMark` has been the same (monotonic ms). */
  quietSince: number;
  /** The run's newest `newsMark`. */
  lastChange: number;
  /** The time from which a fetch would settle something (monotonic ms). Null if nothing needs a fetch. */
  fetchAt: number | null;
  /** When the newest such fetch that was applied had begun (monotonic ms). */
  fetchedAt: number;
  failures: number;
  /** False until the first poll, which comes at a random moment of the usual wait, so that not all runs are polled at once after a start. */
  hasPolled: boolean;
  isMissing: boolean;
  /** The `fingerprint` of the newest answer, if it changes nothing. Null if the next answer must be applied in any case. */
  knownAnswer: string | null;
  /** The `RulesVersion` under which the known answer changes nothing. */
  knownUnder: number;
  /** The number of times that the run was reconciled. */
  reconciliations: number;
};

export function createPoller(given: GivenDeps, limits: PollLimits): Poller {
  const deps: Deps = { ...given, rulesVersion: createRulesVersion(given.context) };
  const entries = new Map<RunKey, Entry>();
  const warn = createQuietWarnings(deps);
  let stopped = false;
  const queue: DueQueue<Entry> = new DueQueue(deps.clock, limits.maxInFlight, async (entry) => {
    if (entries.get(entry.key) !== entry || stopped) return;
    const restMs = deps.breaker.pausedMs();
    if (restMs > 0)
      return queue.put(
        entry,
        deps.clock.monotonic() + restMs + deps.random() * Math.min(restMs, limits.maxMs),
      );
    entry.hasPolled = true;
    const failure = await inTurn(deps.watchdog, () => poll(deps, entry, () => stopped));
    deps.metrics.pollsInFlight(queue.busy);
    const next = nextPollAt(deps, entry, limits);
    if (failure !== null) logFailure(warn, entry, failure, next - deps.clock.monotonic());
    if (entries.get(entry.key) === entry) queue.put(entry, next);
  });

  deps.engine.onPlan((run, plan) => {
    const entry = isWatched(run) ? updateEntry(entries, run, plan, deps.clock) : null;
    if (entry === null) forget(deps, entries, run.key);
    else queue.advance(entry, nextPollAt(deps, entry, limits));
    deps.metrics.runsWatched(entries.size);
  });

  deps.engine.onDrop((key) => {
    forget(deps, entries, key);
    deps.metrics.runsWatched(entries.size);
  });

  function stop(): void {
    stopped = true;
    queue.stop();
  }
  const counts = (): ReturnType<Poller["counts"]> => ({ watched: entries.size, inFlight: queue.busy });
  return { counts, lagMs: () => queue.lagMs, stop };
}

function forget({ breaker }: Deps, entries: Map<RunKey, Entry>, key: RunKey): void {
  const entry = entries.get(key);
  if (entry !== undefined) breaker.forget(entry.id);
  entries.delete(key);
}

/** Updates the run's entry after a reconciliation, or adds one. Returns null while the service has not told us the run's id. */
function updateEntry(entries: Map<RunKey, Entry>, run: Run, plan: Plan, clock: Clock): Entry | null {
  const id = runId(run);
  if (id === null) return null;
  const entry = entries.get(run.key) ?? newEntry(run.key, id);
  const lastChange = newsMark(run);
  // When a run is claimed, only the wall clock shows how old its last change is. From then on the monotonic clock counts.
  const age = Number.isNaN(entry.lastChange) ? Math.max(clock.now() - lastNewsAt(run), 0) : 0;
  if (lastChange !== entry.lastChange) entry.quietSince = clock.monotonic() - age;
  entry.lastChange = lastChange;
  entry.fetchAt = plan.fetchAt;
  entry.isMissing = isMissing(run);
  // Code outside this poller may have applied a different answer, so the next answer is applied in any case.
  entry.knownAnswer = null;
  entry.reconciliations += 1;
  entries.set(run.key, entry);
  return entry;
}

const newEntry = (key: RunKey, id: RunId): Entry => ({
  key,
  id,
  quietSince: 0,
  lastChange: NaN,
  fetchAt: null,
  fetchedAt: 0,
  failures: 0,
  hasPolled: false,
  isMissing: false,
  knownAnswer: null,
  knownUnder: 0,
  reconciliations: 0,
});

function nextPollAt({ clock, random }: Deps, entry: Entry, limits: PollLimits): number {
  const now = clock.monotonic();
  const facts = { quietMs: now - entry.quietSince, fails: entry.failures, missing: entry.isMissing };
  const waitMs = nextPollMs(facts, limits, random());
  const usual = now + (entry.hasPolled ? waitMs : random() * waitMs);
  if (entry.fetchAt === null || entry.fetchAt <= entry.fetchedAt || entry.failures > 0) return usual;
  return Math.min(usual, Math.max(entry.fetchAt, now + limits.minMs / 2));
}

/** `what` is what the log says. */
type Failure = { readonly error: PortError; readonly what: string };

const NO_ANSWER = "the agent service gave no usable answer about a run";
const NOT_STORED = "an answer about a run could not be stored; the next poll asks again";

/** Resolves to the failure of this poll, or to null if it succeeded, or if the service was not asked. Never rejects. */
async function poll(deps: Deps, entry: Entry, isStopped: () => boolean): Promise<Failure | null> {
  const fetched = await fetchOnce(deps, entry);
  if (fetched === null || "error" in fetched) return fetched;
  if (isStopped()) return null;
  try {
    await applyAnswer(deps, entry, fetched);
    await deps.unreadable.noteFetch(entry.key, fetched);
    return null;
  } catch (error) {
    return noteFailure(deps, entry, error, NOT_STORED);
  }
}

async function fetchOnce(deps: Deps, entry: Entry): Promise<FetchedRun | Failure | null> {
  const { clock, breaker, metrics } = deps;
  const startedAt = clock.monotonic();
  const seconds = (): number => (clock.monotonic() - startedAt) / 1_000;
  try {
    const fetched = await breaker.through(entry.id, () => deps.agents.fetchRun(entry.id));
    entry.failures = 0;
    breaker.noteAnswer(entry.id, fetched.type !== "missing");
    metrics.poll(fetched.type, seconds());
    return fetched;
  } catch (error) {
    if (error instanceof CircuitOpenError) return null;
    const failure = noteFailure(deps, entry, error, NO_ANSWER);
    if (failure !== null) {
      metrics.poll(failure.error.code, seconds());
      await noteUnreadable(deps, entry, failure.error);
    }
    return failure;
  }
}

/** Counts the failure, so that the next poll comes later. Returns null for a fault in Countersign, which is logged here. */
function noteFailure({ log }: Deps, entry: Entry, error: unknown, what: string): Failure | null {
  entry.failures += 1;
  if (error instanceof PortError) return { error, what };
  log.error({ run: entry.key, error }, "a poll of a run failed");
  return null;
}

function logFailure(
  warn: WarnQuietly,
  { key, id, failures }: Entry,
  { error: { code }, what }: Failure,
  nextTryMs: number,
): void {
  const ids = { code, effect: "poll", run: key, runId: id, try: failures, nextTryMs: Math.round(nextTryMs) };
  warn(code, ids, what);
}

async function noteUnreadable(
  { unreadable, breaker, log }: Deps,
  entry: Entry,
  failure: PortError,
): Promise<void> {
  // If the whole service is affected, one notice in each channel says so, instead of one message for each run.
  const state = breaker.state();
  if (state.type === "useless" && state.runs >= SERVICE_WIDE_RUNS) return;
  try {
    await unreadable.noteFetch(entry.key, failure);
  } catch (error) {
    log.error({ run: entry.key, error }, "could not record that a run cannot be read; the next poll will");
  }
}

/** Applies the answer to the run, unless an answer with the same content has changed nothing. */
async function applyAnswer(
  { engine, context, clock, rulesVersion }: Deps,
  entry: Entry,
  fetched: FetchedRun,
): Promise<void> {
  const answer = fingerprint(fetched);
  if (answer !== null && answer.length > LONG_CHARS) await new Promise<void>((done) => clock.after(0, done));
  const askedAt = askedAtOf(fetched);
  if (entry.fetchAt !== null && askedAt >= entry.fetchAt) entry.fetchedAt = askedAt;
  const under = rulesVersion();
  const isKnown = answer !== null && answer === entry.knownAnswer && entry.knownUnder === under;
  if (isKnown && entry.fetchAt === null) return;
  let hasNoMore = false;
  let ownReconciliation = 0;
  await engine.change(entry.key, (newest) => {
    ownReconciliation = entry.reconciliations + 1;
    const run = observeFetched(newest, fetched, context());
    // An answer may take effect in two steps: the first ends a decision whose request has changed, the second adds the new request. An
    // outdated answer is ignored, and the same content in a newer answer must be applied.
    hasNoMore = run === newest && !isOutdated(newest, askedAt);
    return run;
  });
  // If the run was reconciled again after this change, a different answer may have been applied since.
  if (hasNoMore && entry.reconciliations === ownReconciliation) {
    entry.knownAnswer = answer;
    entry.knownUnder = under;
  }
}

/** Two answers with the same fingerprint have the same content. Returns null if the answer must always be applied. */
function fingerprint(fetched: FetchedRun): string | null {
  if (fetched.type === "missing") return null;
  const { snapshot } = fetched;
  const { status, pending, unreadable } = snapshot;
  if (unreadable.length > 0)
    return `${status} ${JSON.stringify([pending, unreadable.map(({ ids, why }) => [ids, why]), contextFields(snapshot)])}`;
  if (pending === null || pending.length === 0) return pending === null ? `${status}?` : status;
  return `${status} ${JSON.stringify([pending.map(({ id, content }) => [id, content]), contextFields(snapshot)])}`;
}
