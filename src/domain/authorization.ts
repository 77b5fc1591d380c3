// Who may decide what, when they may, and whether an approval that was given still counts. One function answers each question.

import { endsAt, endsUnder, refusalOfPlace } from "./applied-rule.ts";
import {
  type Approval,
  type ClosedCause,
  type Decision,
  isSettled,
  type Request,
  type Verdict,
} from "./approval.ts";
import type { Freeze } from "./freeze.ts";
import type { ChannelId, GroupId, TeamId, UserId } from "./ids.ts";
import type { Promised, Rule } from "./policy/policy.ts";
import { isInAll, listsOf, type NamedPeople, type Part, type Principals } from "./policy/named-people.ts";
import { hasUnknownGroups } from "./rule-facts.ts";
import { contextBehind } from "./run-context.ts";
import { isStopped, mayHaveAsked, type Run, type Stop } from "./run.ts";
import { fieldsBeyondForm } from "./text/request-layout.ts";
import { needsFile } from "./text/request-text.ts";

/** What Slack says about a person. Looked up by id, never taken from a payload or a display name. */
export type Person = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly kind: "member" | "guest" | "outsider" | "bot" | "deactivated";
  /** Whether the person is in the run's channel or can open it. Every full member can open a public channel. */
  readonly seesChannel: boolean;
  /** Membership, for the user groups and channels that we asked about. Any other is unknown. */
  readonly memberOf?: ReadonlyMap<GroupId | ChannelId, boolean>;
};

/** `at`: when the service confirmed it (ms), or null. "counts": it counts, and waits for others. "stands": it is held again, in a newer version. */
export type NoLongerHeld =
  | { readonly type: "sent"; readonly at: number | null }
  | { readonly type: "due" | "denied" | "counts" | "stands" };

/** An expected "no", with its evidence. The words for each are in `adapters/slack/blocks/refusal-words.ts`. */
export type Refusal =
  /** `perhaps`: the person may have requested the run, but another person is recorded as the requester (see `Run.mayHaveAsked`). */
  | { readonly type: "requester"; readonly rule: Rule; readonly perhaps?: true }
  | { readonly type: "guest" | "outsider" | "bot" | "deactivated" | "not-in-channel" }
  /** The rule lets only other people decide. `requester`: the requester, if they may not decide either. */
  | { readonly type: "not-approver"; readonly rule: Rule; readonly requester?: UserId }
  /** The rule requires approvals from certain parts, and this person is in none of the missing ones. */
  | { readonly type: "part-filled"; readonly missing: readonly Part[] }
  /**
   * A look-up failed, so we cannot say whether the person may decide. `of`: the earlier voters whose look-up failed. `requester`: the person
   * whose groups decide which rule applies, if Slack has not named them.
   */
  | { readonly type: "unverified"; readonly of?: readonly UserId[]; readonly requester?: UserId }
  | { readonly type: "already-voted"; readonly decision: Decision }
  /** After this card was shown, the approver took the approval back, or it reopened with the same request. */
  | { readonly type: "undone" | "reopened" }
  /** Before approving, the person must open the request in full, or type the word. */
  | { readonly type: "read-first" }
  | { readonly type: "word-needed"; readonly word: string }
  /** The form has no room for this many fields of the request, so it can only be denied. */
  | { readonly type: "not-all-shown"; readonly fields: number }
  /** The whole request is only in a file in the run's thread, and this person does not see the channel. They can deny the request. */
  | { readonly type: "file-not-seen" }
  /** Nothing may be approved while the brake is on. Requests can still be denied. */
  | { readonly type: "stopped"; readonly stop: Stop }
  | { readonly type: "frozen"; readonly freeze: Freeze }
  /** The button that the person pressed was drawn before this stop. */
  | { readonly type: "other-stop"; readonly stop: Stop }
  /** For an undo: that approval is no longer held. `became`: what happened instead. Null if its card shows something else by now. */
  | { readonly type: "too-late"; readonly became: NoLongerHeld | null }
  /** For an undo: someone else gave the approval. */
  | { readonly type: "not-yours" }
  | { readonly type: "already-decided"; readonly decision: Decision; readonly settled: boolean }
  | { readonly type: "closed"; readonly why: ClosedCause }
  | { readonly type: "changed"; readonly was: Request | null; readonly now: Request }
  /** The rule now requires less than the form promised: fewer approvals, as many but a shorter hold, or none from a part that it named. */
  | { readonly type: "rule-changed"; readonly was: Promised; readonly now: Promised }
  /** A button or a modal that we do not know, or that belongs to another person or place. */
  | { readonly type: "unknown" }
  /** The stored record of the form was changed. */
  | { readonly type: "form-changed" }
  /** Slack shows the card, but has not confirmed the post to us yet. */
  | { readonly type: "being-posted" }
  /** Slack refused the file with the whole request, in these words. */
  | { readonly type: "file-refused"; readonly words: string; readonly isBraked: boolean }
  /** The claim is another person's, or no person has claimed the request (null). */
  | { readonly type: "not-claimer"; readonly by: UserId | null }
  /** The request was handed over to this person, so they cannot hand it on. */
  | { readonly type: "handed-over-before"; readonly from: UserId }
  /** The request cannot be handed over to `to`. Null if no person was chosen. */
  | {
      readonly type: "cannot-take-over";
      readonly to: UserId | null;
      readonly why: Refusal["type"] | "claimer";
    }
  /** What is wrong with a question, or with an answer to one. */
  | { readonly type: "too-many-questions" | "answered-before" | "text-needed" }
  | { readonly type: "text-too-long"; readonly chars: number }
  | { readonly type: "not-asked"; readonly requester: UserId }
  /** The form was submitted before with something else, and did that. */
  | { readonly type: "form-used"; readonly did: "asked" | "snoozed" | { readonly handedTo: UserId } }
  /** The form asks for a time or a verdict, and none was chosen. */
  | { readonly type: "time-needed" }
  | { readonly type: "verdict-needed" }
  /** The rule allows no extension, or no further one, or a person extended the request after this card was shown. */
  | { readonly type: "not-extendable" }
  | { readonly type: "extension-cap"; readonly atMostMs: number }
  | { readonly type: "extended-meanwhile"; readonly by: UserId | null }
  | ReasonRefusal;

