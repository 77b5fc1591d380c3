// Of two rules that apply together, neither may lose what it says about denials and about the end of the time to decide.

import { expect, test } from "vitest";
import { combineStrictly } from "#src/domain/policy/combine-rules.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { aRule } from "../make/policy.ts";

const HOUR = 60 * 60_000;
const expiry = { afterMs: HOUR, outcome: "deny" } as const;

test("the longest reason for a denial applies, even if the other rule asks for more people", () => {
  const plain = aRule({ name: "plain", reason: { approve: 0, deny: 20 } });
  expect(combineStrictly([plain, aRule({ name: "more", needs: 2 })]).reason.deny).toBe(20);
});

test("the shorter pause for a question applies, even if the other rule asks for more people", () => {
  const plain = aRule({ name: "plain", expiry, followUp: { ...NO_FOLLOW_UP, questionMs: 60_000 } });
  const more = { needs: 2, expiry, followUp: { ...NO_FOLLOW_UP, questionMs: 168 * HOUR } };
  expect(combineStrictly([plain, aRule({ name: "more", ...more })]).followUp.questionMs).toBe(60_000);
});

test.each([
  { allowed: null, extend: { byMs: HOUR, atMostMs: 720 * HOUR }, both: null },
  {
    allowed: { byMs: HOUR, atMostMs: 2 * HOUR },
    extend: { byMs: HOUR, atMostMs: 720 * HOUR },
    both: { byMs: HOUR, atMostMs: 2 * HOUR },
  },
])("the shorter extension applies, even if the other rule asks for more people: $allowed", (each) => {
  const plain = aRule({ name: "plain", expiry, followUp: { ...NO_FOLLOW_UP, extend: each.allowed } });
  const more = { needs: 2, expiry, followUp: { ...NO_FOLLOW_UP, extend: each.extend } };
  expect(combineStrictly([plain, aRule({ name: "more", ...more })]).followUp.extend).toEqual(each.both);
});
