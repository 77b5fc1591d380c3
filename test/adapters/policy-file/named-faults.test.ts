// A mistake in a value that may have several shapes is named where it is, once, in words of our own.

import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { findingLine } from "#src/adapters/policy-file/policy-holder.ts";
import { policySchema } from "#src/adapters/policy-file/policy-shape.ts";
import { readPolicy } from "#src/adapters/policy-file/read-policy.ts";

const ZONE = "is not a time zone such as Europe/Berlin";
const DAYS = "is not a day or a range of days, such as sat or mon-fri";
const HOURS =
  'is neither hours such as { tz: Europe/Berlin, days: mon-fri, from: "08:00", to: "20:00" } nor a list of them';
const ONE_HOURS = 'is not hours such as { tz: Europe/Berlin, from: "08:00", to: "20:00" }';
const EMPTY_LIST = "is an empty list: fill it or remove the key";
const NO_KEYS = "is not a set of keys with values";
const NO_LISTS = "names no one: give users or groups";
const NO_KEY = "is not a key that a policy can have";
const TIMES = 'from: "08:00", to: "20:00"';

function linesOf(text: string): readonly string[] {
  const read = readPolicy(text, "v");
  return read.ok ? [] : read.error.map((each) => findingLine("p", each));
}

test.for<[string, string[]]>([
  [`when: { hours: { tz: Europe/Berln, days: mon-fri, ${TIMES} } }`, [`when.hours.tz ${ZONE}`]],
  [`when: { outside-hours: [{ tz: Europe/Berln, ${TIMES} }] }`, [`when.outside-hours[0].tz ${ZONE}`]],
  [`when: { hours: { tz: UTC, days: monday-friday, ${TIMES} } }`, [`when.hours.days ${DAYS}`]],
  [`hours: { tz: UTC, days: monday-friday, ${TIMES} }`, [`hours.days ${DAYS}`]],
  [`hours: { tz: UTC, days: [monday], ${TIMES} }`, [`hours.days[0] ${DAYS}`]],
  [`when: { hours: { tz: UTC, from: "08:00" } }`, ["when.hours.to is missing"]],
  ["when: { hours: 8 }", [`when.hours ${HOURS}`]],
  ["when: { hours: [] }", [`when.hours ${EMPTY_LIST}`]],
  [`hours: { tz: UTC, days: [], ${TIMES} }`, [`hours.days ${EMPTY_LIST}`]],
  [
    `hours: { tz: UTC, days: 5, ${TIMES} }`,
    ["hours.days is neither a day, nor a range of days such as mon-fri, nor a list of them"],
  ],
  ["escalate: []", [`escalate ${EMPTY_LIST}`]],
  ["deny-reasons: []", [`deny-reasons ${EMPTY_LIST}`]],
  ["when: { hours: [5] }", [`when.hours[0] ${ONE_HOURS}`]],
  [`when: { outside-hours: [{ tz: UTC, ${TIMES} }, 5] }`, [`when.outside-hours[1] ${ONE_HOURS}`]],
  ["hours: 5", [`hours ${ONE_HOURS}`]],
  ["when: { requester: [] }", ["when.requester is empty, so no one is in it"]],
  ["when: { channel: [] }", [`when.channel ${EMPTY_LIST}`]],
  ["when: { field: { amount: [] } }", [`when.field.amount ${EMPTY_LIST}`]],
  ["when: { field: { '': 5 } }", ["when.field. is not the name of a field"]],
  ["when: []", [`when ${NO_KEYS}`]],
  ["expiry: 1 d", [`expiry ${NO_KEYS}`]],
  ["when: { requester: { group: [S0A] } }", [`when.requester.group ${NO_KEY}`, `when.requester ${NO_LISTS}`]],
  ["mention: { user: [U0A] }", [`mention.user ${NO_KEY}`, `mention ${NO_LISTS}`]],
  [
    "remind: { after: soon }",
    ["remind.after is not a time such as 30 s, 15 min, 4 h or 2 d, between 1 s and 30 d"],
  ],
  [
    "expiry: { after: 2 w }",
    ["expiry.after is not a time such as 30 s, 15 min, 4 h or 2 d, between 1 s and 365 d"],
  ],
])("%s", ([key, says]) => {
  const found = linesOf(`rules:\n  - { name: a, approvers: anyone, ${key} }\n`);
  expect(found.toSorted()).toEqual(says.map((each) => `p:2: rules[0].${each}`).toSorted());
});

