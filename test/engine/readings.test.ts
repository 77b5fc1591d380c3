// What is counted about the runs of this process, and how old it is.

import { expect, test } from "vitest";
import type { Approval } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import { ApprovalId, MessageTs, type RunKey } from "#src/domain/ids.ts";
import type { Plan } from "#src/domain/reconcile.ts";
import type { PostedMessage, Upload } from "#src/domain/posted-message.ts";
import { type Run, runId } from "#src/domain/run.ts";
import { cardSlot, listingSlot, requestSlot, type Slot } from "#src/domain/slot.ts";
import { applyListing, listingRenderKey, MAX_CARDS } from "#src/domain/listing.ts";
import { createRunFigures } from "#src/engine/readings.ts";
import type { Readings } from "#src/ports/monitoring.ts";
import { createBench } from "../make/bot.ts";
import { createHandClock } from "../make/clock.ts";
import { deliveredRun, listedRun } from "../make/history.ts";
import { APPROVER, aRun, aWatchedRun } from "../make/run.ts";

function aCount() {
  const clock = createHandClock();
  const plans: ((run: Run, plan: Plan) => void)[] = [];
  const drops: ((key: RunKey) => void)[] = [];
  const shown: number[] = [];
  const confirmed: number[] = [];
  const engine = {
    onPlan: (listener: (run: Run, plan: Plan) => void) => void plans.push(listener),
    onDrop: (listener: (key: RunKey) => void) => void drops.push(listener),
  };
  const metrics = {
    cardShown: (seconds: number) => void shown.push(seconds),
    decisionConfirmed: (seconds: number) => void confirmed.push(seconds),
  };
  const warnings: object[] = [];
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const { figures } = createRunFigures({ engine, clock, metrics, log });
  return {
    clock,
    warnings,
    figures,
    shown,
    confirmed,
    plan: (run: Run) => plans.forEach((hear) => hear(run, { effects: [], wakeAt: null, fetchAt: null })),
    drop: (run: Run) => drops.forEach((hear) => hear(run.key)),
  };
}

const RETRY: Delivery = { type: "retry", notBefore: 0, tries: 1, lost: false, why: "down" };

/** Returns the same run with its only decision delivered so far. */
function delivered(run: Run, delivery: Delivery): Run {
  const approvals = run.approvals.map((approval) =>
    approval.state.type === "decided" ? withDelivery(approval, approval.state.decision, delivery) : approval,
  );
  return { ...run, approvals };
}

test("runs are counted by state, until they are over or another process follows them", () => {
  const { figures, plan, drop } = aCount();
  const [starting, running, waiting] = [aRun(), aWatchedRun(), listedRun("apr_1")];
  for (const run of [starting, running, waiting]) plan(run);
  expect(figures().runs).toEqual({ starting: 1, running: 1, awaiting_approval: 1, stopped: 0, missing: 0 });
  plan({ ...running, watch: { type: "over", at: 0 } });
  drop(waiting);
  expect(figures().runs).toEqual({ starting: 1, running: 0, awaiting_approval: 0, stopped: 0, missing: 0 });
  expect(figures().pending.count).toBe(0);
});

test("a start that failed counts until the service takes it", () => {
  const { figures, plan } = aCount();
  const run = aRun();
  plan(run);
  expect(figures().retriedStarts).toBe(0);
  plan({ ...run, creation: { type: "planned", notBefore: 0, tries: 1, why: "down" } });
  expect(figures().retriedStarts).toBe(1);
  plan({ ...run, creation: aWatchedRun().creation });
  expect(figures().retriedStarts).toBe(0);
});

