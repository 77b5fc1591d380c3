// When reminders, escalation stages and the last reminder are due, and that none is due twice or all at once.

import { describe, expect, it } from "vitest";
import type { Approval } from "#src/domain/approval.ts";
import { answerCall, callIn, callSlot } from "#src/domain/call.ts";
import { channelOf, endGathered, GATHER_MS, gatheredSlots } from "#src/domain/gathered-call.ts";
import { expire } from "#src/domain/decide.ts";
import { escalatedMs, withEscalation } from "#src/domain/escalation.ts";
import { type Claim, withFollowUp } from "#src/domain/follow-up.ts";
import {
  applyFollowUp,
  canJoinReminderFrom,
  nextFollowUpAt,
  remindEarly,
  timesReminded,
} from "#src/domain/follow-up-due.ts";
import { ChannelId, GroupId, MessageTs, UserId } from "#src/domain/ids.ts";
import { type FollowUpRule, NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { nextOpening } from "#src/domain/policy/hours.ts";
import { BUILT_IN_RULE, keptRule, type Rule } from "#src/domain/policy/policy.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { findApproval, type Run } from "#src/domain/run.ts";
import { OPENING } from "#src/domain/slot.ts";
import { aNonce, anApproval, aWatchedRun, NOON, withApprovals } from "../make/run.ts";

const MIN = 60_000;
const H = 60 * MIN;
const MIA = UserId("U0MIA");
const LEADS = ChannelId("C0LEADS");
const ON_CALL = GroupId("S0ONCALL");
const UP = { type: "up", ts: MessageTs("1.1"), shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;

const people = (groups: readonly GroupId[], channels: readonly ChannelId[] = []) => ({
  users: [],
  groups,
  channels,
});

type Ruled = { readonly followUp?: Partial<FollowUpRule>; readonly expiry?: Rule["expiry"] };

function waiting({ followUp = {}, expiry = null }: Ruled): { run: Run; id: Approval["id"] } {
  const rule = { ...BUILT_IN_RULE, expiry, followUp: { ...NO_FOLLOW_UP, ...followUp } };
  const approval: Approval = { ...anApproval(), appliedRule: { version: "1", rule: keptRule(rule) } };
  return { run: { ...withApprovals(aWatchedRun(), approval), posts: { [OPENING]: UP } }, id: approval.id };
}

const ctxAt = (at: number) => ({
  now: at,
  monotonic: at,
  nonce: aNonce,
  digest: (text: string) => text,
  process: "p",
  slowestRetryMs: 1,
  policy: { ...BUILT_IN_RULE } as never,
  freezes: [],
});

/** Wakes the run whenever it asks to be woken, until `until`. Returns the due messages, each with its minute. */
function live(
  run: Run,
  id: Approval["id"],
  until: number,
  from = NOON,
): { run: Run; due: readonly string[] } {
  const due: string[] = [];
  let now = from;
  let next = run;
  for (let step = 0; step < 200; step += 1) {
    const at = nextFollowUpAt(next, next.approvals[0] as Approval);
    if (at === null || at > until) return { run: next, due };
    expect(at).toBeGreaterThanOrEqual(step === 0 ? NOON : now);
    now = Math.max(at, from);
    const before = next.approvals[0]?.calls ?? [];
    const after = applyFollowUp(next, ctxAt(now));
    for (const call of (findApproval(after, id)?.calls ?? []).slice(before.length))
      due.push(
        `${call.says}${call.channel === undefined ? "" : ` in ${call.channel}`} ${(now - NOON) / MIN}`,
      );
    next = after;
  }
  throw new Error("the run never comes to rest");
}

const remind = { afterMs: 15 * MIN, doubles: true, atMost: 3 };

describe("reminders", () => {
  it("come after each wait, which doubles, up to the rule's number", () => {
    const { run, id } = waiting({ followUp: { remind } });
    expect(live(run, id, NOON + 99 * H).due).toEqual(["waits 15", "waits 45", "waits 105"]);
    const same = waiting({ followUp: { remind: { ...remind, doubles: false } } });
    expect(live(same.run, same.id, NOON + 99 * H).due).toEqual(["waits 15", "waits 30", "waits 45"]);
  });

  it("that were missed are sent as one", () => {
    const { run, id } = waiting({ followUp: { remind } });
    const late = applyFollowUp(run, ctxAt(NOON + 3 * H));
    expect(findApproval(late, id)?.calls).toHaveLength(1);
    expect(applyFollowUp(late, ctxAt(NOON + 3 * H))).toBe(late);
    expect(reconcile(late, NOON + 3 * H).effects).toContainEqual({
      type: "find-people",
      approval: id,
      call: 1,
    });
  });

  it("wait for the rule's hours, unless the request is urgent", () => {
    const hours = { tz: "UTC", days: ["mon"], from: "08:00", to: "20:00" } as const;
    const quiet = waiting({ followUp: { remind: { ...remind, atMost: 1 }, hours } });
    // NOON is a Friday.
    const opens = (68 * H) / MIN;
    expect(live(quiet.run, quiet.id, NOON + 99 * H).due).toEqual([`waits ${opens}`]);
    const urgent = waiting({ followUp: { remind: { ...remind, atMost: 1 }, hours, urgent: true } });
    expect(live(urgent.run, urgent.id, NOON + 99 * H).due).toEqual(["waits 15"]);
  });

  it("change nothing in the run while they wait for the hours", () => {
    const hours = { tz: "UTC", days: ["mon"], from: "08:00", to: "20:00" } as const;
    const { run } = waiting({ followUp: { remind, hours } });
    const quiet = applyFollowUp(run, ctxAt(NOON + 20 * MIN));
    expect(applyFollowUp(quiet, { ...ctxAt(NOON + 21 * MIN), now: NOON + 21 * MIN + 7 })).toBe(quiet);
  });

  it("wait while someone looks at the request", () => {
    const { run, id } = waiting({ followUp: { remind: { ...remind, atMost: 1 } } });
    const claim: Claim = { by: MIA, at: NOON, until: NOON + 50 * MIN };
    const approvals = run.approvals.map((each) => withFollowUp(each, { claim }));
    expect(live({ ...run, approvals }, id, NOON + 9 * H).due).toEqual(["waits 50"]);
  });

  it("go first and only to the person whose claim has lapsed, and then to the others", () => {
    const { run, id } = waiting({ followUp: { remind: { ...remind, atMost: 1 } } });
    const approvals = run.approvals.map((each) => withFollowUp(each, { lapsed: { by: MIA } }));
    const { due, run: after } = live({ ...run, approvals }, id, NOON + 9 * H);
    expect(due).toEqual(["waits 15", "waits 30"]);
    expect(findApproval(after, id)?.calls?.map(({ first }) => first)).toEqual([MIA, undefined]);
  });

  it("skip a claimer who asked for none, and still go to the others", () => {
    const { run, id } = waiting({ followUp: { remind: { ...remind, atMost: 1 } } });
    const claim: Claim = { by: MIA, at: NOON, until: NOON + 50 * MIN, snoozedUntil: NOON + 50 * MIN };
    const approvals = run.approvals.map((each) => withFollowUp(each, { claim }));
    expect(live({ ...run, approvals }, id, NOON + 9 * H).due).toEqual(["waits 15"]);
  });

  it("are not sent while the request cannot be approved", () => {
    const { run, id } = waiting({ followUp: { remind } });
    const frozen = { ...run, frozen: { entry: 1, channel: null, by: MIA, at: NOON, why: "" } };
    expect(live(frozen, id, NOON + 9 * H).due).toEqual([]);
  });

  it("come up to five minutes early to join another reminder, and never before two thirds of their wait", () => {
    for (const [after, early] of [
      [60, 5],
      [6, 2],
    ] as const) {
      const { run, id } = waiting({ followUp: { remind: { ...remind, afterMs: after * MIN } } });
      const from = NOON + (after - early) * MIN;
      expect(canJoinReminderFrom(run)).toBe(from);
      expect(remindEarly(run, ctxAt(from - 1))).toBe(run);
      const announced = remindEarly(run, ctxAt(from));
      const [approval] = announced.approvals as readonly [Approval];
      expect(approval.calls).toMatchObject([{ says: "waits" }]);
      expect(timesReminded(approval)).toBe(1);
      expect(live(announced, id, from + after * MIN).due).toEqual([]);
    }
  });

  it("do not come early outside the rule's hours", () => {
    const hours = { tz: "UTC", days: ["mon"], from: "08:00", to: "20:00" } as const;
    const { run, id } = waiting({ followUp: { remind, hours } });
    const asked = remindEarly(run, ctxAt(NOON + 14 * MIN));
    expect(findApproval(asked, id)?.calls ?? []).toEqual([]);
    expect(canJoinReminderFrom(asked)).toBe(nextOpening(hours, NOON));
  });

  it("are posted after the people to mention are known and other reminders of the channel could join", () => {
    const { run, id } = waiting({ followUp: { remind } });
    const at = NOON + 15 * MIN;
    const due = applyFollowUp(run, ctxAt(at));
    const call = findApproval(due, id)?.calls?.[0];
    if (call === undefined) throw new Error("nothing is due");
    const slot = callSlot({ id }, call);
    expect(renderKey(due, slot)).toBeNull();
    const known = answerCall(due, id, 1, { found: { users: [MIA], groups: [], more: 0 }, retryAt: 0 });
    expect(reconcile(known, at).wakeAt).toBeLessThanOrEqual(at + GATHER_MS);
    expect(reconcile(known, at).effects).not.toContainEqual({ type: "post", slot });
    expect(reconcile(known, at + GATHER_MS).effects).toContainEqual({ type: "post", slot });
  });

  it("mention no one if Slack does not say whom to mention, and are still sent", () => {
    const { run, id } = waiting({ followUp: { remind } });
    let due = applyFollowUp(run, ctxAt(NOON + 15 * MIN));
    for (let tries = 0; tries < 3; tries += 1) due = answerCall(due, id, 1, { found: null, retryAt: NOON });
    expect(findApproval(due, id)?.calls?.[0]?.who).toEqual({ users: [], groups: [], more: 0 });
  });
});

describe("the last reminder", () => {
  it("comes before the end: a quarter of the time, at most a quarter of an hour, or as the rule says", () => {
    const last = (ms: number, warnMs: number | null = null) => {
      const { run, id } = waiting({ expiry: { afterMs: ms, outcome: "deny" }, followUp: { warnMs } });
      return live(run, id, NOON + 99 * H).due;
    };
    expect(last(20 * MIN)).toEqual(["last 15"]);
    expect(last(10 * H)).toEqual(["last 585"]);
    expect(last(60 * MIN, 5 * MIN)).toEqual(["last 55"]);
  });

  it("comes only once, until someone extends the time", () => {
    const expiry = { afterMs: 60 * MIN, outcome: "nothing" } as const;
    const { run, id } = waiting({ expiry, followUp: { remind: { ...remind, doubles: false, atMost: 9 } } });
    const lived = live(run, id, NOON + 99 * H);
    expect(lived.due).toEqual(["waits 15", "waits 30", "last 45"]);
    // Someone adds an hour at 59 minutes.
    const extended = lived.run.approvals.map(({ followUp: { warned: _again, ...done } = {}, ...each }) => ({
      ...each,
      followUp: { ...done, extensions: [{ by: MIA, at: NOON, byMs: H }] },
    }));
    const longer = { ...lived.run, approvals: extended };
    expect(applyFollowUp(longer, ctxAt(NOON + 59 * MIN))).toBe(longer);
  });
});

describe("the end of the time", () => {
  it("is announced, also outside the rule's hours, but then later", () => {
    const hours = { tz: "UTC", days: ["mon"], from: "08:00", to: "20:00" } as const;
    const { run, id } = waiting({ expiry: { afterMs: H, outcome: "nothing" }, followUp: { hours } });
    const over = expire(run, ctxAt(NOON + H));
    expect(findApproval(over, id)?.state.type).toBe("closed");
    const announced = findApproval(over, id)?.calls?.at(-1);
    expect(announced).toMatchObject({ says: "over", notBefore: NOON + 68 * H + GATHER_MS });
  });
});

describe("a combined message about expired requests", () => {
  it("is posted even if it waits longer for its turn than it takes to end", () => {
    const run = aWatchedRun();
    const of = [1, 2].map((n) => ({ run: run.key, approval: anApproval().id, n }));
    const who = { users: [], groups: [], more: 0 };
    const ended = endGathered(
      { ...run, gathered: [{ since: NOON, says: "over", of, oldest: NOON, who }] },
      NOON,
    );
    const [slot = ""] = gatheredSlots(ended);
    const { effects } = reconcile({ ...ended, posts: { [OPENING]: UP } }, NOON);
    expect(effects).toContainEqual({ type: "post", slot });
  });
});

describe("an escalation", () => {
  const escalate = [
    { afterMs: 30 * MIN, to: people([ON_CALL]), call: null },
    { afterMs: 2 * H, to: people([], [LEADS]), call: people([GroupId("S0BOSS")]) },
  ];

  it("reaches its stages in order, and calls their people in the thread or in their channel", () => {
    const { run, id } = waiting({ followUp: { escalate } });
    expect(live(run, id, NOON + 29 * MIN).due).toEqual([]);
    const { due, run: after } = live(run, id, NOON + 9 * H);
    expect(due).toEqual(["stage 30", "stage 120", "stage in C0LEADS 120"]);
    const [first, , announced] = findApproval(after, id)?.calls ?? [];
    expect(first?.who).toEqual({ users: [], groups: [ON_CALL], more: 0 });
    const slot = announced === undefined ? "" : callSlot({ id }, announced);
    expect(channelOf(after, slot)).toBe(LEADS);
    expect(callIn(after, slot)?.call).toBe(announced);
  });

  it("never reaches two stages at once, however late it is", () => {
    const { run, id } = waiting({ followUp: { escalate } });
    const late = applyFollowUp(run, ctxAt(NOON + 5 * H));
    const approval = findApproval(late, id);
    expect(approval === null ? 0 : escalatedMs(approval)).toBe(30 * MIN);
    expect(applyFollowUp(late, ctxAt(NOON + 6 * H))).toBe(late);
    // The second stage follows the first by the time that the rule sets.
    expect(approval === null ? 0 : nextFollowUpAt(late, approval)).toBe(NOON + 5 * H + 90 * MIN);
  });

  it("pauses while people cannot act", () => {
    const { run, id } = waiting({ followUp: { escalate } });
    const pauses = [{ why: "stopped", from: NOON + MIN, until: NOON + 61 * MIN } as const];
    const approvals = run.approvals.map((each) => withFollowUp(each, { pauses }));
    expect(live({ ...run, approvals }, id, NOON + 2 * H).due).toEqual(["stage 90"]);
  });

  it("adds only the people who may decide to the rule, not those who are only called", () => {
    const { run, id } = waiting({ followUp: { escalate } });
    const rule = { ...BUILT_IN_RULE, followUp: { ...NO_FOLLOW_UP, escalate } };
    const before = findApproval(run, id);
    const after = findApproval(live(run, id, NOON + 9 * H).run, id);
    if (before === null || after === null) throw new Error("no approval");
    expect(withEscalation(rule, before).escalated).toBeUndefined();
    expect(withEscalation(rule, after).escalated).toEqual({
      users: [],
      groups: [ON_CALL],
      channels: [LEADS],
    });
    // Under another policy, that policy alone says whom a stage lets in.
    expect(withEscalation(BUILT_IN_RULE, after).escalated).toBeUndefined();
  });
});

describe("when another rule takes over", () => {
  const LEAD_GROUP = GroupId("S0LEADS");
  const BOSS = GroupId("S0BOSS");
  const stage = (afterMs: number, ...groups: readonly GroupId[]) => ({
    afterMs,
    to: people(groups),
    call: null,
  });

  /** Lives under each rule in turn. Returns what was due under each, and whom each stage called. */
  function underEach(...turns: readonly (Ruled & { readonly name: string; readonly until: number })[]) {
    let { run, id } = waiting({});
    let from = NOON;
    const due = turns.map(({ name, until, ...ruled }) => {
      const { appliedRule } = waiting(ruled).run.approvals[0] as Approval;
      const rule = { ...appliedRule.rule, name };
      const [approval] = run.approvals as readonly [Approval];
      const turned = { ...run, approvals: [{ ...approval, appliedRule: { version: name, rule } }] };
      const lived = live(turned, id, until, from);
      run = lived.run;
      from = until;
      return lived.due;
    });
    const stages = (findApproval(run, id)?.calls ?? []).filter(({ says }) => says === "stage");
    return { due, called: stages.map(({ who }) => who?.groups) };
  }

  /** Changes between two rules twice, and returns whom each stage called. */
  function calledInTurns(day: Ruled & { readonly name: string }, night: Ruled & { readonly name: string }) {
    return underEach(
      { ...day, until: NOON + 30 * MIN },
      { ...night, until: NOON + 40 * MIN },
      { ...day, until: NOON + 50 * MIN },
      { ...night, until: NOON + 60 * MIN },
    ).called;
  }

  it("its people of stages already reached are called once, and nobody is called twice", () => {
    const day = { name: "day", followUp: { escalate: [stage(15 * MIN, LEAD_GROUP)] } };
    const night = { name: "night", followUp: { escalate: [stage(15 * MIN, LEAD_GROUP, ON_CALL)] } };
    expect(calledInTurns(day, night)).toEqual([[LEAD_GROUP], [ON_CALL]]);
  });

  it("people who were only called are called again when it lets them in, once", () => {
    const onlyCalls = { ...stage(15 * MIN), to: null, call: people([LEAD_GROUP, BOSS]) };
    const day = { name: "day", followUp: { escalate: [onlyCalls] } };
    const night = { name: "night", followUp: { escalate: [stage(15 * MIN, LEAD_GROUP, ON_CALL)] } };
    expect(calledInTurns(day, night)).toEqual([
      [LEAD_GROUP, BOSS],
      [ON_CALL, LEAD_GROUP],
    ]);
  });

  it("its next stage still begins on time", () => {
    const day = { followUp: { escalate: [stage(15 * MIN, LEAD_GROUP)] } };
    const night = { followUp: { escalate: [stage(15 * MIN, ON_CALL), stage(H, BOSS)] } };
    const { due, called } = underEach(
      { name: "day", ...day, until: NOON + 50 * MIN },
      { name: "night", ...night, until: NOON + 9 * H },
    );
    expect(due).toEqual([["stage 15"], ["stage 50", "stage 60"]]);
    expect(called).toEqual([[LEAD_GROUP], [ON_CALL], [BOSS]]);
  });

  it("its people get the reminders of their own rule, and the missed ones as one", () => {
    const often = { remind: { afterMs: 15 * MIN, doubles: false, atMost: 4 } };
    const hourly = { remind: { afterMs: H, doubles: false, atMost: 4 } };
    const { due } = underEach(
      { name: "day", followUp: often, until: NOON + 90 * MIN },
      { name: "night", followUp: hourly, until: NOON + 190 * MIN },
      { name: "day", followUp: often, until: NOON + 9 * H },
    );
    expect(due).toEqual([
      ["waits 15", "waits 30", "waits 45", "waits 60"],
      ["waits 90", "waits 120", "waits 180"],
      [],
    ]);
  });
});
