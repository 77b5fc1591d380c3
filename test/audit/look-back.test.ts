// The figures of a week.

import { expect, test } from "vitest";
import { auditEntry, type KeptEntry } from "#src/audit/entry.ts";
import { lookBackAt } from "#src/audit/look-back.ts";
import { anApproval, aRun, NOON } from "../make/run.ts";

test("a request whose denial by the policy was refused, and that then closed, expired once", () => {
  const run = aRun();
  const about = { approval: anApproval("apr_1").id, digest: "a".repeat(64) };
  const entries = [
    { ...about, at: NOON, what: "decided", outcome: "no decision in time" } as const,
    { ...about, at: NOON + 60_000, what: "closed", outcome: "expired" } as const,
  ].map((facts, at): KeptEntry => ({ seq: at + 1, entry: auditEntry(run, facts) }) as KeptEntry);
  const week = { from: NOON - 86_400_000, to: NOON + 86_400_000 };
  const found = lookBackAt(entries, { week, rules: [], tz: "UTC", incomplete: false });
  expect(found.expired).toBe(1);
  expect(found.days.reduce((sum, { expired }) => sum + expired, 0)).toBe(1);
});
