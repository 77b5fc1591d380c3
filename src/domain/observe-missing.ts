// A run that the service no longer knows.

import { isGone, missedOnceMore } from "./absence.ts";
import type { Approval } from "./approval.ts";
import { close, voidAndClose, withDelivery } from "./approval-transitions.ts";
import type { Context } from "./context.ts";
import { applySighting, type ApprovalSighting } from "./apply-snapshot.ts";
import { isOutdated, addNotices, noticesOf } from "./observe.ts";
import { giveUpId, isMissing, isWatched, type Run, type Watch } from "./run.ts";

/** How long we go on polling a missing run (ms). */
export const GIVE_UP_AFTER_MS = 24 * 60 * 60_000;

/** The service answered 404 for a run it once knew. */
export function observeMissing(run: Run, askedAt: number, ctx: Context): Run {
  if (!isWatched(run) || isOutdated(run, askedAt)) return run;
  const seen = run.seen === null ? null : { ...run.seen, askedAt };
  if (isMissing(run)) return isLongMissing(run, ctx) ? giveUp({ ...run, seen }, ctx) : run;
  const before = run.watch.type === "missing" ? run.watch : { since: ctx.monotonic, absence: null };
  const absence = missedOnceMore(before.absence, ctx);
  if (!isGone(absence, askedAt)) {
    if (absence === before.absence) return run;
    return { ...run, seen, watch: { type: "missing", since: before.since, absence } };
  }
  const watch: Watch = { type: "missing", since: before.since, absence: null };
  return { ...withoutRun(run, askedAt, ctx), seen, watch };
}

function isLongMissing({ watch }: Run, { monotonic }: Context): boolean {
  return watch.type === "missing" && monotonic - watch.since >= GIVE_UP_AFTER_MS;
}

function giveUp(run: Run, ctx: Context): Run {
  const approvals = run.approvals.map((approval): Approval => {
    const { state } = approval;
    if (state.type === "pending") return close(approval, "run-missing", ctx.now);
    if (state.type === "decided" && state.delivery.type === "retry" && !state.delivery.lost) {
      return voidAndClose(approval, state.decision, "run-missing", ctx.now);
    }
    if (state.type !== "decided" || !["unsure", "retry"].includes(state.delivery.type)) return approval;
    const over = { type: "unconfirmed", at: ctx.now, cause: "run-missing" } as const;
    return withDelivery(approval, state.decision, over);
  });
  return { ...run, watch: { type: "given-up", at: ctx.monotonic }, approvals };
}

/** Applies the absence of the run to each of its approvals. */
function withoutRun(run: Run, askedAt: number, ctx: Context): Run {
  const absent: ApprovalSighting = { type: "absent", cause: "run-missing", askedAt };
  const folded = run.approvals.map((approval) => applySighting(approval, absent, ctx));
  return {
    ...run,
    approvals: folded.map((each) => each.approval),
    notices: addNotices(run, noticesOf(folded), ctx),
  };
}

/** The service gave this run's id to a run that was just created, so this run is gone. The same object otherwise. */
export function supersede(run: Run, ctx: Context): Run {
  if (!isWatched(run)) return giveUpId(run);
  return run.watch.type === "missing" ? giveUpId(giveUp(withoutRun(run, ctx.monotonic, ctx), ctx)) : run;
}
