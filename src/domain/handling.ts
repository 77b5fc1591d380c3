// How people handle a request that waits. A person claims it ("I'm looking at it"), asks for quiet, hands it over or lets it go, or gives it
// more time where the rule allows that. A claim is visible and changes nothing about who may decide. authorization.ts says who may claim and
// extend; question.ts holds the questions to the requester.

import { deadlineOf, endsUnder } from "./applied-rule.ts";
import type { Approval } from "./approval.ts";
import type { Refusal } from "./authorization.ts";
import type { Context } from "./context.ts";
import { type Claim, extendedMs, type FollowUp, withFollowUp } from "./follow-up.ts";
import type { Nonce, UserId } from "./ids.ts";
import type { KeptRule, Rule } from "./policy/policy.ts";
import {
  findQuestion,
  handoverSlot,
  isHandoverSlot,
  isQuestionSlot,
  openQuestions,
  questionSlot,
  questionsOf,
  waitsForAnswer,
} from "./question.ts";
import { err, ok, type Result } from "./result.ts";
import type { Run, Slot } from "./run.ts";

type Moment = Pick<Context, "now" | "monotonic">;

/** A press that Slack delivers twice renews nothing (ms). */
const RENEWED_AFTER_MS = 10_000;

/** For how long a person can ask for no reminders (ms). */
export const SNOOZES = [30 * 60_000, 60 * 60_000, 3 * 60 * 60_000] as const;

/** The claim that holds now. */
export function claimOf({ state, followUp }: Pick<Approval, "state" | "followUp">): Claim | null {
  return state.type === "pending" ? (followUp?.claim ?? null) : null;
}

/** Until when (wall time, for people). */
export const claimedUntil = ({ since, waitsSince }: Approval, { until }: Pick<Claim, "until">): number =>
  since + until - waitsSince;

/** The same approval for a press that was delivered twice. A claim of another person is replaced. */
export function claim(approval: Approval, by: UserId, rule: Rule, { now, monotonic }: Moment): Approval {
  const before = claimOf(approval);
  const until = monotonic + rule.followUp.claimMs;
  if (before === null || before.by !== by) {
    const instead = before === null ? {} : { instead: before.by };
    return withFollowUp(approval, { claim: { by, at: now, until, ...instead } });
  }
  const isRepeated = before.until >= until - RENEWED_AFTER_MS;
  return isRepeated ? approval : withFollowUp(approval, { claim: { ...before, at: now, until } });
}

/** Null: it is this person's claim. */
export function refusalToManage(approval: Approval, by: UserId): Refusal | null {
  const known = claimOf(approval);
  return known?.by === by ? null : { type: "not-claimer", by: known?.by ?? null };
}

export function release(approval: Approval, by: UserId): Result<Approval, Refusal> {
  const no = refusalToManage(approval, by);
  return no === null ? ok(withoutClaim(approval)) : err(no);
}

/**
 * No reminder to this person for so long, and never beyond the expiry. They keep the claim until then. The same approval for a form that
 * was submitted twice.
 */
export function snooze(
  approval: Approval,
  by: UserId,
  { ms, form, rule }: { readonly ms: number; readonly form: Nonce; readonly rule: Rule },
  { monotonic }: Moment,
): Result<Approval, Refusal> {
  const no = refusalToManage(approval, by);
  const known = claimOf(approval);
  if (no !== null || known === null) return err(no ?? { type: "not-claimer", by: null });
  if (known.snoozeForm === form) return ok(approval);
  const snoozedUntil = Math.min(monotonic + ms, endsUnder(approval, rule) ?? Infinity);
  const until = Math.max(known.until, snoozedUntil);
  return ok(withFollowUp(approval, { claim: { ...known, until, snoozedUntil, snoozeForm: form } }));
}

/** Null: this person's claim can be handed to another. */
export function refusalToHandOver(approval: Approval, by: UserId): Refusal | null {
  const no = refusalToManage(approval, by);
  const from = claimOf(approval)?.from;
  return no ?? (from === undefined ? null : { type: "handed-over-before", from });
}

/** `to` may decide it, as was found out before. The same approval for a form that was submitted twice. */
export function handOver(
  approval: Approval,
  { from, to, form, rule }: { from: UserId; to: UserId; form: Nonce; rule: Rule },
  { now, monotonic }: Moment,
): Result<Approval, Refusal> {
  const { handovers = [] } = approval.followUp ?? {};
  if (handovers.some(({ id }) => id === form)) return ok(approval);
  const no = refusalToHandOver(approval, from);
  if (no !== null) return err(no);
  if (from === to) return err({ type: "cannot-take-over", to, why: "claimer" });
  const until = monotonic + rule.followUp.claimMs;
  return ok(
    withFollowUp(approval, {
      claim: { by: to, at: now, until, from },
      handovers: [...handovers, { id: form, from, to, at: now }],
    }),
  );
}

