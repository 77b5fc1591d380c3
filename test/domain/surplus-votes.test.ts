// What becomes of votes when the policy comes to need no more approvals than were given.

import { expect, test } from "vitest";
import { applyPolicy } from "#src/domain/applied-rule.ts";
import type { Decision } from "#src/domain/approval.ts";
import { asPast } from "#src/domain/approval-transitions.ts";
import { decide, withdrawSurplusVotes } from "#src/domain/decide.ts";
import { ApprovalId, GroupId, UserId } from "#src/domain/ids.ts";
import { BUILT_IN_RULE } from "#src/domain/policy/policy.ts";
import { replaceApproval, type RequesterGroups, type Run } from "#src/domain/run.ts";
import { these } from "../make/policy.ts";
import { APPROVER, TEAM } from "../make/run.ts";
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

const THIRD = UserId("U0THIRD");

test("only the unsent notices of those whose votes are void now, about this approval, are taken back", () => {
  const three = under({ needs: 3 });
  const first = done(three.submit(three.run));
  const two = done(three.submit(first, { by: member(SECOND), voters: [member(APPROVER)] }));
  const open = approvalOf(two);
  const earlier = {
    ...open,
    past: open.votes.slice(0, 1).map((vote) => asPast(byOf(vote, THIRD), "undone")),
  };
  const says = { type: "decision-void", approval: ID, cause: "others-needed" } as const;
  const notice = { to: APPROVER, says, state: "planned", notBefore: 0 } as const;
  const kept = [
    { ...notice, id: "another approval", says: { ...says, approval: ApprovalId("apr_2") } },
    { ...notice, id: "another cause", says: { ...says, cause: "frozen" } },
    { ...notice, id: "another person", to: THIRD },
  ] as const;
  const taken = [
    { ...notice, id: "the first" },
    { ...notice, id: "the second", to: SECOND },
  ];
  const ctx = under({ needs: 1 }).at(LATER);
  const before = { ...replaceApproval(two, earlier), notices: [...taken, ...kept] };
  const { notices } = withdrawSurplusVotes(applyPolicy(before, ctx), ctx);
  expect(notices.slice(0, 3)).toEqual(kept);
  expect(notices.slice(3).map(({ to, says }) => [to, "cause" in says && says.cause])).toEqual([
    [APPROVER, "rule-changed"],
    [SECOND, "rule-changed"],
  ]);
});

test("a vote that fills no part of the new rule is void, and one that fills a part stays", () => {
  const ctx = under({ needs: 2, parts: [these([SECOND]), these([THIRD])] }).at(LATER);
  const [vote] = approvalOf(one).votes;
  if (vote === undefined) throw new Error("there is no vote");
  const votes = [APPROVER, SECOND].map((user) => ({ ...byOf(vote, user), memberOf: [] }));
  const both = applyPolicy(replaceApproval(one, { ...approvalOf(one), votes }), ctx);
  const { votes: left, past } = approvalOf(withdrawSurplusVotes(both, ctx));
  expect(left.map(({ by }) => by?.user)).toEqual([SECOND]);
  expect(past.map(({ cause, decision }) => [cause, decision.by?.user])).toEqual([["rule-changed", APPROVER]]);
});

const byOf = (vote: Decision, user: UserId): Decision => ({ ...vote, by: { team: TEAM, user } });

test("an approval that would void a vote under a rule that may not apply is refused, and the vote stays", () => {
  const OPS = GroupId("S0OPS");
  const when = { ...BUILT_IN_RULE.when, requesters: [], requesterGroups: [OPS] };
  const people = under({ needs: 2, when, approvers: these([SECOND, THIRD]) }, { needs: 2 });
  const approve = { by: member(SECOND), voters: [member(APPROVER)] };
  const whose = (known: RequesterGroups["in"]): Run => {
    const requesterGroups = { asks: [OPS], in: known, at: 0 };
    return applyPolicy({ ...one, requesterGroups }, people.at(LATER));
  };
  expect(refusal(people.submit(whose({}), approve))).toBe("unverified");
  const ofOps = approvalOf(done(people.submit(whose({ [OPS]: true }), approve)));
  expect(ofOps.past.map(({ decision }) => decision.by?.user)).toEqual([APPROVER]);
  const ofOthers = approvalOf(done(people.submit(whose({ [OPS]: false }), approve)));
  expect([ofOthers.past, ofOthers.state.type]).toEqual([[], "decided"]);
});
