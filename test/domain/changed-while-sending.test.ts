// The service lists another request under the approval's id while the decision is on its way.

import { describe, expect, test } from "vitest";
import { applyOutcome, settleMarks } from "#src/domain/apply-outcome.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import type { Effect, Outcome } from "#src/domain/effect.ts";
import { ApprovalId } from "#src/domain/ids.ts";
import { observe } from "#src/domain/observe.ts";
import type { Run } from "#src/domain/run.ts";
import type { Snapshot } from "#src/domain/snapshot.ts";
import { aSnapshot, contextAt, deliveredRun, type ListedApproval } from "../make/history.ts";
import { APPROVER, NOON } from "../make/run.ts";

const SEND: Effect = { type: "send-decision", approval: ApprovalId("apr_1") };
const OTHER = { id: "apr_1", content: { action: "drop the database" } };
const CONFIRMED: Outcome = { type: "confirmed" };

const sending = (verdict: "approve" | "deny" = "approve"): Run =>
  deliveredRun({ type: "sending", at: NOON, tries: 1, lost: false }, verdict);

/** The run after a look that begins this long after noon (ms). */
function looked(run: Run, ms: number, pending: readonly ListedApproval[], facts: Partial<Snapshot> = {}) {
  return observe(run, aSnapshot(run, pending, { askedAt: NOON + ms, ...facts }), contextAt(ms));
}

const answered = (run: Run, outcome: Outcome): Run => applyOutcome(run, SEND, outcome, contextAt(50));

function deliveryIn({ approvals }: Run): Delivery | undefined {
  const state = approvals[0]?.state;
  return state?.type === "decided" ? state.delivery : undefined;
}

describe.each(["approve", "deny"] as const)("a decision (%s) that the service accepts", (verdict) => {
  const run = sending(verdict);

  test("is unconfirmed if the service listed another request before it answered, and its decider is told", () => {
    const after = answered(looked(run, 10, [OTHER]), CONFIRMED);
    expect(deliveryIn(after)).toEqual({
      type: "unconfirmed",
      at: NOON + 50,
      cause: "request-changed",
      accepted: true,
    });
    expect(after.notices).toMatchObject([
      { to: APPROVER, says: { type: "decision-unconfirmed", approval: "apr_1" } },
    ]);
  });

  test("is unconfirmed too if only the run's own fields changed, or if a later look lists the first request", () => {
    const context = looked(run, 10, ["apr_1"], { extra: { branch: "main" } });
    expect(deliveryIn(answered(context, CONFIRMED))).toMatchObject({ cause: "request-changed" });
    const back = looked(looked(run, 10, [OTHER]), 20, ["apr_1"]);
    expect(deliveryIn(answered(back, CONFIRMED))).toMatchObject({ cause: "request-changed" });
  });

  test("is confirmed if the service listed its request, or no longer listed it", () => {
    for (const pending of [["apr_1"], [], ["apr_2"]])
      expect(deliveryIn(answered(looked(run, 10, pending), CONFIRMED))).toMatchObject({ type: "confirmed" });
  });
});

test("the other request has an approval of its own once no lagging replica can list it as it was", () => {
  const cases = [
    looked(sending(), 10, [OTHER]),
    looked(sending(), 10, ["apr_1"], { extra: { branch: "main" } }),
  ];
  const facts = [{}, { extra: { branch: "main" } }];
  cases.forEach((run, nth) => {
    const pending = nth === 0 ? [OTHER] : ["apr_1"];
    const soon = looked(answered(run, CONFIRMED), 4_900, pending, facts[nth]);
    expect(soon.approvals).toMatchObject([{ id: "apr_1", state: { delivery: { type: "unconfirmed" } } }]);
    const after = looked(soon, 5_100, pending, facts[nth]);
    expect(after.approvals).toMatchObject([
      { id: "apr_1", state: { delivery: { type: "unconfirmed" } } },
      { id: "apr_1 (2)", serviceId: "apr_1", state: { type: "pending" } },
    ]);
  });
});

test("a field that says how far the service is with the decision makes no other request", () => {
  for (const field of ["status", "resolved_at", "updated_at"]) {
    const action = sending().approvals[0]?.request.action ?? null;
    const moved = { id: "apr_1", content: { action, [field]: "2026-11-28T12:00:00Z" } };
    const after = answered(looked(sending(), 10, [moved]), CONFIRMED);
    expect(deliveryIn(after)).toMatchObject({ type: "confirmed" });
  }
});

test("a look changes nothing else of a decision that is on its way", () => {
  const run = sending();
  const [before] = run.approvals;
  for (const pending of [["apr_1"], [], null])
    expect(observe(run, aSnapshot(run, pending), contextAt(10)).approvals[0]).toBe(before);
  const other = looked(run, 10, [OTHER]);
  const delivery = { ...deliveryIn(run), otherListed: true };
  expect(other.approvals).toEqual([{ ...before, state: { ...before?.state, delivery } }]);
  expect(looked(other, 20, [OTHER])).toBe(other);
});

test("only a success is in doubt: any other answer ends as it does without that look", () => {
  const outcomes: readonly Outcome[] = [
    { type: "refused", words: "409" },
    { type: "elsewhere", words: "denied" },
    { type: "later", afterMs: null, why: "429" },
    { type: "unsure", why: "no answer" },
  ];
  for (const outcome of outcomes)
    expect(deliveryIn(answered(looked(sending(), 10, [OTHER]), outcome))).toEqual(
      deliveryIn(answered(sending(), outcome)),
    );
  const settled = (run: Run) => deliveryIn(settleMarks(run, contextAt(50), () => false));
  expect(settled(looked(sending(), 10, [OTHER]))).toEqual(settled(sending()));
});
