// What happens to a run when an effect ends: each transition of the tables in approval.ts and post.ts.

import { describe, expect, test } from "vitest";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { backoffMs, type Effect, type Outcome } from "#src/domain/effect.ts";
import { ApprovalId, MessageTs } from "#src/domain/ids.ts";
import {
  POST_LINGER_MS,
  type PostedMessage,
  REFUSED_RETRY_MS,
  SWEEP_AFTER_MS,
} from "#src/domain/posted-message.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, OPENING, OUTCOME, OUTPUT } from "#src/domain/slot.ts";
import { applyMessageOutcome, markPosting, type PostAct } from "#src/domain/message-transitions.ts";
import { applyOutcome, markSending, recover } from "#src/domain/apply-outcome.ts";
import { observe } from "#src/domain/observe.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { aSnapshot, contextAt, decidedRun, deliveredRun, listedRun } from "../make/history.ts";
import { APPROVER, aRun, aWatchedRun, NOON, REQUESTER } from "../make/run.ts";

const TS = MessageTs("1700000000.000100");
const OTHER = MessageTs("1700000000.000200");
const ANSWERED: Outcome = { type: "unsure", why: "", afterMs: 7_000, answered: "ok: no" };
const LOST: Outcome = { type: "unsure", why: "no answer" };
const LATER: Outcome = { type: "later", afterMs: null, why: "429" };
const REFUSED: Outcome = { type: "refused", words: "no" };
const SEND = (run: Run): Effect => {
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("no approval");
  return { type: "send-decision", approval: approval.id };
};

