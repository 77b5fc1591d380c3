// The values that the metrics read at each scrape.

import { type Approval, type Decision, isUndecided } from "../domain/approval.ts";
import { isFinal } from "../domain/delivery-state.ts";
import type { Context } from "../domain/context.ts";
import { isUndelivered } from "../domain/decision-delivery.ts";
import { callingRule } from "../domain/follow-up.ts";
import { timesReminded } from "../domain/follow-up-due.ts";
import type { ApprovalId, RunKey } from "../domain/ids.ts";
import { isMissing, isStopped, isWatched, type Run, runId } from "../domain/run.ts";
import { isShown } from "../domain/listing.ts";
import type { Counters, EventLog } from "../ports.ts";
import type { Readings, RunFigures, RunState, SlackHealth } from "../ports/monitoring.ts";
import type { Store } from "../ports/store.ts";
import type { Clock } from "./clock.ts";
import type { HealthMonitor } from "./health.ts";
import type { Poller } from "./poller.ts";
import type { RunEngine } from "./run-engine.ts";
import type { ServiceBreaker } from "./service-breaker.ts";

type ReadingDeps = {
  readonly store: Pick<Store, "auditHead">;
  readonly slackHealth: SlackHealth;
  readonly context: () => Context;
  readonly figures: () => RunFigures;
  readonly health: Pick<HealthMonitor, "parts">;
  readonly poller: Pick<Poller, "lagMs">;
  readonly breaker: Pick<ServiceBreaker, "isOpen">;
};

/** Never rejects. */
export async function readingsOf(deps: ReadingDeps): Promise<Readings> {
  const { store, slackHealth, context, figures, health, poller, breaker } = deps;
  const parts = await health.parts();
  // A database that does not answer would delay the scrape that reports it.
  const storeAnswers = parts.every(({ part, fault }) => part !== "store" || fault === null);
  const head = storeAnswers ? await store.auditHead().catch(() => null) : null;
  return {
    ...figures(),
    parts,
    pollLagMs: poller.lagMs(),
    circuitOpen: breaker.isOpen(),
    slackConnected: slackHealth.connection() === "connected",
    slackQueues: slackHealth.queues(),
    policyVersion: context().policy.version,
    auditHead: head?.seq ?? null,
  };
}

// Counts what the runs of this process wait for: requests without a decision, and decisions that the service has not answered. Ages are
// measured by the monotonic clock, so setting the wall clock neither hides nor invents a delay.

/** A decision that has been undelivered for this long (ms) is reported as late. */
const LATE_MS = 60_000;

type Tracked = {
  state: RunState | null;
  retriesStart: boolean;
  /** When each pending request was first seen (monotonic ms). */
  pending: ReadonlyMap<ApprovalId, number>;
  /** The number of pending requests that have had their last reminder. */
  reminded: number;
  /** The pending requests that Slack does not show with buttons. */
  unshown: ReadonlySet<ApprovalId>;
  /** The pending requests that Slack has ever shown. A message that was deleted and posted again is not measured again. */
  everShown: ReadonlySet<ApprovalId>;
  /** When each undelivered decision became ready to be sent (monotonic ms). */
  undelivered: ReadonlyMap<string, number>;
  /** The decided requests that the service still lists. */
  stillListed: ReadonlySet<ApprovalId>;
  /** Those that it has listed at any time. The log names each once, because replicas of the service may disagree for long. */
  everListed: ReadonlySet<ApprovalId>;
};

type Deps = {
  readonly engine: Pick<RunEngine, "onPlan" | "onDrop">;
  readonly clock: Clock;
  readonly metrics: Pick<Counters, "cardShown" | "decisionConfirmed">;
  readonly log: Pick<EventLog, "warn">;
};

const NONE: Tracked = {
  state: null,
  retriesStart: false,
  pending: new Map(),
  reminded: 0,
  unshown: new Set(),
  everShown: new Set(),
  undelivered: new Map(),
  stillListed: new Set(),
  everListed: new Set(),
};

export function createRunFigures({ engine, clock, metrics, log }: Deps): {
  readonly figures: () => RunFigures;
} {
  const runs = new Map<RunKey, Tracked>();
  engine.onDrop((key) => void runs.delete(key));
  engine.onPlan((run) => {
    const before = runs.get(run.key) ?? null;
    const now = trackedOf(run, before, clock);
    reportDelays(run, before ?? NONE, now, { clock, metrics });
    logListed(run, before ?? NONE, now, log);
    if (now.state === null && now.undelivered.size === 0) runs.delete(run.key);
    else runs.set(run.key, now);
  });
  return { figures: () => figuresOf(runs.values(), clock.monotonic()) };
}

