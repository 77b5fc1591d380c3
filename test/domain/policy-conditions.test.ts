// Conditions on numbers, on the requester's groups and on the time: what surely holds, what perhaps holds, and that doubt never makes a
// rule laxer.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GroupId, UserId } from "#src/domain/ids.ts";
import { type Json, parseJson } from "#src/domain/json.ts";
import { isAsStrict, type Match, matcher, ruleFor } from "#src/domain/policy/choose-rule.ts";
import {
  compareDecimals,
  coversComparison,
  readComparison,
  satisfies,
} from "#src/domain/policy/comparison.ts";
import type { Hours } from "#src/domain/policy/hours.ts";
import type { Facts, When } from "#src/domain/policy/policy.ts";
import { aPolicy } from "../make/policy.ts";
import { CHANNEL, REQUESTER } from "../make/run.ts";

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };
const facts = (content: Json = {}): Facts => ({
  channel: CHANNEL,
  requester: REQUESTER,
  input: "task",
  action: "pay",
  content,
});

function comparison(text: string) {
  const read = readComparison(text);
  if (read === null) throw new Error(`no comparison: ${text}`);
  return read;
}

describe("a comparison", () => {
  test.each(["> 1000", ">=10", "< -0.5", "<= 1e3", ">= 10 and < 100", "< 100 and >= 10"])(
    "%s is one",
    (text) => {
      expect(readComparison(text)).not.toBeNull();
    },
  );

  test.each([
    "",
    "1000",
    "> 1,000",
    "> 01",
    "> 0x10",
    ">> 1",
    "=> 1",
    "> 1 and",
    "> 1 and > 2",
    "< 1 and > 2",
    "> 1 or < 0",
    "> 5 and < 5",
    ">  1",
    "> Infinity",
  ])("%j is none", (text) => {
    expect(readComparison(text)).toBeNull();
  });

  test.each<[string, string, boolean]>([
    ["> 1000", "1000", false],
    ["> 1000", "1000.0000000000000000000000000001", true],
    ["> 1000", "1.0001e3", true],
    [">= 1000", "1e3", true],
    ["< 1", "1e-999999999999999999999", true],
    ["> 1", "1e999999999999999999999", true],
    ["> -5", "-4.99", true],
    ["< 0", "-0", false],
    [">= 0", "-0.0e5", true],
    [">= 10 and < 100", "99.9", true],
    [">= 10 and < 100", "100", false],
  ])("%s holds for %s: %s", (text, number, holds) => {
    expect(satisfies(number, comparison(text))).toBe(holds);
  });

  test("orders decimals as integers of the same unit are ordered", () => {
    const decimal = fc.record({ units: fc.bigInt(-(10n ** 30n), 10n ** 30n), places: fc.nat(20) });
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const [one, other] = [a, b].map(({ units, places }) => units * 10n ** BigInt(20 - places));
        const sign = (one ?? 0n) < (other ?? 0n) ? -1 : (one ?? 0n) > (other ?? 0n) ? 1 : 0;
        const text = ({ units, places }: typeof a) => `${units}e-${places}`;
        expect(Math.sign(compareDecimals(text(a), text(b)))).toBe(sign);
      }),
    );
  });

  test("covers another only where every number that satisfies that one satisfies it", () => {
    const bound = fc.record({
      op: fc.constantFrom("<", "<=", ">", ">="),
      than: fc.integer({ min: -3, max: 3 }),
    });
    const any = bound.map(({ op, than }) => comparison(`${op} ${than}`));
    fc.assert(
      fc.property(any, any, (outer, inner) => {
        const numbers = Array.from({ length: 33 }, (_, index) => String(-4 + index / 4));
        const covers = numbers.every((each) => !satisfies(each, inner) || satisfies(each, outer));
        expect(coversComparison(outer, inner)).toBe(covers);
      }),
    );
  });
});

describe("a condition with a comparison", () => {
  const over = { ...ALWAYS, fields: { amount: [comparison("> 1000")] } };
  test.each<[string, Match]>([
    ['{"amount": 1001}', "every"],
    ['{"amount": 1e400}', "every"],
    ['{"amount": 1000}', "none"],
    ['{"amount": 1000.0000000000000000000000000001}', "some"], // a float would round it to 1000
    ['{"amount": "1001"}', "some"],
    ['{"amount": "1,001"}', "some"],
    ['{"amount": "5"}', "some"], // hexadecimal, thousands, another currency: who knows
    ['{"amount": true}', "some"],
    ['{"amount": [1001, 2000]}', "every"],
    ['{"amount": [1001, 5]}', "some"],
    ['{"amount": []}', "none"],
    ['{"amount": null}', "none"],
    ["{}", "none"],
    ['{"Amount": 1001}', "some"],
    ['{"amount": 5, "details": {"amount": 1001}}', "some"],
    ['{"amount": {"value": 1001}}', "some"],
  ])("%s: %s", (content, match) => {
    expect(matcher(facts(parseJson(content)))(over)).toBe(match);
  });
});

