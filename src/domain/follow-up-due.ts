// What is due for a request that waits: a reminder, the last reminder before the expiry, or a stage of the escalation. `applyFollowUp` is
// called for a run at every save, and only records what is due. `nextFollowUpAt` says when the run must be woken for that.
//
// Time counts by the request's own clock (`ageAt`), which is paused while people cannot act. So not everything is due at once after a
// pause.

import type { Times } from "./context.ts";
import type { Approval } from "./approval.ts";
import { isReminder, isUnsent, withCall } from "./call.ts";
import { EARLY_MS, GATHER_MS } from "./gathered-call.ts";
import { nextStage, reachedStages, reachStage } from "./escalation.ts";
import {
  ageAt,
  type Call,
  callingRule,
  extendedMs,
  type FollowUp,
  lookedAtUntil,
  momentOfAge,
  type ReachedStage,
  withFollowUp,
} from "./follow-up.ts";
import type { FollowUpRule, Reminders } from "./policy/follow-up-rule.ts";
import { isWithin, nextOpening } from "./policy/hours.ts";
import { isWatched, mapApprovals, type Run } from "./run.ts";

/** Records what is due. Returns the same object if nothing is. */
export function applyFollowUp(run: Run, ctx: Times): Run {
  return isWatched(run) ? mapApprovals(run, (approval) => recordDue(run, approval, ctx)) : run;
}

function recordDue(run: Run, approval: Approval, ctx: Times): Approval {
  if (approval.state.type !== "pending") return approval;
  const next = holdReopened(run, approval, ctx);
  if (!hasClock(next)) return next;
  const age = ageAt(next, ctx.monotonic);
  if (age >= expiryAge(next)) return next;
  return recordReminder(run, recordStage(run, next, ctx), ctx);
}

/** Returns whether anything depends on time for the request under its rule. */
export function hasClock(approval: Pick<Approval, "appliedRule">): boolean {
  const { remind, escalate } = callingRule(approval).followUp;
  return approval.appliedRule.rule.expiry !== null || remind !== null || escalate.length > 0;
}

/** Returns the age (ms) at which the request expires. Infinity if it does not. */
function expiryAge(approval: Approval): number {
  const { expiry } = approval.appliedRule.rule;
  return expiry === null ? Number.POSITIVE_INFINITY : expiry.afterMs + extendedMs(approval);
}

// Stages. The people who may decide change on time, but people are called only within the hours of the rule.

function recordStage(run: Run, approval: Approval, ctx: Times): Approval {
  const { followUp: rule } = callingRule(approval);
  const reached = reachStage(approval, ctx);
  if (reached === null) return approval;
  const stages = [...reachedStages(approval), reached];
  return callStage(run, withFollowUp(approval, { stages }), { reached, rule, ctx });
}

function callStage(
  { requester }: Run,
  approval: Approval,
  {
    reached,
    rule,
    ctx,
  }: { readonly reached: ReachedStage; readonly rule: FollowUpRule; readonly ctx: Times },
): Approval {
  const { users: named, groups, channels } = reached.called;
  const users = named.filter((user) => user !== requester);
  const notBefore = (openingAt(rule, ctx) ?? ctx.monotonic) + GATHER_MS;
  const call = {
    says: "stage",
    at: ctx.now,
    notBefore,
    who: { users, groups, more: 0 },
    stageMs: reached.afterMs,
  } as const;
  const inThread = users.length + groups.length === 0 ? approval : withCall(approval, call);
  return channels.reduce((next, channel) => withCall(next, { ...call, channel }), inThread);
}

/** Returns when the rule next lets us call people (monotonic). Returns null if it does now. */
function openingAt({ hours, urgent }: FollowUpRule, { now, monotonic }: Times): number | null {
  if (hours === null || urgent || isWithin(hours, now)) return null;
  const opens = nextOpening(hours, now);
  return opens === null ? null : monotonic + opens - now;
}

/** Returns the earliest time to post a call that is due now (monotonic). */
export const callNotBefore = (approval: Approval, ctx: Times): number =>
  (openingAt(callingRule(approval).followUp, ctx) ?? ctx.monotonic) + GATHER_MS;

/** How long people are left alone after they were called to a request that opened again (ms). Our choice. */
const REOPENED_EVERY_MS = 10 * 60_000;

/**
 * Calls people to a closed request that is open again: its card said that there is nothing to do, and Slack notifies no one of an edit. A
 * service that closes and opens it again and again must not call them each time. A call that comes too early is not dropped but waits, and
 * is posted only if the request is still open then. If it closes first, the call is forgotten when the request opens again.
 */
