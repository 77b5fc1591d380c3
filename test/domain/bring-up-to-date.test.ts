// The order in which a stored run is brought up to date. A request that a freeze reopens waits again, so it has a rule and a claim again.

import { expect, test } from "vitest";
import { auditOfChange } from "#src/audit/run-diff.ts";
import { asOfNow, asOfTimer, beforeMark, beforeSave } from "#src/domain/bring-up-to-date.ts";
import { withFollowUp } from "#src/domain/follow-up.ts";
import { claimOf } from "#src/domain/handling.ts";
import { replaceApproval, type Run } from "#src/domain/run.ts";
import { contextAt, deliveredRun, listedRun } from "../make/history.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, NOON, REQUESTER } from "../make/run.ts";
import { approvalOf } from "../make/voting.ts";

const HOUR = 60 * 60_000;
const freezes = [{ entry: 7, channel: null, by: REQUESTER, at: NOON, why: "it loops" }];
const expiry = { afterMs: HOUR, outcome: "nothing" } as const;
const newPolicy = aPolicy({ name: "new rule", expiry });
const frozenAt = (ms: number) => ({ ...contextAt(ms, newPolicy), freezes });
const frozenLater = () => frozenAt(HOUR / 2);

/** An approval that is held under the built-in rule, with a claim that has lapsed since. */
function heldRun(): Run {
  const run = deliveredRun({ type: "held", until: NOON + 2 * HOUR, sendAt: NOON + 2 * HOUR });
  const claim = { by: APPROVER, at: NOON, until: NOON + 1_000 };
  return replaceApproval(run, withFollowUp(approvalOf(run), { claim }));
}

test("a request that a new freeze reopens has the rule in force, and no claim that has lapsed", () => {
  const reopened = approvalOf(asOfNow(heldRun(), null, frozenLater()));
  expect(reopened.state.type).toBe("pending");
  expect(reopened.appliedRule.rule.name).toBe("new rule");
  expect(claimOf(reopened)).toBeNull();
});

test("at a timer, a request expires under the rule in force, and only if the time counts", () => {
  const after = (isCounted: boolean) =>
    approvalOf(asOfTimer(listedRun("apr_1"), frozenAt(3 * HOUR), isCounted)).state.type;
  expect([after(true), after(false)]).toEqual(["closed", "pending"]);
});

test("a request that a freeze reopens after its deadline has an audit entry for each of the two changes", () => {
  const ctx = frozenAt(3 * HOUR);
  const save = (run: Run) => beforeSave(asOfTimer(run, ctx, true), ctx, true);
  const held = heldRun();
  const reopened = save(held);
  const changes = [auditOfChange(held, reopened, ctx), auditOfChange(reopened, save(reopened), ctx)];
  expect(changes.flat().map(({ outcome }) => outcome)).toEqual(["void: frozen", "expired"]);
});

test("before a mark and at a save, a new freeze reopens the approval and leaves its rule", () => {
  const ctx = frozenLater();
  const both = [beforeMark(heldRun(), null, ctx), beforeSave(heldRun(), ctx, true)].map(approvalOf);
  expect(both.map(({ state }) => state.type)).toEqual(["pending", "pending"]);
  expect(both.map(({ appliedRule }) => appliedRule.rule.name)).not.toContain("new rule");
});

test("a run that is up to date stays the same object", () => {
  const ctx = frozenLater();
  const run = asOfNow(listedRun("apr_1"), null, ctx);
  const again = [asOfNow(run, null, ctx), asOfTimer(run, ctx, true), beforeMark(run, null, ctx)];
  for (const each of [...again, beforeSave(run, ctx, true)]) expect(each).toBe(run);
});
