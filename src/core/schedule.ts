import type { Approval } from "./approval.ts";
import type { Run } from "./run.ts";

/** A run is asked for after a tenth of the time it has been quiet: soon after news, seldom after hours. */
const QUIET_SHARE = 10;
/** Each wait is stretched or shortened by up to this share, so that runs started together drift apart. */
const JITTER = 0.15;
/** A run that the service no longer knows is asked for this seldom (ms). */
const MISSING_EVERY_MS = 60_000;

/** Until when (ms) the approval can be decided. Null: as long as it is pending, or it is not pending any more. */
export function deadlineOf({ state, since, ruling }: Approval): number | null {
  const { expiry } = ruling.rule;
  return state.is === "pending" && expiry !== null ? since + expiry.afterMs : null;
}

/** When something about the run last changed, as far as we saw (ms). */
export function lastNewsAt(run: Run): number {
  const times = run.approvals.map(({ seenAt, state }) =>
    state.is === "decided" ? state.decision.at : seenAt,
  );
  return Math.max(run.askedAt, run.seen?.since ?? 0, ...times);
}

/** `random` is in [0, 1). Failures double the wait. */
export function nextPollMs(
  facts: { quietMs: number; fails: number; missing: boolean },
  limits: { minMs: number; maxMs: number },
  random: number,
): number {
  const { minMs, maxMs } = limits;
  const calm = Math.min(Math.max(facts.quietMs / QUIET_SHARE, minMs), maxMs);
  const failed =
    facts.fails === 0 ? calm : Math.max(calm, Math.min(minMs * 2 ** facts.fails, Math.max(maxMs, 5_000)));
  const wait = facts.missing ? Math.max(failed, MISSING_EVERY_MS) : failed;
  return wait * (1 + JITTER * (2 * random - 1));
}
