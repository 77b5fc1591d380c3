// What becomes of votes when the policy comes to need no more approvals than were given.

import { expect, test } from "vitest";
import { applyPolicy } from "#src/domain/applied-rule.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Person, Refusal } from "#src/domain/authorization.ts";
import { decide, type Submission, withdrawSurplusVotes } from "#src/domain/decide.ts";
import { ApprovalId, ChannelId, GroupId, type UserId, UserId as toUser } from "#src/domain/ids.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import { findApproval, type Run } from "#src/domain/run.ts";
import { contextAt, listedRun } from "../make/history.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, TEAM } from "../make/run.ts";

const ID = ApprovalId("apr_1");
const SECOND = toUser("U0SECOND");
const LATER = 1_000;

const member = (user: UserId, facts: Partial<Person> = {}): Person => {
  return { team: TEAM, user, kind: "member", seesChannel: true, ...facts };
};

function under(rule: Partial<Rule>) {
  const policy = { ...aPolicy(rule), fallback: ChannelId("C0FALLBACK") };
  const at = (ms = 0) => contextAt(ms, policy);
  const submit = (run: Run, facts: Partial<Submission> = {}, ms = LATER) => {
    const { version, request } = approvalOf(run);
    const seen = { approval: ID, version, digest: request.digest, was: request };
    return decide(run, { ...seen, verdict: "approve", reason: "", by: member(APPROVER), ...facts }, at(ms));
  };
  return { at, submit, run: applyPolicy(listedRun("apr_1"), at()) };
}

function approvalOf(run: Run): Approval {
  const approval = findApproval(run, ID);
  if (approval === null) throw new Error("nothing is listed");
  return approval;
}

function done(result: ReturnType<typeof decide>): Run {
  if (!result.ok) throw new Error(`refused: ${result.error.type}`);
  return result.value;
}

const refusal = (result: ReturnType<typeof decide>): Refusal["type"] | null =>
  result.ok ? null : result.error.type;

const { submit, run } = under({ needs: 2 });
const one = done(submit(run));

test("when the policy comes to need no more than was given, the newest vote is void and its person approves again", () => {
  const fewer = under({ needs: 1 });
  const ctx = fewer.at(LATER);
  const open = withdrawSurplusVotes(applyPolicy(one, ctx), ctx);
  const { votes, past, version } = approvalOf(open);
  expect(votes).toEqual([]);
  expect(past.map(({ cause, decision }) => [cause, decision.by?.user])).toEqual([["rule-changed", APPROVER]]);
  expect(version).toBe(approvalOf(one).version + 1);
  expect(open.notices.map(({ to, says }) => [to, says.type])).toEqual([[APPROVER, "decision-void"]]);
  const { version: old, request } = approvalOf(one);
  const form = { approval: ID, version: old, digest: request.digest, was: request };
  const again = { ...form, verdict: "approve", reason: "", by: member(APPROVER) } as const;
  expect(refusal(decide(open, again, ctx))).not.toBeNull();
  expect(approvalOf(done(fewer.submit(open))).state.type).toBe("decided");
});

test("a void vote takes back the unsent notice that it still counts", () => {
  const ctx = under({ needs: 1 }).at(LATER);
  const says = { type: "decision-void", approval: ID, cause: "others-needed" } as const;
  const planned = { id: "n", to: APPROVER, says, state: "planned", notBefore: 0 } as const;
  const sent = { ...planned, id: "m", state: "sending" } as const;
  const told = { ...applyPolicy(one, ctx), notices: [planned, sent] };
  const { notices } = withdrawSurplusVotes(told, ctx);
  expect(notices.map(({ says: { type }, state }) => [type, state])).toEqual([
    ["decision-void", "sending"],
    ["decision-void", "planned"],
  ]);
  expect(notices[1]).toMatchObject({ says: { cause: "rule-changed" } });
});

test("a vote under a rule without parts keeps its place until the last approval looks its person up", () => {
  const parts = [these([SECOND]), these([], [GroupId("S0OPS")])];
  const ofParts = under({ needs: 2, parts });
  const both = { ...one, approvals: one.approvals.map((a) => ({ ...a, votes: [...a.votes, ...a.votes] })) };
  const ctx = ofParts.at(LATER);
  expect(approvalOf(withdrawSurplusVotes(applyPolicy(both, ctx), ctx)).votes).toHaveLength(1);
});

test("votes that are still too few stay as they are when the policy changes", () => {
  const more = under({ needs: 3 });
  const applied = applyPolicy(one, more.at(LATER));
  expect(withdrawSurplusVotes(applied, more.at(LATER))).toBe(applied);
});
