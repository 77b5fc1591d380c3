// The next effects of a run, and when they are due.

import { describe, expect, test } from "vitest";
import { lookUpKeyOf } from "#src/domain/applied-rule.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Call } from "#src/domain/follow-up.ts";
import type { KeptRule } from "#src/domain/policy/policy.ts";
import { recover } from "#src/domain/apply-outcome.ts";
import { isFinished, reconcile } from "#src/domain/reconcile.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, listingSlot, OPENING, requestSlot, UNREADABLE, MISSING } from "#src/domain/slot.ts";
import { PASSING_MS, type PostedMessage, SWEEP_AFTER_MS } from "#src/domain/posted-message.ts";
import type { Creation, Seen } from "#src/domain/run.ts";
import { observe } from "#src/domain/observe.ts";
import { cardRenderKey, openingRenderKey } from "#src/domain/render-key.ts";
import { ApprovalId, GroupId, MessageTs, RunId } from "#src/domain/ids.ts";
import { aSnapshot, contextAt, deliveredRun, listedRun } from "../make/history.ts";
import { aNonce, APPROVER, aRun, NOON } from "../make/run.ts";

const UP: PostedMessage = {
  type: "up",
  ts: MessageTs("1700000000.000100"),
  shows: "something older",
  sweepAt: null,
  notBefore: 0,
  tries: 0,
};
const FAILED: Seen["ended"] = {
  how: "failed",
  completedAt: null,
  output: null,
  outputChars: 0,
  asFile: false,
  extra: {},
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

  test("delays the look that verifies a decision", () => {
    const run = deliveredRun({ type: "unsure", ...lost, notBefore: NOON + 60_000 });
    expect(reconcile(run, NOON).fetchAt).toBe(NOON + 60_000);
    const soon = deliveredRun({ type: "unsure", ...lost, notBefore: NOON });
    expect(reconcile(soon, NOON).fetchAt).toBe(NOON + 5_000);
  });

  test("delays the resending of the same decision, to the millisecond", () => {
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
  ])("(%s), the buttons of a card are still updated", (_what, opening) => {
    expect(keysOf({ ...run, posts: { [OPENING]: opening, [card]: UP } })).toContain(`update ${card}`);
  });

  test("no card is posted", () => {
    expect(keysOf(run)).toEqual(["post opening", "count-approvers"]);
  });
});

test("a missing run is not finished while its requester is asked whether to start it again", () => {
  const answered = (again: Extract<Creation, { type: "unknown" }>["again"]): Run => {
    const run: Run = { ...aRun(), creation: { type: "unknown", words: "no answer", at: NOON, again } };
    const gaveUp: PostedMessage = { type: "refused", words: "", retryAt: NOON, tries: 100 };
    return { ...run, posts: { [OPENING]: gaveUp } };
  };
  expect(isFinished(answered("asked"), NOON)).toBe(false);
  expect(isFinished(answered("left"), NOON)).toBe(true);
});

