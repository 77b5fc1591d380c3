// How a run takes in a look at the service: each transition of the tables in approval.ts that a look causes.

import { describe, expect, test } from "vitest";
import { STILL_LISTED_AFTER_MS } from "#src/domain/apply-snapshot.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { observeMissing } from "#src/domain/end-run.ts";
import { MAX_APPROVALS, observe } from "#src/domain/observe.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import type { Run } from "#src/domain/run.ts";
import { ABSENT_AFTER_MS, DECISION_LINGER_MS, type Snapshot } from "#src/domain/snapshot.ts";
import { aSnapshot, contextAt, decidedRun, deliveredRun, listedRun } from "../make/history.ts";
import { APPROVER, aWatchedRun, NOON, REQUESTER } from "../make/run.ts";

const SEND = { type: "send-decision", approval: "apr_1" };
const CHANGED = { id: "apr_1", content: { action: "delete it", also: "everything" } };

/** Returns the run's only approval after a look that began `ms` after noon. */
function after(run: Run, pending: Parameters<typeof aSnapshot>[1], ms = 1): Run {
  return observe(run, aSnapshot(run, pending, { askedAt: NOON + ms }), contextAt(ms));
}
function only({ approvals }: Run): Approval {
  const [approval, ...others] = approvals;
  if (approval === undefined || others.length > 0) throw new Error("not one approval");
  return approval;
}
/** Takes in looks at these moments after noon (ms), all with the same list. */
function afterAll(run: Run, pending: Parameters<typeof aSnapshot>[1], times: readonly number[]): Run {
  return times.reduce((next, ms) => after(next, pending, ms), run);
}
/** Times of looks, five seconds apart. The third of them confirms an absence. */
const looksFrom = (first: number, count = 3): number[] =>
  Array.from({ length: count }, (_, at) => first + (at * ABSENT_AFTER_MS) / 2);

function missed(run: Run, times: readonly number[]): Run {
  return times.reduce((next, ms) => observeMissing(next, NOON + ms, contextAt(ms)), run);
}

test("a run keeps a bounded number of approvals; further ones are reported as such, and the kept ones go on", () => {
  const ids = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, at) => `apr_${from + at}`);
  const full = [0, 2_000, 4_000].reduce(
    (run, from, at) => after(run, ids(from, from === 4_000 ? 1_000 : 2_000), at + 1),
    aWatchedRun(),
  );
  expect(full.approvals).toHaveLength(MAX_APPROVALS);
  const more = after(full, ["apr_0", "apr_new", "apr_newer"], 4);
  expect(more.approvals).toHaveLength(MAX_APPROVALS);
  expect(more.approvals[0]?.state.type).toBe("pending");
  expect(more.unreadable).toMatchObject({
    count: 2,
    items: [
      { ids: ["apr_new"], code: "too-many" },
      { ids: ["apr_newer"], code: "too-many" },
    ],
  });
  expect(after(more, ["apr_0"], 5).unreadable).toBeNull();
});

