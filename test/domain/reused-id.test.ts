import { describe, expect, test } from "vitest";
import type { Delivery } from "#src/domain/approval.ts";
import type { Json } from "#src/domain/json.ts";
import { observe, requestOf } from "#src/domain/observe.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { DECISION_LINGER_MS } from "#src/domain/snapshot.ts";
import { replaceApproval, type Run } from "#src/domain/run.ts";
import { aSnapshot, contextAt, deliveredRun } from "../make/history.ts";
import { NOON } from "../make/run.ts";

const again = { id: "apr_1", content: { action: "drop the database" } };
const alike = { id: "apr_1 (2)", content: { action: "read the wiki" } };

test.each([[[again, alike]], [[alike, again]]])(
  "no two requests get the same id of ours, even if a service id looks like it",
  (pending) => {
    const run = deliveredRun({ type: "confirmed", at: NOON, stillListed: null });
    const ms = DECISION_LINGER_MS + 1;
    const next = observe(run, aSnapshot(run, pending, { askedAt: NOON + ms }), contextAt(ms));
    expect(next.approvals.map(({ id }) => id).toSorted()).toEqual(["apr_1", "apr_1 (2)", "apr_1 (3)"]);
  },
);

describe("a decided request that is still listed after the policy's volatile fields change", () => {
  const LATER = DECISION_LINGER_MS + 1;
  const POLLED = { action: "delete it", worker: { load: 1 }, polled_at: 1 };
  const under = (volatile: readonly string[], ms = 0) => contextAt(ms, { ...BUILT_IN, volatile });

  function decidedUnder(volatile: readonly string[], delivery: Delivery, content: Json = POLLED): Run {
    const run = deliveredRun(delivery);
    const snapshot = aSnapshot(run, [{ id: "apr_1", content }]);
    const [approval] = run.approvals;
    const [item] = snapshot.pending ?? [];
    if (approval === undefined || item === undefined) throw new Error("the run has no approval");
    return replaceApproval(run, { ...approval, request: requestOf(snapshot.id, item, under(volatile)) });
  }
  function idsAfter(run: Run, content: Json, volatile: readonly string[]): string[] {
    const snapshot = aSnapshot(run, [{ id: "apr_1", content }], { askedAt: contextAt(LATER).monotonic });
    return observe(run, snapshot, under(volatile, LATER)).approvals.map(({ id }) => id);
  }

  const settled: readonly Delivery[] = [
    { type: "confirmed", at: NOON, stillListed: null },
    { type: "unconfirmed", at: NOON, cause: "frozen" },
  ];
  const lists: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ["gain a field", [], ["polled_at"]],
    ["lose a field", ["polled_at"], []],
    ["are others", ["polled_at"], ["worker.load"]],
  ];
  const cases = settled.flatMap((delivery) =>
    lists.map(([how, before, now]) => ({ delivery, how, before, now })),
  );

  test.for(cases)("is no new request: $delivery.type, $how", ({ delivery, before, now }) => {
    expect(idsAfter(decidedUnder(before, delivery), POLLED, now)).toEqual(["apr_1"]);
  });
  test.for(cases)("is a new one if another field differs: $delivery.type, $how", (each) => {
    const other = { ...POLLED, action: "delete everything" };
    const run = decidedUnder(each.before, each.delivery);
    expect(idsAfter(run, other, each.now)).toEqual(["apr_1", "apr_1 (2)"]);
  });
  test("is a new one if a field differs that a volatile field of the same path hides", () => {
    const asked = (load: number) => ({ action: "delete it", "worker.load": 1, worker: { load } });
    const run = decidedUnder(["worker.load"], { type: "confirmed", at: NOON, stillListed: null }, asked(1));
    expect(idsAfter(run, asked(2), ["worker.load"])).toEqual(["apr_1", "apr_1 (2)"]);
  });
});