export function callToReopened(run: Pick<Run, "posts">, approval: Approval, ctx: Times): Approval {
  const { calls: before = [], requestVersion } = approval;
  const isComing = (call: Call): boolean =>
    isReminder(call) && call.of === requestVersion && call.notBefore > ctx.monotonic;
  if (before.some(isComing)) return approval;
  const unsent = before.filter((call) => call.says === "reopened" && isUnsent(run, { approval, call }));
  const last = before.findLast((call) => call.says === "reopened" && !unsent.includes(call));
  const turn = last === undefined ? Number.NEGATIVE_INFINITY : last.notBefore + REOPENED_EVERY_MS;
  const notBefore = Math.max(callNotBefore(approval, ctx), turn);
  const call = {
    says: "reopened",
    at: ctx.now,
    notBefore,
    lookAt: notBefore - GATHER_MS,
    who: null,
  } as const;
  // Forgotten only now, because the number of such a call must not be used again.
  const { calls = [], ...called } = withCall(approval, call);
  return { ...called, calls: calls.filter((each) => !unsent.includes(each)) };
}

/**
 * Holds the call to a reopened request while reminders wait as well: during a freeze, and while a person looks at the request. After that, it
 * is due as if it were new, so its people are looked up then, and other calls can join it.
 */
function holdReopened(run: Run, approval: Approval, ctx: Times): Approval {
  const { calls = [] } = approval;
  const call = calls.findLast((each) => each.says === "reopened" && isUnsent(run, { approval, call: each }));
  const waits = run.frozen !== undefined || lookedAtUntil(approval, ctx.monotonic) > ctx.monotonic;
  if (call === undefined || waits === (call.held === true)) return approval;
  const { held: _over, ...rest } = call;
  const notBefore = Math.max(call.notBefore, callNotBefore(approval, ctx));
  const next: Call = waits
    ? { ...call, held: true, who: null }
    : { ...rest, notBefore, lookAt: notBefore - GATHER_MS, tries: 0 };
  return { ...approval, calls: calls.map((each) => (each === call ? next : each)) };
}

// Reminders. If several were missed, only one is sent.

/** Returns the age (ms) at the nth reminder. */
export const reminderAge = ({ afterMs, doubles }: Reminders, n: number): number =>
  afterMs * (doubles ? 2 ** n - 1 : n);

function remindersBy(rule: Reminders | null, age: number): number {
  if (rule === null) return 0;
  let n = 0;
  while (n < rule.atMost && reminderAge(rule, n + 1) <= age) n += 1;
  return n;
}

/** Returns how many reminders were sent under the rule of the request. */
export function timesReminded(approval: Approval): number {
  const { name, followUp } = callingRule(approval);
  const sent = approval.followUp?.reminders?.find(({ rule }) => rule === name);
  return remindersBy(followUp.remind, sent?.upToMs ?? 0);
}

function withReminded(approval: Approval, upToMs: number): Pick<FollowUp, "reminders"> {
  const { name } = callingRule(approval);
  const others = approval.followUp?.reminders?.filter(({ rule }) => rule !== name) ?? [];
  return { reminders: [...others, { rule: name, upToMs }] };
}

/** How long before the expiry the last reminder is sent at most (ms), if the rule does not say. Our choice. */
const LONGEST_WARNING_MS = 15 * 60_000;

/** Returns the age (ms) at the last reminder. Returns null if the request does not expire. */
function warningAge(approval: Approval): number | null {
  const { expiry } = approval.appliedRule.rule;
  if (expiry === null) return null;
  const before = callingRule(approval).followUp.warnMs ?? Math.min(expiry.afterMs / 4, LONGEST_WARNING_MS);
  return Math.max(expiryAge(approval) - before, 0);
}

function reminderDue(approval: Approval, age: number): "waits" | "last" | null {
  const warning = warningAge(approval);
  if (approval.followUp?.warned) return null;
  if (warning !== null && age >= warning) return "last";
  return remindersBy(callingRule(approval).followUp.remind, age) > timesReminded(approval) ? "waits" : null;
}

/** Returns when a reminder may join another one of its channel (monotonic). Null if none is coming, or the request's clock stands still. */
export function canJoinReminderFrom(run: Run): number | null {
  const moments = run.approvals.flatMap((approval) => {
    const { remind } = callingRule(approval).followUp;
    const due = isWatched(run) && approval.state.type === "pending" ? reminderAt(run, approval) : null;
    if (due === null || remind === null) return [];
    return [Math.max(due - earliness(remind), approval.followUp?.quietUntil ?? 0)];
  });
  return moments.length === 0 ? null : Math.min(...moments);
}

const earliness = ({ afterMs }: Reminders): number => Math.min(EARLY_MS, afterMs / 3);

