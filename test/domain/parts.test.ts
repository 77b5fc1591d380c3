// Approval by several parts of a rule: one approval from each, by different people, and as many as can count.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decision } from "#src/domain/approval.ts";
import type { Person } from "#src/domain/authorization.ts";
import type { Context } from "#src/domain/context.ts";
import { recheckAuthority } from "#src/domain/decision-delivery.ts";
import { decide } from "#src/domain/decide.ts";
import type { Submission } from "#src/domain/submission.ts";
import { ChannelId, type GroupId, GroupId as toGroup, UserId } from "#src/domain/ids.ts";
import { missingParts } from "#src/domain/applied-rule.ts";
import {
  assignParts,
  combineParts,
  coversParts,
  groupsAndChannelsOf,
  idsOf,
  isOneOfParts,
  type Part,
  partName,
  setsOfParts,
  together,
  withoutNamed,
} from "#src/domain/policy/named-people.ts";
import { findApproval, type Run } from "#src/domain/run.ts";
import { contextAt } from "../make/history.ts";
import { aPolicy } from "../make/policy.ts";
import { anApproval, aWatchedRun, TEAM, withApprovals } from "../make/run.ts";

const [SRE, SEC, LEGAL] = [toGroup("S0SRE"), toGroup("S0SEC"), toGroup("S0LEGAL")];
const [ANA, BEN, CLEO] = [UserId("U0ANA"), UserId("U0BEN"), UserId("U0CLEO")];
const part = (...groups: readonly GroupId[]): Part => ({ users: [], groups, channels: [] });
const groups: fc.Arbitrary<readonly GroupId[]> = fc.subarray([SRE, SEC, LEGAL]);
const parts = fc.array(
  fc.constantFrom(SRE, SEC, LEGAL).map((each) => part(each)),
  { maxLength: 3 },
);
const isIn = (voter: readonly GroupId[], { groups: of }: Part): boolean =>
  of.some((each) => voter.includes(each));

/** Returns the largest number of voters that can have a place of their own, by trying everything. */
function mostAssigned(voters: readonly (readonly GroupId[])[], places: readonly (Part | null)[]): number {
  const [first, ...others] = voters;
  if (first === undefined) return 0;
  const assigned = places.flatMap((place, index) =>
    place === null || isIn(first, place) ? [1 + mostAssigned(others, places.toSpliced(index, 1))] : [],
  );
  return Math.max(mostAssigned(others, places), ...assigned);
}

describe("an assignment of voters to parts", () => {
  test("assigns as many as possible, and never takes a place from an earlier voter", () => {
    fc.assert(
      fc.property(fc.array(groups, { maxLength: 4 }), parts, fc.nat(1), (voters, wanted, free) => {
        const rule = { parts: wanted, needs: wanted.length + free };
        const places = [...wanted, ...Array.from({ length: free }, () => null)];
        const { assigned, missing } = assignParts(
          voters.map((each) => [...each]),
          rule,
          isIn,
        );
        expect(assigned).toHaveLength(mostAssigned(voters, places));
        expect(assigned.length < rule.needs || missing.length === 0).toBe(true);
        const fewer = assignParts(
          voters.slice(0, -1).map((each) => [...each]),
          rule,
          isIn,
        ).assigned;
        expect(assigned.slice(0, fewer.length)).toEqual(fewer);
      }),
    );
  });

  test("a vote that satisfies two combined rules satisfies each of them", () => {
    fc.assert(
      fc.property(fc.array(groups, { maxLength: 5 }), parts, parts, (voters, a, b) => {
        const both = combineParts(a, b);
        expect([coversParts(both, a), coversParts(both, b)]).toEqual([true, true]);
        const all = assignParts(voters, { parts: both, needs: both.length }, isIn);
        fc.pre(all.missing.length === 0);
        for (const each of [a, b])
          expect(assignParts(voters, { parts: each, needs: each.length }, isIn).missing).toEqual([]);
      }),
    );
  });
});

