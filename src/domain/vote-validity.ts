// Whether a given approval still counts, by the current request, rule and facts about the voter. Asked about the earlier votes when
// the last of several is given, and about all of them right before the decision is sent.

import type { Approval, Decision, PastDecision } from "./approval.ts";
import { refusalToDecide, type Person } from "./authorization.ts";
import type { Rule } from "./policy/policy.ts";
import type { Run } from "./run.ts";
import { seenChars } from "./text/text.ts";

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
  return (
    hasRead && seenChars(reason) >= rule.reason.approve && (friction.word === null || word === friction.word)
  );
}
