// Who may decide under several rules at once: only people whom each of them allows, however each names them.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isOneOf, type Person, refusalToDecide } from "#src/domain/authorization.ts";
import { ChannelId, GroupId, UserId } from "#src/domain/ids.ts";
import { withEscalation } from "#src/domain/escalation.ts";
import { combineStrictly, isAsStrict } from "#src/domain/policy/combine-rules.ts";
import {
  combineFollowUps,
  type FollowUpRule,
  letInBy,
  NO_FOLLOW_UP,
  type Stage,
} from "#src/domain/policy/follow-up-rule.ts";
import { isNobody, NO_ONE, type NamedPeople, type Principals } from "#src/domain/policy/named-people.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import { setsOfRule } from "#src/domain/rule-facts.ts";
import { aRule, these } from "../make/policy.ts";
import { aRun, TEAM } from "../make/run.ts";

const ANA = UserId("U0ANA");
const BEN = UserId("U0BEN");
const ONE = GroupId("S0ONE");
const TWO = GroupId("S0TWO");
const OPS = ChannelId("C0OPS");
const SETS = [ONE, TWO, OPS];

const byId = aRule({ name: "by id", approvers: these([ANA, BEN]) });
const byGroup = aRule({ name: "by group", approvers: these([], [ONE]), holdMs: 5 });
const aPerson = (user: UserId): Person => ({ team: TEAM, user, kind: "member", seesChannel: true });
const person = (user: UserId, ...memberOf: readonly (GroupId | ChannelId)[]): Person => ({
  ...aPerson(user),
  memberOf: new Map(SETS.map((set) => [set, memberOf.includes(set)])),
});

describe("one rule names a person by id, and the other by a group", () => {
  test("the person may decide, and a person whom only one of them names may not", () => {
    const both = combineStrictly([byId, byGroup]);
    const refusalOf = (by: Person) => refusalToDecide(by, aRun(), both)?.type ?? null;
    expect(refusalOf(person(ANA, ONE))).toBe(null);
    expect(refusalOf(person(BEN))).toBe("not-approver");
    expect(refusalOf(person(UserId("U0CAT"), ONE))).toBe("not-approver");
  });

  test("the person is unknown until Slack has said who is in the group", () => {
    const both = combineStrictly([byId, byGroup]);
    expect(setsOfRule(both)).toEqual([ONE]);
    expect(isOneOf(aPerson(ANA), both.approvers)).toBe(null);
    expect(isOneOf(aPerson(UserId("U0CAT")), both.approvers)).toBe(false);
  });

  test("the card mentions those whom the first names by id, and not a group of others", () => {
    const mentioning = (rule: Rule, users: readonly UserId[], groups: readonly GroupId[]): Rule => ({
      ...rule,
      mention: { users, groups },
    });
    const rules = [mentioning(byId, [ANA, BEN], []), mentioning(byGroup, [], [ONE])] as const;
    expect(combineStrictly(rules).mention).toEqual({ users: [ANA, BEN], groups: [] });
    // A rule can also name people who are only to know.
    const watching = mentioning(byGroup, [UserId("U0CAT")], [ONE, TWO]);
    expect(combineStrictly([rules[0], watching]).mention).toEqual({
      users: [ANA, BEN, "U0CAT"],
      groups: [TWO],
    });
  });
});

const principals: fc.Arbitrary<Principals> = fc.oneof(
  { weight: 1, arbitrary: fc.constant("anyone" as const) },
  {
    weight: 5,
    arbitrary: fc.record({
      users: fc.subarray([ANA, BEN]),
      groups: fc.subarray([ONE, TWO]),
      channels: fc.subarray([OPS]),
    }),
  },
);
/** Gives each rule something that the others lack, so that none covers another. */
const rules = fc
  .array(principals, { minLength: 1, maxLength: 4 })
  .map((lists) =>
    lists.map((approvers, at) =>
      aRule({ name: `r${at}`, approvers, holdMs: at, reason: { approve: 9 - at, deny: 0 } }),
    ),
  );
const people: fc.Arbitrary<Person> = fc
  .record({
    user: fc.constantFrom(ANA, BEN, UserId("U0CAT")),
    in: fc.array(fc.constantFrom(true, false, undefined), { minLength: 3, maxLength: 3 }),
  })
  .map(({ user, in: of }) => ({
    ...aPerson(user),
    memberOf: new Map(SETS.flatMap((set, at) => (of[at] === undefined ? [] : [[set, of[at]]]))),
  }));