describe("a look", () => {
  test("without news leaves the very same run", () => {
    const run = listedRun("apr_1", "apr_2");
    expect(after(run, ["apr_1", "apr_2"])).toBe(run);
    expect(after(run, ["apr_2", "apr_1"])).toBe(run);
  });

  test("that began before the newest one is ignored, whatever changed between them", () => {
    const run = listedRun("apr_1");
    const newer = after(run, ["apr_1", "apr_2"], 200);
    expect(after(newer, ["apr_1"], 100)).toBe(newer);
  });

  test("at a run that is over, dropped or given up changes nothing", () => {
    const over = after(listedRun("apr_1"), [], 1);
    for (const watch of [
      { type: "over", at: NOON },
      { type: "given-up", at: NOON },
      { type: "dropped", at: NOON, by: REQUESTER },
    ] as const) {
      const run: Run = { ...over, watch };
      expect(after(run, ["apr_1"], 9)).toBe(run);
    }
  });

  test("that does not list what is pending changes no approval", () => {
    const run = listedRun("apr_1");
    expect(after(run, null).approvals).toBe(run.approvals);
  });

  test.for(["queued", "running", "dreaming", "SUCCEEDED", ""])(
    'with state "%s" keeps the run working',
    (status) => {
      const run = aWatchedRun();
      const next = observe(run, aSnapshot(run, [], { status }), contextAt());
      expect(next).toMatchObject({ watch: { type: "on" }, seen: { status, ended: null } });
    },
  );

  test.for(["succeeded", "failed", "canceled"])(
    "with state %s ends the run and closes its cards",
    (status) => {
      const run = listedRun("apr_1");
      const snapshot = aSnapshot(run, ["apr_1"], { status, output: "done", askedAt: NOON + 1 });
      const next = observe(run, snapshot, contextAt(1));
      expect(next).toMatchObject({
        watch: { type: "over" },
        seen: { ended: { how: status, outputChars: 4 } },
      });
      expect(only(next).state).toMatchObject({ type: "closed", cause: "run-over" });
    },
  );
});

describe("a pending approval", () => {
  const run = listedRun("apr_1");

  test("closes when it is no longer listed, and opens under a new nonce when it is listed again", () => {
    const gone = afterAll(run, [], looksFrom(1));
    expect(only(gone).state).toMatchObject({ type: "closed", cause: "no-longer-listed" });
    const back = only(after(gone, ["apr_1"], 11_000));
    expect(back).toMatchObject({ state: { type: "pending" }, version: 2, requestVersion: 1 });
    expect(back.nonce).not.toBe(only(run).nonce);
  });

  test.for([
    CHANGED,
    { id: "apr_1", content: "apr_1" },
    { id: "apr_1", content: { action: "delete it", also: null } },
    { id: "apr_1", content: { action: "delete it " } },
  ])("gets a new version and nonce when anything of it changes: %o", (item) => {
    const next = only(after(run, [item]));
    expect(next).toMatchObject({ version: 2, request: { content: item.content } });
    expect(next.nonce).not.toBe(only(run).nonce);
  });

  test("keeps its version when its fields come in another order", () => {
    const one = { id: "a", content: { x: 1, y: { p: [1, 2], q: 2 } } };
    const other = { id: "a", content: { y: { q: 2, p: [1, 2] }, x: 1 } };
    const listed = after(aWatchedRun(), [one]);
    expect(after(listed, [other], 2)).toBe(listed);
  });

  test("has another digest in another run, and under another id", () => {
    const digests = [listedRun("apr_1"), listedRun("apr_1"), listedRun("apr_2")].map(
      (each) => only(each).request.digest,
    );
    expect(new Set(digests).size).toBe(3);
  });
});

