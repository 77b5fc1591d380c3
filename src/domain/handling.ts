// How people handle a request that waits. A person can claim it ("I'm looking at it"), snooze its reminders, hand it over, release it, or
// extend its time if the rule allows that. A claim is visible, but does not change who may decide. authorization.ts says who may claim and
// extend; question.ts has the questions to the requester.

import { endsUnder } from "./applied-rule.ts";
import { decidersOf } from "./approval-transitions.ts";
import type { Approval } from "./approval.ts";
import type { Refusal } from "./authorization.ts";
import type { Context, Times } from "./context.ts";
import { type Claim, extendedMs, type FollowUp, withFollowUp } from "./follow-up.ts";
import type { Nonce, UserId } from "./ids.ts";
import type { KeptRule, Rule } from "./policy/policy.ts";
import { mayBePosted } from "./posted-message.ts";
import {
  findQuestion,
  handoverSlot,
  isHandoverSlot,
  isQuestionSlot,
  openQuestions,
  questionSlot,
  questionsOf,
  awaitsAnswerUntil,
} from "./question.ts";
import { err, ok, type Result } from "./result.ts";
import { mapApprovals, type Run } from "./run.ts";
import type { Slot } from "./slot.ts";

/** A press within this time of the last one does not renew the claim, because Slack may have delivered one press twice (ms). */
const RENEWED_AFTER_MS = 10_000;

/** How long a person can snooze reminders (ms). */
export const SNOOZES = [30 * 60_000, 60 * 60_000, 3 * 60 * 60_000] as const;
/** Snoozes that end within this time of each other are the same (ms). Less than the difference between any two of `SNOOZES`. */
const SAME_SNOOZE_MS = 15 * 60_000;

/** Returns the current claim, or null. */
export function claimOf({ state, followUp }: Pick<Approval, "state" | "followUp">): Claim | null {
  return state.type === "pending" ? (followUp?.claim ?? null) : null;
}

/** Returns when the claim lapses (wall time, for people). */
export const claimedUntil = ({ since, waitsSince }: Approval, { until }: Pick<Claim, "until">): number =>
  since + until - waitsSince;

/** Claims the request, and replaces another person's claim. Returns the same approval for a press that was delivered twice. */
export function claim(approval: Approval, by: UserId, rule: Rule, { now, monotonic }: Times): Approval {
  const before = claimOf(approval);
  const until = monotonic + rule.followUp.claimMs;
  if (before === null || before.by !== by) {
    const instead = before === null ? {} : { instead: before.by };
    return withFollowUp(approval, { claim: { by, at: now, until, ...instead } });
  }
  const isRepeated = before.until >= until - RENEWED_AFTER_MS;
  return isRepeated ? approval : withFollowUp(approval, { claim: { ...before, at: now, until } });
}

/** Returns null if the claim is this person's. */
export function refusalUnlessClaimer(approval: Approval, by: UserId): Refusal | null {
  const current = claimOf(approval);
  return current?.by === by ? null : { type: "not-claimer", by: current?.by ?? null };
}

export function release(approval: Approval, by: UserId): Result<Approval, Refusal> {
  const refusal = refusalUnlessClaimer(approval, by);
  return refusal === null ? ok(withoutClaim(approval)) : err(refusal);
}

/**
 * Stops reminders to this person for `ms`, but not beyond the expiry. The person keeps the claim until then. Returns the same approval for
 * a form that was submitted twice with the same result.
 */
export function snooze(
  approval: Approval,
  by: UserId,
  { ms, form, rule }: { readonly ms: number; readonly form: Nonce; readonly rule: Rule },
  { monotonic }: Times,
): Result<Approval, Refusal> {
  const refusal = refusalUnlessClaimer(approval, by);
  const current = claimOf(approval);
  if (refusal !== null || current === null) return err(refusal ?? { type: "not-claimer", by: null });
  const snoozedUntil = Math.min(monotonic + ms, endsUnder(approval, rule) ?? Infinity);
  if (current.snoozeForm === form) {
    const isSame = Math.abs(snoozedUntil - (current.snoozedUntil ?? 0)) < SAME_SNOOZE_MS;
    return isSame ? ok(approval) : err({ type: "form-used", did: "snoozed" });
  }
  const until = Math.max(current.until, snoozedUntil);
  return ok(withFollowUp(approval, { claim: { ...current, until, snoozedUntil, snoozeForm: form } }));
}

/** Returns null if this person's claim can be handed over to another person. */
export function refusalToHandOver(approval: Approval, by: UserId): Refusal | null {
  const refusal = refusalUnlessClaimer(approval, by);
  const from = claimOf(approval)?.from;
  return refusal ?? (from === undefined ? null : { type: "handed-over-before", from });
}