describe("a decision", () => {
  const clean: Delivery = { type: "sending", at: NOON, tries: 1, lost: false };
  const again: Delivery = { type: "sending", at: NOON, tries: 2, lost: true };
  const lost: Delivery = { type: "retry", notBefore: NOON, tries: 1, lost: true, why: "" };

  test("is marked before it leaves, and counts its tries", () => {
    const run = decidedRun();
    const marked = markSending(run, SEND(run), NOON);
    expect(marked.approvals[0]?.state).toMatchObject({ delivery: clean });
    const waiting = deliveredRun(lost);
    expect(markSending(waiting, SEND(waiting), NOON).approvals[0]?.state).toMatchObject({ delivery: again });
  });

  test.for<[string, Delivery, Outcome, object]>([
    ["confirmed", clean, { type: "confirmed" }, { type: "confirmed", stillListed: null }],
    ["confirmed after a lost answer", again, { type: "confirmed" }, { type: "confirmed" }],
    ["resolved elsewhere", clean, { type: "elsewhere", words: "409" }, { type: "elsewhere", words: "409" }],
    ['"elsewhere" after a lost answer', again, { type: "elsewhere", words: "" }, { type: "unconfirmed" }],
    [
      "certainly not applied",
      clean,
      LATER,
      { type: "retry", lost: false, tries: 1, notBefore: NOON + 1_000 },
    ],
    ["asked to wait", clean, { ...LATER, afterMs: 90_000 }, { type: "retry", notBefore: NOON + 90_000 }],
    ["not applied after a lost answer", again, LATER, { type: "retry", lost: true, tries: 2 }],
    ["not sent after a lost answer", lost, { ...LATER, notSent: true }, { lost: true, notSent: true }],
    ["refused", clean, REFUSED, { type: "refused", words: "no" }],
    [
      "refused after a lost answer",
      again,
      REFUSED,
      { type: "unconfirmed", cause: "refused-after-lost-answer" },
    ],
    ["lost", clean, LOST, { type: "unsure", since: NOON, tries: 1 }],
    ["lost again", again, LOST, { type: "unsure", since: NOON, tries: 2 }],
    ["answered unclearly", clean, ANSWERED, { type: "unsure", notBefore: NOON + 7_000, answered: "ok: no" }],
    ["refused after an unclear answer", { ...again, answered: "ok: no" }, REFUSED, { answered: "ok: no" }],
    ["later, many times", { ...again, tries: 12 }, LATER, { type: "retry", notBefore: NOON + 15_000 }],
  ])("%s", ([, delivery, outcome, next]) => {
    const run = deliveredRun(delivery);
    expect(applyOutcome(run, SEND(run), outcome, contextAt()).approvals[0]?.state).toMatchObject({
      type: "decided",
      decision: { reason: "it is time" },
      delivery: next,
    });
  });

  test.for<[string, Delivery, Outcome, object]>([
    ["certainly not applied: void", clean, LATER, { type: "closed", cause: "run-over" }],
    ["lost: unconfirmed", clean, LOST, { type: "decided", delivery: { type: "unconfirmed" } }],
    ["refused: refused", clean, REFUSED, { type: "decided", delivery: { type: "refused", words: "no" } }],
    ["not applied after a lost answer: unconfirmed", again, LATER, { delivery: { type: "unconfirmed" } }],
  ])("when the run is over meanwhile, %s", ([, delivery, outcome, state]) => {
    const run: Run = { ...deliveredRun(delivery), watch: { type: "over", at: NOON } };
    expect(applyOutcome(run, SEND(run), outcome, contextAt()).approvals[0]?.state).toMatchObject(state);
  });

  test.for<[Outcome, string[]]>([
    [REFUSED, ["decision-refused"]],
    [{ type: "elsewhere", words: "" }, ["decision-elsewhere"]],
    [LATER, []],
    [LOST, []],
    [{ type: "confirmed" }, []],
  ])("after %o notifies its approver privately of %o", ([outcome, says]) => {
    const run = deliveredRun(clean);
    const { notices } = applyOutcome(run, SEND(run), outcome, contextAt());
    expect(notices.map((notice) => notice.says.type)).toEqual(says);
    for (const notice of notices) expect(notice.to).toBe(APPROVER);
  });

  test.for<[string, Outcome]>([
    ["refused", REFUSED],
    ["decided elsewhere", { type: "elsewhere", words: "" }],
    ["unproven", { type: "unproven", why: "" }],
  ])("whose first answer was lost, then %s: its approver is told that it is not confirmed", ([, outcome]) => {
    const run = deliveredRun(again);
    const { notices } = applyOutcome(run, SEND(run), outcome, contextAt());
    expect(notices).toMatchObject([{ to: APPROVER, says: { type: "decision-unconfirmed" } }]);
  });

  test("that is held ignores the outcome of an earlier, undone decision until its hold ends", () => {
    const run = deliveredRun({ type: "held", until: NOON + 30_000, sendAt: NOON + 30_000 });
    const outcomes: Outcome[] = [LATER, REFUSED, LOST, { type: "unproven", why: "" }, { type: "confirmed" }];
    for (const outcome of outcomes)
      expect(applyOutcome(run, SEND(run), outcome, contextAt(29_999))).toBe(run);
    const due = applyOutcome(run, SEND(run), LATER, contextAt(30_000)).approvals[0]?.state;
    expect(due).toMatchObject({ delivery: { type: "retry" } });
  });

  test.for<Delivery>([
    { type: "held", until: NOON, sendAt: NOON },
    { type: "recorded" },
    { type: "retry", notBefore: NOON, tries: 1, lost: false, why: "" },
  ])("of which no byte was sent is not marked as sent: %o", (delivery) => {
    const run = deliveredRun(delivery);
    expect(applyOutcome(run, SEND(run), LOST, contextAt())).toBe(run);
  });

  test.for<Delivery>([
    { type: "confirmed", at: NOON, stillListed: null },
    { type: "elsewhere", at: NOON, words: "" },
    { type: "unconfirmed", at: NOON, cause: "run-missing" },
    { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "" },
    { type: "refused", at: NOON, words: "", absent: false },
  ])("whose answer is no longer expected ignores an answer: %o", (delivery) => {
    const run = deliveredRun(delivery);
    for (const outcome of [REFUSED, LATER, LOST, { type: "confirmed" } as const])
      expect(applyOutcome(run, SEND(run), outcome, contextAt())).toBe(run);
  });
});

