// "This was not me": what a card says about it. The audit holds it; the marks on the run follow from there.

import type { Approval, Dispute } from "./approval.ts";
import type { ApprovalId } from "./ids.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";

/** The same run if the approval is marked with this entry already, or is unknown. */
export function markDisputed(run: Run, id: ApprovalId, dispute: Dispute): Run {
  const approval = findApproval(run, id);
  if (approval === null) return run;
  const { disputes = [] } = approval;
  if (disputes.some(({ entry }) => entry === dispute.entry)) return run;
  return replaceApproval(run, { ...approval, disputes: [...disputes, dispute] });
}

/** The same run if the dispute of this entry is closed already, or is unknown. */
export function markDisputeClosed(
  run: Run,
  id: ApprovalId,
  entry: number,
  closed: NonNullable<Dispute["closed"]>,
): Run {
  const approval = findApproval(run, id);
  const { disputes = [] } = approval ?? {};
  if (approval === null || !disputes.some((each) => each.entry === entry && each.closed === undefined))
    return run;
  const marked = disputes.map((each) => (each.entry === entry ? { ...each, closed } : each));
  return replaceApproval(run, { ...approval, disputes: marked });
}

/** The disputes that no admin has closed. */
export function openDisputes({ disputes = [] }: Approval): readonly Dispute[] {
  return disputes.filter(({ closed }) => closed === undefined);
}
