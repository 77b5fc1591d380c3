// Who may decide what, and when. One function each; nothing else answers these questions.

import type { Approval, ClosedBecause, Decision, Request, Verdict } from "./approval.ts";
import { isSettled } from "./approval.ts";
import type { ApprovalId, ChannelId, GroupId, Nonce, TeamId, UserId } from "./ids.ts";
import { BUILT_IN_RULE, type Circle, type Rule } from "./policy.ts";
import type { Run } from "./run.ts";

/** What Slack says of a person, looked up by id, never taken from a payload or a display name. */
export type Person = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly kind: "member" | "guest" | "outsider" | "bot" | "deactivated";
  /** In the run's channel, or able to open it: every full member sees a public channel. */
  readonly seesChannel: boolean;
  /** Of the user groups and channels that were asked about. What was not asked is not known. */
  readonly memberOf?: ReadonlyMap<GroupId | ChannelId, boolean>;
};

/** An expected «no», with its evidence. `slack/blocks/refusal-words.ts` puts each into words. */
export type Refusal =
  | { readonly because: "requester" }
  | { readonly because: "guest" | "outsider" | "bot" | "deactivated" | "not-in-channel" }
  /** The rule lets others decide. */
  | { readonly because: "not-approver"; readonly rule: Rule }
  /** The look-up failed, so nobody can say whether they may. */
  /** `of`: the earlier voters of whom nobody can say whether they still may. */
  | { readonly because: "unverified"; readonly of?: readonly UserId[] }
  | { readonly because: "already-voted"; readonly decision: Decision }
  /** It came back after this was shown: whoever approved took that back. */
  | { readonly because: "undone" }
  /** It opened again after this was shown, with the same request. */
  | { readonly because: "reopened" }
  /** Both for an approval: the request was not opened in full, or the word was not typed. */
  | { readonly because: "read-first" }
  | { readonly because: "word-needed"; readonly word: string }
  /** For an undo: it is not held any more, or somebody else gave it. */
  | { readonly because: "too-late" | "not-yours" }
  | { readonly because: "already-decided"; readonly decision: Decision; readonly settled: boolean }
  | { readonly because: "closed"; readonly why: ClosedBecause }
  | { readonly because: "changed"; readonly was: Request | null; readonly is: Request }
  /** A button or a modal that we do not know, or that belongs to someone or somewhere else. */
  | { readonly because: "unknown" }
  /** A card that Slack shows, but has not confirmed to us yet. */
  | { readonly because: "being-posted" }
  /** `verdict` is left out for a denial. */
  | { readonly because: "reason-needed"; readonly verdict?: "approve" }
  | { readonly because: "reason-too-short"; readonly chars: number; readonly fewest: number }
  | { readonly because: "reason-too-long"; readonly chars: number };

/** Slack's own limit for one input (chars). */
export const MAX_REASON_CHARS = 3_000;

/** Null: they may. Asked at the click and again at the submit, by the rule of that moment. */
export function mayDecide(person: Person, run: Run, rule: Rule = BUILT_IN_RULE): Refusal | null {
  if (person.kind !== "member") return { because: person.kind };
  if (person.team !== run.team) return { because: "outsider" };
  if (person.user === run.requester && !rule.selfApproval) return { because: "requester" };
  if (!person.seesChannel) return { because: "not-in-channel" };
  const among = isAmong(person, rule.approvers);
  return among === true
    ? null
    : among === null
      ? { because: "unverified" }
      : { because: "not-approver", rule };
}

/** Null: it was not asked, so nobody can say. By ids only. */
export function isAmong(person: Person, circle: Circle): boolean | null {
  if (circle === "anyone" || circle.users.includes(person.user)) return true;
  const known = [...circle.groups, ...circle.channels].map((each) => person.memberOf?.get(each));
  if (known.includes(true)) return true;
  return known.includes(undefined) ? null : false;
}

/**
 * Null: this version of the approval can be decided now. `was`: what the person saw, where that is still known. What is held can
 * still be denied.
 */
export function isOpen(
  approval: Approval | null,
  version: number,
  was: Request | null,
  verdict: Verdict = "approve",
): Refusal | null {
  if (approval === null) return { because: "unknown" };
  const { state } = approval;
  if (state.is === "closed") return { because: "closed", why: state.because };
  const deniable = state.is === "decided" && state.delivery.is === "held" && verdict === "deny";
  if (state.is === "decided" && !deniable) {
    return { because: "already-decided", decision: state.decision, settled: isSettled(approval) };
  }
  if (approval.version === version) return null;
  const same = version >= approval.requestVersion && version < approval.version;
  if (!same) return { because: "changed", was, is: approval.request };
  return { because: approval.past.at(-1)?.because === "undone" ? "undone" : "reopened" };
}

/** Somebody who wants to decide, by the rule and at the moment in question. */
export type Wish = {
  readonly run: Run;
  readonly rule: Rule;
  readonly by: Person;
  readonly verdict: Verdict;
  readonly monotonic: number;
};

/** Null: they may fill in the form, and submit it. */
export function mayOpen(
  approval: Approval,
  { run, rule, by, verdict, monotonic }: Wish,
  seen: { readonly version: number; readonly was: Request | null },
): Refusal | null {
  return (
    mayDecide(by, run, rule) ??
    isOpen(approval, seen.version, seen.was, verdict) ??
    isLate(approval, rule, monotonic) ??
    (verdict === "deny" ? null : mayApprove(approval, rule, by))
  );
}

/** By the rule of now, even before anybody has looked after the run. */
function isLate({ waitsSince, state }: Approval, { expiry }: Rule, monotonic: number): Refusal | null {
  if (expiry === null || state.is !== "pending" || monotonic < waitsSince + expiry.afterMs) return null;
  return { because: "closed", why: "expired" };
}

function mayApprove({ votes, readers }: Approval, { friction }: Rule, { user }: Person): Refusal | null {
  const mine = votes.find(({ by }) => by?.user === user);
  if (mine !== undefined) return { because: "already-voted", decision: mine };
  return friction.readFirst && !readers.includes(user) ? { because: "read-first" } : null;
}

/** What a button or a modal stands for. */
export type Ticket = {
  readonly nonce: Nonce;
  readonly team: TeamId;
  readonly approval: ApprovalId;
  readonly version: number;
  /** For a modal: who opened it. */
  readonly user: UserId | null;
};