test.for<[string, string]>([
  ["5", "the file has no keys with values, such as rules"],
  ["rules: []\nlook-back: 5", "look-back is neither the word off nor a day, a time and a time zone"],
])("%s", ([text, says]) => {
  expect(linesOf(text)).toContainEqual(expect.stringContaining(says));
});

const WHO = "{ users: [U0A], groups: [S0A], channels: [C0A] }";
const FULL = `
rules:
  - name: a
    when:
      channel: [C0A]
      requester: { users: [U0A], groups: [S0A] }
      action: [x]
      input: x
      field: { amount: ["> 1", 5] }
      hours: { tz: UTC, days: [mon-fri], ${TIMES} }
      outside-hours: [{ tz: UTC, days: sat, ${TIMES} }]
    approvers: { users: [U0A], groups: [S0A], channels: [C0A], except: ${WHO} }
    self-approval: false
    reason: { approve: 0, deny: 1 }
    quorum: 1
    hold: 1 min
    expiry: { after: 1 d, outcome: deny, warn: 1 h, extend: { by: 1 h, at-most: 2 h } }
    friction: { read-first: true, type: yes please }
    deny-reasons: [too late]
    mention: { users: [U0A], groups: [S0A] }
    remind: { after: 1 h, then: double, at-most: 4 }
    escalate: [{ after: 1 h, to: ${WHO}, call: { channel: C0A } }]
    claim: 1 h
    question: { pause: 1 h }
    hours: { tz: UTC, ${TIMES} }
    urgent: false
    receipt: at-once
  - { name: b, approvers: { all-of: [{ name: p, users: [U0A] }, ${WHO}] }, when: { requester: [U0A] } }
  - { name: c, approvers: { anyone: true }, when: { requester: U0A, channel: C0A }, mention: nobody }
hours: { tz: UTC, ${TIMES} }
starters: [{ channels: [C0A], who: ${WHO} }]
tasks:
  - name: t
    description: d
    text: x {a}
    fields: { a: { label: l, choices: [c], required: true } }
    channels: [C0A]
    who: anyone
volatile: [a]
fallback: C0A
card: { risk: [a], where: [a], lead: [a] }
auditors: ${WHO}
freezers: ${WHO}
look-back: { tz: UTC, day: mon, at: "08:00" }
`;

const WRONG = [5, null, "", [], [5], {}, { "": 1 }, { users: [] }];

/** Yields the value once for each place in it, with that place wrong. */
function* spoilt(value: unknown, wrong: unknown): Generator {
  yield wrong;
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value))
    for (const each of spoilt(inner, wrong))
      yield Array.isArray(value)
        ? value.map((kept: unknown, at) => (String(at) === key ? each : kept))
        : { ...value, [key]: each };
}

/** Returns the names in every object whose own name this accepts. */
function names(value: unknown, within: (key: string) => boolean): Set<string> {
  const found = new Set<string>();
  JSON.stringify(value, (key, inner: unknown) => {
    if (within(key) && typeof inner === "object" && inner !== null)
      for (const name of Object.keys(inner)) found.add(name);
    return inner;
  });
  return found;
}

test("the policy here has every key that a policy can have", () => {
  expect(linesOf(FULL)).toEqual([]);
  const possible = names(policySchema(), (key) => key === "properties");
  expect([...possible.difference(names(parse(FULL), () => true))]).toEqual([]);
});

test.for(WRONG.map((wrong) => [JSON.stringify(wrong), wrong] as const))(
  "with %s in any place, each fault is named in words of our own",
  ([, wrong]) => {
    const lines = [...spoilt(parse(FULL), wrong)].flatMap((each) => linesOf(stringify(each)));
    expect(lines.length).toBeGreaterThan(50);
    expect([...new Set(lines)].filter((line) => FOREIGN.test(line))).toEqual([]);
  },
);

const FOREIGN = /expected|received|^p:\d+: (?:\S+ )?(?:Invalid|Too|Unrecognized)|by shape/;