/** What is wrong with a reason. `verdict` is absent for a denial. `missingWord`: the word that the person still has to type. */
export type ReasonRefusal = { readonly missingWord?: string } & (
  | { readonly type: "reason-needed"; readonly verdict?: "approve" }
  | { readonly type: "reason-too-short"; readonly chars: number; readonly fewest: number }
  | { readonly type: "reason-too-long"; readonly chars: number }
);

/** The refusals of `refusalToOpen`. */
export type OpenRefusal = Extract<
  Refusal,
  {
    readonly type:
      | ("requester" | "guest" | "outsider" | "bot" | "deactivated")
      | ("not-in-channel" | "not-approver" | "unverified")
      | ("unknown" | "closed" | "already-decided" | "changed" | "undone" | "reopened" | "stopped" | "frozen")
      | ("already-voted" | "part-filled" | "not-all-shown" | "file-not-seen" | "read-first");
  }
>;

/** Slack's limit for one text input (characters). */
export const MAX_REASON_CHARS = 3_000;

/**
 * Returns null if the person may decide. Called at the click and again at the submit, with the rule in force at that moment. People whom
 * an escalation names may decide without seeing the channel, because the policy shows them the request.
 */
export function refusalToDecide(person: Person, run: Run, rule: Rule): OpenRefusal | null {
  if (person.kind !== "member") return { type: person.kind };
  if (person.team !== run.team) return { type: "outsider" };
  if (mayHaveAsked(run, person.user) && !rule.selfApproval)
    return { type: "requester", rule, ...(person.user === run.requester ? {} : { perhaps: true }) };
  const notApprover = {
    type: "not-approver",
    rule,
    ...(rule.selfApproval ? {} : { requester: run.requester }),
  } as const;
  const refusal = refusalByNames(person, rule, notApprover);
  if (refusal !== null || rule.except === null) return refusal;
  const isExcepted = isOneOf(person, rule.except);
  if (isExcepted === null) return { type: "unverified" };
  return isExcepted ? notApprover : null;
}

function refusalByNames(person: Person, rule: Rule, notApprover: OpenRefusal): OpenRefusal | null {
  const { escalated } = rule;
  const isEscalatedTo = escalated === undefined ? false : isOneOf(person, escalated);
  if (isEscalatedTo === true) return null;
  if (!person.seesChannel)
    return isEscalatedTo === null ? { type: "unverified" } : { type: "not-in-channel" };
  const isApprover = isOneOf(person, rule.approvers);
  if (isApprover === true) return null;
  return isApprover === null || isEscalatedTo === null ? { type: "unverified" } : notApprover;
}

/** Returns whether the person is among the principals, or null if Slack was not asked and we do not know. Compares ids only. */
export const isOneOf = (person: Person, principals: Principals): boolean | null =>
  isInAll(listsOf(principals).map((list) => isInList(person, list)));

function isInList(person: Person, { users, groups, channels }: NamedPeople): boolean | null {
  if (users.includes(person.user)) return true;
  const memberships = [...groups, ...channels].map((id) => person.memberOf?.get(id));
  if (memberships.includes(true)) return true;
  return memberships.includes(undefined) ? null : false;
}

/**
 * Returns null if this version of the approval can be decided now. `was`: the request that the person saw, if we still know it. A held
 * approval can still be denied.
 */
export function refusalIfNotOpen(
  approval: Approval,
  version: number,
  was: Request | null,
  verdict: Verdict = "approve",
): OpenRefusal | null {
  const { state } = approval;
  if (state.type === "closed") return { type: "closed", why: state.cause };
  const canStillBeDenied = state.type === "decided" && state.delivery.type === "held" && verdict === "deny";
  if (state.type === "decided" && !canStillBeDenied) {
    return { type: "already-decided", decision: state.decision, settled: isSettled(approval) };
  }
  if (approval.version === version) return null;
  const isSameRequest = version >= approval.requestVersion && version < approval.version;
  if (!isSameRequest) return { type: "changed", was, now: approval.request };
  return { type: approval.past.at(-1)?.cause === "undone" ? "undone" : "reopened" };
}

