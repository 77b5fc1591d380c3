// What each part of a run makes due: its files, its work, its messages that Slack refuses, and the looks that would
// settle an open question.

import { describe, expect, test } from "vitest";
import type { Approval } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { newsMark } from "#src/domain/poll-schedule.ts";
import {
  type PostedMessage,
  REFUSED_RETRY_MS,
  REFUSED_TRIES,
  type Upload,
} from "#src/domain/posted-message.ts";
import { applyMessageOutcome } from "#src/domain/message-transitions.ts";
import { isFinished, reconcile } from "#src/domain/reconcile.ts";
import { requestFileState } from "#src/domain/render-key.ts";
import { ApprovalId, MessageTs, RunId } from "#src/domain/ids.ts";
import type { Creation, Run } from "#src/domain/run.ts";
import { cardSlot, OPENING, OUTCOME, OUTPUT, requestSlot } from "#src/domain/slot.ts";
import { ABSENT_AFTER_MS, DECISION_LINGER_MS } from "#src/domain/snapshot.ts";
import { aSnapshot, contextAt, deliveredRun, listedRun } from "../make/history.ts";
import { observe } from "#src/domain/observe.ts";
import { APPROVER, aRun, aWatchedRun, NOON, REQUESTER } from "../make/run.ts";

const DAY_MS = 24 * 60 * 60_000;
const up = (facts: Partial<Extract<PostedMessage, { type: "up" }>> = {}): PostedMessage => {
  return {
    type: "up",
    ts: MessageTs("1700000000.000100"),
    shows: "older",
    sweepAt: null,
    notBefore: 0,
    tries: 0,
    ...facts,
  };
};
const dueOf = (run: Run, now = NOON): string[] =>
  reconcile(run, now).effects.map((effect) =>
    "slot" in effect ? `${effect.type} ${effect.slot}` : effect.type,
  );

describe("a file", () => {
  const opened: Run = { ...aWatchedRun(), posts: { [OPENING]: up() } };
  const listed = observe(opened, aSnapshot(opened, ["apr_1"]), contextAt());
  const approvals = listed.approvals.map((each) => ({
    ...each,
    request: { ...each.request, chars: 1_000_000 },
  }));
  const run: Run = { ...listed, approvals };
  const slot = approvals.map((each) => requestSlot(each)).join();
  const file = { file: "F1" };

  test.each<[Upload | undefined, string | null]>([
    [undefined, "upload"],
    [{ type: "planned", notBefore: NOON, tries: 1 }, "upload"],
    [{ type: "planned", notBefore: NOON + 1, tries: 1 }, null],
    [{ ...file, type: "uploaded", notBefore: NOON, tries: 1 }, "share"],
    [{ ...file, type: "uploaded", notBefore: NOON + 1, tries: 1 }, null],
    [{ ...file, type: "unsure", lookAt: NOON, tries: 1 }, "find-file"],
    [{ ...file, type: "unsure", lookAt: NOON + 1, tries: 1 }, null],
    [{ ...file, type: "sharing", at: NOON, tries: 1 }, null],
    [{ ...file, type: "up" }, null],
    [{ type: "refused", words: "no" }, "upload"],
    [{ type: "refused", words: "no", retryAt: NOON }, "upload"],
    [{ type: "refused", words: "no", retryAt: NOON + 1 }, null],
  ])("of a request, %o: next is %s", (upload, act) => {
    const with_: Run = { ...run, uploads: upload === undefined ? {} : { [slot]: upload } };
    const acts = dueOf(with_).filter((each) => each.endsWith(` ${slot}`));
    expect(acts).toEqual(act === null ? [] : [`${act} ${slot}`]);
    const timed = ["notBefore", "lookAt", "retryAt"].some((name) => name in (upload ?? {}));
    const waits = timed && act === null;
    expect(!waits || reconcile(with_, NOON).wakeAt === NOON + 1).toBe(true);
  });

  test("of an earlier release, whose name does not name the request, is posted once more", () => {
    const before: Run = { ...run, uploads: { "request apr_1 1": { ...file, type: "up" } } };
    expect(dueOf(before)).toContain(`upload ${slot}`);
  });

  test("of an earlier release stays the file of a request that does not wait any more", () => {
    const over = approvals.map((each): Approval => ({
      ...each,
      state: { type: "closed", cause: "run-over", at: NOON },
    }));
    const before: Run = { ...run, approvals: over, uploads: { "request apr_1 1": { ...file, type: "up" } } };
    expect(over.map((each) => requestFileState(before, each))).toEqual(["there"]);
    expect(approvals.map((each) => requestFileState(before, each))).toEqual(["coming"]);
  });

  test("of the same request under a new version of its card is still its file", () => {
    const again = approvals.map((each) => ({ ...each, version: each.version + 1 }));
    const there = { ...run, approvals: again, uploads: { [slot]: { ...file, type: "up" } } } as const;
    expect(dueOf(there).filter((each) => each.startsWith("upload "))).toEqual([]);
  });

  test("waits for the thread", () => {
    expect(dueOf({ ...run, posts: {} }).filter((each) => each.endsWith(slot))).toEqual([]);
  });

  test("of an output waits for the outcome message, and is made only for a long output", () => {
    const ended = (output: string): Run => {
      const over = observe(opened, aSnapshot(opened, [], { status: "succeeded", output }), contextAt());
      return { ...over, posts: { [OPENING]: up(), [OUTCOME]: up() } };
    };
    const uploads = (of: Run): string[] => dueOf(of).filter((each) => each === `upload ${OUTPUT}`);
    expect(uploads(ended("x".repeat(9_000)))).toHaveLength(1);
    expect(uploads(ended("short"))).toEqual([]);
    const refused = { [OUTPUT]: { type: "refused", words: "no" } } as const;
    expect(uploads({ ...ended("x".repeat(9_000)), uploads: refused })).toEqual([]);
    expect(uploads({ ...ended("x".repeat(9_000)), posts: { [OPENING]: up() } })).toEqual([]);
    // The run was not started, or the outcome message belongs to an older outcome.
    const posts = { [OPENING]: up(), [OUTCOME]: up() };
    expect([uploads({ ...opened, posts, seen: null }), uploads({ ...listed, posts })]).toEqual([[], []]);
  });
});

