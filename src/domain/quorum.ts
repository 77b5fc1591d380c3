// Whether a vote still counts, by the current request, the current rule and fresh facts about everyone who gave one. Checked for the earlier
// votes when the last one is given, and for all votes right before the decision is sent.

import type { Approval, Decision, PastDecision } from "./approval.ts";
import { isOneOf, type Person, refusalToDecide } from "./authorization.ts";
import { wasInPart } from "./applied-rule.ts";
import { assignParts, type Part } from "./policy/named-people.ts";
import type { Rule } from "./policy/policy.ts";
import { holdsWords } from "./policy/typed-words.ts";
import type { Run } from "./run.ts";
import { seenChars } from "./text/text.ts";

/** Why a vote no longer counts. */
export type VoidReason = Extract<PastDecision["cause"], "request-changed" | "voter-may-not" | "rule-changed">;
/** "unverified": Slack cannot say now. */
export type VoteValidity = "counts" | "unverified" | VoidReason;

export type VoteFacts = { readonly run: Run; readonly rule: Rule; readonly people: readonly Person[] };

export function validityOf(
  vote: Decision,
  approval: Approval,
  { run, rule, people }: VoteFacts,
): VoteValidity {
  if (vote.digest !== approval.request.digest) return "request-changed";
  const person = people.find(({ team, user }) => team === vote.by?.team && user === vote.by.user);
  if (person === undefined) return "unverified";
  const refusal = refusalToDecide(person, run, rule);
  if (refusal !== null) return refusal.type === "unverified" ? "unverified" : "voter-may-not";
  return meetsFriction(vote, approval, rule) ? "counts" : "rule-changed";
}

/** Judges by the current rule, not by the rule under which the vote was given. */
function meetsFriction({ reason, word, by }: Decision, { readers }: Approval, rule: Rule): boolean {
  const { friction } = rule;
  const hasRead = !friction.readFirst || (by !== null && readers.includes(by.user));
  return hasRead && seenChars(reason) >= rule.reason.approve && holdsWords(word ?? null, friction.word);
}

/**
 * Checks each vote by itself and, if the rule requires approvals from certain parts, all votes together. An earlier vote in the list keeps
 * its place in a part. A vote that is left without a place no longer meets the rule.
 */
export function validityOfAll(
  votes: readonly Decision[],
  approval: Approval,
  facts: VoteFacts,
): ReadonlyMap<Decision, VoteValidity> {
  const { rule, people } = facts;
  const alone = new Map(votes.map((vote) => [vote, validityOf(vote, approval, facts)]));
  if (rule.parts.length === 0) return alone;
  const notVoid = votes.filter((vote) => ["counts", "unverified"].includes(alone.get(vote) ?? ""));
  const isInPart =
    (ifUnknown: boolean) =>
    (vote: Decision, part: Part): boolean => {
      const person = people.find(({ team, user }) => team === vote.by?.team && user === vote.by.user);
      return person === undefined ? wasInPart(vote, part) : (isOneOf(person, part) ?? ifUnknown);
    };
  const certainlyAssigned = assignParts(notVoid, rule, isInPart(false)).assigned;
  const possiblyAssigned = assignParts(notVoid, rule, isInPart(true)).assigned;
  const together = (vote: Decision, validity: VoteValidity): VoteValidity => {
    if (!notVoid.includes(vote) || certainlyAssigned.includes(vote)) return validity;
    return possiblyAssigned.includes(vote) ? "unverified" : "rule-changed";
  };
  return new Map([...alone].map(([vote, validity]) => [vote, together(vote, validity)]));
}

/**
 * Checks the votes of a complete approval like `validityOfAll`. If the votes with a place fill the rule, each vote without one is judged by
 * itself: a rule that needs fewer people than have approved voids nothing.
 */
export function validityOfComplete(
  votes: readonly Decision[],
  approval: Approval,
  facts: VoteFacts,
): ReadonlyMap<Decision, VoteValidity> {
  const together = validityOfAll(votes, approval, facts);
  const { counting, unverified } = sortVotes(together);
  if (counting.length + unverified.length < facts.rule.needs) return together;
  const alone = (vote: Decision): VoteValidity => validityOf(vote, approval, facts);
  return new Map(
    [...together].map(([vote, validity]) => [vote, validity === "rule-changed" ? alone(vote) : validity]),
  );
}

export type SortedVotes = {
  readonly counting: readonly Decision[];
  readonly unverified: readonly Decision[];
  readonly gone: readonly { readonly vote: Decision; readonly cause: VoidReason }[];
};

/** Keeps the order of the votes. */
export function sortVotes(validities: Iterable<readonly [Decision, VoteValidity]>): SortedVotes {
  const all = [...validities];
  const votesThat = (wanted: VoteValidity): Decision[] =>
    all.flatMap(([vote, validity]) => (validity === wanted ? [vote] : []));
  const gone = all.flatMap(([vote, cause]) =>
    cause === "counts" || cause === "unverified" ? [] : [{ vote, cause }],
  );
  return { counting: votesThat("counts"), unverified: votesThat("unverified"), gone };
}