describe("parts", () => {
  const [OPS, REL] = [ChannelId("C0OPS"), ChannelId("C0REL")];
  const mixed: Part = { users: [ANA, BEN], groups: [SRE, SEC], channels: [OPS, REL] };
  const few: Part = { users: [BEN], groups: [SEC], channels: [REL] };

  test("are equal whatever the order of their people, and one part does not cover two equal ones", () => {
    const turned = { users: [BEN, ANA], groups: [SEC, SRE], channels: [REL, OPS], name: "Turned" };
    expect(coversParts([mixed], [turned])).toBe(true);
    expect(coversParts([mixed], [turned, mixed])).toBe(false);
    expect(combineParts([mixed], [turned, few, turned])).toEqual([mixed, few, turned]);
    for (const other of [{ users: [ANA] }, { groups: [SRE] }, { channels: [OPS] }])
      expect(coversParts([mixed], [{ ...mixed, ...other }])).toBe(false);
  });

  test("are shown by their name, or else by their ids", () => {
    expect(partName({ ...few, name: "Security" })).toBe("Security");
    expect(partName(few)).toBe("U0BEN, S0SEC, C0REL");
    expect(idsOf(few)).toEqual(["S0SEC", "C0REL", "U0BEN"]);
    expect(setsOfParts([few, mixed])).toEqual([SEC, REL, SRE, SEC, OPS, REL]);
    expect([BEN, SEC, REL].map((id) => isOneOfParts(id, [part(SRE), few]))).toEqual([true, true, true]);
    expect([ANA, SRE, OPS].map((id) => isOneOfParts(id, [few]))).toEqual([false, false, false]);
  });

  test("name each person once when joined, and none whom an exception names", () => {
    expect(together([few, mixed])).toEqual({ users: [BEN, ANA], groups: [SEC, SRE], channels: [REL, OPS] });
    expect(withoutNamed(mixed, few)).toEqual({ users: [ANA], groups: [SRE], channels: [OPS] });
    expect(withoutNamed(mixed, null)).toBe(mixed);
    expect(groupsAndChannelsOf(few)).toEqual([SEC, REL]);
    expect(groupsAndChannelsOf("anyone")).toEqual([]);
  });
});

const RULE = {
  name: "both",
  needs: 2,
  parts: [{ ...part(SRE), name: "Operations" }, part(SEC)],
  approvers: { users: [], groups: [SRE, SEC], channels: [] },
};
const policy = aPolicy(RULE);
const ctx = contextAt(0, policy);

function member(user: UserId, ...of: readonly GroupId[]): Person {
  const memberOf = new Map([SRE, SEC].map((each) => [each, of.includes(each)]));
  return { team: TEAM, user, kind: "member", seesChannel: true, memberOf };
}

const approval = anApproval();
const pending = withApprovals(aWatchedRun(), approval);

function approve(run: Run, by: Person, voters: readonly Person[] = [], now: Context = ctx) {
  const { id, version, request } = approval;
  const submission: Submission = {
    approval: id,
    version,
    digest: request.digest,
    was: request,
    verdict: "approve",
    reason: "go",
    by,
    voters,
  };
  return decide(run, submission, now);
}

function after(...steps: readonly (readonly [by: Person, voters?: readonly Person[]])[]): Run {
  return steps.reduce((run, [by, voters]) => {
    const done = approve(run, by, voters ?? []);
    if (!done.ok) throw new Error(done.error.type);
    return done.value;
  }, pending);
}

const stateOf = (run: Run) => findApproval(run, approval.id);
const missing = (run: Run) =>
  missingParts({ votes: stateOf(run)?.votes ?? [] }, RULE).map(({ groups: [id] }) => id);

