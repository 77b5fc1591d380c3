import { describe, expect, test } from "vitest";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import type { Json } from "#src/domain/json.ts";
import { MAX_APPROVALS, observe, requestOf } from "#src/domain/observe.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { DECISION_LINGER_MS } from "#src/domain/snapshot.ts";
import { contextOf } from "#src/domain/run-context.ts";
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

test("a request under a used id takes room like any other: one beyond the most that a run may have is unreadable", () => {
  const LATER = DECISION_LINGER_MS + 1;
  const others = Array.from({ length: MAX_APPROVALS - 1 }, (_, at) => `other_${at}`);
  const confirmed = deliveredRun({ type: "confirmed", at: NOON, stillListed: null });
  const look = (run: Run, ms: number, ...pending: NonNullable<Parameters<typeof aSnapshot>[1]>) =>
    observe(run, aSnapshot(run, [...others, ...pending], { askedAt: NOON + ms }), contextAt(ms));
  const full = look(confirmed, LATER, "apr_1");
  expect([full.approvals.length, full.unreadable]).toEqual([MAX_APPROVALS, null]);
  const beyond = look(full, LATER + 1, again);
  expect(beyond.approvals).toHaveLength(MAX_APPROVALS);
  expect(beyond.unreadable).toMatchObject({ count: 1, items: [{ ids: ["apr_1"], code: "too-many" }] });
  expect(beyond.approvals[0]).toBe(full.approvals[0]);
  expect(look(beyond, LATER + 2, "apr_1").unreadable).toBeNull();
});

test("a look at a run with thousands of requests takes the digest of each once", () => {
  const ids = Array.from({ length: MAX_APPROVALS / 2 + 1 }, (_, at) => `other_${at}`);
  const digests: string[] = [];
  const digest = (text: string): string => {
    digests.push(text);
    return text;
  };
  const look = (run: Run, ms: number): Run =>
    observe(run, aSnapshot(run, ids, { askedAt: NOON + ms }), { ...contextAt(ms), digest });
  const run = look(deliveredRun({ type: "confirmed", at: NOON, stillListed: null }), 1);
  digests.length = 0;
  expect(look(run, 2).approvals).toHaveLength(ids.length + 1);
  expect(digests.length).toBe(new Set(digests).size);
});

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

describe("a decision whose answer was lost", () => {
  const LATER = DECISION_LINGER_MS + 1;
  const unsure: Delivery = { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "no answer" };
  const PENDING = [{ id: "apr_1", content: { action: "delete it", polled_at: 1 } }];
  type Asked = { readonly plan?: string; readonly volatile?: readonly string[] };

  function decided(): Run {
    const run = deliveredRun(unsure);
    const [approval] = run.approvals;
    const seen = aSnapshot(run, PENDING);
    const [item] = seen.pending ?? [];
    if (approval?.state.type !== "decided" || item === undefined) throw new Error("nothing is decided");
    const request = requestOf(seen.id, item, contextAt(), contextOf(null, seen, contextAt()));
    const decision = { ...approval.state.decision, digest: request.digest };
    return replaceApproval(run, { ...withDelivery(approval, decision, unsure), request });
  }
  /** The run after a look at the same request at each of these times. */
  function afterLooks(...looks: readonly (readonly [ms: number, asked: Asked])[]): Run {
    return looks.reduce((run, [ms, { plan, volatile = [] }]) => {
      const facts = { askedAt: NOON + ms, ...(plan !== undefined && { extra: { plan } }) };
      return observe(run, aSnapshot(run, PENDING, facts), contextAt(ms, { ...BUILT_IN, volatile }));
    }, decided());
  }
  const statesOf = ({ approvals }: Run): string[] =>
    approvals.map(({ id, state }) =>
      state.type === "decided" ? `${id} ${state.delivery.type}` : `${id} ${state.type}`,
    );

  test.each<[string, Asked]>([
    ["a field of the run has changed", { plan: "delete it all" }],
    ["the policy's volatile fields are others", { volatile: ["polled_at"] }],
  ])("is unconfirmed, and what the service still asks for can be decided: %s", (_, asked) => {
    expect(statesOf(afterLooks([LATER, asked]))).toEqual(["apr_1 unconfirmed"]);
    const again = afterLooks([LATER, asked], [LATER + 1, asked], [LATER + 2, asked]);
    expect(statesOf(again)).toEqual(["apr_1 unconfirmed", "apr_1 (2) pending"]);
  });

  test("gets no second approval while the service lists the request as it was decided", () => {
    const changed = { plan: "delete it all" };
    expect(statesOf(afterLooks([LATER, {}], [LATER + 1, {}]))).toEqual(["apr_1 retry"]);
    expect(statesOf(afterLooks([LATER, changed], [LATER + 1, {}]))).toEqual(["apr_1 unconfirmed"]);
  });
});
