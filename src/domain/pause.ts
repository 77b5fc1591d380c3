// Pauses: time in which people could not act on a request because Slack, the service or Countersign was unreachable. `ageAt` leaves it out.

import type { Approval } from "./approval.ts";
import { type Pause, withFollowUp } from "./follow-up.ts";
import { hasClock } from "./follow-up-due.ts";
import { isWatched, mapApprovals, type Run } from "./run.ts";

/** A question has its own pause, which ends by itself. */
export type OutageCause = Exclude<Pause["why"], "question">;

/** Of one request. A service that fails again and again for weeks must not let the record grow without end; then its time runs. */
const MAX_PAUSES = 200;

/**
 * The clocks of the run's requests stand still from then on (monotonic), or have stood still until `until`. The same run where no time
 * counts, or where it is known already.
 */
export function pauseRun(run: Run, { why, from, until }: Pause & { readonly why: OutageCause }): Run {
  return changePauses(run, (pauses, { waitsSince }) => {
    const begin = Math.max(from, waitsSince);
    if (until !== null && until <= begin) return pauses;
    const known = pauses.find((each) => each.why === why && (each.until === null || each.from === begin));
    if (known === undefined)
      return pauses.length < MAX_PAUSES ? [...pauses, { why, from: begin, until }] : pauses;
    if (known.until === null || until === null || known.until >= until) return pauses;
    return pauses.map((each) => (each === known ? { ...each, until } : each));
  });
}

/** The same run where nothing stands still for this cause. */
export function resumeRun(run: Run, why: OutageCause, until: number): Run {
  return changePauses(run, (pauses) =>
    pauses.some((each) => isOpen(each, why))
      ? pauses.map((each) => (isOpen(each, why) ? { ...each, until: Math.max(until, each.from) } : each))
      : pauses,
  );
}

const isOpen = (pause: Pause, why: OutageCause): boolean => pause.why === why && pause.until === null;

/** Whether the clock of one of its requests stands still for this cause. */
export const isPausedBy = ({ approvals }: Run, why: OutageCause): boolean =>
  approvals.some(({ followUp }) => followUp?.pauses?.some((each) => isOpen(each, why)) ?? false);

function changePauses(
  run: Run,
  change: (pauses: readonly Pause[], approval: Approval) => readonly Pause[],
): Run {
  if (!isWatched(run)) return run;
  return mapApprovals(run, (approval) => {
    if (approval.state.type !== "pending" || !hasClock(approval.appliedRule.rule)) return approval;
    const before = approval.followUp?.pauses ?? [];
    const after = change(before, approval);
    return after === before ? approval : withFollowUp(approval, { pauses: after });
  });
}
