// How far several approvals count together, by fresh facts about everyone who gave one.

import type { Approval, Decision } from "./approval.ts";
import { type Facts, isOneOf, validityOf, type VoteValidity } from "./authorization.ts";
import { wasInPart } from "./applied-rule.ts";
import { assignParts, type Part } from "./policy/named-people.ts";

/**
 * Each alone, and where the rule wants approvals from certain parts also together: the earlier one in the list keeps its place, and one
 * that is left without a place falls short of the rule.
 */
export function validityOfAll(
  votes: readonly Decision[],
  approval: Approval,
  facts: Facts,
): ReadonlyMap<Decision, VoteValidity> {
  const { rule, people } = facts;
  const alone = new Map(votes.map((vote) => [vote, validityOf(vote, approval, facts)]));
  if (rule.parts.length === 0) return alone;
  const standing = votes.filter((vote) => ["counts", "unverified"].includes(alone.get(vote) ?? ""));
  const isIn =
    (isUnknownIn: boolean) =>
    (vote: Decision, part: Part): boolean => {
      const person = people.find(({ team, user }) => team === vote.by?.team && user === vote.by.user);
      return person === undefined ? wasInPart(vote, part) : (isOneOf(person, part) ?? isUnknownIn);
    };
  const { seated } = assignParts(standing, rule, isIn(false));
  const perhaps = assignParts(standing, rule, isIn(true)).seated;
  const together = (vote: Decision, worth: VoteValidity): VoteValidity => {
    if (!standing.includes(vote) || seated.includes(vote)) return worth;
    return perhaps.includes(vote) ? "unverified" : "rule-changed";
  };
  return new Map([...alone].map(([vote, worth]) => [vote, together(vote, worth)]));
}
