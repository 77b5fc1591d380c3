// Who may decide what, and when, and whether a given approval still counts. One function answers each of these questions.

import { endsUnder, whyNoPlace } from "./applied-rule.ts";
import {
  type Approval,
  type ClosedCause,
  type Decision,
  isSettled,
  type PastDecision,
  type Request,
  type Verdict,
} from "./approval.ts";
import type { Freeze } from "./freeze.ts";
import type { ApprovalId, ChannelId, GroupId, Nonce, TeamId, UserId } from "./ids.ts";
import { BUILT_IN_RULE, type Rule } from "./policy/policy.ts";
import { holdsWords } from "./policy/typed-words.ts";
import type { Part, Principals } from "./policy/named-people.ts";
import { contextBehind } from "./run-context.ts";
import { findApproval, isStopped, mayHaveAsked, replaceApproval, type Run, type Stop } from "./run.ts";
import { fieldsBeyondForm } from "./text/request-layout.ts";
import { seenChars } from "./text/text.ts";

/** What Slack says about a person, looked up by id, never taken from a payload or a display name. */
export type Person = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly kind: "member" | "guest" | "outsider" | "bot" | "deactivated";
  /** In the run's channel, or able to open it; every full member sees a public channel. */
  readonly seesChannel: boolean;
  /** Memberships in the user groups and channels that were asked about. Others are unknown. */
  readonly memberOf?: ReadonlyMap<GroupId | ChannelId, boolean>;
};

/** An expected "no", with its evidence. `adapters/slack/blocks/refusal-words.ts` has the words for each. */
export type Refusal =
  /** `perhaps`: another person is the requester now, or the answer to their start was lost. */
  | { readonly type: "requester"; readonly rule: Rule; readonly perhaps?: true }
  | { readonly type: "guest" | "outsider" | "bot" | "deactivated" | "not-in-channel" }
  /** The rule lets others decide. `requester`: may not either. */
  | { readonly type: "not-approver"; readonly rule: Rule; readonly requester?: UserId }
  /** The rule wants approvals from certain parts, and theirs fills none that is missing. */
  | { readonly type: "part-filled"; readonly missing: readonly Part[] }
  /** The look-up failed, so we cannot say whether they may decide. `of`: the earlier voters for whom it failed. */
  | { readonly type: "unverified"; readonly of?: readonly UserId[] }
  | { readonly type: "already-voted"; readonly decision: Decision }
  /** The approver undid the approval after this card was shown. */
  | { readonly type: "undone" }
  /** The approval reopened after this card was shown, with the same request. */
  | { readonly type: "reopened" }
  /** To approve: the request must first be opened in full, or the word must be typed. */
  | { readonly type: "read-first" }
  | { readonly type: "word-needed"; readonly word: string }
  /** For an approval: the form has no room for this many fields of the request. */
  | { readonly type: "not-all-shown"; readonly fields: number }
  /** For an approval: nothing may be approved now. A denial may be given. */
  | { readonly type: "stopped"; readonly stop: Stop }
  | { readonly type: "frozen"; readonly freeze: Freeze }
  /** For an undo: the approval is no longer held, or someone else gave it. */
  | { readonly type: "too-late" | "not-yours" }
  | { readonly type: "already-decided"; readonly decision: Decision; readonly settled: boolean }
  | { readonly type: "closed"; readonly why: ClosedCause }
  | { readonly type: "changed"; readonly was: Request | null; readonly now: Request }
  /** A button or a modal that we do not know, or that belongs to someone or somewhere else. */
  | { readonly type: "unknown" }
  /** Someone changed what is stored of the form. */
  | { readonly type: "form-changed" }
  /** A card that Slack shows, but has not confirmed to us yet. */
  | { readonly type: "being-posted" }
  /** Another person looks at it, or no one does (null). */
  | { readonly type: "not-claimer"; readonly by: UserId | null }
  /** This person was handed the request, so they cannot hand it on. */
  | { readonly type: "handed-over-before"; readonly from: UserId }
  /** Why that person cannot be handed the request. Null: none was chosen. */
  | {
      readonly type: "cannot-take-over";
      readonly to: UserId | null;
      readonly why: Refusal["type"] | "claimer";
    }
  /** A question, or an answer to one. */
  | { readonly type: "too-many-questions" | "answered-before" | "text-needed" }
  | { readonly type: "text-too-long"; readonly chars: number }
  | { readonly type: "not-asked"; readonly requester: UserId }
  /** In a form where a time is chosen: none was. */
  | { readonly type: "time-needed" }
  /** More time: the rule allows none, or no more, or a person extended it after this card was shown. */
  | { readonly type: "not-extendable" }
  | { readonly type: "extension-cap"; readonly atMostMs: number }
  | { readonly type: "extended-meanwhile"; readonly by: UserId | null }
  /** In a form where the verdict is chosen: neither was. */
  | { readonly type: "verdict-needed" }
  /** `verdict` is left out for a denial. */
  | { readonly type: "reason-needed"; readonly verdict?: "approve" }
  | { readonly type: "reason-too-short"; readonly chars: number; readonly fewest: number }
  | { readonly type: "reason-too-long"; readonly chars: number };