test("a request waits from when it was first seen, and its card is timed once", async () => {
  const { figures, plan, clock, shown } = aCount();
  const run = listedRun("apr_1");
  const { id } = only(run);
  plan(run);
  const before = figures().pending.oldestMs;
  await clock.pass(5_000);
  expect(figures().pending).toMatchObject({ count: 1, oldestMs: before + 5_000, reminded: 0 });
  const planned = withPost(run, cardSlot(id), { type: "planned", notBefore: 0, tries: 0 });
  plan(planned);
  expect(shown).toEqual([]);
  const up = withPost(run, cardSlot(id), upAs(""));
  plan(up);
  plan(up);
  await clock.pass(5_000);
  plan(planned);
  plan(up);
  expect(shown).toEqual([(before + 5_000) / 1_000]);
});

const withPost = (run: Run, slot: Slot, post: PostedMessage): Run => ({
  ...run,
  posts: { ...run.posts, [slot]: post },
});

const upAs = (shows: string): PostedMessage => ({
  type: "up",
  ts: MessageTs("1700000000.000001"),
  shows,
  sweepAt: null,
  notBefore: 0,
  tries: 0,
});

const REFUSED: PostedMessage = { type: "refused", words: "not_in_channel", retryAt: 0, tries: 1 };

test("the oldest request without a card is as old as it waits, until Slack shows its card", async () => {
  const { figures, plan, clock } = aCount();
  const run = listedRun("apr_1");
  const slot = cardSlot(only(run).id);
  plan(run);
  const before = figures().pending.oldestMs;
  plan(withPost(run, slot, REFUSED));
  await clock.pass(300_000);
  expect(figures().pending.oldestUnshownMs).toBe(before + 300_000);
  plan(withPost(run, slot, upAs("")));
  expect(figures().pending).toMatchObject({ count: 1, oldestUnshownMs: 0 });
});

test("a request that needs a file counts as shown once its file is in the thread, because only then its card has buttons", async () => {
  const { figures, plan, clock, shown } = aCount();
  const listed = listedRun("apr_1");
  const approval = only(listed);
  const long = { ...approval, request: { ...approval.request, chars: 1_000_000 } };
  const run = withPost({ ...listed, approvals: [long] }, cardSlot(long.id), upAs(""));
  const withFile = (upload: Upload): Run => ({ ...run, uploads: { [requestSlot(long)]: upload } });
  plan(run);
  const before = figures().pending.oldestMs;
  await clock.pass(300_000);
  plan(withFile({ type: "refused", words: "blocked", retryAt: 0 }));
  expect(figures().pending.oldestUnshownMs).toBe(before + 300_000);
  expect(shown).toEqual([]);
  plan(withFile({ type: "up", file: "F1" }));
  expect(figures().pending).toMatchObject({ count: 1, oldestUnshownMs: 0 });
  expect(shown).toEqual([(before + 300_000) / 1_000]);
});

test("a request on a listing counts as shown while Slack shows its line, and each delay is measured once", async () => {
  const { figures, plan, clock, shown } = aCount();
  const ids = Array.from({ length: MAX_CARDS + 1 }, (_, nth) => `apr_${nth}`);
  const listed = applyListing(listedRun(...ids));
  const slot = listingSlot(1);
  plan(listed);
  const before = figures().pending.oldestMs;
  await clock.pass(10_000);
  plan(withPost(listed, slot, REFUSED));
  expect(figures().pending.oldestUnshownMs).toBe(before + 10_000);
  expect(shown).toEqual([]);

  const drawn = withPost(listed, slot, upAs(listingRenderKey(listed, 1) ?? ""));
  plan(drawn);
  expect(figures().pending.oldestUnshownMs).toBe(0);
  expect(shown).toEqual(ids.map(() => (before + 10_000) / 1_000));

  const over = drawn.approvals.map((approval) => ({
    ...approval,
    listing: { page: 1, over: true } as const,
  }));
  const moved = { ...drawn, approvals: over };
  plan(moved);
  expect(figures().pending.oldestUnshownMs).toBe(0);
  plan(withPost(moved, slot, upAs(listingRenderKey(moved, 1) ?? "")));
  expect(figures().pending.oldestUnshownMs).toBe(before + 10_000);
  const cards = ids.map((id) => [cardSlot(ApprovalId(id)), upAs("")]);
  plan({ ...moved, posts: Object.fromEntries(cards) as Run["posts"] });
  expect(figures().pending.oldestUnshownMs).toBe(0);
  expect(shown).toHaveLength(ids.length);
});

