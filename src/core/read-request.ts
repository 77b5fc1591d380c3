import type { ApprovalId, UserId } from "./ids.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";

/** Remembers that this person has opened the request in full, where its rule wants that. The same run where it does not. */
export function hasRead(run: Run, id: ApprovalId, digest: string, user: UserId): Run {
  const approval = findApproval(run, id);
  if (approval === null || approval.request.digest !== digest) return run;
  const wanted = approval.state.is === "pending" && approval.ruling.rule.friction.readFirst;
  if (!wanted || approval.readers.includes(user)) return run;
  return replaceApproval(run, { ...approval, readers: [...approval.readers, user] });
}