/** Slack's limit for one input (characters). */
export const MAX_REASON_CHARS = 3_000;

/**
 * Null: they may decide. Asked at the click and again at the submit, by the rule of that moment. Whom an escalation names may decide
 * without seeing the channel: the policy shows them the request.
 */
export function refusalToDecide(person: Person, run: Run, rule: Rule = BUILT_IN_RULE): Refusal | null {
  if (person.kind !== "member") return { type: person.kind };
  if (person.team !== run.team) return { type: "outsider" };
  if (mayHaveAsked(run, person.user) && !rule.selfApproval)
    return { type: "requester", rule, ...(person.user === run.requester ? {} : { perhaps: true }) };
  const ofOthers = {
    type: "not-approver",
    rule,
    ...(rule.selfApproval ? {} : { requester: run.requester }),
  } as const;
  const no = refusalByNames(person, rule, ofOthers);
  if (no !== null || rule.except === null) return no;
  const excepted = isOneOf(person, rule.except);
  return excepted === false ? null : excepted ? ofOthers : { type: "unverified" };
}

function refusalByNames(person: Person, rule: Rule, ofOthers: Refusal): Refusal | null {
  const { escalated } = rule;
  const called = escalated === undefined ? false : isOneOf(person, escalated);
  if (called === true) return null;
  if (!person.seesChannel) return called === null ? { type: "unverified" } : { type: "not-in-channel" };
  const among = isOneOf(person, rule.approvers);
  if (among === true) return null;
  return among === null || called === null ? { type: "unverified" } : ofOthers;
}

/** Null: Slack was not asked, so it is unknown. Compares ids only. */
export function isOneOf(person: Person, principals: Principals): boolean | null {
  if (principals === "anyone" || principals.users.includes(person.user)) return true;
  const known = [...principals.groups, ...principals.channels].map((each) => person.memberOf?.get(each));
  if (known.includes(true)) return true;
  return known.includes(undefined) ? null : false;
}

/**
 * Null: this version of the approval can be decided now. `was`: what the person saw, where that is still known. A held
 * approval can still be denied.
 */
export function refusalIfNotOpen(
  approval: Approval | null,
  version: number,
  was: Request | null,
  verdict: Verdict = "approve",
): Refusal | null {
  if (approval === null) return { type: "unknown" };
  const { state } = approval;
  if (state.type === "closed") return { type: "closed", why: state.cause };
  const deniable = state.type === "decided" && state.delivery.type === "held" && verdict === "deny";
  if (state.type === "decided" && !deniable) {
    return { type: "already-decided", decision: state.decision, settled: isSettled(approval) };
  }
  if (approval.version === version) return null;
  const same = version >= approval.requestVersion && version < approval.version;
  if (!same) return { type: "changed", was, now: approval.request };
  return { type: approval.past.at(-1)?.cause === "undone" ? "undone" : "reopened" };
}

/** Someone who wants to decide, by the rule and at the moment in question. */
export type DecisionAttempt = {
  readonly run: Run;
  readonly rule: Rule;
  readonly by: Person;
  readonly verdict: Verdict;
  readonly monotonic: number;
};

/** Null: they may open the form and submit it. `run`: after `applyBrake`, so that it carries the freeze. */
export function refusalToOpen(
  approval: Approval,
  { run, rule, by, verdict, monotonic }: DecisionAttempt,
  seen: { readonly version: number; readonly was: Request | null },
): Refusal | null {
  return (
    refusalToDecide(by, run, rule) ??
    refusalIfNotOpen(approval, seen.version, seen.was, verdict) ??
    refusalIfExpired(approval, rule, monotonic) ??
    (verdict === "deny" ? null : (refusalByBrake(run) ?? refusalToApprove(approval, { run, rule, by })))
  );
}

