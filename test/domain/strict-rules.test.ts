// Which of two rules is stricter, in each property of a rule, and what two rules ask for together.

import { describe, expect, test } from "vitest";
import { ChannelId, GroupId, UserId } from "#src/domain/ids.ts";
import { combineStrictly, isAsStrict, isStricter, laxerFields } from "#src/domain/policy/combine-rules.ts";
import type { Principals } from "#src/domain/policy/named-people.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import { aRule } from "../make/policy.ts";

describe("two rules that differ in one property", () => {
  const ANA = { users: [UserId("U0ANA")], groups: [], channels: [] };
  const TWO = { ...ANA, users: [...ANA.users, UserId("U0BEN")] };
  const OPS = { users: [], groups: [], channels: [ChannelId("C0OPS")] };
  const followUp = (...escalate: Rule["followUp"]["escalate"]) => ({ ...aRule().followUp, escalate });
  const expiry = (afterMs: number) => ({ afterMs, outcome: "deny" as const });
  const stage = { afterMs: 60, to: ANA, call: null };

  test.each<[string, Partial<Rule>, Partial<Rule>]>([
    ["who may approve", { approvers: ANA }, { approvers: "anyone" }],
    ["the requester may approve", { selfApproval: false }, { selfApproval: true }],
    ["how many must approve", { needs: 2 }, { needs: 1 }],
    ["from which parts approvals must come", { parts: [ANA] }, { parts: [] }],
    ["who may not approve", { except: OPS }, { except: null }],
    ["who may not approve", { except: { ...OPS, users: ANA.users } }, { except: ANA }],
    ["the hold", { holdMs: 2 }, { holdMs: 1 }],
    ["how soon it expires", { expiry: expiry(9) }, { expiry: null }],
    ["how soon it expires", { expiry: expiry(8) }, { expiry: expiry(9) }],
    ["the reason", { reason: { approve: 1, deny: 1 } }, { reason: { approve: 0, deny: 1 } }],
    ["the receipt at once", { receiptAtOnce: true }, { receiptAtOnce: false }],
    ["reading first", { friction: { readFirst: true, word: null } }, {}],
    ["the typed word", { friction: { readFirst: false, word: "yes" } }, {}],
    [
      "who may approve after an escalation",
      { approvers: OPS, followUp: followUp({ ...stage, to: null, call: ANA }) },
      { approvers: OPS, followUp: followUp(stage) },
    ],
    [
      "who may approve after an escalation",
      { approvers: OPS, followUp: followUp({ ...stage, afterMs: 61 }) },
      { approvers: OPS, followUp: followUp(stage) },
    ],
  ])("%s: one is stricter, and the combination equals it", (says, more, less) => {
    const [strict, lax] = [aRule({ ...more, name: "strict" }), aRule({ ...less, name: "lax" })];
    expect([isStricter(strict, lax), isStricter(lax, strict), isStricter(lax, lax)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([laxerFields(lax, strict), laxerFields(strict, lax)]).toEqual([[says], []]);
    expect(combineStrictly([lax, strict, lax])).toBe(strict);
  });

  test("a rule under which no one may approve is as strict as every other rule", () => {
    const nobody = aRule({ approvers: { users: [], groups: [], channels: [] } });
    const strict = aRule({ approvers: ANA, needs: 3, holdMs: 9, except: OPS });
    expect(laxerFields(nobody, strict)).toEqual([]);
    for (const one of [ANA, OPS, { ...ANA, users: [], groups: [GroupId("S0ONE")] }])
      expect(isAsStrict(aRule({ approvers: one }), strict)).toBe(false);
  });

  test.each<[string, Partial<Rule>, Partial<Rule>]>([
    ["the same expiry", { expiry: expiry(9) }, { expiry: { afterMs: 9, outcome: "nothing" } }],
    [
      "the same people in another order",
      { approvers: TWO },
      { approvers: { ...TWO, users: TWO.users.toReversed() } },
    ],
  ])("%s: neither is stricter", (_what, one, other) => {
    const [a, b] = [aRule(one), aRule(other)];
    expect([isAsStrict(a, b), isAsStrict(b, a), isStricter(a, b)]).toEqual([true, true, false]);
    expect(combineStrictly([a, b])).toBe(a);
  });

  test("different words to type: neither rule covers the other, neither is stricter, and both words must be typed", () => {
    const [a, b] = ["yes", "now"].map((word) => aRule({ friction: { readFirst: false, word } }));
    if (a === undefined || b === undefined) throw new Error("two rules");
    expect([isAsStrict(a, b), isAsStrict(b, a), isStricter(a, b), isStricter(b, a)]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(combineStrictly([a, b]).friction.word?.split(" ").toSorted()).toEqual(["now", "yes"]);
  });

  test.each<[string, Principals, Principals, boolean]>([
    ["fewer people", ANA, TWO, true],
    ["other people", ANA, { ...ANA, users: [UserId("U0BEN")] }, false],
    ["the same channel", OPS, OPS, true],
    ["the same group", { ...OPS, groups: [GroupId("S0ONE")] }, { ...OPS, groups: [GroupId("S0ONE")] }, true],
    ["another channel", OPS, { ...OPS, channels: [ChannelId("C0REL")] }, false],
    ["another group", { ...OPS, groups: [GroupId("S0ONE")] }, { ...OPS, groups: [GroupId("S0TWO")] }, false],
    ["people beside the channel", { ...OPS, users: ANA.users }, OPS, false],
    ["anyone", "anyone", OPS, false],
  ])("%s may approve", (_who, one, other, isAs) => {
    expect(isAsStrict(aRule({ approvers: one }), aRule({ approvers: other }))).toBe(isAs);
  });

  test("a rule covers an escalation only if a stage of its own lets the same people in by then", () => {
    const later = aRule({ approvers: OPS, followUp: followUp({ ...stage, afterMs: 90 }) });
    expect(isAsStrict(later, aRule({ approvers: OPS }))).toBe(false);
    // As an approver, Ana decides only if she sees the channel. In a stage, she need not.
    expect(isAsStrict({ ...later, approvers: ANA }, aRule({ approvers: ANA }))).toBe(false);
    expect(isAsStrict({ ...later, approvers: ANA }, aRule({ approvers: "anyone" }))).toBe(false);
    expect(laxerFields({ ...later, approvers: ANA }, aRule({ approvers: ANA }))).toEqual([]);
    const stages = followUp({ ...stage, afterMs: 30, to: null }, { ...stage, afterMs: 90 });
    expect(isAsStrict(later, aRule({ approvers: OPS, followUp: stages }))).toBe(true);
    expect(
      isAsStrict(later, aRule({ approvers: OPS, followUp: followUp(stage, { ...stage, to: OPS }) })),
    ).toBe(true);
  });
});

test("two rules that do not cover each other ask together for everything that each asks for", () => {
  const named = (...ids: string[]) => ({
    users: ids.map((id) => UserId(`U0${id}`)),
    groups: ids.map((id) => GroupId(`S0${id}`)),
    channels: ids.map((id) => ChannelId(`C0${id}`)),
  });
  const lists = ({ users, groups }: ReturnType<typeof named>) => ({ users, groups });
  const one = aRule({
    name: "one",
    when: { ...aRule().when, action: ["drop *"] },
    approvers: named("ANA", "BEN"),
    selfApproval: true,
    reason: { approve: 5, deny: 1 },
    parts: [named("ANA"), named("BEN")],
    except: named("CAT"),
    holdMs: 7,
    expiry: { afterMs: 60, outcome: "nothing" },
    friction: { readFirst: true, word: null },
    denyReasons: ["No", "Late"],
    mention: lists(named("ANA", "BEN")),
  });
  const other = aRule({
    name: "other",
    approvers: named("BEN", "CAT"),
    reason: { approve: 2, deny: 9 },
    parts: [named("BEN"), named("CAT")],
    except: named("CAT", "DEE"),
    needs: 2,
    holdMs: 3,
    expiry: { afterMs: 40, outcome: "deny" },
    friction: { readFirst: false, word: "yes" },
    denyReasons: ["Late", "Never"],
    mention: lists(named("BEN")),
    receiptAtOnce: true,
  });
  const both = {
    ...one,
    name: "one and other",
    // Only Slack knows who is in a group of each.
    approvers: { ...named("ANA", "BEN"), alsoIn: [named("BEN", "CAT")] },
    selfApproval: false,
    reason: { approve: 5, deny: 9 },
    parts: [named("ANA"), named("BEN"), named("CAT")],
    except: named("CAT", "DEE"),
    needs: 3,
    expiry: other.expiry,
    friction: { readFirst: true, word: "yes" },
    receiptAtOnce: true,
    denyReasons: ["No", "Late", "Never"],
  };
  expect(combineStrictly([one, other])).toEqual(both);
  // If one of them leaves a property open, the other's value stands.
  expect(combineStrictly([one, { ...other, except: null, expiry: null, parts: [] }])).toMatchObject({
    except: one.except,
    expiry: one.expiry,
    needs: 2,
  });
  expect(
    combineStrictly([
      { ...one, except: null, expiry: null, approvers: "anyone", friction: { ...one.friction, word: "now" } },
      other,
    ]),
  ).toMatchObject({
    approvers: other.approvers,
    except: other.except,
    expiry: other.expiry,
    friction: { word: "now yes" },
  });
  // If both have the same value, so does their combination.
  const easy = { selfApproval: true, receiptAtOnce: false, friction: { readFirst: false, word: null } };
  expect(
    combineStrictly([
      { ...one, ...easy, expiry: { afterMs: 30, outcome: "nothing" } },
      { ...other, ...easy, approvers: "anyone" },
    ]),
  ).toMatchObject({ ...easy, approvers: one.approvers, expiry: { afterMs: 30 } });
});
