// What is to be done next, and when.

import { describe, expect, test } from "vitest";
import { recover } from "#src/domain/apply-outcome.ts";
import { isFinished, reconcile } from "#src/domain/reconcile.ts";
import { cardSlot, OPENING, requestSlot, type Run } from "#src/domain/run.ts";
import { PASSING_MS, type PostedMessage } from "#src/domain/posted-message.ts";
import type { Creation, Seen } from "#src/domain/run.ts";
import { observe } from "#src/domain/observe.ts";
import { cardRenderKey } from "#src/domain/render-key.ts";
import { ApprovalId, MessageTs, RunId } from "#src/domain/ids.ts";
import { aSnapshot, contextAt, deliveredRun, listedRun } from "../make/history.ts";
import { aRun, NOON } from "../make/run.ts";

const UP: PostedMessage = {
  type: "up",
  ts: MessageTs("1700000000.000100"),
  shows: "something older",
  sweepAt: null,
  notBefore: 0,
  tries: 0,
};
const keysOf = (run: Run, now = NOON): string[] =>
  reconcile(run, now).effects.map((effect) =>
    "slot" in effect ? `${effect.type} ${effect.slot}` : effect.type,
  );

function onlyApproval(run: Run) {
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("no approval");
  return approval;
}

describe("the service's Retry-After", () => {
  const lost = { since: NOON, tries: 1, why: "503" };

  test("holds back the look that verifies a decision", () => {
    const run = deliveredRun({ type: "unsure", ...lost, notBefore: NOON + 60_000 });
    expect(reconcile(run, NOON).fetchAt).toBe(NOON + 60_000);
    const soon = deliveredRun({ type: "unsure", ...lost, notBefore: NOON });
    expect(reconcile(soon, NOON).fetchAt).toBe(NOON + 5_000);
  });

  test("holds back the same decision once more, to the millisecond", () => {
    const at = NOON + 60_000;
    const run = deliveredRun({ type: "retry", notBefore: at, tries: 1, lost: true, why: "503" });
    expect(keysOf(run, at - 1)).not.toContain("send-decision");
    expect(reconcile(run, at - 1).wakeAt).not.toBeNull();
    expect(keysOf(run, at)).toContain("send-decision");
  });
});

describe("while the opening is not up", () => {
  const run = listedRun("apr_1");
  const card = cardSlot(onlyApproval(run).id);

  test.each<[string, PostedMessage]>([
    ["looked for", { type: "unsure", lookAt: NOON + 60_000, tries: 1 }],
    ["on its way", { type: "sending", at: NOON, tries: 1 }],
  ])("(%s), the buttons of a card are changed all the same", (_what, opening) => {
    expect(keysOf({ ...run, posts: { [OPENING]: opening, [card]: UP } })).toContain(`update ${card}`);
  });

  test("no card is posted", () => {
    expect(keysOf(run)).toEqual(["post opening", "count-approvers"]);
  });
});

test("a run that nobody knows of is not finished while its requester is asked whether to start again", () => {
  const answered = (again: Extract<Creation, { type: "unknown" }>["again"]): Run => {
    const run: Run = { ...aRun(), creation: { type: "unknown", words: "no answer", at: NOON, again } };
    const gaveUp: PostedMessage = { type: "refused", words: "", retryAt: NOON, tries: 100 };
    return { ...run, posts: { [OPENING]: gaveUp } };
  };
  expect(isFinished(answered("asked"), NOON)).toBe(false);
  expect(isFinished(answered("left"), NOON)).toBe(true);
});

test("a file is made for a request that waits, and for none that is decided", () => {
  const long = (run: Run): Run => ({
    ...run,
    posts: { [OPENING]: UP },
    approvals: run.approvals.map((each) => ({ ...each, request: { ...each.request, chars: 1_000_000 } })),
  });
  const waits = long(listedRun("apr_1"));
  const decided = long(deliveredRun({ type: "confirmed", at: NOON, stillListed: false }));
  expect(keysOf(waits)).toContain(`upload ${requestSlot(onlyApproval(waits))}`);
  expect(keysOf(decided).filter((key) => key.startsWith("upload"))).toEqual([]);
});

test("a card is drawn again for each change of its request, however often it changes", () => {
  const card = cardSlot(ApprovalId("apr_1"));
  let run: Run = { ...listedRun("apr_1"), posts: { [OPENING]: UP } };
  for (const change of [1, 2, 3]) {
    const shown = { ...UP, shows: cardRenderKey(run, onlyApproval(run)) ?? "" };
    run = { ...run, posts: { ...run.posts, [card]: shown } };
    expect(keysOf(run)).not.toContain(`update ${card}`);
    const content = { action: "delete it", change };
    const ctx = contextAt(change);
    run = observe(run, aSnapshot(run, [{ id: "apr_1", content }], { askedAt: NOON + change }), ctx);
    expect(onlyApproval(run).version).toBe(1 + change);
    expect(keysOf(run, ctx.monotonic)).toContain(`update ${card}`);
  }
});

test("an approval that is held leaves when its time is over, and not before", () => {
  const sendAt = NOON + 30_000;
  const run = deliveredRun({ type: "held", until: sendAt, sendAt });
  expect(keysOf(run, sendAt - 1)).not.toContain("send-decision");
  expect(reconcile(run, sendAt - 1).wakeAt).toBe(sendAt);
  expect(keysOf(run, sendAt)).toContain("send-decision");
});

test("a message whose answer was lost is looked for once its request can hardly arrive any more", () => {
  const sending: Run = { ...aRun(), posts: { [OPENING]: { type: "sending", at: NOON, tries: 1 } } };
  const lost = recover(sending, contextAt());
  expect(keysOf(lost, NOON + 3_999)).toEqual([]);
  expect(keysOf(lost, NOON + 4_000)).toEqual(["find opening"]);
});

describe("an opening in the first seconds of its run", () => {
  const seen = (status: string, ended: Seen["ended"] = null): Run => ({
    ...aRun(),
    creation: { type: "created", id: RunId("run_1"), at: NOON },
    seen: { status, since: NOON, ended, lists: true, askedAt: NOON },
    posts: { [OPENING]: { ...UP, notBefore: NOON + PASSING_MS } },
  });
  const FAILED: Seen["ended"] = {
    how: "failed",
    completedAt: null,
    output: null,
    outputChars: 0,
    asFile: false,
    extra: {},
  };

  test.each(["queued", "running", "some other state"])("is not drawn as %s until that lasts", (status) => {
    expect(keysOf(seen(status))).not.toContain("update opening");
    expect(reconcile(seen(status), NOON).wakeAt).toBe(NOON + PASSING_MS);
    expect(keysOf(seen(status), NOON + PASSING_MS)).toContain("update opening");
  });

  test.each([
    ["the end of the run", seen("failed", FAILED)],
    ["that it waits for people", seen("awaiting_approval")],
  ])("says %s at once", (_what, run) => expect(keysOf(run)).toContain("update opening"));

  test("does not try a failed update again before its time, whatever it is to say", () => {
    const run = seen("failed", FAILED);
    const posts = { [OPENING]: { ...UP, notBefore: NOON + 60_000, tries: 3 } };
    expect(keysOf({ ...run, posts }, NOON + 59_999)).not.toContain("update opening");
    expect(keysOf({ ...run, posts }, NOON + 60_000)).toContain("update opening");
  });
});