describe("a message", () => {
  const sending = (tries: number): PostedMessage => ({ type: "sending", at: NOON, tries });
  const lostTwice = { type: "sending", at: NOON + 9, tries: 2, lostAt: NOON } as const;
  const unsure = { type: "unsure", lookAt: NOON, tries: 1 } as const;
  const up = { type: "up", ts: TS, shows: "old", sweepAt: null, notBefore: 0, tries: 0 } as const;

  test.for<[string, PostAct, PostedMessage | undefined, Outcome, object]>([
    [
      "posted at once",
      "post",
      sending(1),
      { type: "posted", ts: TS, shows: "a" },
      { type: "up", ts: TS, sweepAt: null },
    ],
    [
      "posted again",
      "post",
      sending(2),
      { type: "posted", ts: TS, shows: "a" },
      { type: "up", sweepAt: NOON + SWEEP_AFTER_MS },
    ],
    [
      "posted after refusals only",
      "post",
      { type: "sending", at: NOON, tries: 21, refusals: 20 },
      { type: "posted", ts: TS, shows: "a" },
      { type: "up", sweepAt: null },
    ],
    ["its answer lost again", "post", lostTwice, LOST, { type: "unsure", lostAt: NOON }],
    [
      "its answer lost",
      "post",
      sending(1),
      LOST,
      { type: "unsure", lookAt: NOON + POST_LINGER_MS, tries: 1, lostAt: NOON },
    ],
    ["to be posted later", "post", sending(2), LATER, { type: "planned", notBefore: NOON + 2_000, tries: 2 }],
    ["refused", "post", sending(1), REFUSED, { type: "refused", retryAt: NOON + REFUSED_RETRY_MS, tries: 1 }],
    [
      "read back, missing",
      "find",
      { ...unsure, lostAt: 7 },
      { type: "found", copies: [] },
      { type: "planned", notBefore: NOON, tries: 1, lostAt: 7 },
    ],
    [
      "read back, found",
      "find",
      unsure,
      { type: "found", copies: [TS, OTHER] },
      { type: "up", ts: TS, shows: "" },
    ],
    ["read back later", "find", unsure, LATER, { type: "unsure", lookAt: NOON + 2_000 }],
    ["read back, answer lost", "find", unsure, LOST, { type: "unsure", tries: 2 }],
    ["updated", "update", up, { type: "updated", shows: "new" }, { type: "up", ts: TS, shows: "new" }],
    ["deleted by someone", "update", up, { type: "gone" }, { type: "planned", notBefore: 0 }],
    ["updated later", "update", up, LATER, { type: "up", shows: "old", notBefore: NOON + 1_000 }],
    ["swept", "sweep", { ...up, sweepAt: NOON }, { type: "swept" }, { type: "up", sweepAt: null }],
  ])("%s", ([, act, before, outcome, next]) => {
    expect(applyMessageOutcome(act, before, outcome, NOON)).toMatchObject(next);
  });

  test("whose update may have taken effect is redrawn, whatever it should show next", () => {
    expect(applyMessageOutcome("update", up, LOST, NOON)).not.toMatchObject({ shows: "old" });
  });

  test("that cannot be changed for now is not posted a second time", () => {
    const next = applyMessageOutcome("update", up, REFUSED, NOON);
    expect("ts" in next || ("tries" in next && next.tries > 0)).toBe(true);
  });

  test("is swept no earlier than planned when an update of it has to wait", () => {
    const sweepAt = NOON + SWEEP_AFTER_MS;
    for (const outcome of [LATER, LOST])
      expect(applyMessageOutcome("update", { ...up, sweepAt }, outcome, NOON)).toMatchObject({ sweepAt });
  });

  test("posted twice is swept when the later attempt can no longer arrive, whatever happens before", () => {
    const twice = { ...unsure, tries: 2 };
    const sweepAt = NOON + SWEEP_AFTER_MS;
    expect(applyMessageOutcome("find", twice, { type: "found", copies: [TS] }, NOON)).toMatchObject({
      type: "up",
      sweepAt,
    });
    const again = markPosting(
      applyMessageOutcome("update", { ...up, sweepAt }, { type: "gone" }, NOON),
      NOON,
    );
    expect(applyMessageOutcome("post", again, { type: "posted", ts: TS, shows: "" }, NOON)).toMatchObject({
      sweepAt,
    });
  });

  test("that Slack calls deleted is posted again and swept, in case the old one is still there", () => {
    const again = markPosting(applyMessageOutcome("update", up, { type: "gone" }, NOON), NOON);
    const posted = applyMessageOutcome("post", again, { type: "posted", ts: TS, shows: "" }, NOON);
    expect(posted).toMatchObject({ type: "up", sweepAt: NOON + SWEEP_AFTER_MS });
  });

  test("that opens the thread is required: if it is refused, nothing is started and the requester is notified", () => {
    const run = markSending(aRun(), { type: "post", slot: OPENING }, NOON);
    const next = applyOutcome(run, { type: "post", slot: OPENING }, REFUSED, contextAt());
    expect(next.creation).toMatchObject({ type: "refused", words: "no" });
    expect(next.notices).toMatchObject([{ to: REQUESTER, says: { type: "cannot-post", words: "no" } }]);
    const coded = applyOutcome(
      run,
      { type: "post", slot: OPENING },
      { ...REFUSED, code: "is_archived" },
      contextAt(),
    );
    expect(coded.notices).toMatchObject([{ says: { type: "cannot-post", code: "is_archived" } }]);
  });

  test("that is refused for the first time after failed attempts notifies the requester once", () => {
    const post = { type: "post", slot: cardSlot(ApprovalId("apr_1")) } as const;
    const after = (run: Run, outcome: Outcome): Run =>
      applyOutcome(markSending(run, post, NOON), post, outcome, contextAt());
    const failed = after({ ...listedRun("apr_1"), posts: { [OPENING]: up } }, LATER);
    const refused = after(failed, REFUSED);
    expect([failed.notices.length, refused.notices.length]).toEqual([0, 1]);
    expect(after(after(refused, LATER), REFUSED).notices).toHaveLength(1);
  });

  test.for([1, 2, 5, 50])("is retried within a minute after attempt %d, or when Slack allows it", (tries) => {
    expect(backoffMs(tries, null)).toBeLessThanOrEqual(60_000);
    expect(backoffMs(tries, null)).toBeGreaterThanOrEqual(1_000);
    expect(backoffMs(tries, 120_000)).toBe(120_000);
  });
});

