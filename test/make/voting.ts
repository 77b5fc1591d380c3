// People who vote on the one approval of a run, under a rule of the test.

import { applyPolicy } from "#src/domain/applied-rule.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Person, Refusal } from "#src/domain/authorization.ts";
import { decide } from "#src/domain/decide.ts";
import type { Submission } from "#src/domain/submission.ts";
import { ApprovalId, ChannelId, UserId } from "#src/domain/ids.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import { findApproval, type Run } from "#src/domain/run.ts";
import { contextAt, listedRun } from "./history.ts";
import { aPolicy } from "./policy.ts";
import { APPROVER, TEAM } from "./run.ts";

export const ID = ApprovalId("apr_1");
export const SECOND = UserId("U0SECOND");
export const LATER = 1_000;

export const member = (user: UserId, facts: Partial<Person> = {}): Person => {
  return { team: TEAM, user, kind: "member", seesChannel: true, ...facts };
};

export function under(...rules: readonly Partial<Rule>[]) {
  const policy = { ...aPolicy(...rules), fallback: ChannelId("C0FALLBACK") };
  const at = (ms = 0) => contextAt(ms, policy);
  const submit = (run: Run, facts: Partial<Submission> = {}, ms = LATER) => {
    const { version, request } = approvalOf(run);
    const seen = { approval: ID, version, digest: request.digest, was: request };
    return decide(run, { ...seen, verdict: "approve", reason: "", by: member(APPROVER), ...facts }, at(ms));
  };
  return { at, submit, run: applyPolicy(listedRun("apr_1"), at()) };
}

export function approvalOf(run: Run): Approval {
  const approval = findApproval(run, ID);
  if (approval === null) throw new Error("nothing is listed");
  return approval;
}

export function done(result: ReturnType<typeof decide>): Run {
  if (!result.ok) throw new Error(`refused: ${result.error.type}`);
  return result.value;
}

export const refusal = (result: ReturnType<typeof decide>): Refusal["type"] | null =>
  result.ok ? null : result.error.type;