function only({ approvals: [approval] }: Run): Approval {
  if (approval === undefined) throw new Error("no approval");
  return approval;
}

test("a decision is late after a minute of the monotonic clock, and its hold does not count", async () => {
  const { figures, plan, clock, confirmed } = aCount();
  const held: Delivery = { type: "held", until: 0, sendAt: 0 };
  const run = deliveredRun(held);
  plan(run);
  await clock.pass(120_000);
  expect(figures().undelivered).toEqual({ count: 0, oldestMs: 0, late: 0 });
  plan(delivered(run, { type: "recorded" }));
  clock.step(-3_600_000);
  await clock.pass(59_999);
  expect(figures().undelivered).toEqual({ count: 1, oldestMs: 59_999, late: 0 });
  plan(delivered(run, RETRY));
  await clock.pass(1);
  expect(figures().undelivered).toEqual({ count: 1, oldestMs: 60_000, late: 1 });
  plan(delivered(run, { type: "confirmed", at: 0, stillListed: null }));
  expect([figures().undelivered.count, confirmed]).toEqual([0, [60]]);
});

test("after a restart a decision is as old as the wall clock says", async () => {
  const { figures, plan, clock } = aCount();
  const run = deliveredRun(RETRY);
  const decidedAt = run.approvals.flatMap(({ state }) =>
    state.type === "decided" ? [state.decision.at] : [],
  );
  await clock.pass(300_000);
  plan(run);
  expect(figures().undelivered.oldestMs).toBe(clock.now() - (decidedAt[0] ?? NaN));
  expect(figures().undelivered.late).toBe(1);
});

test("a decision that the service refused, or that another one overtook, does not count as unsent", () => {
  const { figures, plan } = aCount();
  plan(deliveredRun({ type: "refused", at: 0, words: "no", absent: false }));
  plan(deliveredRun({ type: "elsewhere", at: 0, words: "denied" }));
  expect(figures().undelivered.count).toBe(0);
});

test("a decided request that the service still lists counts until it is no longer listed, or its run is not watched", () => {
  const { figures, plan } = aCount();
  const listed = deliveredRun({ type: "confirmed", at: 0, stillListed: true });
  plan(listed);
  expect(figures().stillListed).toBe(1);
  plan({ ...listed, watch: { type: "dropped", at: 0, by: APPROVER } });
  expect(figures().stillListed).toBe(0);
  plan(listed);
  plan(delivered(listed, { type: "confirmed", at: 0, stillListed: false }));
  expect(figures().stillListed).toBe(0);
});

test("the log names each decided request that the service still lists once, with its run at the service", () => {
  const { plan, warnings } = aCount();
  const listed = deliveredRun({ type: "confirmed", at: 0, stillListed: true });
  const gone = delivered(listed, { type: "confirmed", at: 0, stillListed: false });
  for (const run of [gone, listed, listed, gone, listed]) plan(run);
  expect(warnings).toEqual([{ run: listed.key, runId: runId(listed), approvals: ["apr_1"], count: 1 }]);
});

test("while the database accepts calls but answers none, the metrics come within the time of a scrape, and say so", async () => {
  const bench = await createBench();
  bench.store.ping = () => new Promise(() => undefined);
  bench.store.auditHead = () => new Promise(() => undefined);
  let latest: Readings | null = null;
  void bench.flow.readings().then((readings) => (latest = readings));
  await bench.clock.pass(5_000);
  expect(latest).toMatchObject({
    auditHead: null,
    parts: expect.arrayContaining([expect.objectContaining({ part: "store", unready: true })]) as unknown,
  });
});