describe("the creation of a run", () => {
  const sending = markSending(aRun(), { type: "create-run" }, NOON);
  const settled = (outcome: Outcome): Run =>
    applyOutcome(sending, { type: "create-run" }, outcome, contextAt());

  test.for<[Outcome, object]>([
    [LATER, { type: "planned", notBefore: NOON + 1_000, why: "429" }],
    [REFUSED, { type: "refused", words: "no" }],
    [LOST, { type: "unknown", words: "no answer", again: "asked" }],
  ])("after %o is %o", ([outcome, creation]) => {
    expect(settled(outcome).creation).toMatchObject(creation);
  });

  test("takes over the snapshot that the service returns", () => {
    const snapshot = aSnapshot(aWatchedRun(), ["apr_1"]);
    const run = settled({ type: "created", snapshot });
    expect(run).toMatchObject({
      creation: { type: "created", id: snapshot.id },
      approvals: [{ id: "apr_1" }],
    });
  });

  test("is settled once", () => {
    const unknown = settled(LOST);
    expect(applyOutcome(unknown, { type: "create-run" }, REFUSED, contextAt())).toBe(unknown);
  });
});

describe("an output", () => {
  const up = { type: "up", ts: TS, shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;
  const updated = (run: Run): Run => {
    const outcome: Outcome = { type: "updated", shows: renderKey(run, OUTCOME) ?? "" };
    return applyOutcome(run, { type: "update", slot: OUTCOME }, outcome, contextAt());
  };
  const endedWhile = (delivery: Delivery): Run => {
    const run = deliveredRun(delivery, "deny");
    const over = observe(run, aSnapshot(run, [], { status: "succeeded", output: "done" }), contextAt());
    return updated({ ...over, posts: { [OPENING]: up, [OUTCOME]: up } });
  };
  const outputOf = ({ seen }: Run): string | null | undefined => seen?.ended?.output;
  const acts = (run: Run): string[] =>
    reconcile(run, NOON).effects.flatMap((each) =>
      "slot" in each && each.slot === OUTCOME ? [each.type] : [],
    );
  const clean: Delivery = { type: "sending", at: NOON, tries: 1, lost: false };

  test("is kept while a decision is being sent, and drawn again with a denial that is confirmed late", () => {
    const sending = endedWhile(clean);
    expect(outputOf(sending)).toBe("done");
    const confirmed = applyOutcome(sending, SEND(sending), { type: "confirmed" }, contextAt());
    expect([outputOf(confirmed), acts(confirmed)]).toEqual(["done", ["update"]]);
    expect([outputOf(updated(confirmed)), acts(updated(confirmed))]).toEqual([null, []]);
  });

  test.for<Outcome>([LOST, LATER, REFUSED])("is forgotten when a late answer is %o", (outcome) => {
    const sending = endedWhile(clean);
    expect(outputOf(applyOutcome(sending, SEND(sending), outcome, contextAt()))).toBeNull();
  });

  test("is forgotten when it is posted, if no decision is being sent", () => {
    expect(outputOf(endedWhile({ type: "confirmed", at: NOON, stillListed: null }))).toBeNull();
  });

  test("that was forgotten is never drawn over, whatever its message should say since", () => {
    const posts = { [OPENING]: up, [OUTCOME]: { ...up, shows: "ended as an earlier release says it" } };
    expect(acts({ ...endedWhile({ type: "confirmed", at: NOON, stillListed: null }), posts })).toEqual([]);
  });
});

describe("after a crash", () => {
  test("what was marked may have happened, and what was not marked is as it was", () => {
    const marked = markSending(
      markSending(aRun(), { type: "create-run" }, NOON),
      { type: "post", slot: OPENING },
      NOON,
    );
    const run = recover(
      { ...marked, uploads: { [OUTPUT]: { type: "sharing", file: "F1", at: NOON, tries: 1 } } },
      contextAt(9),
    );
    expect(run).toMatchObject({
      creation: { type: "unknown" },
      posts: { [OPENING]: { type: "unsure", lookAt: NOON + 9 + POST_LINGER_MS } },
      uploads: { [OUTPUT]: { type: "unsure", file: "F1" } },
    });
    const decided = deliveredRun({ type: "sending", at: NOON, tries: 1, lost: false });
    expect(recover(decided, contextAt()).approvals[0]?.state).toMatchObject({ delivery: { type: "unsure" } });
    for (const calm of [aRun(), decidedRun(), listedRun("apr_1")])
      expect(recover(calm, contextAt())).toBe(calm);
  });

  test("does not recover the same mark twice", () => {
    const once = recover(deliveredRun({ type: "sending", at: NOON, tries: 1, lost: false }), contextAt());
    expect(recover(once, contextAt())).toBe(once);
  });
});

describe("a private notice that is not about a decision", () => {
  const notice = {
    id: "t",
    to: APPROVER,
    says: { type: "cannot-post", words: "no" },
    state: "planned",
    notBefore: 0,
  } as const;
  const run = markSending({ ...aRun(), notices: [notice] }, { type: "send-notice", notice: "t" }, NOON);

  test("is sent once: after an answer, a lost one or a crash it is not sent again", () => {
    for (const outcome of [{ type: "told" } as const, LOST, REFUSED])
      expect(applyOutcome(run, { type: "send-notice", notice: "t" }, outcome, contextAt()).notices).toEqual(
        [],
      );
    expect(recover(run, contextAt()).notices).toEqual([]);
  });

  test("that Slack asks to send later is not lost", () => {
    expect(applyOutcome(run, { type: "send-notice", notice: "t" }, LATER, contextAt()).notices).toMatchObject(
      [{ id: "t", state: "planned" }],
    );
  });
});