describe("a run", () => {
  const planned = aRun({ creation: { type: "planned", notBefore: NOON, tries: 0, why: "" } } as never);

  test("is created once its opening is up, and not before its time", () => {
    const with_ = (posts: Run["posts"], notBefore = NOON): Run => {
      return { ...planned, posts, creation: { type: "planned", notBefore, tries: 0, why: "" } };
    };
    expect(dueOf(with_({ [OPENING]: up() }))).toContain("create-run");
    expect(dueOf(with_({}))).not.toContain("create-run");
    expect(dueOf(with_({ [OPENING]: { type: "sending", at: NOON, tries: 1 } }))).not.toContain("create-run");
    expect(dueOf(with_({ [OPENING]: up() }, NOON + 1))).not.toContain("create-run");
    expect(reconcile(with_({ [OPENING]: up() }, NOON + 1), NOON).wakeAt).toBe(NOON + 1);
  });

  test("is finished when nothing is under way, and not while anything is", () => {
    const bare = aWatchedRun();
    const over = observe(bare, aSnapshot(bare, [], { status: "succeeded" }), contextAt());
    const posts = Object.fromEntries(
      dueOf({ ...over, posts: { [OPENING]: up() } }).map((each) => [
        each.split(" ").slice(1).join(" "),
        { type: "refused", words: "no", retryAt: 0, tries: REFUSED_TRIES },
      ]),
    ) as Run["posts"];
    const done: Run = { ...over, posts };
    expect(isFinished(done, NOON)).toBe(true);
    const notice = {
      id: "n",
      to: REQUESTER,
      says: { type: "cannot-post", words: "" },
      state: "sending",
      notBefore: 0,
    } as const;
    const open: readonly Partial<Run>[] = [
      { posts: { ...posts, [OUTCOME]: { type: "sending", at: NOON, tries: 1 } } },
      { uploads: { [OUTPUT]: { type: "sharing", file: "F1", at: NOON, tries: 1 } } },
      { posts: { ...posts, [OPENING]: { type: "planned", notBefore: NOON, tries: 1 } } },
      { posts: { ...posts, [OPENING]: { type: "planned", notBefore: NOON + 1, tries: 1 } } },
      { creation: { type: "sending", at: NOON, tries: 1 } },
      { notices: [notice] },
      { watch: { type: "on" } },
      { outage: { at: NOON, until: null } as never },
    ];
    expect(open.map((facts) => isFinished({ ...done, ...facts }, NOON))).toEqual(open.map(() => false));
    const refused: PostedMessage = { type: "refused", words: "no", retryAt: 0, tries: REFUSED_TRIES };
    const decided = (delivery: object): Run => {
      const { approvals } = deliveredRun(delivery as Delivery);
      return { ...done, approvals, posts: { ...posts, [cardSlot(ApprovalId("apr_1"))]: refused } };
    };
    expect(isFinished(decided({ type: "confirmed", at: NOON, stillListed: false }), NOON)).toBe(true);
    expect(isFinished(decided({ type: "sending", at: NOON, tries: 1 }), NOON)).toBe(false);
    expect(isFinished({ ...done, outage: { at: NOON, until: NOON } as never }, NOON)).toBe(true);
    expect(isFinished({ ...done, uploads: { [OUTPUT]: { type: "up", file: "F1" } } }, NOON)).toBe(true);
    const { approvals } = listedRun("apr_1");
    const closed = { type: "closed", cause: "run-over", at: NOON } as const;
    expect(
      isFinished({ ...done, approvals: approvals.map((each) => ({ ...each, state: closed })) }, NOON),
    ).toBe(true);
  });
});

