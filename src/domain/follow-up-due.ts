// What is due about a request that waits: a reminder, the last one before its time is up, a stage of its escalation. `applyFollowUp` is
// applied to a run at every save and only records it; `nextFollowUpAt` says when the run must be woken for it.
//
// Time counts by the request's own clock (`ageAt`), which is paused while people cannot act. So a pause is not followed by several
// reminders and stages at once.

import type { Approval } from "./approval.ts";
import { EARLY_MS, GATHER_MS, withCall } from "./call.ts";
import type { Context } from "./context.ts";
import { nextStage, reachStage } from "./escalation.ts";
import { ageAt, extendedMs, momentOfAge, withFollowUp } from "./follow-up.ts";
import type { FollowUpRule, Reminders, Stage } from "./policy/follow-up-rule.ts";
import { isWithin, nextOpening } from "./policy/hours.ts";
import type { KeptRule } from "./policy/policy.ts";
import { isWatched, mapApprovals, type Run } from "./run.ts";

type Now = Pick<Context, "now" | "monotonic">;

/** The same object when nothing is due. */
export function applyFollowUp(run: Run, ctx: Now): Run {
  return isWatched(run) ? mapApprovals(run, (approval) => followed(run, approval, ctx)) : run;
}

function followed(run: Run, approval: Approval, ctx: Now): Approval {
  const { state, appliedRule } = approval;
  if (state.type !== "pending" || !hasClock(appliedRule.rule)) return approval;
  const age = ageAt(approval, ctx.monotonic);
  if (age >= expiryAge(approval)) return approval;
  return reminded(run, escalated(run, approval, ctx), ctx);
}

/** Time means something for a request under this rule. */
export const hasClock = ({ followUp, expiry }: Pick<KeptRule, "followUp" | "expiry">): boolean =>
  expiry !== null || followUp.remind !== null || followUp.escalate.length > 0;

/** The age (ms) at which the time is up. */
function expiryAge(approval: Approval): number {
  const { expiry } = approval.appliedRule.rule;
  return expiry === null ? Number.POSITIVE_INFINITY : expiry.afterMs + extendedMs(approval);
}

// Stages. Who may decide changes on time; people are called within the hours of the rule.

function escalated(run: Run, approval: Approval, ctx: Now): Approval {
  const { followUp: rule } = approval.appliedRule.rule;
  const due = reachStage(approval, rule, ctx);
  if (due === null) return approval;
  const stages = [...(approval.followUp?.stages ?? []), due.reached];
  return callStage(run, withFollowUp(approval, { stages }), { stage: due.stage, rule, ctx });
}

function callStage(
  { requester }: Run,
  approval: Approval,
  { stage, rule, ctx }: { readonly stage: Stage; readonly rule: FollowUpRule; readonly ctx: Now },
): Approval {
  const named = [stage.to, stage.call].filter((each) => each !== null);
  const users = [...new Set(named.flatMap((each) => each.users))].filter((user) => user !== requester);
  const groups = [...new Set(named.flatMap((each) => each.groups))];
  const channels = [...new Set(named.flatMap((each) => each.channels))];
  const notBefore = (openingAt(rule, ctx) ?? ctx.monotonic) + GATHER_MS;
  const call = {
    says: "stage",
    at: ctx.now,
    notBefore,
    who: { users, groups, more: 0 },
    stageMs: stage.afterMs,
  } as const;
  const inThread = users.length + groups.length === 0 ? approval : withCall(approval, call);
  return channels.reduce((next, channel) => withCall(next, { ...call, channel }), inThread);
}

/** Null: the rule lets us call people now. Otherwise when it does (monotonic). */
function openingAt({ hours, urgent }: FollowUpRule, { now, monotonic }: Now): number | null {
  if (hours === null || urgent || isWithin(hours, now)) return null;
  const opens = nextOpening(hours, now);
  return opens === null ? null : monotonic + opens - now;
}

/** The earliest moment (monotonic) to post the message that the time is up. */
export const overNotBefore = ({ appliedRule }: Approval, ctx: Now): number =>
  (openingAt(appliedRule.rule.followUp, ctx) ?? ctx.monotonic) + GATHER_MS;

// Reminders. However many were missed, one is due.

/** The age (ms) at the nth reminder. */
export const reminderAge = ({ afterMs, doubles }: Reminders, n: number): number =>
  afterMs * (doubles ? 2 ** n - 1 : n);

function remindersBy(rule: Reminders | null, age: number): number {
  if (rule === null) return 0;
  let n = 0;
  while (n < rule.atMost && reminderAge(rule, n + 1) <= age) n += 1;
  return n;
}

/** Our choice, where the rule does not say. */
const LONGEST_WARNING_MS = 15 * 60_000;

/** The age (ms) at the last reminder. Null: the request does not expire. */
function warningAge(approval: Approval): number | null {
  const { expiry, followUp } = approval.appliedRule.rule;
  if (expiry === null) return null;
  const before = followUp.warnMs ?? Math.min(expiry.afterMs / 4, LONGEST_WARNING_MS);
  return Math.max(expiryAge(approval) - before, 0);
}

function reminderDue(approval: Approval, age: number): "waits" | "last" | null {
  const { followUp = {}, appliedRule } = approval;
  const warning = warningAge(approval);
  if (followUp.warned) return null;
  if (warning !== null && age >= warning) return "last";
  return remindersBy(appliedRule.rule.followUp.remind, age) > (followUp.reminded ?? 0) ? "waits" : null;
}