test("a person may decide under several rules exactly if each of them allows it", () => {
  fc.assert(
    fc.property(rules, people, ([first = aRule(), ...others], who) => {
      const all = combineStrictly([first, ...others]);
      const each = [first, ...others].map(({ approvers }) => isOneOf(who, approvers));
      const expected = each.includes(false) ? false : each.includes(null) ? null : true;
      // A rule that allows no one covers the others, so nothing is unknown under it.
      const isClosed = [first, ...others].some(({ approvers }) => isNobody(approvers));
      expect(isOneOf(who, all.approvers)).toBe(isClosed ? false : expected);
      for (const one of [first, ...others]) expect(isAsStrict(all, one)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("three rules name three lists, and a person must be in each", () => {
  const inOps: NamedPeople = { users: [], groups: [], channels: [OPS] };
  const all = combineStrictly([byId, byGroup, aRule({ name: "ops", approvers: inOps, needs: 2 })]);
  expect(isOneOf(person(ANA, ONE, OPS), all.approvers)).toBe(true);
  for (const lacking of [person(ANA, ONE), person(ANA, OPS), person(UserId("U0CAT"), ONE, OPS)])
    expect(isOneOf(lacking, all.approvers)).toBe(false);
});

const HOUR = 3_600_000;
const stage = (hours: number, to: Stage["to"], call: Stage["call"] = null): Stage => ({
  afterMs: hours * HOUR,
  to,
  call,
});
const escalating = (...escalate: readonly Stage[]): FollowUpRule => ({ ...NO_FOLLOW_UP, escalate });

describe("a stage of one rule names a person by id, and the stage of the other by a group", () => {
  const both = combineStrictly([
    aRule({ name: "a", approvers: these([BEN]), followUp: escalating(stage(1, these([], [ONE]))) }),
    aRule({ name: "b", approvers: these([BEN]), needs: 2, followUp: escalating(stage(1, these([ANA]))) }),
  ]);
  const reached = { followUp: { stages: [{ afterMs: HOUR, at: 0, age: HOUR, called: NO_ONE }] } };

  test("the person may decide after the stage, and people whom only one of them names may not", () => {
    const refusalOf = (by: Person) =>
      refusalToDecide(by, aRun(), withEscalation(both, reached))?.type ?? null;
    expect(refusalOf(person(ANA, ONE))).toBe(null);
    expect(refusalOf(person(ANA))).toBe("not-approver");
    expect(refusalOf(person(UserId("U0CAT"), ONE))).toBe("not-approver");
    expect(refusalToDecide(person(ANA, ONE), aRun(), both)?.type).toBe("not-approver");
  });

  test("the person is unknown until Slack has said who is in the group", () => {
    expect(setsOfRule(withEscalation(both, reached))).toEqual([ONE]);
    expect(refusalToDecide(aPerson(ANA), aRun(), withEscalation(both, reached))?.type).toBe("unverified");
  });

  test("everyone whom either names is called once, however many rules there are", () => {
    const third = escalating(stage(1, these([], [ONE])), stage(2, null, these([BEN])));
    expect(combineFollowUps(both.followUp, third).escalate.map(({ call }) => call)).toEqual([
      these([ANA], [ONE]),
      these([BEN]),
    ]);
  });
});

const lists = principals.filter((each) => each !== "anyone");
const escalations = fc
  .array(fc.option(lists), { minLength: 3, maxLength: 3 })
  .map((each) => escalating(...each.map((to, at) => stage(at + 1, to))));

test("a person may decide by a stage of several rules exactly if stages of each have let them in by then", () => {
  fc.assert(
    fc.property(
      fc.array(escalations, { minLength: 2, maxLength: 4 }),
      people,
      fc.nat(3),
      (each, who, hours) => {
        const letIn = (rule: FollowUpRule) => isOneOf(who, letInBy(rule, hours * HOUR));
        const answers = each.map(letIn);
        const expected = answers.includes(false) ? false : answers.includes(null) ? null : true;
        // If no one is let in by one rule, nothing is unknown.
        const isClosed = each.some((rule) => isNobody(letInBy(rule, hours * HOUR)));
        expect(letIn(each.reduce(combineFollowUps))).toBe(isClosed ? false : expected);
      },
    ),
    { numRuns: 2_000 },
  );
});
