import type { Approval } from "./approval.ts";
import type { Run } from "./run.ts";

/** A run is polled after a tenth of the time it has been quiet: soon after news, seldom after hours. */
const QUIET_SHARE = 10;
/** Each wait is stretched or shortened by up to this share, so that runs started together drift apart. */
const JITTER = 0.15;
/** A run that the service no longer knows is polled less and less often, up to this interval (ms). */
const MISSING_EVERY_MS = 60_000;

/** Until when (wall time, for people) the approval can be decided. Null: it does not expire, or is no longer pending. */
export function deadlineOf(approval: Approval): number | null {
  const afterMs = timeToDecide(approval);
  return afterMs === null ? null : approval.since + afterMs;
}

/**
 * The moment of expiry (monotonic), which setting the wall clock does not move. Time while the machine is suspended does not count,
 * because nobody can decide then; time while the program is stopped does.
 */
export function endsAt(approval: Approval): number | null {
  const afterMs = timeToDecide(approval);
  return afterMs === null ? null : approval.waitsSince + afterMs;
}

function timeToDecide({ state, appliedRule }: Approval): number | null {
  const { expiry } = appliedRule.rule;
  return state.type === "pending" && expiry !== null ? expiry.afterMs : null;
}

/** When we last saw something about the run change (wall time). */
export function lastNewsAt(run: Run): number {
  return Math.max(...newsTimes(run));
}

/** A different number whenever something about the run changes, even after the clock was set back. */
export function newsMark(run: Run): number {
  const missing = run.watch.type === "missing" ? run.watch.since : 0;
  return newsTimes(run).reduce((sum, time) => sum + time, missing);
}

function newsTimes(run: Run): number[] {
  const times = run.approvals.map(({ seenAt, state }) =>
    state.type === "decided" ? state.decision.at : seenAt,
  );
  return [run.askedAt, run.seen?.since ?? 0, ...times];
}

/** `random` is in [0, 1). Failures double the wait. */
export function nextPollMs(
  facts: { quietMs: number; fails: number; missing: boolean },
  limits: { minMs: number; maxMs: number },
  random: number,
): number {
  const { minMs, maxMs } = limits;
  const slowest = facts.missing ? Math.max(maxMs, MISSING_EVERY_MS) : maxMs;
  const calm = Math.min(Math.max(facts.quietMs / QUIET_SHARE, minMs), slowest);
  const failed =
    facts.fails === 0 ? calm : Math.max(calm, Math.min(minMs * 2 ** facts.fails, Math.max(maxMs, 5_000)));
  return failed * (1 + JITTER * (2 * random - 1));
}
