// A mistake in a value that may have several shapes is named where it is, once, in words of our own.

import { expect, test } from "vitest";
import { findingLine } from "#src/adapters/policy-file/policy-holder.ts";
import { readPolicy } from "#src/adapters/policy-file/read-policy.ts";

const ZONE = "is not a time zone such as Europe/Berlin";
const DAYS = "is not days such as mon-fri or sat";
const HOURS =
  'is neither hours such as { tz: Europe/Berlin, days: mon-fri, from: "08:00", to: "20:00" } nor a list of them';
const NO_LISTS = "names no one: give users or groups";
const NO_KEY = "is not a key that a policy can have";
const TIMES = 'from: "08:00", to: "20:00"';

test.for<[string, string[]]>([
  [`when: { hours: { tz: Europe/Berln, days: mon-fri, ${TIMES} } }`, [`when.hours.tz ${ZONE}`]],
  [`when: { outside-hours: [{ tz: Europe/Berln, ${TIMES} }] }`, [`when.outside-hours[0].tz ${ZONE}`]],
  [`when: { hours: { tz: UTC, days: monday-friday, ${TIMES} } }`, [`when.hours.days ${DAYS}`]],
  [`hours: { tz: UTC, days: monday-friday, ${TIMES} }`, [`hours.days ${DAYS}`]],
  [`hours: { tz: UTC, days: [monday], ${TIMES} }`, [`hours.days[0] ${DAYS}`]],
  [`when: { hours: { tz: UTC, from: "08:00" } }`, ["when.hours.to is missing"]],
  ["when: { hours: 8 }", [`when.hours ${HOURS}`]],
  ["when: { hours: [] }", ["when.hours is empty; leave it out"]],
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
  const read = readPolicy(`rules:\n  - { name: a, approvers: anyone, ${key} }\n`, "v");
  const found = read.ok ? [] : read.error.map((each) => findingLine("p", each));
  expect(found.toSorted()).toEqual(says.map((each) => `p:2: rules[0].${each}`).toSorted());
});