/** When a reminder may be sent with another of its channel (monotonic). Null: none comes, or the request's clock stands still. */
export function joinsReminderFrom(run: Run): number | null {
  const moments = run.approvals.flatMap((approval) => {
    const { remind } = approval.appliedRule.rule.followUp;
    const due = isWatched(run) && approval.state.type === "pending" ? reminderAt(run, approval) : null;
    if (due === null || remind === null) return [];
    return [Math.max(due - earliness(remind), approval.followUp?.quietUntil ?? 0)];
  });
  return moments.length === 0 ? null : Math.min(...moments);
}

const earliness = ({ afterMs }: Reminders): number => Math.min(EARLY_MS, afterMs / 3);

/** Reminders that `joinsReminderFrom` allows are due now. The same object when none is. */
export function remindEarly(run: Run, ctx: Now): Run {
  const from = joinsReminderFrom(run);
  if (from === null || from > ctx.monotonic) return run;
  return mapApprovals(run, (approval) => {
    const { remind } = approval.appliedRule.rule.followUp;
    return remind === null || approval.state.type !== "pending"
      ? approval
      : reminded(run, approval, ctx, earliness(remind));
  });
}

function reminded(run: Run, approval: Approval, ctx: Now, earlyMs = 0): Approval {
  const age = ageAt(approval, ctx.monotonic) + earlyMs;
  const says = reminderDue(approval, age);
  if (says === null || run.frozen !== undefined) return without(approval, "quietUntil");
  const rule = approval.appliedRule.rule.followUp;
  const until = quietUntil(approval, rule, says, ctx);
  if (until !== null) return quiet(approval, until, ctx);
  const { lapsed, claim } = approval.followUp ?? {};
  const call = { says, at: ctx.now, notBefore: ctx.monotonic + GATHER_MS, lookAt: ctx.monotonic, who: null };
  if (says === "waits" && lapsed !== undefined && lapsed.until === undefined && claim === undefined) {
    // Not counted as a reminder, so that the others still get all of theirs.
    const until = ctx.monotonic + (rule.remind?.afterMs ?? 0);
    const asked = withFollowUp(without(approval, "quietUntil"), { lapsed: { ...lapsed, until } });
    return withCall(asked, { ...call, first: lapsed.by });
  }
  // After the last one come no others, also not at once when the time is extended.
  const told = withFollowUp(without(without(approval, "lapsed"), "quietUntil"), {
    reminded: remindersBy(rule.remind, says === "last" ? expiryAge(approval) : age),
    ...(says === "last" ? { warned: true } : {}),
  });
  return withCall(told, call);
}

/**
 * Until when a reminder waits (monotonic). Null: it does not wait. It waits while a person looks at the request, for a while after only
 * that person was reminded, and for the hours of the rule; the last reminder waits only for the hours. A person who looks at it and snoozed
 * gets no reminder (find-approvers.ts), but the others get theirs.
 */
function quietUntil(
  { followUp }: Approval,
  rule: FollowUpRule,
  says: "waits" | "last",
  ctx: Now,
): number | null {
  const { until = 0, snoozedUntil = 0 } = followUp?.claim ?? {};
  const claimed = snoozedUntil > ctx.monotonic ? 0 : until;
  const looked = says === "last" ? 0 : Math.max(claimed, followUp?.lapsed?.until ?? 0);
  return looked > ctx.monotonic ? looked : openingAt(rule, ctx);
}

/** A smaller difference (ms) is drift between the two clocks and is not stored. */
const SAME_MS = 60_000;

function quiet(approval: Approval, until: number, { monotonic }: Now): Approval {
  const known = approval.followUp?.quietUntil;
  const same = known !== undefined && known > monotonic && Math.abs(known - until) < SAME_MS;
  return same ? approval : withFollowUp(approval, { quietUntil: until });
}

function without(approval: Approval, field: "lapsed" | "quietUntil"): Approval {
  if (approval.followUp?.[field] === undefined) return approval;
  const { [field]: _over, ...followUp } = approval.followUp;
  return { ...approval, followUp };
}

/** When something is due next (monotonic). Null: nothing is, or the request's clock stands still. */
export function nextFollowUpAt(run: Run, approval: Approval): number | null {
  const { state, appliedRule, followUp = {} } = approval;
  if (state.type !== "pending" || !isWatched(run)) return null;
  const warning = followUp.warned || run.frozen !== undefined ? null : warningAge(approval);
  const stage = nextStage(approval, appliedRule.rule.followUp)?.atAge ?? null;
  const moments = [at(approval, stage), afterQuiet(approval, warning), reminderAt(run, approval)].filter(
    (moment) => moment !== null,
  );
  return moments.length === 0 ? null : Math.min(...moments);
}

/** When the next reminder but the last one is due (monotonic). */
function reminderAt({ frozen }: Run, approval: Approval): number | null {
  const { followUp = {}, appliedRule } = approval;
  const { remind } = appliedRule.rule.followUp;
  const next = (followUp.reminded ?? 0) + 1;
  if (remind === null || next > remind.atMost || followUp.warned || frozen !== undefined) return null;
  return afterQuiet(approval, reminderAge(remind, next));
}

function afterQuiet(approval: Approval, age: number | null): number | null {
  const moment = at(approval, age);
  return moment === null ? null : Math.max(moment, approval.followUp?.quietUntil ?? 0);
}

/** What would come after the time is up never comes. */
const at = (approval: Approval, age: number | null): number | null =>
  age === null || age >= expiryAge(approval) ? null : momentOfAge(approval, age);