describe("a rule that requires an approval from each of two parts", () => {
  test("waits for the other part after the first approval, and then decides", () => {
    const first = after([member(ANA, SRE)]);
    expect(stateOf(first)?.state.type).toBe("pending");
    expect(missing(first)).toEqual([SEC]);
    const both = after([member(ANA, SRE)], [member(BEN, SEC), [member(ANA, SRE)]]);
    expect(stateOf(both)?.state.type).toBe("decided");
  });

  test("stores with an approval the sets that its person was in, and with a denial none", () => {
    const by = member(ANA, SRE);
    expect(stateOf(after([by]))?.votes[0]?.memberOf).toEqual([SRE]);
    const { id, version, request } = approval;
    const seen = { approval: id, version, digest: request.digest, was: request };
    const denied = decide(pending, { ...seen, verdict: "deny", reason: "no", by }, ctx);
    const state = denied.ok ? stateOf(denied.value)?.state : undefined;
    expect(state).toMatchObject({ type: "decided", decision: { by: { user: ANA } } });
    expect(state?.type === "decided" && "memberOf" in state.decision).toBe(false);
  });

  test("refuses a second approval from the part that has approved", () => {
    expect(approve(after([member(ANA, SRE)]), member(BEN, SRE))).toMatchObject({
      error: { type: "part-filled", missing: [{ groups: [SEC] }] },
    });
  });

  test("needs only one more approval if a stricter rule had collected all of these already", () => {
    const more = contextAt(0, aPolicy({ ...RULE, needs: 3 }));
    const people = [member(ANA, SRE), member(BEN, SEC)] as const;
    const run = people.reduce((before, by) => {
      const voted = approve(before, by, people, more);
      if (!voted.ok) throw new Error(voted.error.type);
      return voted.value;
    }, pending);
    expect(stateOf(run)?.votes).toHaveLength(2);
    const stranger = approve(run, member(CLEO), people);
    expect(stranger).toMatchObject({ error: { type: "not-approver" } });
    const third = member(CLEO, SRE);
    const done = approve(run, third, people);
    if (!done.ok) throw new Error(done.error.type);
    expect(stateOf(done.value)).toMatchObject({
      state: { type: "decided", decision: { by: { user: CLEO }, votes: [{ by: { user: BEN } }] } },
      past: [{ cause: "rule-changed", decision: { by: { user: ANA } } }],
    });
    expect(recheckAuthority(done.value, approval.id, [...people, third], ctx)).toEqual({ type: "stands" });
  });

  test("counts a person who is in both parts for the part that is still open", () => {
    const both = member(ANA, SRE, SEC);
    expect(missing(after([both]))).toHaveLength(1);
    for (const group of [SRE, SEC])
      expect(stateOf(after([both], [member(BEN, group), [both]]))?.state.type).toBe("decided");
    expect(stateOf(after([member(BEN, SRE)], [both, [member(BEN, SRE)]]))?.state.type).toBe("decided");
  });

  test("accepts a denial from anyone in a part", () => {
    const { id, version, request } = approval;
    const submission = {
      approval: id,
      version,
      digest: request.digest,
      was: request,
      reason: "no",
      by: member(BEN, SRE),
    };
    expect(decide(after([member(ANA, SRE)]), { ...submission, verdict: "deny" }, ctx).ok).toBe(true);
  });

  test("does not refuse if Slack does not say which part someone is in", () => {
    const known = new Map([[SRE, true]]);
    const unsure: Person = { ...member(BEN), memberOf: known };
    expect(approve(after([member(ANA, SRE)]), unsure)).toMatchObject({ error: { type: "unverified" } });
  });

  test("drops an earlier approval if its approver moved to the part of the last one", () => {
    const run = after([member(ANA, SRE)], [member(BEN, SEC), [member(ANA, SEC)]]);
    expect(stateOf(run)).toMatchObject({
      state: { type: "pending" },
      votes: [{ by: { user: BEN } }],
      past: [{ cause: "rule-changed", decision: { by: { user: ANA } } }],
    });
    expect(missing(run)).toEqual([SRE]);
  });

  test.each<[string, readonly Person[], string]>([
    ["stands if both are still in their parts", [member(ANA, SRE), member(BEN, SEC)], "stands"],
    ["stands if they have swapped parts", [member(ANA, SEC), member(BEN, SRE)], "stands"],
    ["is void if both are in one part now", [member(ANA, SRE), member(BEN, SRE)], "void"],
    ["waits if Slack does not answer about one of them", [member(BEN, SEC)], "unverified"],
  ])("%s, right before it is sent", (_name, people, type) => {
    const decided = after([member(ANA, SRE)], [member(BEN, SEC), [member(ANA, SRE)]]);
    expect(recheckAuthority(decided, approval.id, people, ctx).type).toBe(type);
  });

  test("leaves exactly if all of its people may decide and every place is filled, also with more people than a rule needs", () => {
    const kinds = fc.constantFrom<Person["kind"]>("member", "member", "member", "deactivated");
    const voter = fc.record({ of: groups, kind: kinds, known: fc.nat(9).map((n) => n > 0) });
    const voters = fc.array(voter, { minLength: 1, maxLength: 4 });
    const someParts = parts.filter(({ length }) => length > 0);
    const counts = { stands: 0, surplus: 0 };
    fc.assert(
      fc.property(voters, someParts, fc.nat(1), (given, wanted, free) => {
        const needs = wanted.length + free;
        const day = contextAt(
          0,
          aPolicy({ ...RULE, parts: wanted, needs, approvers: part(SRE, SEC, LEGAL) }),
        );
        const people = given.map(({ of, kind }, nth): Person => ({
          ...member(UserId(`U${nth}`)),
          kind,
          memberOf: new Map([SRE, SEC, LEGAL].map((each) => [each, of.includes(each)])),
        }));
        const [last, ...earlier] = people.map(({ team, user }): Decision => {
          const { digest } = approval.request;
          return { verdict: "approve", reason: "go", by: { team, user }, at: 0, digest };
        });
        if (last === undefined) return;
        const delivery = { type: "held", until: 0, sendAt: 0 } as const;
        const state = { type: "decided", decision: { ...last, votes: earlier }, delivery } as const;
        const run = withApprovals(aWatchedRun(), { ...approval, state });
        const known = people.filter((_, nth) => given[nth]?.known === true);
        const { type } = recheckAuthority(run, approval.id, known, day);
        const places = [...wanted, ...Array.from({ length: free }, () => null)];
        const filled = mostAssigned(
          given.map(({ of }) => of),
          places,
        );
        const mayAll = given.every(({ of, kind, known }) => known && kind === "member" && of.length > 0);
        expect(type === "stands").toBe(mayAll && filled === needs);
        counts.stands += Number(type === "stands");
        counts.surplus += Number(type === "stands" && given.length > needs);
      }),
      { numRuns: 500 },
    );
    expect(Math.min(counts.stands, counts.surplus)).toBeGreaterThan(0);
  });

  test("waits if only Slack's missing answer about one of more people than it needs keeps it", () => {
    const more = contextAt(0, aPolicy({ ...RULE, needs: 3 }));
    const people = [member(ANA, SRE), member(BEN, SEC), member(CLEO, SEC)];
    const decided = people.reduce((before, by) => {
      const voted = approve(before, by, people, more);
      if (!voted.ok) throw new Error(voted.error.type);
      return voted.value;
    }, pending);
    expect(recheckAuthority(decided, approval.id, people, ctx)).toEqual({ type: "stands" });
    expect(recheckAuthority(decided, approval.id, people.slice(1), ctx)).toEqual({ type: "unverified" });
  });

  test("stores with each approval which part its person was in", () => {
    const votes: readonly Decision[] = stateOf(after([member(ANA, SRE)]))?.votes ?? [];
    expect(votes.map(({ memberOf }) => memberOf)).toEqual([[SRE]]);
  });
});

describe("people whom a rule excepts", () => {
  const excepting = aPolicy({ name: "but", except: { users: [CLEO], groups: [SEC], channels: [] } });
  test.each<[string, Person, string | null]>([
    ["by id", member(CLEO, SRE), "not-approver"],
    ["by group", member(ANA, SEC), "not-approver"],
    ["perhaps", { ...member(ANA), memberOf: new Map() }, "unverified"],
    ["not", member(ANA, SRE), null],
  ])("%s", (_name, by, because) => {
    const { id, version, request } = approval;
    const submission = { approval: id, version, digest: request.digest, was: request, reason: "go", by };
    const result = decide(pending, { ...submission, verdict: "approve" }, contextAt(0, excepting));
    expect(result.ok ? null : result.error.type).toBe(because);
  });
});