/**
 * Null: they may claim it, ask about it, hand it over and extend it. These are the people who may decide, and the brakes do not forbid it,
 * because nothing is sent.
 */
export function refusalToHandle(
  approval: Approval,
  { run, rule, by, monotonic }: Omit<DecisionAttempt, "verdict">,
  seen: { readonly version: number; readonly was: Request | null },
): Refusal | null {
  return (
    refusalToDecide(by, run, rule) ??
    refusalIfNotOpen(approval, seen.version, seen.was) ??
    refusalIfExpired(approval, rule, monotonic)
  );
}

function refusalByBrake(run: Run): Refusal | null {
  const { stop, frozen: freeze } = run;
  if (stop !== undefined && isStopped(run)) return { type: "stopped", stop };
  return freeze === undefined ? null : { type: "frozen", freeze };
}

/** By the current rule, even before the engine has expired the approval. */
function refusalIfExpired(approval: Approval, rule: Rule, monotonic: number): Refusal | null {
  const end = approval.state.type === "pending" ? endsUnder(approval, rule) : null;
  return end === null || monotonic < end ? null : { type: "closed", why: "expired" };
}

function refusalToApprove(
  { votes, readers, request }: Approval,
  { run, rule, by }: Pick<DecisionAttempt, "run" | "rule" | "by">,
): Refusal | null {
  const { user } = by;
  const mine = votes.find((vote) => vote.by?.user === user);
  if (mine !== undefined) return { type: "already-voted", decision: mine };
  const noPlace = whyNoPlace(votes, rule, (part) => isOneOf(by, part));
  if (noPlace !== null) return noPlace;
  const fields = fieldsBeyondForm(request, contextBehind(run.context, request));
  if (fields > 0) return { type: "not-all-shown", fields };
  return rule.friction.readFirst && !readers.includes(user) ? { type: "read-first" } : null;
}

/** What a button or a modal stands for. */
export type NonceBinding = {
  readonly nonce: Nonce;
  readonly team: TeamId;
  readonly approval: ApprovalId;
  readonly version: number;
  /** For a modal: who opened it. */
  readonly user: UserId | null;
};

/** Remembers that this person has opened the request in full. The same run where its rule does not require it. */
export function markRead(run: Run, id: ApprovalId, digest: string, user: UserId): Run {
  const approval = findApproval(run, id);
  if (approval === null || approval.request.digest !== digest) return run;
  const wanted = approval.state.type === "pending" && approval.appliedRule.rule.friction.readFirst;
  if (!wanted || approval.readers.includes(user)) return run;
  return replaceApproval(run, { ...approval, readers: [...approval.readers, user] });
}

// Whether a given approval still counts, by the current request, rule and facts about the voter. Asked about the earlier votes when
// the last of several is given, and about all of them right before the decision is sent.

/** Why a given approval no longer counts. */
export type VoidReason = Extract<PastDecision["cause"], "request-changed" | "voter-may-not" | "rule-changed">;
/** "unverified": Slack does not say now. */
export type VoteValidity = "counts" | "unverified" | VoidReason;

export type Facts = { readonly run: Run; readonly rule: Rule; readonly people: readonly Person[] };

export function validityOf(vote: Decision, approval: Approval, { run, rule, people }: Facts): VoteValidity {
  if (vote.digest !== approval.request.digest) return "request-changed";
  const person = people.find(({ team, user }) => team === vote.by?.team && user === vote.by.user);
  const no = person === undefined ? "unverified" : (refusalToDecide(person, run, rule)?.type ?? null);
  if (no === "unverified") return no;
  if (no !== null) return "voter-may-not";
  return meets(vote, approval, rule) ? "counts" : "rule-changed";
}

/** By the current rule, not the rule of the time when it was given. */
function meets({ reason, word, by }: Decision, { readers }: Approval, rule: Rule): boolean {
  const { friction } = rule;
  const hasRead = !friction.readFirst || (by !== null && readers.includes(by.user));
  return hasRead && seenChars(reason) >= rule.reason.approve && holdsWords(word ?? null, friction.word);
}