/** The caller has checked that `to` may decide the request. Returns the same approval for a form that was submitted twice. */
export function handOver(
  approval: Approval,
  { from, to, form, rule }: { from: UserId; to: UserId; form: Nonce; rule: Rule },
  { now, monotonic }: Times,
): Result<Approval, Refusal> {
  const { handovers = [] } = approval.followUp ?? {};
  const before = handovers.find(({ id }) => id === form);
  if (before !== undefined)
    return before.to === to ? ok(approval) : err({ type: "form-used", did: { handedTo: before.to } });
  const refusal = refusalToHandOver(approval, from);
  if (refusal !== null) return err(refusal);
  if (from === to) return err({ type: "cannot-take-over", to, why: "claimer" });
  if (decidersOf(approval).includes(to)) return err({ type: "cannot-take-over", to, why: "already-voted" });
  const until = monotonic + rule.followUp.claimMs;
  return ok(
    withFollowUp(approval, {
      claim: { by: to, at: now, until, from },
      handovers: [...handovers, { id: form, from, to, at: now }],
    }),
  );
}

/** Ends the claims whose time is over. Returns the same object if there are none. */
export function lapseClaims(run: Run, { monotonic }: Pick<Context, "monotonic">): Run {
  const isOver = (approval: Approval): boolean => (claimOf(approval)?.until ?? Infinity) <= monotonic;
  return mapApprovals(run, (approval) => (isOver(approval) ? withLapsedClaim(approval) : approval));
}

function withLapsedClaim(approval: Approval): Approval {
  const by = claimOf(approval)?.by;
  return by === undefined ? approval : withFollowUp(withoutClaim(approval), { lapsed: { by } });
}

/** Ends the claim of a person who has approved, also one that has lapsed, so that the others are reminded. */
export function endClaimOf(approval: Approval, user: UserId): Approval {
  const { claim, lapsed, ...rest } = approval.followUp ?? {};
  if (claim?.by !== user && lapsed?.by !== user) return approval;
  const others = {
    ...(claim === undefined || claim.by === user ? {} : { claim }),
    ...(lapsed === undefined || lapsed.by === user ? {} : { lapsed }),
  };
  return { ...approval, followUp: { ...rest, ...others } };
}

function withoutClaim(approval: Approval): Approval {
  const { claim: _ended, ...rest }: FollowUp = approval.followUp ?? {};
  return { ...approval, followUp: rest };
}

// More time to decide, if the rule allows it.

/** Returns what the next extension adds (ms): null if the rule allows none, 0 if everything that it allows was added. */
export function nextExtension(
  approval: Approval,
  { expiry, followUp: { extend } }: Pick<KeptRule, "expiry" | "followUp">,
): number | null {
  if (expiry === null || extend === null) return null;
  return Math.max(Math.min(extend.byMs, extend.atMostMs - extendedMs(approval)), 0);
}

/** Counts the extensions. Buttons carry this number, so a press that is delivered twice or late adds nothing. */
export const timesExtended = ({ followUp }: Pick<Approval, "followUp">): number =>
  followUp?.extensions?.length ?? 0;

/** `times`: the number of extensions that the person saw. Returns the same approval for a press that was delivered twice. */
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

// What a card and the thread show about claims, questions and extensions: the render keys, and the messages of the thread.

/** Returns an empty text if there is nothing to show. */
export function followUpRenderKey(approval: Approval): string {
  const claim = claimOf(approval);
  const claimed =
    claim === null ? "" : ` claim ${claim.by} ${claim.until} ${claim.from ?? ""} ${claim.instead ?? ""}`;
  const quiet = claim?.snoozedUntil === undefined ? "" : ` snoozed ${claim.snoozedUntil}`;
  const asked = questionsOf(approval).length;
  const open = openQuestions(approval).length;
  const questions = asked === 0 ? "" : ` asked ${asked}, open ${open}, waits ${awaitsAnswerUntil(approval)}`;
  const { rule } = approval.appliedRule;
  const times = timesExtended(approval);
  const extended = times === 0 ? "" : ` extended ${times}, next ${nextExtension(approval, rule)}`;
  return `${claimed}${quiet}${questions}${extended}`;
}

export const isFollowUpSlot = (slot: Slot): boolean => isQuestionSlot(slot) || isHandoverSlot(slot);

/** Returns the slots of the messages about questions and hand-overs, including those about a request that has changed since. */
export function followUpSlots({ approvals, posts }: Run): readonly Slot[] {
  const wanted = approvals.flatMap((approval) => [
    ...questionsOf(approval).map(({ id }) => questionSlot(id)),
    ...(approval.followUp?.handovers ?? []).map(({ id }) => handoverSlot(id)),
  ]);
  return [...new Set([...wanted, ...Object.keys(posts).filter(isQuestionSlot)])];
}

/** Returns null if nothing should be posted. A message that is no longer needed is not posted; a posted one says that it is over. */
export function followUpMessageKey(run: Run, slot: Slot): string | null {
  const isUnposted = !mayBePosted(run.posts[slot]);
  if (isHandoverSlot(slot)) {
    const approval = run.approvals.find(({ followUp }) =>
      followUp?.handovers?.some(({ id }) => handoverSlot(id) === slot),
    );
    return isUnposted && approval?.state.type !== "pending" ? null : "handed over";
  }
  const found = findQuestion(run, slot);
  if (found === null) return isUnposted ? null : "changed";
  if (found.question.answer !== undefined) return "answered";
  if (found.approval.state.type === "pending") return "open";
  return isUnposted ? null : "over";
}