describe("a decision of which no byte has left", () => {
  const retry: Delivery = { type: "retry", notBefore: NOON, tries: 1, lost: false, why: "429" };

  test.for<[string, Run]>([
    ["recorded", decidedRun()],
    ["certainly not applied", deliveredRun(retry)],
  ])("%s: stays while the request is the same", ([, run]) => {
    expect(after(run, ["apr_1"])).toBe(run);
  });

  test.for<[string, Run]>([
    ["recorded", decidedRun()],
    ["certainly not applied", deliveredRun(retry)],
  ])("%s: is void when the request changes, and its approver is notified once", ([, run]) => {
    const next = after(run, [CHANGED]);
    expect(only(next)).toMatchObject({
      state: { type: "pending" },
      version: 2,
      past: [{ cause: "request-changed", decision: { reason: "it is time" } }],
    });
    expect(next.notices).toMatchObject([
      { to: APPROVER, says: { type: "decision-void", cause: "request-changed" }, state: "planned" },
    ]);
    expect(after(next, [CHANGED], 2)).toBe(next);
  });

  test("is void when the approval is gone, and open again when it comes back", () => {
    const gone = afterAll(decidedRun(), [], looksFrom(1));
    expect(only(gone)).toMatchObject({ state: { type: "closed" }, past: [{ cause: "no-longer-listed" }] });
    expect(gone.notices).toMatchObject([{ says: { type: "decision-void", cause: "no-longer-listed" } }]);
    expect(only(after(gone, ["apr_1"], 11_000)).state.type).toBe("pending");
  });

  test.for<[string, readonly number[]]>([
    ["one look", [1]],
    ["two looks, however far apart", [1, 60_000]],
    ["many looks in less than ten seconds", [1, 100, 200, 3_000, 6_000, 10_000]],
  ])("waits while it is missed by %s, and is sent when it is listed again", ([, times]) => {
    const unlisted = afterAll(decidedRun(), [], times);
    expect(only(unlisted).state).toMatchObject({ type: "decided", delivery: { type: "recorded" } });
    const now = NOON + 70_000;
    expect(reconcile(unlisted, now).effects).not.toContainEqual(SEND);
    const back = after(unlisted, ["apr_1"], 70_000);
    expect(only(back)).toMatchObject({ version: 1, unlisted: null, past: [] });
    expect(reconcile(back, now).effects).toContainEqual(SEND);
  });

  test("waits briefly while the run is unknown, or the service does not list what is pending", () => {
    const unknown = missed(decidedRun(), [1, 2, 3]);
    const untold = after(decidedRun(), null);
    for (const run of [unknown, untold]) {
      expect(reconcile(run, NOON + 9).effects).not.toContainEqual(SEND);
      expect(reconcile(after(run, ["apr_1"], 9), NOON + 9).effects).toContainEqual(SEND);
    }
  });

  test("is missed from the start again by another process", () => {
    const before = afterAll(decidedRun(), [], [1, 5_001]);
    const other = { ...contextAt(20_000), process: "another" };
    const next = observe(before, aSnapshot(before, [], { askedAt: NOON + 20_000 }), other);
    expect(only(next)).toMatchObject({ state: { type: "decided" }, unlisted: { looks: 1 } });
  });

  test("is void when the run ends, and its approver is notified", () => {
    const run = decidedRun();
    const snapshot: Snapshot = aSnapshot(run, [], { status: "failed", askedAt: NOON + 1 });
    const next = observe(run, snapshot, contextAt(1));
    expect(next.notices).toMatchObject([{ says: { type: "decision-void", cause: "run-over" } }]);
  });
});

describe("a decision whose answer was lost", () => {
  const run = deliveredRun({ type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "no answer" });

  test.for<[string, Parameters<typeof aSnapshot>[1], number, object]>([
    ["listed just after", ["apr_1"], DECISION_LINGER_MS - 1, { type: "unsure" }],
    [
      "listed when the linger is over",
      ["apr_1"],
      DECISION_LINGER_MS,
      { type: "retry", lost: true, tries: 1 },
    ],
    ["not listed just after", [], DECISION_LINGER_MS - 1, { type: "unsure" }],
    ["not listed by one look later", [], DECISION_LINGER_MS, { type: "unsure" }],
    ["changed", [CHANGED], DECISION_LINGER_MS, { type: "unconfirmed", cause: "request-changed" }],
    ["in an answer without a list", null, 9_000, { type: "unsure" }],
  ])("%s", ([, pending, ms, delivery]) => {
    const next = after(run, pending, ms);
    expect(only(next).state).toMatchObject({ type: "decided", delivery });
    const isOver = "type" in delivery && delivery.type === "unconfirmed";
    expect(next.notices.map(({ says }) => says.type)).toEqual(isOver ? ["decision-unconfirmed"] : []);
  });

  test.each([2, 6, 30])("lost %i times is sent again within the slowest retry", (tries) => {
    const again = deliveredRun({ type: "unsure", since: NOON, notBefore: NOON, tries, why: "" });
    const { state } = only(after(again, ["apr_1"], DECISION_LINGER_MS));
    const notBefore =
      state.type === "decided" && state.delivery.type === "retry" ? state.delivery.notBefore : NaN;
    expect(notBefore).toBeLessThanOrEqual(NOON + contextAt().slowestRetryMs);
  });

  test("keeps the wait that the service asked for, and its answer", () => {
    const facts = { notBefore: NOON + 40_000, tries: 1, why: "", answered: "{}" };
    const asked = deliveredRun({ type: "unsure", since: NOON, ...facts });
    const delivery = { type: "retry", notBefore: NOON + 40_000, answered: "{}" };
    expect(only(after(asked, ["apr_1"], DECISION_LINGER_MS)).state).toMatchObject({ delivery });
  });

  test("is unconfirmed when the approval is gone", () => {
    const gone = afterAll(run, [], looksFrom(1));
    expect(only(gone).state).toMatchObject({
      delivery: { type: "unconfirmed", cause: "no-longer-listed" },
    });
    expect(gone.notices).toMatchObject([{ to: APPROVER, says: { type: "decision-unconfirmed" } }]);
    expect(afterAll(gone, [], looksFrom(20_000)).notices).toEqual(gone.notices);
  });

  test("is not affected by a look that began before the answer was lost", () => {
    expect(after(run, [], -1)).toMatchObject({ approvals: [{ state: { delivery: { type: "unsure" } } }] });
  });
});

