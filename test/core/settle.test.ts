// What becomes of a run when an effect has ended so: each transition of the tables in approval.ts and post.ts.

import { describe, expect, test } from "vitest";
import type { Delivery } from "#src/core/approval.ts";
import type { Effect, Outcome } from "#src/core/effect.ts";
import { MessageTs } from "#src/core/ids.ts";
import {
  backoffMs,
  type Post,
  POST_LINGER_MS,
  REFUSED_RETRY_MS,
  SWEEP_AFTER_MS,
  type Upload,
} from "#src/core/post.ts";
import { OPENING, OUTPUT, type Run } from "#src/core/run.ts";
import { begin, settle } from "#src/core/settle.ts";
import { recover } from "#src/core/recover.ts";
import { type PostAct, settlePost } from "#src/core/settle-post.ts";
import { settleUpload, type UploadAct } from "#src/core/settle-upload.ts";
import { aSnapshot, contextAt, decidedRun, deliveredRun, listedRun } from "../make/history.ts";
import { APPROVER, aRun, aWatchedRun, NOON, REQUESTER } from "../make/run.ts";

const TS = MessageTs("1700000000.000100");
const OTHER = MessageTs("1700000000.000200");
const ANSWERED: Outcome = { is: "unsure", why: "", afterMs: 7_000, answered: "ok: no" };
const LOST: Outcome = { is: "unsure", why: "no answer" };
const LATER: Outcome = { is: "later", afterMs: null, why: "429" };
const REFUSED: Outcome = { is: "refused", words: "no" };
const SEND = (run: Run): Effect => {
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("no approval");
  return { do: "send-decision", approval: approval.id };
};

describe("a decision", () => {
  const clean: Delivery = { is: "sending", at: NOON, tries: 1, lost: false };
  const again: Delivery = { is: "sending", at: NOON, tries: 2, lost: true };

  test("is marked before it leaves, and counts its tries", () => {
    const run = decidedRun();
    const marked = begin(run, SEND(run), NOON);
    expect(marked.approvals[0]?.state).toMatchObject({ delivery: clean });
    const waiting = deliveredRun({ is: "retry", notBefore: NOON, tries: 1, lost: true, why: "" });
    expect(begin(waiting, SEND(waiting), NOON).approvals[0]?.state).toMatchObject({ delivery: again });
  });

  test.for<[string, Delivery, Outcome, object]>([
    ["confirmed", clean, { is: "confirmed" }, { is: "confirmed", stillListed: null }],
    ["confirmed after a lost answer", again, { is: "confirmed" }, { is: "confirmed" }],
    ["resolved elsewhere", clean, { is: "elsewhere", words: "409" }, { is: "elsewhere", words: "409" }],
    ["«elsewhere» after a lost answer", again, { is: "elsewhere", words: "" }, { is: "unconfirmed" }],
    ["surely not applied", clean, LATER, { is: "retry", lost: false, tries: 1, notBefore: NOON + 1_000 }],
    ["asked to wait", clean, { ...LATER, afterMs: 90_000 }, { is: "retry", notBefore: NOON + 90_000 }],
    ["not applied after a lost answer", again, LATER, { is: "retry", lost: true, tries: 2 }],
    ["refused", clean, REFUSED, { is: "refused", words: "no" }],
    [
      "refused after a lost answer",
      again,
      REFUSED,
      { is: "unconfirmed", because: "refused-after-lost-answer" },
    ],
    ["lost", clean, LOST, { is: "unsure", since: NOON, tries: 1 }],
    ["lost again", again, LOST, { is: "unsure", since: NOON, tries: 2 }],
    ["answered unclearly", clean, ANSWERED, { is: "unsure", notBefore: NOON + 7_000, answered: "ok: no" }],
    ["refused after an unclear answer", { ...again, answered: "ok: no" }, REFUSED, { answered: "ok: no" }],
    ["later, many times", { ...again, tries: 12 }, LATER, { is: "retry", notBefore: NOON + 15_000 }],
  ])("%s", ([, delivery, outcome, next]) => {
    const run = deliveredRun(delivery);
    expect(settle(run, SEND(run), outcome, contextAt()).approvals[0]?.state).toMatchObject({
      is: "decided",
      decision: { reason: "it is time" },
      delivery: next,
    });
  });

  test.for<[string, Delivery, Outcome, object]>([
    ["surely not applied: void", clean, LATER, { is: "closed", because: "run-over" }],
    ["lost: unconfirmed", clean, LOST, { is: "decided", delivery: { is: "unconfirmed" } }],
    ["refused: refused", clean, REFUSED, { is: "decided", delivery: { is: "refused", words: "no" } }],
    ["not applied after a lost answer: unconfirmed", again, LATER, { delivery: { is: "unconfirmed" } }],
  ])("when the run is over meanwhile, %s", ([, delivery, outcome, state]) => {
    const run: Run = { ...deliveredRun(delivery), watch: { is: "over", at: NOON } };
    expect(settle(run, SEND(run), outcome, contextAt()).approvals[0]?.state).toMatchObject(state);
  });

  test.for<[Outcome, string[]]>([
    [REFUSED, ["decision-refused"]],
    [{ is: "elsewhere", words: "" }, ["decision-elsewhere"]],
    [LATER, []],
    [LOST, []],
    [{ is: "confirmed" }, []],
  ])("after %o its approver hears privately of %o", ([outcome, says]) => {
    const run = deliveredRun(clean);
    const { tells } = settle(run, SEND(run), outcome, contextAt());
    expect(tells.map((tell) => tell.says.is)).toEqual(says);
    for (const tell of tells) expect(tell.to).toBe(APPROVER);
  });

  test.for<Delivery>([
    { is: "confirmed", at: NOON, stillListed: null },
    { is: "elsewhere", at: NOON, words: "" },
    { is: "unconfirmed", at: NOON, because: "run-missing" },
    { is: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "" },
    { is: "refused", at: NOON, words: "", absent: false },
  ])("that nobody awaits any more takes no answer: %o", (delivery) => {
    const run = deliveredRun(delivery);
    for (const outcome of [REFUSED, LATER, LOST, { is: "confirmed" } as const])
      expect(settle(run, SEND(run), outcome, contextAt())).toBe(run);
  });
});