describe("a private notice", () => {
  const effectsWith = (state: "planned" | "sending", notBefore: number): string[] => {
    const notice = {
      id: "n",
      to: APPROVER,
      says: { type: "cannot-post", words: "" },
      state,
      notBefore,
    } as const;
    return dueOf({ ...aWatchedRun(), notices: [notice] }).filter((each) => each === "send-notice");
  };
  test("is sent once, and not before its time", () => {
    expect([
      effectsWith("planned", NOON),
      effectsWith("planned", NOON + 1),
      effectsWith("sending", NOON),
    ]).toEqual([["send-notice"], [], []]);
  });
});

describe("a message that Slack refuses", () => {
  const refused = (tries: number): PostedMessage => ({ type: "refused", words: "no", retryAt: NOON, tries });
  const posts = (run: Run): string[] => dueOf(run).filter((each) => each.endsWith(OPENING));
  const over = (run: Run): Run => ({ ...run, watch: { type: "over", at: NOON } });

  test("is retried while the run is watched, and a few more times after that", () => {
    const run = aWatchedRun();
    const at = (of: Run, tries: number): boolean =>
      posts({ ...of, posts: { [OPENING]: refused(tries) } }).length > 0;
    expect([at(run, REFUSED_TRIES), at(over(run), REFUSED_TRIES - 1), at(over(run), REFUSED_TRIES)]).toEqual([
      true,
      true,
      false,
    ]);
    const never: Creation = { type: "refused", words: "no", at: NOON };
    expect(at({ ...over(run), creation: never }, 1)).toBe(false);
  });

  test("is retried as often after an outage as without one", () => {
    const refusal = { type: "refused", words: "no" } as const;
    const sending: PostedMessage = { type: "sending", at: NOON, tries: 100 };
    const post = applyMessageOutcome("post", sending, refusal, NOON - REFUSED_RETRY_MS);
    expect(posts(over({ ...aWatchedRun(), posts: { [OPENING]: post } }))).not.toEqual([]);
  });

  test.each<[string, (at: number) => Partial<Run>, boolean]>([
    ["over", (at) => ({ watch: { type: "over", at } }), true],
    [
      "refused by the service",
      (at) => ({ watch: { type: "on" }, creation: { type: "refused", words: "", at } }),
      true,
    ],
    [
      "unknown",
      (at) => ({ watch: { type: "on" }, creation: { type: "unknown", words: "", at, again: "left" } }),
      true,
    ],
    ["taken", (at) => ({ watch: { type: "on" }, creation: { type: "taken", id: RunId("run_x"), at } }), true],
    [
      "followed",
      (at) => ({ watch: { type: "on" }, creation: { type: "created", id: RunId("run_x"), at } }),
      false,
    ],
  ])(
    "that was retried many times is abandoned a day after its run ends, and not before: %s",
    (_what, facts, ends) => {
      const late = NOON + DAY_MS + 1;
      const at = (post: PostedMessage): boolean =>
        reconcile({ ...aWatchedRun(), ...facts(NOON), posts: { [OPENING]: post } }, late + 1).effects.some(
          (each) => "slot" in each && each.slot === OPENING,
        );
      expect(at({ type: "unsure", lookAt: late, tries: REFUSED_TRIES })).toBe(!ends);
      expect(at({ type: "unsure", lookAt: late - 1, tries: REFUSED_TRIES })).toBe(true);
      expect(at({ type: "unsure", lookAt: late, tries: REFUSED_TRIES - 1 })).toBe(true);
      expect(at(up({ notBefore: late, tries: REFUSED_TRIES }))).toBe(!ends);
      expect(at(up({ notBefore: late - 1, tries: REFUSED_TRIES }))).toBe(true);
    },
  );
});

