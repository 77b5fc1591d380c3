// A closed request that the service lists again: people are called to it, but a service that changes its mind calls no one again and again.

import { describe, expect, test } from "vitest";
import { answerCall, callRenderKey, callSlot, isCurrent } from "#src/domain/call.ts";
import { expire } from "#src/domain/decide.ts";
import { applyFollowUp } from "#src/domain/follow-up-due.ts";
import { observe } from "#src/domain/observe.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import type { Call } from "#src/domain/follow-up.ts";
import { ApprovalId, MessageTs } from "#src/domain/ids.ts";
import { isFresh, type PostedMessage } from "#src/domain/posted-message.ts";
import type { Run } from "#src/domain/run.ts";
import { aSnapshot, contextAt, type ListedApproval, listedRun } from "../make/history.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, aWatchedRun, NOON } from "../make/run.ts";

const MIN = 60_000;
const NO_ONE = { users: [], groups: [], more: 0 };
const CHANGED = { id: "apr_1", content: { action: "delete it all" } };

function look(run: Run, pending: readonly ListedApproval[], ms: number, policy = BUILT_IN): Run {
  return observe(run, aSnapshot(run, pending, { askedAt: NOON + ms }), contextAt(ms, policy));
}

/** Three looks over ten seconds, the last one at this time. */
const gone = (run: Run, ms: number, policy = BUILT_IN): Run =>
  [ms - 10_000, ms - 5_000, ms].reduce((next, at) => look(next, [], at, policy), run);

const callsOf = ({ approvals }: Run): readonly Call[] => approvals[0]?.calls ?? [];

/** The calls that are not posted yet, and would be once their people are known. */
function unposted(run: Run): readonly Call[] {
  const [approval] = run.approvals;
  if (approval === undefined) return [];
  const who = { users: [APPROVER], groups: [], more: 0 };
  return callsOf(run).filter(
    (call) =>
      isFresh(run.posts[callSlot(approval, call)]) &&
      callRenderKey(run, { approval, call: { ...call, who } }) !== null,
  );
}

/** Posts the calls that are due by then. */
function post(run: Run, ms: number): Run {
  const up: PostedMessage = {
    type: "up",
    ts: MessageTs("1795176000.000100"),
    shows: "",
    sweepAt: null,
    notBefore: 0,
    tries: 0,
  };
  const due = unposted(run).filter(({ notBefore }) => notBefore <= NOON + ms);
  const slots = run.approvals.flatMap((approval) => due.map((call) => callSlot(approval, call)));
  return { ...run, posts: { ...run.posts, ...Object.fromEntries(slots.map((slot) => [slot, up])) } };
}

describe("a closed request that is listed again", () => {
  const closed = gone(listedRun("apr_1"), 20_000);

  test.for<[string, ListedApproval]>([
    ["unchanged", "apr_1"],
    ["changed", CHANGED],
  ])("%s: calls its approvers once", ([, listed]) => {
    const back = look(closed, [listed], 30_000);
    expect(back.approvals).toMatchObject([{ state: { type: "pending" } }]);
    expect(callsOf(back)).toMatchObject([{ says: "reopened", at: NOON + 30_000, who: null }]);
    expect(unposted(back)).toHaveLength(1);
    expect(callsOf(look(back, [listed], 40_000))).toEqual(callsOf(back));
  });

  test("calls them also when its run was not found, or it was not readable, or not watched", () => {
    const run = listedRun("apr_1");
    const [approval] = run.approvals;
    if (approval === undefined) throw new Error("the run has no approvals");
    for (const cause of ["run-missing", "unreadable", "unwatched"] as const) {
      const lost: Run = { ...run, approvals: [{ ...approval, state: { type: "closed", cause, at: NOON } }] };
      expect(callsOf(look(lost, ["apr_1"], 30_000))).toMatchObject([{ says: "reopened" }]);
    }
  });

  test("calls no one during a freeze, also if Slack names its approvers only then", () => {
    const frozen = { entry: 1, channel: null, by: APPROVER, at: NOON, why: "" };
    const held = applyFollowUp({ ...look(closed, ["apr_1"], 30_000), frozen }, contextAt(31_000));
    const found = { users: [APPROVER], groups: [], more: 0 };
    const answered = answerCall(held, ApprovalId("apr_1"), 1, { found, retryAt: 0 });
    expect(callsOf(answered)).toMatchObject([{ who: null }]);
    const { frozen: _lifted, ...free } = answered;
    const [call] = callsOf(applyFollowUp(free, contextAt(MIN)));
    expect(call).toMatchObject({ who: null, lookAt: NOON + MIN, notBefore: NOON + MIN + 15_000 });
    expect(call).not.toHaveProperty("held");
  });

  test("calls no one when it only changes while it is open", () => {
    expect(callsOf(look(listedRun("apr_1"), [CHANGED], 1_000))).toEqual([]);
  });

  test("calls people within the hours of its rule", () => {
    const hours = {
      tz: "UTC",
      days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
      from: "20:00",
      to: "21:00",
    } as const;
    const policy = aPolicy({ approvers: these([APPROVER]), followUp: { ...NO_FOLLOW_UP, hours } });
    const run = look(aWatchedRun(), ["apr_1"], 0, policy);
    const [call] = callsOf(look(gone(run, 20_000, policy), ["apr_1"], 30_000, policy));
    expect(call?.notBefore).toBeGreaterThanOrEqual(NOON + 8 * 60 * MIN);
    expect(call?.lookAt).toBeGreaterThanOrEqual(NOON + 8 * 60 * MIN);
  });
});

