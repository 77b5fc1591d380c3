// Polls every unfinished run: fetches each when it is due and compares the answer with the last one. An answer without news touches
// neither the store nor Slack.

import type { Context } from "../domain/context.ts";
import type { RunId, RunKey } from "../domain/ids.ts";
import { isOutdated, lastNewsAt, newsMark, nextPollMs } from "../domain/observe.ts";
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
  /** How many runs are watched, and how many fetches are in progress. */
  counts(): { readonly watched: number; readonly inFlight: number };
  /** For how long (ms) the poll that waits longest for a free place has been due. */
  lagMs(): number;
  /** Starts no more fetches. Answers still in flight are dropped. */
  stop(): void;
};

export type PollLimits = { readonly minMs: number; readonly maxMs: number; readonly maxInFlight: number };

type Deps = {
  agents: Pick<AgentService, "fetchRun">;
  engine: Pick<RunEngine, "change" | "onPlan" | "onDrop">;
  guard: ServiceBreaker;
  unreadable: Pick<UnreadableRuns, "looked">;
  context: () => Context;
  clock: Clock;
  random: () => number;
  log: EventLog;
  metrics: Counters;
  watchdog: Pick<Watchdog, "begin">;
};

/** From this many runs on, useless answers are reported for the service as a whole. */
const SERVICE_WIDE_RUNS = 3;

/** To write and digest a longer answer takes milliseconds, so the event loop runs in between. */
const LONG_CHARS = 65_536;

/** One watched run. Kept small: there may be tens of thousands. */
type Entry = {
  readonly key: RunKey;
  readonly id: RunId;
  /** Since when the run is quiet (monotonic), and after which news: `newsMark`. */
  quietSince: number;
  newest: number;
  /** When a fetch would settle something, and which fetch was the newest that was applied for that. */
  lookAt: number | null;
  lookedAt: number;
  fails: number;
  missing: boolean;
  /** The `fingerprint` of the newest answer that was applied. Null: apply the next one in any case. */
  said: string | null;
  /** How often the run was reconciled. */
  compared: number;
};