describe("a message", () => {
  const sending = (tries: number): Post => ({ is: "sending", at: NOON, tries });
  const unsure = { is: "unsure", lookAt: NOON, tries: 1 } as const;
  const up = { is: "up", ts: TS, shows: "old", sweepAt: null, notBefore: 0, tries: 0 } as const;

  test.for<[string, PostAct, Post | undefined, Outcome, object]>([
    [
      "posted at once",
      "post",
      sending(1),
      { is: "posted", ts: TS, shows: "a" },
      { is: "up", ts: TS, sweepAt: null },
    ],
    [
      "posted again",
      "post",
      sending(2),
      { is: "posted", ts: TS, shows: "a" },
      { is: "up", sweepAt: NOON + SWEEP_AFTER_MS },
    ],
    ["its answer lost", "post", sending(1), LOST, { is: "unsure", lookAt: NOON + POST_LINGER_MS, tries: 1 }],
    ["to be posted later", "post", sending(2), LATER, { is: "planned", notBefore: NOON + 2_000, tries: 2 }],
    ["refused", "post", sending(1), REFUSED, { is: "refused", retryAt: NOON + REFUSED_RETRY_MS, tries: 1 }],
    [
      "read back, not there",
      "find",
      unsure,
      { is: "found", copies: [] },
      { is: "planned", notBefore: NOON, tries: 1 },
    ],
    [
      "read back, there",
      "find",
      unsure,
      { is: "found", copies: [TS, OTHER] },
      { is: "up", ts: TS, shows: "" },
    ],
    ["read back later", "find", unsure, LATER, { is: "unsure", lookAt: NOON + 2_000 }],
    ["read back, answer lost", "find", unsure, LOST, { is: "unsure", tries: 2 }],
    ["updated", "update", up, { is: "updated", shows: "new" }, { is: "up", ts: TS, shows: "new" }],
    ["deleted by somebody", "update", up, { is: "gone" }, { is: "planned", notBefore: 0 }],
    ["updated later", "update", up, LATER, { is: "up", shows: "old", notBefore: NOON + 1_000 }],
    ["swept", "sweep", { ...up, sweepAt: NOON }, { is: "swept" }, { is: "up", sweepAt: null }],
  ])("%s", ([, act, before, outcome, next]) => {
    expect(settlePost(act, before, outcome, NOON)).toMatchObject(next);
  });

  test("whose update may have taken effect is drawn anew, whatever it should show next", () => {
    expect(settlePost("update", up, LOST, NOON)).not.toMatchObject({ shows: "old" });
  });

  test("that can't be changed for now is not posted beside itself", () => {
    const next = settlePost("update", up, REFUSED, NOON);
    expect("ts" in next || ("tries" in next && next.tries > 0)).toBe(true);
  });

  test("is swept no earlier than planned when an update of it has to wait", () => {
    const sweepAt = NOON + SWEEP_AFTER_MS;
    for (const outcome of [LATER, LOST])
      expect(settlePost("update", { ...up, sweepAt }, outcome, NOON)).toMatchObject({ sweepAt });
  });

  test("posted twice is swept when the later attempt can no longer arrive, whatever happens before", () => {
    const twice = { ...unsure, tries: 2 };
    const sweepAt = NOON + SWEEP_AFTER_MS;
    expect(settlePost("find", twice, { is: "found", copies: [TS] }, NOON)).toMatchObject({
      is: "up",
      sweepAt,
    });
    const planned = settlePost("update", { ...up, sweepAt }, { is: "gone" }, NOON);
    const again: Post = { is: "sending", at: NOON, tries: ("tries" in planned ? planned.tries : 0) + 1 };
    expect(settlePost("post", again, { is: "posted", ts: TS, shows: "" }, NOON)).toMatchObject({ sweepAt });
  });

  test("that Slack calls deleted is posted anew and swept, in case the old one is there after all", () => {
    const planned = settlePost("update", { ...up, sweepAt: null }, { is: "gone" }, NOON);
    const again: Post = { is: "sending", at: NOON, tries: ("tries" in planned ? planned.tries : 0) + 1 };
    const posted = settlePost("post", again, { is: "posted", ts: TS, shows: "" }, NOON);
    expect(posted).toMatchObject({ is: "up", sweepAt: NOON + SWEEP_AFTER_MS });
  });

  test("that opens the thread is needed: refused, nothing is started and the requester is told", () => {
    const run = begin(aRun(), { do: "post", slot: OPENING }, NOON);
    const next = settle(run, { do: "post", slot: OPENING }, REFUSED, contextAt());
    expect(next.creation).toMatchObject({ is: "refused", words: "no" });
    expect(next.tells).toMatchObject([{ to: REQUESTER, says: { is: "cannot-post", words: "no" } }]);
    const coded = settle(
      run,
      { do: "post", slot: OPENING },
      { ...REFUSED, code: "is_archived" },
      contextAt(),
    );
    expect(coded.tells).toMatchObject([{ says: { is: "cannot-post", code: "is_archived" } }]);
  });

  test.for([1, 2, 5, 50])("waits at most a minute after try %d, or as long as Slack asks", (tries) => {
    expect(backoffMs(tries, null)).toBeLessThanOrEqual(60_000);
    expect(backoffMs(tries, null)).toBeGreaterThanOrEqual(1_000);
    expect(backoffMs(tries, 120_000)).toBe(120_000);
  });
});