describe("a decision that the service refused", () => {
  const run = deliveredRun({ type: "refused", at: NOON + 5, words: "409", absent: false });

  test("waits for a look that began after the refusal", () => {
    expect(only(after(run, ["apr_1"], 4)).state).toMatchObject({ delivery: { type: "refused" } });
  });
  test("reopens the card when the approval is still listed", () => {
    expect(only(after(run, ["apr_1"], 5))).toMatchObject({
      state: { type: "pending" },
      past: [{ cause: "refused", words: "409" }],
    });
  });
  test("opens a new version of the card with the same request, or with the changed one", () => {
    expect(only(after(run, ["apr_1"], 5))).toMatchObject({ version: 2, requestVersion: 1 });
    expect(only(after(run, [CHANGED], 5))).toMatchObject({ version: 2, requestVersion: 2 });
  });
  test("stays refused when the approval is gone, gives way when it returns, and triggers no further looks", () => {
    expect(only(after(run, [], 5)).state).toMatchObject({ delivery: { type: "refused", absent: false } });
    const gone = afterAll(run, [], looksFrom(5));
    expect(only(gone).state).toMatchObject({ delivery: { type: "refused", words: "409", absent: true } });
    expect(reconcile(gone, NOON + 11_000).fetchAt).toBeNull();
    expect(only(after(gone, ["apr_1"], 12_000)).state.type).toBe("pending");
  });
});

describe("a settled decision", () => {
  test.for<Delivery>([
    { type: "elsewhere", at: NOON, words: "409" },
    { type: "unconfirmed", at: NOON, cause: "no-longer-listed" },
    { type: "confirmed", at: NOON, stillListed: false },
  ])("stays as it is, whatever is listed: %o", (delivery) => {
    const run = deliveredRun(delivery);
    for (const pending of [["apr_1"], [CHANGED], [], null])
      expect(after(run, pending).approvals[0]).toBe(run.approvals[0]);
  });

  test("confirmed, is marked a minute later when the service still lists it, and stays confirmed", () => {
    const run = deliveredRun({ type: "confirmed", at: NOON, stillListed: null });
    expect(only(after(run, ["apr_1"], STILL_LISTED_AFTER_MS - 1)).state).toMatchObject({
      delivery: { stillListed: null },
    });
    const marked = after(run, ["apr_1"], STILL_LISTED_AFTER_MS);
    expect(only(marked).state).toMatchObject({
      type: "decided",
      delivery: { type: "confirmed", stillListed: true },
    });
    const gone = after(marked, [], STILL_LISTED_AFTER_MS + 1);
    expect(only(gone).state).toMatchObject({ delivery: { type: "confirmed", stillListed: false } });
  });
});