/** Treats the reminders that `canJoinReminderFrom` allows as due now. Returns the same object if there are none. */
export function remindEarly(run: Run, ctx: Times): Run {
  const from = canJoinReminderFrom(run);
  if (from === null || from > ctx.monotonic) return run;
  return mapApprovals(run, (approval) => {
    const reminders = callingRule(approval).followUp.remind;
    return reminders === null || approval.state.type !== "pending"
      ? approval
      : recordReminder(run, approval, ctx, earliness(reminders));
  });
}

function recordReminder(run: Run, approval: Approval, ctx: Times, earlyMs = 0): Approval {
  const age = ageAt(approval, ctx.monotonic) + earlyMs;
  const says = reminderDue(approval, age);
  if (says === null || run.frozen !== undefined) return without(approval, "quietUntil");
  const { followUp: rule } = callingRule(approval);
  const until = quietUntil(approval, rule, says, ctx);
  if (until !== null) return keepQuiet(approval, until, ctx);
  const { lapsed, claim } = approval.followUp ?? {};
  const call = { says, at: ctx.now, notBefore: ctx.monotonic + GATHER_MS, lookAt: ctx.monotonic, who: null };
  if (says === "waits" && lapsed !== undefined && lapsed.until === undefined && claim === undefined) {
    // This does not count as a reminder, so that other people still get all of theirs.
    const othersFrom = ctx.monotonic + (rule.remind?.afterMs ?? 0);
    const marked = withFollowUp(without(approval, "quietUntil"), {
      lapsed: { ...lapsed, until: othersFrom },
    });
    return withCall(marked, { ...call, first: lapsed.by });
  }
  // No reminder follows the last one, not even right after an extension.
  const counted = withFollowUp(without(without(approval, "lapsed"), "quietUntil"), {
    ...withReminded(approval, says === "last" ? expiryAge(approval) : age),
    ...(says === "last" ? { warned: true } : {}),
  });
  return withCall(counted, call);
}

/**
 * Returns until when a reminder waits (monotonic), or null if it does not. It waits while a person looks at the request, for a while after
 * only that person was reminded, and for the hours of the rule. The last reminder waits only for the hours. If the person who looks at the
 * request has snoozed it, they get no reminder (find-approvers.ts), but other people do.
 */
function quietUntil(
  approval: Approval,
  rule: FollowUpRule,
  says: "waits" | "last",
  ctx: Times,
): number | null {
  const claimedUntil = lookedAtUntil(approval, ctx.monotonic);
  const until = says === "last" ? 0 : Math.max(claimedUntil, approval.followUp?.lapsed?.until ?? 0);
  return until > ctx.monotonic ? until : openingAt(rule, ctx);
}

/** A smaller difference than this (ms) is drift between the two clocks, and is not stored. */
const SAME_MS = 60_000;

function keepQuiet(approval: Approval, until: number, { monotonic }: Times): Approval {
  const before = approval.followUp?.quietUntil;
  const isSame = before !== undefined && before > monotonic && Math.abs(before - until) < SAME_MS;
  return isSame ? approval : withFollowUp(approval, { quietUntil: until });
}

function without(approval: Approval, field: "lapsed" | "quietUntil"): Approval {
  if (approval.followUp?.[field] === undefined) return approval;
  const { [field]: _over, ...followUp } = approval.followUp;
  return { ...approval, followUp };
}

/** Returns when something is due next (monotonic). Returns null if nothing is, or if the request's clock stands still. */
export function nextFollowUpAt(run: Run, approval: Approval): number | null {
  const { state, followUp = {} } = approval;
  if (state.type !== "pending" || !isWatched(run)) return null;
  const warning = followUp.warned || run.frozen !== undefined ? null : warningAge(approval);
  const stage = nextStage(approval)?.atAge ?? null;
  const moments = [timeOf(approval, stage), afterQuiet(approval, warning), reminderAt(run, approval)].filter(
    (moment) => moment !== null,
  );
  return moments.length === 0 ? null : Math.min(...moments);
}

/** Returns when the next ordinary reminder is due (monotonic). The last one before the expiry has its own age. */
function reminderAt({ frozen }: Run, approval: Approval): number | null {
  const { followUp = {} } = approval;
  const { remind } = callingRule(approval).followUp;
  const next = timesReminded(approval) + 1;
  if (remind === null || next > remind.atMost || followUp.warned || frozen !== undefined) return null;
  return afterQuiet(approval, reminderAge(remind, next));
}

function afterQuiet(approval: Approval, age: number | null): number | null {
  const moment = timeOf(approval, age);
  return moment === null ? null : Math.max(moment, approval.followUp?.quietUntil ?? 0);
}

/** Returns when the request reaches the age (monotonic). Returns null if it expires before that. */
const timeOf = (approval: Approval, age: number | null): number | null =>
  age === null || age >= expiryAge(approval) ? null : momentOfAge(approval, age);