describe("a look settles", () => {
  const looks = (run: Run): number | null => reconcile(run, NOON).fetchAt;
  const delivered = (delivery: object): Run => deliveredRun(delivery as Delivery);

  test("a lost answer, a refusal, and a confirmed decision that may still be listed", () => {
    const lost = { type: "unsure", since: NOON, tries: 1, why: "503", notBefore: 0 };
    expect(looks(delivered(lost))).toBe(NOON + DECISION_LINGER_MS);
    const confirmed = looks(delivered({ type: "confirmed", at: NOON, stillListed: null }));
    expect(confirmed).toBeGreaterThan(NOON);
    expect(looks(delivered({ type: "confirmed", at: NOON, stillListed: NOON }))).toBeNull();
    expect(looks(delivered({ type: "refused", at: NOON + 7, words: "no", code: "x", absent: false }))).toBe(
      NOON + 7,
    );
    expect(
      looks(delivered({ type: "refused", at: NOON + 7, words: "no", code: "x", absent: true })),
    ).toBeNull();
    expect(looks(delivered({ type: "recorded" }))).toBeNull();
    expect(looks(listedRun("apr_1"))).toBeNull();
  });

  test("nothing about a run that is no longer watched", () => {
    const lost = delivered({ type: "unsure", since: NOON, tries: 1, why: "503", notBefore: 0 });
    expect(looks({ ...lost, watch: { type: "over", at: NOON } })).toBeNull();
    expect(looks({ ...lost, watch: { type: "missing", since: NOON, absence: null } })).toBeNull();
    const doubtful = lost.approvals.map((each) => ({ ...each, unlisted: "in-doubt" as const }));
    expect(looks({ ...lost, approvals: doubtful })).toBeNull();
  });

  test("an absence of an approval or of the run", () => {
    const run = listedRun("apr_1");
    const missed = observe(run, aSnapshot(run, [], { askedAt: NOON + 1 }), contextAt(1));
    expect(looks(missed)).toBe(NOON + 1 + ABSENT_AFTER_MS / 2);
    const absence = { since: NOON, looks: 2, by: "this one" } as never;
    expect(looks({ ...run, watch: { type: "missing", since: NOON, absence } })).toBe(NOON + ABSENT_AFTER_MS);
    expect(looks({ ...run, watch: { type: "missing", since: NOON, absence: null } })).toBeNull();
  });
});

test("the earliest due time wakes the run, and overdue work wakes it at once", () => {
  const at = (ms: number) =>
    ({
      id: `n${ms}`,
      to: APPROVER,
      says: { type: "cannot-post", words: "" },
      state: "planned",
      notBefore: NOON + ms,
    }) as const;
  const run: Run = {
    ...aWatchedRun(),
    posts: { [OPENING]: { type: "sending", at: NOON, tries: 1 } },
    notices: [at(30), at(10), at(20)],
  };
  expect(reconcile(run, NOON).wakeAt).toBe(NOON + 10);
  expect(dueOf(run, NOON + 20)).toEqual(["send-notice", "send-notice"]);
});

test("precedents are looked up once the card is up", () => {
  const run = listedRun("apr_1");
  const card = cardSlot(ApprovalId("apr_1"));
  const wants = (posts: Run["posts"]): boolean => dueOf({ ...run, posts }).includes("look-up-precedents");
  expect([
    wants({}),
    wants({ [card]: { type: "sending", at: NOON, tries: 1 } }),
    wants({ [card]: up() }),
  ]).toEqual([false, false, true]);
});

test("a decision, a change of state and a missing run each change the news mark", () => {
  const run = listedRun("apr_1");
  const decided = deliveredRun({ type: "recorded" });
  const [first] = decided.approvals;
  expect(newsMark({ ...run, watch: { type: "missing", since: 7, absence: null } }) - newsMark(run)).toBe(7);
  expect(newsMark({ ...run, askedAt: run.askedAt + 5 }) - newsMark(run)).toBe(5);
  const before: Run = {
    ...decided,
    approvals: first === undefined ? [] : [{ ...first, seenAt: 1, state: { type: "pending" } }],
  };
  expect(newsMark(decided) - newsMark(before)).toBe(NOON - 1);
});