describe("a request that closes and opens again and again", () => {
  const flapping = (ms: number): Run => {
    let run = listedRun("apr_1");
    for (let at = 30_000; at <= ms; at += 30_000)
      run = look(gone(post(run, at - 10_001), at - 10_000), ["apr_1"], at);
    return run;
  };

  test("calls people at most once in ten minutes", () => {
    const times = callsOf(flapping(60 * MIN)).map(({ notBefore }) => notBefore);
    expect(times.length).toBeGreaterThan(2);
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(10 * MIN);
  });

  test("calls them later if it stays open, and not if it is closed by then", () => {
    const open = flapping(2 * MIN);
    const [first, second, ...others] = callsOf(open);
    expect(others).toEqual([]);
    expect(second?.notBefore).toBe((first?.notBefore ?? 0) + 10 * MIN);
    expect(unposted(open)).toHaveLength(1);
    expect(unposted(gone(open, 3 * MIN))).toEqual([]);
  });

  test("and a reminder that was posted stands until the next call is posted", () => {
    const open = flapping(2 * MIN);
    const [approval] = open.approvals;
    if (approval === undefined) throw new Error("the run has no approvals");
    const [first, waiting] = callsOf(open);
    if (first === undefined || waiting === undefined) throw new Error("there are no calls");
    const reminder = { ...first, n: 2, says: "last", who: NO_ONE } as const;
    const calls = [{ ...first, n: 1 }, reminder, { ...waiting, n: 3 }];
    const current = calls.filter((call) => isCurrent({ approval: { ...approval, calls }, call }));
    expect(current.map(({ n }) => n)).toEqual([2, 3]);
  });

  test("calls them no later each time when it also changes", () => {
    let run = listedRun("apr_1");
    for (let nth = 1; nth <= 10; nth += 1) {
      const item = { id: "apr_1", content: { action: `delete it ${nth}` } };
      const at = nth * 30_000;
      run = look(gone(post(run, at - 10_001), at - 10_000), [item], at);
    }
    const times = callsOf(run).map(({ notBefore }) => notBefore - NOON);
    expect(Math.max(...times)).toBeLessThan(12 * MIN);
    expect(unposted(run)).toHaveLength(1);
  });
});

describe("a request that closes again before the call to it is posted", () => {
  const closed = gone(look(gone(listedRun("apr_1"), 20_000), ["apr_1"], 30_000), 42_000);

  test("calls no one", () => expect(unposted(closed)).toEqual([]));

  test.for<[string, ListedApproval]>([
    ["unchanged", "apr_1"],
    ["changed", CHANGED],
  ])("calls people at once when it opens again, %s", ([, listed]) => {
    const back = look(post(closed, 59_000), [listed], 60_000);
    expect(unposted(back).map(({ notBefore }) => notBefore - NOON)).toEqual([75_000]);
  });

  test("calls people at once when it opens again, also if it had to wait for its turn", () => {
    const called = post(look(gone(listedRun("apr_1"), 20_000), ["apr_1"], 30_000), 45_000);
    const waiting = look(gone(called, 60_000), ["apr_1"], 70_000);
    expect(unposted(waiting).map(({ notBefore }) => notBefore - NOON)).toEqual([10 * MIN + 45_000]);
    const back = look(post(gone(waiting, 90_000), 11 * MIN), ["apr_1"], 12 * MIN);
    expect(unposted(back).map(({ notBefore }) => notBefore - NOON)).toEqual([12 * MIN + 15_000]);
  });

  test("keeps no more than the newest call that was not posted", () => {
    let run = closed;
    for (let nth = 1; nth <= 60; nth += 1) {
      const item = { id: "apr_1", content: { action: `delete it ${nth}` } };
      run = gone(look(run, [item], 60_000 + nth * 12_000), 72_000 + nth * 12_000);
    }
    expect(callsOf(run)).toHaveLength(1);
    expect(callsOf(run)[0]?.n).toBeGreaterThan(60);
  });
});

test("an expired request that another one replaces calls people, and the same one stays closed", () => {
  const policy = aPolicy({
    approvers: these([APPROVER]),
    expiry: { afterMs: MIN, outcome: "nothing" },
  });
  const run = expire(look(aWatchedRun(), ["apr_1"], 0, policy), contextAt(2 * MIN, policy));
  const says = (of: Run): readonly string[] => callsOf(of).map((call) => call.says);
  expect(says(look(run, ["apr_1"], 3 * MIN, policy))).toEqual(["over"]);
  expect(says(look(run, [CHANGED], 3 * MIN, policy))).toEqual(["over", "reopened"]);
});