describe("a service id that is used again", () => {
  const LATER = DECISION_LINGER_MS + 1;
  const settled: readonly Delivery[] = [
    { type: "confirmed", at: NOON, stillListed: null },
    { type: "elsewhere", at: NOON, words: "409" },
    { type: "unconfirmed", at: NOON, cause: "no-longer-listed" },
  ];

  test.for(settled)("for another request, after a decision is settled, is a new approval: %o", (delivery) => {
    const run = deliveredRun(delivery);
    const again = after(run, [CHANGED], LATER);
    const [first, second] = again.approvals;
    expect(first?.state).toMatchObject({ type: "decided", delivery: { type: delivery.type } });
    expect(second).toMatchObject({ serviceId: "apr_1", version: 1, state: { type: "pending" }, past: [] });
    expect(second?.id).not.toBe("apr_1");
    expect(second?.request.content).toEqual(CHANGED.content);
    expect(new Set(again.approvals.map(({ nonce }) => nonce)).size).toBe(2);
    expect(after(again, [CHANGED], LATER + 1)).toBe(again);
  });

  test("for the same request is no new approval, whatever happened to the run", () => {
    const run = deliveredRun({ type: "confirmed", at: NOON, stillListed: null });
    expect(only(after(run, ["apr_1"], LATER)).state.type).toBe("decided");
    const moved = aSnapshot(run, ["apr_1"], { askedAt: NOON + LATER, extra: { step: 3 } });
    expect(only(observe(run, moved, contextAt(LATER))).state.type).toBe("decided");
  });

  test("is not taken for reused because a replica lags behind", () => {
    const run = deliveredRun({ type: "confirmed", at: NOON, stillListed: null });
    expect(only(after(run, [CHANGED], DECISION_LINGER_MS - 1)).state.type).toBe("decided");
  });

  test("while a decision is on its way, or was refused, is a change of the same approval", () => {
    const refused = deliveredRun({ type: "refused", at: NOON, words: "409", absent: false });
    expect(only(after(refused, [CHANGED], LATER))).toMatchObject({ version: 2, requestVersion: 2 });
    const sending = deliveredRun({ type: "sending", at: NOON, tries: 1, lost: false });
    expect(only(after(sending, [CHANGED], LATER)).state).toMatchObject({ delivery: { type: "sending" } });
  });

  test("for the request that was decided first, while another waits: the waiting one is missed, then becomes that request", () => {
    const first = deliveredRun({ type: "confirmed", at: NOON, stillListed: null });
    const second = after(first, [CHANGED], LATER);
    const missed = after(second, ["apr_1"], LATER + 1);
    expect(missed.approvals[1]).toMatchObject({
      state: { type: "pending" },
      version: 1,
      unlisted: { looks: 1 },
    });
    const lasting = afterAll(missed, ["apr_1"], [...looksFrom(LATER + 2), LATER + 12_000]);
    expect(lasting.approvals).toHaveLength(2);
    expect(lasting.approvals[1]).toMatchObject({
      state: { type: "pending" },
      request: { content: { action: "delete it" } },
      version: 2,
    });
  });

  test("gets an id of ours that the service does not use", () => {
    const run = deliveredRun({ type: "confirmed", at: NOON, stillListed: null });
    const ours = after(run, [CHANGED], LATER).approvals[1]?.id ?? "";
    const taken = after(run, ["apr_1", ours], LATER);
    const both = after(taken, [CHANGED, ours], LATER + 1);
    const ids = both.approvals.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(both.approvals.map(({ serviceId }) => serviceId)).toEqual(["apr_1", ours, "apr_1"]);
  });
});

test("an adopted run takes its task from the service once, and keeps it", () => {
  const run = aWatchedRun(undefined, { input: "" });
  const named = observe(run, aSnapshot(run, [], { input: "rotate" }), contextAt());
  expect(named.input).toBe("rotate");
  expect(observe(named, aSnapshot(run, [], { input: "else", askedAt: NOON + 1 }), contextAt(1)).input).toBe(
    "rotate",
  );
});
