// Who may do what, and whether an approval still counts: the rules that only these functions decide.

import { markRead } from "#src/domain/approval-transitions.ts";
import { describe, expect, test } from "vitest";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import type { Approval, Decision } from "#src/domain/approval.ts";
import {
  type DecisionAttempt,
  type Person,
  refusalToDecide,
  refusalToHandle,
  refusalToOpen,
} from "#src/domain/authorization.ts";
import { validityOf } from "#src/domain/quorum.ts";
import { ChannelId, GroupId, TeamId, UserId } from "#src/domain/ids.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import type { Run } from "#src/domain/run.ts";
import { aRule, these } from "../make/policy.ts";
import {
  anApproval,
  APPROVER,
  aRequest,
  aWatchedRun,
  NOON,
  REQUESTER,
  TEAM,
  withApprovals,
} from "../make/run.ts";

const MEMBER: Person = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true };
const GROUP = GroupId("S0TEAM");
const ELSEWHERE = TeamId("T0ELSEWHERE");
const run = aWatchedRun();
const approval = anApproval();
const seen = { version: approval.version, was: null };

const attempt = (facts: Partial<DecisionAttempt> = {}): DecisionAttempt => ({
  run,
  rule: aRule(),
  by: MEMBER,
  verdict: "approve",
  monotonic: NOON,
  ...facts,
});
const toOpen = (facts: Partial<DecisionAttempt>, of: Approval = approval) =>
  refusalToOpen(of, attempt(facts), { ...seen, version: of.version })?.type ?? null;

describe("facts that Slack does not provide", () => {
  const named = aRule({ approvers: these([], [GROUP]) });
  const called = aRule({ approvers: these([]), escalated: these([], [GROUP]) });

  test.for<[string, Partial<Person>, Rule, string | null]>([
    ["whether they are in the group that is named", {}, named, "unverified"],
    ["none: they are in the group", { memberOf: new Map([[GROUP, true]]) }, named, null],
    ["none: they are not in the group", { memberOf: new Map([[GROUP, false]]) }, named, "not-approver"],
    ["whether a stage names them, in the channel", {}, called, "unverified"],
    ["whether a stage names them, outside the channel", { seesChannel: false }, called, "unverified"],
    [
      "none: no stage names them, outside the channel",
      { seesChannel: false, memberOf: new Map([[GROUP, false]]) },
      called,
      "not-in-channel",
    ],
  ])("%s", ([, facts, rule, because]) => {
    expect(refusalToDecide({ ...MEMBER, ...facts }, run, rule)?.type ?? null).toBe(because);
  });
});

describe("the people whom a rule names, excepts and calls", () => {
  const OTHER = UserId("U0OTHER");
  const here = { memberOf: new Map([[GROUP, true]]) };

  test.for<[string, Partial<Person>, Partial<Rule>, string | null]>([
    [
      "not named, and not excepted",
      {},
      { approvers: these([OTHER]), except: these([OTHER]) },
      "not-approver",
    ],
    ["named, and not excepted", {}, { approvers: these([APPROVER]), except: these([OTHER]) }, null],
    ["named, and excepted", {}, { approvers: these([APPROVER]), except: these([APPROVER]) }, "not-approver"],
    ["called by a stage only", here, { approvers: these([OTHER]), escalated: these([], [GROUP]) }, null],
    [
      "called by a stage, outside the channel",
      { ...here, seesChannel: false },
      { approvers: these([OTHER]), escalated: these([], [GROUP]) },
      null,
    ],
    [
      "called by a stage, and excepted",
      here,
      { approvers: these([OTHER]), escalated: these([], [GROUP]), except: these([APPROVER]) },
      "not-approver",
    ],
  ])("%s", ([, facts, rule, because]) => {
    expect(refusalToDecide({ ...MEMBER, ...facts }, run, aRule(rule))?.type ?? null).toBe(because);
  });
});

describe("while a brake holds", () => {
  const stop = { by: REQUESTER, at: NOON };
  const freeze = { entry: 7, channel: ChannelId("C0OPS"), by: REQUESTER, at: NOON, why: "" };
  const lifted: Run = { ...run, stop: { ...stop, lifted: { by: APPROVER, at: NOON } } };

  test.for<[string, Run, string | null]>([
    ["a stop", { ...run, stop }, "stopped"],
    ["a stop that is lifted", lifted, null],
    ["a freeze", { ...run, frozen: freeze }, "frozen"],
    ["a freeze after a stop that is lifted", { ...lifted, frozen: freeze }, "frozen"],
    ["both", { ...run, stop, frozen: freeze }, "stopped"],
  ])("nothing is approved, and everything can be denied: %s", ([, braked, because]) => {
    expect(toOpen({ run: braked })).toBe(because);
    expect(toOpen({ run: braked, verdict: "deny" })).toBeNull();
    expect(refusalToHandle(approval, attempt({ run: braked }), seen)).toBeNull();
  });
});

test("no one can handle a request that they may not decide, or one that was replaced or is over", () => {
  const handled = (facts: Partial<DecisionAttempt>, version = approval.version) =>
    refusalToHandle(approval, attempt(facts), { version, was: null })?.type ?? null;
  expect(handled({})).toBeNull();
  expect(handled({ by: { ...MEMBER, user: REQUESTER } })).toBe("requester");
  expect(handled({}, 0)).toBe("changed");
  const rule = aRule({ expiry: { afterMs: 1_000, outcome: "nothing" } });
  expect(handled({ rule, monotonic: NOON + 1_000 })).toBe("closed");
});