describe("a file", () => {
  const file = "F1";
  test.for<[string, UploadAct, Upload | undefined, Outcome, object]>([
    ["uploaded", "upload", undefined, { is: "uploaded", file }, { is: "uploaded", file, tries: 0 }],
    ["shared", "share", { is: "sharing", file, at: NOON, tries: 1 }, { is: "shared" }, { is: "up", file }],
    ["its answer lost", "share", { is: "sharing", file, at: NOON, tries: 1 }, LOST, { is: "unsure", file }],
    [
      "found",
      "find-file",
      { is: "unsure", file, lookAt: NOON, tries: 1 },
      { is: "file-found", there: true },
      { is: "up" },
    ],
    [
      "not found",
      "find-file",
      { is: "unsure", file, lookAt: NOON, tries: 1 },
      { is: "file-found", there: false },
      { is: "uploaded", file },
    ],
    ["lapsed", "share", { is: "sharing", file, at: NOON, tries: 1 }, { is: "gone" }, { is: "planned" }],
    ["refused", "upload", { is: "planned", notBefore: 0, tries: 0 }, REFUSED, { is: "refused", words: "no" }],
    ["an upload whose answer was lost", "upload", undefined, LOST, { is: "planned", tries: 1 }],
  ])("%s", ([, act, before, outcome, next]) => {
    expect(settleUpload(act, before, outcome, NOON)).toMatchObject(next);
  });
});