function trackedOf(run: Run, before: Tracked | null, clock: Clock): Tracked {
  const state = stateOf(run);
  const retriesStart = run.creation.type === "planned" && run.creation.why !== "";
  if (run.approvals.length === 0) return { ...NONE, state, retriesStart };
  const waiting = isWatched(run) ? run.approvals.filter(({ state }) => state.type === "pending") : [];
  const stillListed = new Set(isWatched(run) ? run.approvals.filter(isStillListed).map(({ id }) => id) : []);
  const unshown = new Set(waiting.filter((approval) => !isShown(run, approval)).map(({ id }) => id));
  const everShown = waiting.filter(({ id }) => !unshown.has(id) || before?.everShown.has(id) === true);
  const undelivered = run.approvals.flatMap((approval): [string, number][] => {
    const decision = isUndelivered(approval) ? approval.state.decision : null;
    if (decision === null) return [];
    const key = keyOf(approval, decision);
    return [[key, before?.undelivered.get(key) ?? sinceOf(decision, before, clock)]];
  });
  return {
    state,
    retriesStart,
    pending: new Map(waiting.map(({ id, waitsSince }) => [id, waitsSince])),
    reminded: waiting.filter(hasLastReminder).length,
    unshown,
    everShown: new Set(everShown.map(({ id }) => id)),
    undelivered: new Map(undelivered),
    stillListed,
    everListed: new Set([...(before?.everListed ?? []), ...stillListed]),
  };
}

/** At a restart, only the wall clock shows how old a decision is. From then on, the monotonic clock counts. */
function sinceOf({ at }: Decision, before: Tracked | null, clock: Clock): number {
  return clock.monotonic() - (before === null ? Math.max(clock.now() - at, 0) : 0);
}

const keyOf = ({ id }: Approval, { at, entry }: Decision): string => `${id} ${entry ?? at}`;

function hasLastReminder(approval: Approval): boolean {
  const { remind } = callingRule(approval).followUp;
  return approval.followUp?.warned === true || (remind !== null && timesReminded(approval) >= remind.atMost);
}

const isStillListed = ({ state }: Approval): boolean =>
  state.type === "decided" && isFinal(state.delivery) && state.delivery.stillListed === true;

/** Returns null if the run is over or not followed. */
function stateOf(run: Run): RunState | null {
  const { creation, seen } = run;
  if (creation.type === "planned" || creation.type === "sending") return "starting";
  if (runId(run) === null || !isWatched(run) || (seen?.ended ?? null) !== null) return null;
  if (isMissing(run)) return "missing";
  if (isStopped(run)) return "stopped";
  return run.approvals.some(isUndecided) ? "awaiting_approval" : "running";
}

function reportDelays(
  run: Run,
  before: Tracked,
  now: Tracked,
  { clock, metrics }: Pick<Deps, "clock" | "metrics">,
): void {
  const secondsSince = (since: number): number => Math.max(clock.monotonic() - since, 0) / 1_000;
  for (const id of now.everShown) {
    const since = before.pending.get(id);
    if (since !== undefined && !before.everShown.has(id)) metrics.cardShown(secondsSince(since));
  }
  if (before.undelivered.size === 0) return;
  for (const approval of run.approvals) {
    const { state } = approval;
    if (state.type !== "decided" || state.delivery.type !== "confirmed") continue;
    const since = before.undelivered.get(keyOf(approval, state.decision));
    if (since !== undefined) metrics.decisionConfirmed(secondsSince(since));
  }
}

/** The most ids that one line of the log names. */
const MAX_NAMED = 10;

function logListed(run: Run, before: Tracked, { stillListed }: Tracked, log: Deps["log"]): void {
  const found = [...stillListed].filter((id) => !before.everListed.has(id));
  if (found.length === 0) return;
  const approvals = found.slice(0, MAX_NAMED);
  log.warn(
    { run: run.key, runId: runId(run), approvals, count: found.length },
    "the service still lists requests that are decided, so their run may wait",
  );
}

function figuresOf(tracked: Iterable<Tracked>, monotonic: number): RunFigures {
  const runs = { starting: 0, running: 0, awaiting_approval: 0, stopped: 0, missing: 0 };
  const pending: number[] = [];
  const unshown: number[] = [];
  const undelivered: number[] = [];
  let reminded = 0;
  let stillListed = 0;
  let retriedStarts = 0;
  for (const run of tracked) {
    retriedStarts += Number(run.retriesStart);
    if (run.state !== null) runs[run.state] += 1;
    reminded += run.reminded;
    stillListed += run.stillListed.size;
    for (const [id, since] of run.pending) {
      pending.push(monotonic - since);
      if (run.unshown.has(id)) unshown.push(monotonic - since);
    }
    for (const since of run.undelivered.values()) undelivered.push(monotonic - since);
  }
  return {
    runs,
    retriedStarts,
    pending: {
      count: pending.length,
      oldestMs: oldest(pending),
      oldestUnshownMs: oldest(unshown),
      reminded,
    },
    undelivered: {
      count: undelivered.length,
      oldestMs: oldest(undelivered),
      late: undelivered.filter((age) => age >= LATE_MS).length,
    },
    stillListed,
  };
}

const oldest = (ages: readonly number[]): number => ages.reduce((a, b) => Math.max(a, b), 0);