/** A person who wants to decide, with the rule and the moment to judge by. */
export type DecisionAttempt = {
  readonly run: Run;
  readonly rule: Rule;
  readonly by: Person;
  readonly verdict: Verdict;
  readonly monotonic: number;
  /** Fresh facts about those who have approved already, for a rule with parts. A person may have moved to another part since. */
  readonly voters?: readonly Person[];
  /** `rulesInDoubt` of the request. */
  readonly inDoubt?: readonly Rule[];
};

/** Returns null if the person may open the form and submit it. `run` must have passed `asOfNow`, so that it carries the freeze. */
export function refusalToOpen(
  approval: Approval,
  attempt: DecisionAttempt,
  seen: { readonly version: number; readonly was: Request | null },
): OpenRefusal | null {
  const { run, by, verdict, monotonic, voters = [] } = attempt;
  return unlessInDoubt(
    attempt,
    (rule) =>
      refusalToDecide(by, run, rule) ??
      refusalIfNotOpen(approval, seen.version, seen.was, verdict) ??
      refusalIfExpired(approval, { run, rule, monotonic, verdict }) ??
      (verdict === "deny"
        ? null
        : (refusalByBrake(run) ?? refusalToApprove(approval, { run, rule, by, voters }))),
  );
}

/**
 * Returns the refusal under `rule`. If a rule in doubt refuses nothing, the person may be allowed once Slack has answered, so the refusal
 * says only that.
 */
export function unlessInDoubt<Refused extends Refusal>(
  { run, rule, inDoubt = [] }: Pick<DecisionAttempt, "run" | "rule" | "inDoubt">,
  refusalUnder: (rule: Rule) => Refused | null,
): Refused | Extract<OpenRefusal, { type: "unverified" }> | null {
  const isRefusal = (refusal: Refused | null): boolean => refusal !== null && refusal.type !== "read-first";
  const refusal = refusalUnder(rule);
  const isSure = !isRefusal(refusal) || inDoubt.every((each) => isRefusal(refusalUnder(each)));
  return isSure ? refusal : { type: "unverified", requester: run.requester };
}

/**
 * Returns null if the person may claim the request, ask about it, hand it over and extend it. People who may decide may do so, even while
 * a brake is on, because nothing is sent.
 */
export function refusalToHandle(
  approval: Approval,
  attempt: Omit<DecisionAttempt, "verdict">,
  seen: { readonly version: number; readonly was: Request | null },
): Refusal | null {
  const { run, by, monotonic } = attempt;
  return unlessInDoubt(
    attempt,
    (rule) =>
      refusalToDecide(by, run, rule) ??
      refusalIfNotOpen(approval, seen.version, seen.was) ??
      refusalIfExpired(approval, { run, rule, monotonic }),
  );
}

function refusalByBrake(run: Run): OpenRefusal | null {
  const { stop, frozen: freeze } = run;
  if (stop !== undefined && isStopped(run)) return { type: "stopped", stop };
  return freeze === undefined ? null : { type: "frozen", freeze };
}

/** Judges by the current rule, so it refuses even before the engine has expired the approval. */
function refusalIfExpired(
  approval: Approval,
  { run, rule, monotonic, verdict }: Omit<DecisionAttempt, "by" | "verdict"> & { verdict?: Verdict },
): OpenRefusal | null {
  const isOver = (end: number | null): boolean => end !== null && monotonic >= end;
  if (approval.state.type !== "pending" || !isOver(endsUnder(approval, rule))) return null;
  // The time may be over only under a rule that does not apply. Then nothing is approved, but everything else is possible.
  if (hasUnknownGroups(run) && !isOver(endsAt(approval)))
    return verdict === "approve" ? { type: "unverified" } : null;
  return { type: "closed", why: "expired" };
}

function refusalToApprove(
  { votes, readers, request }: Approval,
  { run, rule, by, voters }: Required<Pick<DecisionAttempt, "run" | "rule" | "by" | "voters">>,
): OpenRefusal | null {
  const { user } = by;
  const ownVote = votes.find((vote) => vote.by?.user === user);
  if (ownVote !== undefined) return { type: "already-voted", decision: ownVote };
  const refusalAmong = (people: readonly Person[]) =>
    refusalOfPlace(votes, rule, (voter, part) => {
      const isVoter = ({ team, user }: Person): boolean => team === voter?.team && user === voter.user;
      const person = voter === null ? by : people.find(isVoter);
      return person === undefined ? null : isOneOf(person, part);
    });
  // An earlier approver who has moved may make room, or may lose their place to the new one.
  const partRefusal = refusalAmong([]) === null ? null : refusalAmong(voters);
  if (partRefusal !== null) return partRefusal;
  const fields = fieldsBeyondForm(request, contextBehind(run.context, request));
  if (fields > 0) return { type: "not-all-shown", fields };
  if (!by.seesChannel && needsFile(request)) return { type: "file-not-seen" };
  return rule.friction.readFirst && !readers.includes(user) ? { type: "read-first" } : null;
}