/** Ends the claims whose time is over. The same object when there are none. */
export function lapseClaims(run: Run, { monotonic }: Pick<Context, "monotonic">): Run {
  const isOver = (approval: Approval): boolean => (claimOf(approval)?.until ?? Infinity) <= monotonic;
  if (!run.approvals.some(isOver)) return run;
  return { ...run, approvals: run.approvals.map((each) => (isOver(each) ? lapsed(each) : each)) };
}

function lapsed(approval: Approval): Approval {
  const by = claimOf(approval)?.by;
  return by === undefined ? approval : withFollowUp(withoutClaim(approval), { lapsed: { by } });
}

function withoutClaim(approval: Approval): Approval {
  const { claim: _ended, ...rest }: FollowUp = approval.followUp ?? {};
  return { ...approval, followUp: rest };
}

// More time to decide, where the rule allows it.

/** What the next extension adds (ms). Null: the rule allows none. 0: all that it allows was added. */
export function nextExtension(
  approval: Approval,
  { expiry, followUp: { extend } }: Pick<KeptRule, "expiry" | "followUp">,
): number | null {
  if (expiry === null || extend === null) return null;
  return Math.max(Math.min(extend.byMs, extend.atMostMs - extendedMs(approval)), 0);
}

/** How often it was extended. Buttons name it, so a press that is delivered twice, or that comes late, adds nothing. */
export const timesExtended = ({ followUp }: Pick<Approval, "followUp">): number =>
  followUp?.extensions?.length ?? 0;

/** `times`: how often it was extended by what the person saw. The same approval for a press that was delivered twice. */
export function extendTime(
  approval: Approval,
  { by, times, rule }: { by: UserId; times: number; rule: Pick<KeptRule, "expiry" | "followUp"> },
  { now }: Pick<Context, "now">,
): Result<Approval, Refusal> {
  const { extensions = [], warned: _again, ...rest }: FollowUp = approval.followUp ?? {};
  const last = extensions.at(-1);
  if (last !== undefined && times === extensions.length - 1 && last.by === by) return ok(approval);
  if (times !== extensions.length) return err({ type: "extended-meanwhile", by: last?.by ?? null });
  const byMs = nextExtension(approval, rule);
  if (byMs === null) return err({ type: "not-extendable" });
  const { extend } = rule.followUp;
  if (byMs === 0) return err({ type: "extension-cap", atMostMs: extend?.atMostMs ?? 0 });
  return ok(
    withFollowUp({ ...approval, followUp: rest }, { extensions: [...extensions, { by, at: now, byMs }] }),
  );
}

// What a card and the thread show of a claim, of questions and of more time: the render keys, and which messages the thread has.

/** Empty where nothing was done yet. */
export function followUpRenderKey(approval: Approval): string {
  const claim = claimOf(approval);
  const claimed =
    claim === null ? "" : ` claim ${claim.by} ${claim.until} ${claim.from ?? ""} ${claim.instead ?? ""}`;
  const quiet = claim?.snoozedUntil === undefined ? "" : ` snoozed ${claim.snoozedUntil}`;
  const asked = questionsOf(approval).length;
  const open = openQuestions(approval).length;
  const questions = asked === 0 ? "" : ` asked ${asked}, open ${open}, waits ${waitsForAnswer(approval)}`;
  const { rule } = approval.appliedRule;
  const times = timesExtended(approval);
  const extended = times === 0 ? "" : ` extended ${times}, next ${nextExtension(approval, rule)}`;
  const ends = asked + times === 0 ? "" : ` ends ${deadlineOf(approval)}`;
  return `${claimed}${quiet}${questions}${extended}${ends}`;
}

export const isFollowUpSlot = (slot: Slot): boolean => isQuestionSlot(slot) || isHandoverSlot(slot);

/** The thread's messages about questions and hand-overs. Also those about a request that has changed since. */
export function followUpSlots({ approvals, posts }: Run): readonly Slot[] {
  const wanted = approvals.flatMap((approval) => [
    ...questionsOf(approval).map(({ id }) => questionSlot(id)),
    ...(approval.followUp?.handovers ?? []).map(({ id }) => handoverSlot(id)),
  ]);
  return [...new Set([...wanted, ...Object.keys(posts).filter(isQuestionSlot)])];
}

/** Null: nothing is to be posted. What is no longer needed is not posted, and a posted message says that it is over. */
export function followUpMessageKey(run: Run, slot: Slot): string | null {
  const never = !isPosted(run, slot);
  if (isHandoverSlot(slot)) {
    const approval = run.approvals.find(({ followUp }) =>
      followUp?.handovers?.some(({ id }) => handoverSlot(id) === slot),
    );
    return never && approval?.state.type !== "pending" ? null : "handed over";
  }
  const found = findQuestion(run, slot);
  if (found === null) return never ? null : "changed";
  if (found.question.answer !== undefined) return "answered";
  if (found.approval.state.type === "pending") return "open";
  return never ? null : "over";
}

/** Slack may have it. */
function isPosted({ posts }: Run, slot: Slot): boolean {
  const type = posts[slot]?.type;
  return type === "up" || type === "unsure" || type === "sending";
}
