// Conditions on numbers, on the requester's groups and on the time: when they certainly hold, when they perhaps hold,
// and that doubt never makes a rule laxer.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GroupId, UserId } from "#src/domain/ids.ts";
import { type Json, parseJson } from "#src/domain/json.ts";
import { type Match, matcher, ruleFor } from "#src/domain/policy/choose-rule.ts";
import { isAsStrict } from "#src/domain/policy/combine-rules.ts";
import {
  compareDecimals,
  coversComparison,
  looksLikeComparison,
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
  test.each([
    ["> 1000", [{ op: ">", than: "1000" }]],
    [">=10", [{ op: ">=", than: "10" }]],
    ["< -0.25", [{ op: "<", than: "-0.25" }]],
    ["<= 1e3", [{ op: "<=", than: "1e3" }]],
    ["> 1.5E+10", [{ op: ">", than: "1.5E+10" }]],
    [
      "> 1 and <= 5",
      [
        { op: ">", than: "1" },
        { op: "<=", than: "5" },
      ],
    ],
    ["> 0e-10", [{ op: ">", than: "0e-10" }]],
    [
      ">= 10 and < 100",
      [
        { op: ">=", than: "10" },
        { op: "<", than: "100" },
      ],
    ],
    [
      "< 100 and >= 10",
      [
        { op: "<", than: "100" },
        { op: ">=", than: "10" },
      ],
    ],
  ])("%s is a comparison", (text, bounds) => {
    expect(readComparison(text)).toEqual({ bounds, text });
  });

  test.each([
    ["> 1", true],
    [" \t<1", true],
    [">oops", true],
    ["a > 1", false],
    ["1", false],
  ])("%j looks like a comparison: %s", (text, looks) => expect(looksLikeComparison(text)).toBe(looks));

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
    ">= 5 and <= 5",
    "> 5 and < -5",
    "< 1 and < 2",
    "< 2 and < 1",
    "> 1 and < 5 and < 9",
    "> 1 and ",
    "x> 1",
    "> 1x",
    "> 1.",
    "> .5",
    "> 1e",
    "> --1",
    ">  1",
    "> Infinity",
  ])("%j is not a comparison", (text) => {
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

  test("orders decimals like integers of the same unit", () => {
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

  test("orders numbers by their value, however they are written", () => {
    const rising = [
      ["-1e3", "-1000", "-1000.0"],
      ["-11"],
      ["-10", "-1e1"],
      ["-1.5"],
      ["-0.001", "-1E-3"],
      ["0", "-0", "0.000", "0e9", "-0.0e-9"],
      ["1e-5", "0.00001"],
      ["0.001"],
      ["0.0011", "11e-4"],
      ["1", "1.0", "10e-1", "0.1e+1", "1E0"],
      ["9"],
      ["10", "1e1"],
      ["10.01"],
      ["99"],
      ["100", "1e2", "1E+2"],
    ].flatMap((same, rank) => same.map((text) => ({ text, rank })));
    for (const one of rising)
      for (const other of rising)
        expect(Math.sign(compareDecimals(one.text, other.text)), `${one.text}, ${other.text}`).toBe(
          Math.sign(one.rank - other.rank),
        );
  });

  test("covers another only if every number that satisfies the other also satisfies it", () => {
    const [ends, numbers] = [
      [-2, -1, 0, 1, 2],
      Array.from({ length: 25 }, (_, index) => `${-3 + index / 4}`),
    ];
    const bounds = (ops: readonly string[]) => ends.flatMap((end) => ops.map((op) => `${op} ${end}`));
    const [above, below] = [bounds([">", ">="]), bounds(["<", "<="])];
    const ranges = above.flatMap((low) => below.map((high) => `${low} and ${high}`));
    const all = [...above, ...below, ...ranges].flatMap((text) => {
      const read = readComparison(text);
      return read === null ? [] : [{ read, holds: new Set(numbers.filter((each) => satisfies(each, read))) }];
    });
    for (const outer of all)
      for (const inner of all)
        expect(coversComparison(outer.read, inner.read), `${outer.read.text}, ${inner.read.text}`).toBe(
          inner.holds.isSubsetOf(outer.holds),
        );
  });
});

describe("a condition with a comparison", () => {
  test.each<[string, Match]>([
    ['{"amount": 1001}', "every"],
    ['{"amount": 1e400}', "every"],
    ['{"amount": 1000}', "none"],
    ['{"amount": 1000.0000000000000000000000000001}', "some"], // a float would round it to 1000
    ['{"amount": "1001"}', "some"],
    ['{"amount": "1,001"}', "some"],
    ['{"amount": "5"}', "some"], // hexadecimal, thousands, another currency: not comparable for sure
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
    const over = { ...ALWAYS, fields: { amount: [comparison("> 1000")] } };
    expect(matcher(facts(parseJson(content)))(over)).toBe(match);
  });
});

const [OPS, SEC] = [GroupId("S0OPS"), GroupId("S0SEC")];

describe("a condition on the requester's groups", () => {
  test.each<[string, Partial<When>, Facts["requesterIn"], Match]>([
    ["in the group", { requesters: [], requesterGroups: [OPS] }, { [OPS]: true }, "every"],
    ["not in it", { requesters: [], requesterGroups: [OPS] }, { [OPS]: false }, "none"],
    ["not answered", { requesters: [], requesterGroups: [OPS] }, {}, "some"],
    ["never asked", { requesters: [], requesterGroups: [OPS] }, undefined, "some"],
    ["in one of two", { requesters: [], requesterGroups: [OPS, SEC] }, { [SEC]: true }, "every"],
    [
      "not in one, unknown of the other",
      { requesters: [], requesterGroups: [OPS, SEC] },
      { [OPS]: false },
      "some",
    ],
    ["not in it, where no one is named", { requesterGroups: [OPS] }, { [OPS]: false }, "none"],
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
const NIGHT: Hours = { ...OFFICE, from: "20:00", to: "06:00" };
const MONDAY = Date.UTC(2026, 10, 23);
const HOUR = 3_600_000;

describe("a condition on the time", () => {
  test.each<[string, number | undefined, Partial<When>, Match]>([
    ["within its hours", MONDAY + 9 * HOUR, { hours: [OFFICE] }, "every"],
    ["outside them", MONDAY + 21 * HOUR, { hours: [OFFICE] }, "none"],
    ["outside, where outside is asked for", MONDAY + 21 * HOUR, { outsideHours: [OFFICE] }, "every"],
    ["within, where outside is asked for", MONDAY + 9 * HOUR, { outsideHours: [OFFICE] }, "none"],
    ["within one of two", MONDAY + 9 * HOUR, { hours: [NIGHT, OFFICE] }, "every"],
    ["within one that is to be avoided", MONDAY + 9 * HOUR, { outsideHours: [NIGHT, OFFICE] }, "none"],
    ["at an unknown time", undefined, { hours: [OFFICE] }, "some"],
  ])("%s", (_name, at, when, match) => {
    const about = at === undefined ? facts() : { ...facts(), at };
    expect(matcher(about)({ ...ALWAYS, ...when })).toBe(match);
  });
});

test("an unknown fact leads to a rule as strict as every value that the fact could have", () => {
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
        const lookedUp = groups.flatMap((group, index) =>
          known[index] === undefined ? [] : [[group, known[index]] as const],
        );
        const truly = groups.map((group, index) => [group, known[index] ?? real[index]] as const);
        const held = ruleFor(policy, {
          ...facts(),
          requesterIn: Object.fromEntries(lookedUp),
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
