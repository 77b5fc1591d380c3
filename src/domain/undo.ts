// While an approval is held, the person who gave it may undo it. Nothing was sent, so the approval is pending again.

import { asPast, reopenWithVotes, voices } from "./approval-transitions.ts";
import type { Approval, Decision } from "./approval.ts";
import type { Context } from "./context.ts";
import type { Refusal } from "./authorization.ts";
import type { ApprovalId, TeamId, UserId } from "./ids.ts";
import { err, ok, type Result } from "./result.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";

export type UndoAttempt = {
  readonly approval: ApprovalId;
  readonly version: number;
  readonly by: { readonly team: TeamId; readonly user: UserId };
};

/** Returns the same run for a repeated click. */
export function undo(
  run: Run,
  { approval: id, version, by }: UndoAttempt,
  ctx: Context,
): Result<Run, Refusal> {
  const approval = findApproval(run, id);
  if (approval === null) return err({ type: "unknown" });
  const isMine = (decision: Decision): boolean =>
    decision.by?.user === by.user && decision.by.team === by.team;
  if (approval.version !== version) return wasUndone(approval, isMine) ? ok(run) : err({ type: "too-late" });
  const { state } = approval;
  if (state.type !== "decided" || state.delivery.type !== "held") return err({ type: "too-late" });
  const given = voices(state.decision);
  const mine = given.find(isMine);
  if (mine === undefined) return err({ type: "not-yours" });
  // A new version, so that the submitted form does not decide again if Slack redelivers it.
  const left = given.filter((each) => each !== mine);
  const open = reopenWithVotes(approval, ctx.nonce(), { gone: [asPast(mine, "undone")], left });
  return ok(replaceApproval(run, open));
}

function wasUndone({ past }: Approval, isMine: (decision: Decision) => boolean): boolean {
  const last = past.at(-1);
  return last?.cause === "undone" && isMine(last.decision);
}
