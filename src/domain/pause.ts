// Pauses: times in which people could not act on a request, because Slack, the service or Countersign was unreachable. `ageAt` excludes
// them.

import { type Approval, isSettled } from "./approval.ts";
import { type Pause, withFollowUp } from "./follow-up.ts";
import { isWatched, mapApprovals, type Run } from "./run.ts";

/** Why the clock stands still. A question is excluded, because its pause ends by itself. */
export type OutageCause = Exclude<Pause["why"], "question">;

/**
 * The most pauses of one request. A service that fails again and again for weeks must not make the record grow forever. Beyond this limit,
 * the time counts.
 */
const MAX_PAUSES = 200;

/**
 * Records that the clocks of the run's requests stand still from `from` on, or stood still until `until` (monotonic). A decided request
 * counts until the service has confirmed the decision, because it may wait for people again. So does a closed one, because the service may
 * list it again, and one whose rule has no clock, because another rule may apply at another hour. Returns the same run if it has no such
 * request, or if the pause is already recorded.
 */
export function pauseClocks(run: Run, { why, from, until }: Pause & { readonly why: OutageCause }): Run {
  return changePauses(run, (pauses, approval) => {
    const { waitsSince, state } = approval;
    if (state.type === "decided" && isSettled(approval)) return pauses;
    const begin = Math.max(from, waitsSince);
    if (until !== null && until <= begin) return pauses;
    const existing = pauses.find(
      (pause) => pause.why === why && (pause.until === null || pause.from === begin),
    );
    if (existing === undefined)
      return pauses.length < MAX_PAUSES ? [...pauses, { why, from: begin, until }] : pauses;
    if (existing.until === null || until === null || existing.until >= until) return pauses;
    return pauses.map((pause) => (pause === existing ? { ...pause, until } : pause));
  });
}

/** Ends the pauses of this cause. Returns the same run if there are none. */
export function resumeClocks(run: Run, why: OutageCause, until: number): Run {
  return changePauses(run, (pauses) => {
    if (!pauses.some((pause) => isOpen(pause, why))) return pauses;
    return pauses.map((pause) =>
      isOpen(pause, why) ? { ...pause, until: Math.max(until, pause.from) } : pause,
    );
  });
}

const isOpen = (pause: Pause, why: OutageCause): boolean => pause.why === why && pause.until === null;

/** Returns whether the clock of any of the run's requests stands still for this cause. */
export const isPausedBy = ({ approvals }: Run, why: OutageCause): boolean =>
  approvals.some(({ followUp }) => followUp?.pauses?.some((pause) => isOpen(pause, why)) ?? false);

function changePauses(
  run: Run,
  change: (pauses: readonly Pause[], approval: Approval) => readonly Pause[],
): Run {
  if (!isWatched(run)) return run;
  return mapApprovals(run, (approval) => {
    const before = approval.followUp?.pauses ?? [];
    const after = change(before, approval);
    return after === before ? approval : withFollowUp(approval, { pauses: after });
  });
}