test("a held approval can be denied after the time in which it could be approved", () => {
  const held = withDelivery(approval, vote(), { type: "held", until: NOON + 9_000, sendAt: NOON + 9_000 });
  const rule = aRule({ expiry: { afterMs: 1_000, outcome: "nothing" } });
  const late = { rule, monotonic: NOON + 5_000 };
  expect(toOpen({ ...late, verdict: "deny" }, held)).toBeNull();
  expect(toOpen(late, held)).toBe("already-decided");
  expect(toOpen({ ...late, verdict: "deny" })).toBe("closed");
});

function vote(facts: Partial<Decision> = {}): Decision {
  const by = { team: TEAM, user: APPROVER };
  return { verdict: "approve", reason: "why", by, at: NOON, digest: approval.request.digest, ...facts };
}

describe("an earlier approval", () => {
  const validity = (given: Decision, rule: Rule, { of = approval, people = [MEMBER] } = {}) =>
    validityOf(given, of, { run, rule, people });
  const read = { ...approval, readers: [APPROVER] };
  const readFirst = aRule({ friction: { readFirst: true, word: null } });
  const typed = aRule({ friction: { readFirst: false, word: "yes" } });

  test.for<[string, Decision, Rule, Approval, string]>([
    ["unchanged", vote(), aRule(), approval, "counts"],
    ["of another request", vote({ digest: "other" }), aRule(), approval, "request-changed"],
    ["that no person gave", vote({ by: null }), aRule(), approval, "unverified"],
    ["whose giver has not read", vote(), readFirst, approval, "rule-changed"],
    ["whose giver has read", vote(), readFirst, read, "counts"],
    ["that others have read", vote(), readFirst, { ...approval, readers: [REQUESTER] }, "rule-changed"],
    ["without the word", vote(), typed, approval, "rule-changed"],
    ["with another word", vote({ word: "no" }), typed, approval, "rule-changed"],
    ["with the word", vote({ word: "yes" }), typed, approval, "counts"],
    ["too short", vote(), aRule({ reason: { approve: 4, deny: 4 } }), approval, "rule-changed"],
    ["long enough", vote(), aRule({ reason: { approve: 3, deny: 4 } }), approval, "counts"],
  ])("%s", ([, given, rule, of, is]) => expect(validity(given, rule, { of })).toBe(is));

  test("is not confirmed by the same user id in another workspace", () => {
    const people = [{ ...MEMBER, team: ELSEWHERE }];
    expect(validity(vote(), aRule(), { people })).toBe("unverified");
  });

  test("no longer counts when the person who gave it may not decide", () => {
    expect(validity(vote(), aRule(), { people: [{ ...MEMBER, kind: "guest" }] })).toBe("voter-may-not");
  });
});

describe("who has read a request", () => {
  const rule = aRule({ friction: { readFirst: true, word: null } });
  const asks: Approval = { ...approval, appliedRule: { ...approval.appliedRule, rule } };
  const { digest } = approval.request;
  const readersOf = (of: Approval, given = digest, user: UserId = APPROVER) =>
    markRead(withApprovals(run, of), of.id, given, user).approvals[0]?.readers;

  test("is remembered once per person, only if the rule asks for it, and only for this request", () => {
    expect(readersOf(asks)).toEqual([APPROVER]);
    expect(readersOf({ ...asks, readers: [APPROVER] })).toEqual([APPROVER]);
    expect(readersOf({ ...asks, readers: [REQUESTER] })).toEqual([REQUESTER, APPROVER]);
    expect(readersOf(asks, "other")).toEqual([]);
    expect(readersOf(approval)).toEqual([]);
    expect(readersOf(withDelivery(asks, vote(), { type: "recorded" }))).toEqual([]);
  });

  test("is unchanged when the request does not exist", () => {
    expect(markRead(run, approval.id, digest, APPROVER)).toBe(run);
  });
});

describe("a request with more fields than its form has room for", () => {
  const fields = Object.fromEntries(
    Array.from({ length: 400 }, (_, nth) => [`field_${nth}`, "x ".repeat(400)]),
  );
  const long: Approval = {
    ...approval,
    request: { ...aRequest({ action: "change", ...fields }), chars: 320_000 },
  };

  test("cannot be approved in the form, and can be denied", () => {
    const no = refusalToOpen(long, attempt(), { ...seen, version: long.version });
    expect(no?.type).toBe("not-all-shown");
    expect(no?.type === "not-all-shown" && no.fields > 100).toBe(true);
    expect(toOpen({ verdict: "deny" }, long)).toBeNull();
  });
});

describe("a request whose whole text is only in a file in the run's thread", () => {
  const long: Approval = { ...approval, request: { ...approval.request, chars: 300_000 } };
  const rule = aRule({ approvers: these([]), escalated: these([APPROVER]) });
  const by = { ...MEMBER, seesChannel: false };
  const readFirst = { ...rule, friction: { readFirst: true, word: null } };

  test("can only be denied by a person of a stage who does not see the channel", () => {
    expect(toOpen({ rule, by }, long)).toBe("file-not-seen");
    expect(toOpen({ rule: readFirst, by }, { ...long, readers: [APPROVER] })).toBe("file-not-seen");
    expect(toOpen({ rule: readFirst, by }, long)).toBe("file-not-seen");
    expect(toOpen({ rule, by, verdict: "deny" }, long)).toBeNull();
  });

  test("can be approved by them once they see the channel, and so can one that fits the form", () => {
    expect(toOpen({ rule, by: MEMBER }, long)).toBeNull();
    expect(toOpen({ rule, by })).toBeNull();
  });
});