const [OPS, SEC] = [GroupId("S0OPS"), GroupId("S0SEC")];

describe("a condition on the requester's groups", () => {
  test.each<[string, Partial<When>, Facts["requesterIn"], Match]>([
    ["in the group", { requesters: [], requesterGroups: [OPS] }, { [OPS]: true }, "every"],
    ["not in it", { requesters: [], requesterGroups: [OPS] }, { [OPS]: false }, "none"],
    ["nobody says", { requesters: [], requesterGroups: [OPS] }, {}, "some"],
    ["never asked", { requesters: [], requesterGroups: [OPS] }, undefined, "some"],
    ["in one of two", { requesters: [], requesterGroups: [OPS, SEC] }, { [SEC]: true }, "every"],
    [
      "not in one, unknown of the other",
      { requesters: [], requesterGroups: [OPS, SEC] },
      { [OPS]: false },
      "some",
    ],
    ["named", { requesters: [REQUESTER], requesterGroups: [OPS] }, {}, "every"],
    [
      "others are named",
      { requesters: [UserId("U0ELSE")], requesterGroups: [OPS] },
      { [OPS]: false },
      "none",
    ],
  ])("%s", (_name, when, requesterIn, match) => {
    const about = requesterIn === undefined ? facts() : { ...facts(), requesterIn };
    expect(matcher(about)({ ...ALWAYS, ...when })).toBe(match);
  });
});

const OFFICE: Hours = { tz: "UTC", days: ["mon", "tue", "wed", "thu", "fri"], from: "08:00", to: "20:00" };
const MONDAY = Date.UTC(2026, 10, 23);
const HOUR = 3_600_000;

describe("a condition on the time", () => {
  test.each<[string, number | undefined, Partial<When>, Match]>([
    ["within its hours", MONDAY + 9 * HOUR, { hours: [OFFICE] }, "every"],
    ["outside them", MONDAY + 21 * HOUR, { hours: [OFFICE] }, "none"],
    ["outside, where outside is asked for", MONDAY + 21 * HOUR, { outsideHours: [OFFICE] }, "every"],
    ["within, where outside is asked for", MONDAY + 9 * HOUR, { outsideHours: [OFFICE] }, "none"],
    ["at an unknown time", undefined, { hours: [OFFICE] }, "some"],
  ])("%s", (_name, at, when, match) => {
    const about = at === undefined ? facts() : { ...facts(), at };
    expect(matcher(about)({ ...ALWAYS, ...when })).toBe(match);
  });
});

test("what is unknown leads to a rule as strict as everything that it could turn out to be", () => {
  const when = fc.record({
    groups: fc.option(fc.subarray([OPS, SEC], { minLength: 1 })),
    time: fc.constantFrom("any", "hours", "outside"),
  });
  const rule = fc.record({ when, needs: fc.integer({ min: 1, max: 3 }), holdMs: fc.constantFrom(0, 5) });
  const membership = fc.constantFrom(true, false, undefined);
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 1, maxLength: 4 }),
      fc.tuple(membership, membership),
      fc.record({
        at: fc.option(fc.integer({ min: MONDAY, max: MONDAY + 7 * 24 * HOUR })),
        realAt: fc.integer({ min: MONDAY, max: MONDAY + 7 * 24 * HOUR }),
      }),
      fc.tuple(fc.boolean(), fc.boolean()),
      (rules, known, { at, realAt }, real) => {
        const policy = aPolicy(
          ...rules.map(({ when: { groups, time }, ...rest }, index) => ({
            ...rest,
            name: `r${index}`,
            when: {
              ...ALWAYS,
              ...(groups === null ? {} : { requesters: [], requesterGroups: groups }),
              ...(time === "hours"
                ? { hours: [OFFICE] }
                : time === "outside"
                  ? { outsideHours: [OFFICE] }
                  : {}),
            },
          })),
        );
        const groups = [OPS, SEC] as const;
        const told = groups.flatMap((group, index) =>
          known[index] === undefined ? [] : [[group, known[index]] as const],
        );
        const truly = groups.map((group, index) => [group, known[index] ?? real[index]] as const);
        const held = ruleFor(policy, {
          ...facts(),
          requesterIn: Object.fromEntries(told),
          ...(at === null ? {} : { at }),
        });
        const meant = ruleFor(policy, {
          ...facts(),
          requesterIn: Object.fromEntries(truly) as { [group: GroupId]: boolean },
          at: at ?? realAt,
        });
        expect(isAsStrict(held, meant)).toBe(true);
      },
    ),
    { numRuns: 1_000 },
  );
});