describe("the creation of a run", () => {
  const sending = begin(aRun(), { do: "create-run" }, NOON);
  const settled = (outcome: Outcome): Run => settle(sending, { do: "create-run" }, outcome, contextAt());

  test.for<[Outcome, object]>([
    [LATER, { is: "planned", notBefore: NOON + 1_000, why: "429" }],
    [REFUSED, { is: "refused", words: "no" }],
    [LOST, { is: "unknown", words: "no answer", again: "asked" }],
  ])("after %o is %o", ([outcome, creation]) => {
    expect(settled(outcome).creation).toMatchObject(creation);
  });

  test("takes in what the service says at once", () => {
    const snapshot = aSnapshot(aWatchedRun(), ["apr_1"]);
    const run = settled({ is: "created", snapshot });
    expect(run).toMatchObject({ creation: { is: "created", id: snapshot.id }, approvals: [{ id: "apr_1" }] });
  });

  test("is settled once", () => {
    const unknown = settled(LOST);
    expect(settle(unknown, { do: "create-run" }, REFUSED, contextAt())).toBe(unknown);
  });
});

describe("after a crash", () => {
  test("what was marked may have happened, and what was not marked is as it was", () => {
    const marked = begin(begin(aRun(), { do: "create-run" }, NOON), { do: "post", slot: OPENING }, NOON);
    const run = recover(
      { ...marked, uploads: { [OUTPUT]: { is: "sharing", file: "F1", at: NOON, tries: 1 } } },
      contextAt(9),
    );
    expect(run).toMatchObject({
      creation: { is: "unknown" },
      posts: { [OPENING]: { is: "unsure", lookAt: NOON + 9 + POST_LINGER_MS } },
      uploads: { [OUTPUT]: { is: "unsure", file: "F1" } },
    });
    const decided = deliveredRun({ is: "sending", at: NOON, tries: 1, lost: false });
    expect(recover(decided, contextAt()).approvals[0]?.state).toMatchObject({ delivery: { is: "unsure" } });
    for (const calm of [aRun(), decidedRun(), listedRun("apr_1")])
      expect(recover(calm, contextAt())).toBe(calm);
  });

  test("nothing is asked of it twice", () => {
    const once = recover(deliveredRun({ is: "sending", at: NOON, tries: 1, lost: false }), contextAt());
    expect(recover(once, contextAt())).toBe(once);
  });
});

describe("a private word", () => {
  const tell = {
    id: "t",
    to: APPROVER,
    says: { is: "cannot-post", words: "no" },
    state: "planned",
    notBefore: 0,
  } as const;
  const run = begin({ ...aRun(), tells: [tell] }, { do: "tell", tell: "t" }, NOON);

  test("is said once: after an answer, a lost one and a crash it is not said again", () => {
    for (const outcome of [{ is: "told" } as const, LOST, REFUSED])
      expect(settle(run, { do: "tell", tell: "t" }, outcome, contextAt()).tells).toEqual([]);
    expect(recover(run, contextAt()).tells).toEqual([]);
  });

  test("that Slack would rather hear later is not lost", () => {
    expect(settle(run, { do: "tell", tell: "t" }, LATER, contextAt()).tells).toMatchObject([
      { id: "t", state: "planned" },
    ]);
  });
});
