// Says when to fetch a run again.

import type { Run } from "./run.ts";

/** A run is polled again after a tenth of the time it has been quiet: soon after a change, rarely after hours. */
const QUIET_SHARE = 10;
/** Each wait is shortened by up to this share, so that runs that started together drift apart. No wait is lengthened, so we see a request
 * at most `maxMs` after the agent asked. */
const JITTER = 0.15;
/** The longest interval between polls of a run that the service no longer knows (ms). */
const MISSING_EVERY_MS = 60_000;

/** Returns when the run last got another status, a new approval or a decision (wall time). */
export function lastNewsAt(run: Run): number {
  // Not `Math.max(...times)`: a run with very many approvals would exceed the number of arguments that a call may have.
  return newsTimes(run).reduce((newest, time) => Math.max(newest, time), 0);
}

/** Returns a number that changes with the run's status, each new approval and each decision, even after the clock was set back. */
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

/** Returns how long to wait before the next poll. Each failure doubles the wait. `random` is in [0, 1). */
export function nextPollMs(
  facts: { quietMs: number; fails: number; missing: boolean },
  limits: { minMs: number; maxMs: number },
  random: number,
): number {
  const { minMs, maxMs } = limits;
  const slowest = facts.missing ? Math.max(maxMs, MISSING_EVERY_MS) : maxMs;
  const regularMs = Math.min(Math.max(facts.quietMs / QUIET_SHARE, minMs), slowest);
  const backoffMs = Math.min(minMs * 2 ** facts.fails, Math.max(maxMs, 5_000));
  const waitMs = facts.fails === 0 ? regularMs : Math.max(regularMs, backoffMs);
  return waitMs * (1 - JITTER * random);
}
