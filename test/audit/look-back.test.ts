// The figures of a week.

import { expect, test } from "vitest";
import { auditEntry, type KeptEntry } from "#src/audit/entry.ts";
import { lookBackAt } from "#src/audit/look-back.ts";
import { anApproval, aRun, NOON } from "../make/run.ts";

const run = aRun();
const week = { from: NOON - 86_400_000, to: NOON + 86_400_000 };
const known = { week, rules: [], tz: "UTC", incomplete: false };
const kept = (facts: Parameters<typeof auditEntry>[1], at: number): KeptEntry => {
  const { text: _text, contextText: _around, ...entry } = auditEntry(run, facts);
  return { seq: at + 1, link: "", entry };
};

test("events without an entry of their own are counted, because they may be requests not decided in time", () => {
  const coalesced = { what: "coalesced", outcome: "", since: NOON } as const;
  const entries = [
    { ...coalesced, at: NOON, times: 100 },
    { ...coalesced, at: NOON + 60_000, times: 40 },
  ].map(kept);
  expect(lookBackAt(entries, known)).toMatchObject({ expired: 0, tooFew: 0, onlyCounted: 140 });
});

test("a request whose denial by the policy was refused, and that then closed, expired once", () => {
  const about = { approval: anApproval("apr_1").id, digest: "a".repeat(64) };
  const entries = [
    { ...about, at: NOON, what: "decided", outcome: "no decision in time" } as const,
    { ...about, at: NOON + 60_000, what: "closed", outcome: "expired" } as const,
  ].map(kept);
  const found = lookBackAt(entries, known);
  expect(found.expired).toBe(1);
  expect(found.days.reduce((sum, { expired }) => sum + expired, 0)).toBe(1);
});
