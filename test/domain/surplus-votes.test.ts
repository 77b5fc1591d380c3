// What becomes of votes when the policy comes to need no more approvals than were given.

import { expect, test } from "vitest";
import { applyPolicy } from "#src/domain/applied-rule.ts";
import { decide, withdrawSurplusVotes } from "#src/domain/decide.ts";
import { GroupId } from "#src/domain/ids.ts";
import { these } from "../make/policy.ts";
import { APPROVER } from "../make/run.ts";
import { approvalOf, done, ID, LATER, member, refusal, SECOND, under } from "../make/voting.ts";

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
