// What a person submits in a form, and the checks of its content: the request, the rule that the form promised, the reason and the word.

import type { Approval, Request, Verdict } from "./approval.ts";
import { MAX_REASON_CHARS, type Person, type ReasonRefusal, type Refusal } from "./authorization.ts";
import type { ApprovalId } from "./ids.ts";
import { coversParts } from "./policy/named-people.ts";
import type { Promised, Rule } from "./policy/policy.ts";
import { isTyped } from "./policy/typed-words.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";
import { seenChars } from "./text/text.ts";

export type Submission = {
  readonly approval: ApprovalId;
  readonly version: number;
  /** The digest of the request that the modal showed. */
  readonly digest: string;
  /** The request that the modal showed, if we still know it. */
  readonly was: Request | null;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly by: Person;
  /** The word that the person typed, if the rule requires one. */
  readonly word?: string;
  /** What the form promised. Absent for a form of an earlier version. */
  readonly promised?: Promised;
  /** Fresh facts about the earlier approvers. */
  readonly voters?: readonly Person[];
};

/** Returns what is wrong with the submission itself, or null. */
export function refusalOfContent(approval: Approval, submission: Submission, rule: Rule): Refusal | null {
  const { verdict, reason, was, digest, promised } = submission;
  if (approval.request.digest !== digest) return { type: "changed", was, now: approval.request };
  if (verdict === "approve" && promised !== undefined && isLaxer(rule, promised))
    return { type: "rule-changed", was: promised, now: promiseOf(rule) };
  const reasonRefusal = refusalOfReason(reason, verdict, rule);
  const { word } = rule.friction;
  if (verdict === "deny" || word === null || isTyped(word, submission.word ?? "")) return reasonRefusal;
  return reasonRefusal === null ? { type: "word-needed", word } : { ...reasonRefusal, missingWord: word };
}

/** Returns null if the reason meets the rule and fits into a form. */
export function refusalOfReason(reason: string, verdict: Verdict, rule: Rule): ReasonRefusal | null {
  const chars = seenChars(reason);
  const fewest = rule.reason[verdict];
  if (chars === 0 && fewest > 0)
    return verdict === "deny" ? { type: "reason-needed" } : { type: "reason-needed", verdict };
  if (reason.length > MAX_REASON_CHARS) return { type: "reason-too-long", chars: reason.length };
  return chars < fewest ? { type: "reason-too-short", chars, fewest } : null;
}

export const promiseOf = ({ needs, holdMs, parts }: Pick<Rule, "needs" | "holdMs" | "parts">): Promised => ({
  needs,
  holdMs,
  parts,
});

/** Returns the run with the rule that the form has shown, so that a form that is drawn again keeps its promise. */
export function asPromised(run: Run, id: ApprovalId, promised: Promised | undefined): Run {
  const approval = findApproval(run, id);
  if (approval === null) return run;
  const { appliedRule } = approval;
  const rule = { ...appliedRule.rule, ...promised };
  return replaceApproval(run, { ...approval, appliedRule: { ...appliedRule, rule } });
}

/**
 * The votes given so far do not matter: the form could not promise that no one else approves. If more people must approve than promised, a
 * shorter hold sends nothing sooner.
 */
const isLaxer = ({ needs, holdMs, parts }: Rule, promised: Promised): boolean =>
  needs < promised.needs ||
  (needs === promised.needs && holdMs < promised.holdMs) ||
  !coversParts(parts, promised.parts ?? []);