export function createPoller(deps: Deps, limits: PollLimits): Poller {
  const entries = new Map<RunKey, Entry>();
  const warn = createQuietWarnings(deps);
  let stopped = false;
  const queue: DueQueue<Entry> = new DueQueue(deps.clock, limits.maxInFlight, async (entry) => {
    if (entries.get(entry.key) !== entry || stopped) return;
    const restMs = deps.guard.pausedMs();
    if (restMs > 0)
      return queue.put(
        entry,
        deps.clock.monotonic() + restMs + deps.random() * Math.min(restMs, limits.maxMs),
      );
    const failure = await inTurn(deps.watchdog, () => ask(deps, entry, () => stopped));
    deps.metrics.pollsInFlight(queue.busy);
    const next = nextAt(deps, entry, limits);
    if (failure !== null) tellFailure(warn, entry, failure, next - deps.clock.monotonic());
    if (entries.get(entry.key) === entry) queue.put(entry, next);
  });

  deps.engine.onPlan((run, plan) => {
    const entry = isWatched(run) ? noteNews(entries, run, plan, deps.clock) : null;
    if (entry === null) forget(deps, entries, run.key);
    else queue.advance(entry, nextAt(deps, entry, limits));
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

function forget({ guard }: Deps, entries: Map<RunKey, Entry>, key: RunKey): void {
  const entry = entries.get(key);
  if (entry !== undefined) guard.forget(entry.id);
  entries.delete(key);
}

function noteNews(entries: Map<RunKey, Entry>, run: Run, plan: Plan, clock: Clock): Entry | null {
  const id = runId(run);
  if (id === null) return null;
  const fresh = {
    key: run.key,
    id,
    quietSince: 0,
    newest: NaN,
    lookAt: null,
    lookedAt: 0,
    fails: 0,
    missing: false,
    said: null,
    compared: 0,
  };
  const entry = entries.get(run.key) ?? fresh;
  const newest = newsMark(run);
  // When a run is claimed, only the wall clock knows how old its news is. From then on the monotonic clock counts.
  const age = Number.isNaN(entry.newest) ? Math.max(clock.now() - lastNewsAt(run), 0) : 0;
  if (newest !== entry.newest) entry.quietSince = clock.monotonic() - age;
  entry.newest = newest;
  entry.lookAt = plan.fetchAt;
  entry.missing = isMissing(run);
  // Other code than this poller may have applied another answer, so the next one is applied in any case.
  entry.said = null;
  entry.compared += 1;
  entries.set(run.key, entry);
  return entry;
}

function nextAt({ clock, random }: Deps, entry: Entry, limits: PollLimits): number {
  const now = clock.monotonic();
  const facts = { quietMs: now - entry.quietSince, fails: entry.fails, missing: entry.missing };
  const usual = now + nextPollMs(facts, limits, random());
  if (entry.lookAt === null || entry.lookAt <= entry.lookedAt || entry.fails > 0) return usual;
  return Math.min(usual, Math.max(entry.lookAt, now + limits.minMs / 2));
}

/** Resolves to why the service did not answer; null where it did, or was not asked. Never rejects. */
async function ask(deps: Deps, entry: Entry, stopped: () => boolean): Promise<PortError | null> {
  const { clock, guard, log, metrics } = deps;
  const startedAt = clock.monotonic();
  const seconds = (): number => (clock.monotonic() - startedAt) / 1_000;
  try {
    const fetched = await guard.through(entry.id, () => deps.agents.fetchRun(entry.id));
    entry.fails = 0;
    metrics.poll(fetched.type, seconds());
    if (stopped()) return null;
    await learn(deps, entry, fetched);
    await deps.unreadable.looked(entry.key, fetched);
    return null;
  } catch (error) {
    if (error instanceof CircuitOpenError) return null;
    entry.fails += 1;
    if (!(error instanceof PortError)) {
      log.error({ run: entry.key, error }, "a look at a run failed");
      return null;
    }
    metrics.poll(error.code, seconds());
    await noteUnreadable(deps, entry, error);
    return error;
  }
}

function tellFailure(
  warn: WarnQuietly,
  { key, id, fails }: Entry,
  { code }: PortError,
  nextTryMs: number,
): void {
  const ids = { code, effect: "poll", run: key, runId: id, try: fails, nextTryMs: Math.round(nextTryMs) };
  warn(code, ids, "the agent service gave no usable answer about a run");
}

async function noteUnreadable(
  { unreadable, guard, log }: Deps,
  entry: Entry,
  failure: PortError,
): Promise<void> {
  // Then one notice in each channel says so, instead of a message for each run.
  const state = guard.state();
  if (state.type === "useless" && state.runs >= SERVICE_WIDE_RUNS) return;
  try {
    await unreadable.looked(entry.key, failure);
  } catch (error) {
    log.error({ run: entry.key, error }, "could not record that a run cannot be read; the next fetch does");
  }
}

async function learn({ engine, context, clock }: Deps, entry: Entry, fetched: FetchedRun): Promise<void> {
  const said = fingerprint(fetched);
  if (said !== null && said.length > LONG_CHARS) await new Promise<void>((done) => clock.after(0, done));
  const askedAt = askedAtOf(fetched);
  if (entry.lookAt !== null && askedAt >= entry.lookAt) entry.lookedAt = askedAt;
  if (said !== null && said === entry.said && entry.lookAt === null) return;
  let known = false;
  let compared = 0;
  await engine.change(entry.key, (newest) => {
    // An outdated answer was dropped, so its content is not recorded; the same content in the next answer is news.
    known = !isOutdated(newest, askedAt);
    compared = entry.compared + 1;
    return observeFetched(newest, fetched, context());
  });
  // Another answer may have been applied right after this one.
  if (known && entry.compared === compared) entry.said = said;
}

/** Two answers with the same fingerprint have the same content. Null: the answer must always be applied. */
function fingerprint(fetched: FetchedRun): string | null {
  if (fetched.type === "missing") return null;
  const { snapshot } = fetched;
  const { status, pending, unreadable } = snapshot;
  if (unreadable.length > 0)
    return `${status} ${JSON.stringify([pending, unreadable.map(({ ids, why }) => [ids, why]), contextFields(snapshot)])}`;
  if (pending === null || pending.length === 0) return pending === null ? `${status}?` : status;
  return `${status} ${JSON.stringify([pending.map(({ id, content }) => [id, content]), contextFields(snapshot)])}`;
}