test("a file is made for a request that waits, and not for a decided one", () => {
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

test("late copies of a message are looked for half a minute after a restart, although its clock may have jumped", () => {
  const up = {
    type: "up",
    ts: MessageTs("1.1"),
    shows: "",
    sweepAt: NOON,
    notBefore: NOON,
    tries: 1,
  } as const;
  const before: Run = { ...aRun(), posts: { [OPENING]: up } };
  const recovered = recover(before, contextAt());
  expect(recovered.posts[OPENING]).toMatchObject({ sweepAt: NOON + SWEEP_AFTER_MS });
  const later = { ...before, posts: { [OPENING]: { ...up, sweepAt: NOON + 40_000 } } };
  expect(recover(later, contextAt())).toBe(later);
});

test("a lost answer is waited for again at each hand-over, because the clock of the process that lost it may differ", () => {
  const lost = { type: "unsure", notBefore: NOON, tries: 1, why: "" } as const;
  const since = (at: number) =>
    recover(deliveredRun({ ...lost, since: at }), contextAt(60_000)).approvals[0]?.state;
  for (const at of [NOON + 59_000, NOON - 600_000])
    expect(since(at)).toMatchObject({ delivery: { since: NOON + 60_000 } });
  const ahead = deliveredRun({ ...lost, since: NOON + 61_000 });
  expect(recover(ahead, contextAt(60_000))).toBe(ahead);
});

describe("an opening in the first seconds of its run", () => {
  const seen = (status: string, ended: Seen["ended"] = null): Run => ({
    ...aRun(),
    creation: { type: "created", id: RunId("run_1"), at: NOON },
    seen: { status, since: NOON, ended, lists: true, askedAt: NOON },
    posts: { [OPENING]: { ...UP, notBefore: NOON + PASSING_MS } },
  });
  test.each(["queued", "running", "some other state"])(
    "does not show %s until that has lasted a while",
    (status) => {
      expect(keysOf(seen(status))).not.toContain("update opening");
      expect(reconcile(seen(status), NOON).wakeAt).toBe(NOON + PASSING_MS);
      expect(keysOf(seen(status), NOON + PASSING_MS)).toContain("update opening");
    },
  );

  test.each([
    ["the end of the run", seen("failed", FAILED)],
    ["that it waits for people", seen("awaiting_approval")],
  ])("shows %s at once", (_what, run) => expect(keysOf(run)).toContain("update opening"));

  test("does not retry a failed update before its time, whatever it would show", () => {
    const run = seen("failed", FAILED);
    const posts = { [OPENING]: { ...UP, notBefore: NOON + 60_000, tries: 3 } };
    expect(keysOf({ ...run, posts }, NOON + 59_999)).not.toContain("update opening");
    expect(keysOf({ ...run, posts }, NOON + 60_000)).toContain("update opening");
  });
});

describe("the messages of a run with much to report", () => {
  const opened: Run = { ...listedRun("apr_1"), posts: { [OPENING]: UP } };
  const card = cardSlot(ApprovalId("apr_1"));
  const call: Call = {
    n: 1,
    says: "waits",
    of: 1,
    at: NOON,
    notBefore: NOON,
    who: { users: [], groups: [], more: 0 },
    tries: 0,
    lookAt: NOON,
  };
  const called = (facts: Partial<Call>, run = opened): Run => ({
    ...run,
    approvals: run.approvals.map((each) => ({ ...each, calls: [{ ...call, ...facts }] })),
  });
  const storm = { since: 7, waiting: 9, at: NOON, until: null };
  const gathered = {
    since: 5,
    says: "waits",
    of: [],
    oldest: NOON,
    who: { users: [], groups: [], more: 0 },
  } as const;
  const claim = { by: APPROVER, at: NOON, until: NOON + 40 };
  const messages = (run: Run, now = NOON): string[] =>
    keysOf(run, now).filter((key) => /^(?:post|update) /.test(key));

  test("are posted in the order in which people need them", () => {
    const question = { id: aNonce(), by: APPROVER, at: NOON, text: "Why?" };
    const run: Run = {
      ...called({}),
      approvals: called({}).approvals.map((each) => ({ ...each, followUp: { questions: [question] } })),
      posts: { [OPENING]: { ...UP, shows: "older" }, [MISSING]: UP, [UNREADABLE]: UP, [listingSlot(1)]: UP },
      seen: { status: "failed", since: NOON, ended: FAILED, lists: true, askedAt: NOON },
      storm,
      gathered: [gathered],
      stop: { by: APPROVER, at: NOON },
      outage: { since: 3, why: "", until: 4 },
    };
    const listing = { page: 1, over: true } as const;
    const approvals = run.approvals.map((each) => ({ ...each, listing }));
    expect(messages({ ...run, approvals })).toEqual([
      "post storm 7",
      "update digest 1",
      `post ${card}`,
      `post question ${question.id}`,
      "update unreadable",
      "post outcome",
      "update opening",
      "update missing",
      "post stopped",
      "post several 5",
      "post call 1 apr_1",
      "post service-down 3",
      "post service-back 3",
    ]);
    expect(messages(opened)).toEqual(["update opening", `post ${card}`].toReversed());
  });

  test("announce a storm and several calls until these are over, and keep the run going until then", () => {
    const over: Run = { ...opened, approvals: [], watch: { type: "over", at: NOON } };
    const posts = { [OPENING]: { ...UP, shows: openingRenderKey(over) } };
    const shown = (run: Partial<Run>, slot: string, shows: string): Run => ({
      ...over,
      ...run,
      posts: { ...posts, [slot]: { ...UP, shows } },
    });
    expect(isFinished({ ...over, posts }, NOON)).toBe(true);
    const goesOn = [
      shown({ storm }, "storm 7", `waiting 9 at ${NOON}`),
      shown({ gathered: [gathered] }, "several 5", "waits 0"),
    ];
    const ended = [
      shown({ storm: { ...storm, until: NOON } }, "storm 7", "over"),
      shown({ gathered: [{ ...gathered, over: true }] }, "several 5", "over"),
    ];
    expect([...goesOn, ...ended].flatMap((run) => keysOf(run))).toEqual([]);
    expect([...goesOn, ...ended].map((run) => isFinished(run, NOON))).toEqual([false, false, true, true]);
    const stale = shown({ storm: { ...storm, until: NOON } }, "storm 7", "waiting 9");
    expect([keysOf(stale), isFinished(stale, NOON)]).toEqual([["update storm 7"], false]);
  });

  test("wait for the opening and for nothing else, unless they are already posted", () => {
    const run = called({});
    const unsure: PostedMessage = { type: "unsure", lookAt: NOON + 60_000, tries: 1 };
    expect(messages({ ...run, posts: { [OPENING]: unsure } })).toEqual([]);
    expect(messages({ ...run, posts: {} })).toEqual(["post opening"]);
    expect(messages({ ...run, posts: { [OPENING]: unsure, "call 1 apr_1": UP } })).toEqual([
      "update call 1 apr_1",
    ]);
  });

  test("call people no earlier than the call is due, once the people are known, and not twice", () => {
    const slot = "call 1 apr_1";
    const posts = { ...opened.posts, [card]: UP };
    const early = called({ notBefore: NOON + 20 }, { ...opened, posts });
    expect(messages(early)).not.toContain(`post ${slot}`);
    expect(reconcile(early, NOON).wakeAt).toBe(NOON + 20);
    expect(messages(early, NOON + 20)).toContain(`post ${slot}`);
    const stale = { ...early, posts: { ...posts, [slot]: UP } };
    expect(messages(stale)).toContain(`update ${slot}`);
    const after = called({ within: opened.key }, { ...opened, posts });
    expect(messages(after).filter((key) => key.endsWith(slot))).toEqual([]);
  });

  test("look up the people of a call when it is due, as long as it is needed", () => {
    const asks = (run: Run, now = NOON): boolean => keysOf(run, now).includes("find-people");
    expect(asks(called({ who: null }))).toBe(true);
    expect(asks(called({}))).toBe(false);
    expect(asks(called({ who: null, of: 2 }))).toBe(false);
    expect(reconcile(called({ who: null, notBefore: NOON + 20 }), NOON).wakeAt).toBeNull();
    const later = called({ who: null, lookAt: NOON + 30 });
    expect([asks(later), reconcile(later, NOON).wakeAt, asks(later, NOON + 30)]).toEqual([
      false,
      NOON + 30,
      true,
    ]);
  });

  test("need the requester's groups, and the run wakes for each due moment of a request", () => {
    const known = { asks: [GroupId("S0OPS")], in: {}, at: NOON };
    const asks = (run: Run, now = NOON): boolean => keysOf(run, now).includes("look-up-requester");
    expect(asks({ ...opened, requesterGroups: { ...known, at: null } })).toBe(true);
    expect([asks(opened), asks({ ...opened, requesterGroups: known })]).toEqual([false, false]);
    expect(asks({ ...opened, requesterGroups: known }, NOON + 60_000)).toBe(true);
    const wakes = (facts: Partial<Approval>): number | null =>
      reconcile({ ...opened, approvals: opened.approvals.map((each) => ({ ...each, ...facts })) }, NOON)
        .wakeAt;
    const { appliedRule, ...rest } = onlyApproval(opened);
    const ruled = (facts: Partial<KeptRule>) => ({
      appliedRule: { ...appliedRule, rule: { ...appliedRule.rule, ...facts } },
    });
    const remind = { afterMs: 15, doubles: false, atMost: 1 };
    expect(wakes({})).toBeNull();
    expect(wakes({ followUp: { claim } })).toBe(NOON + 40);
    expect(wakes({ appliedRule: { ...appliedRule, until: NOON + 50 } })).toBe(NOON + 50);
    expect(wakes(ruled({ expiry: { afterMs: 60, outcome: "deny" } }))).toBeLessThanOrEqual(NOON + 60);
    expect(wakes(ruled({ followUp: { ...appliedRule.rule.followUp, remind } }))).toBe(NOON + 15);
    const of = lookUpKeyOf({ ...rest, appliedRule });
    expect(wakes({ approverCount: { of, at: NOON, able: null, grows: true } })).toBe(NOON + 5 * 60_000);
    expect(wakes({ approverCount: { of, at: NOON, able: 9, grows: true } })).toBeNull();
  });
});
