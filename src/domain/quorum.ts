// Which of several votes count together, by fresh facts about everyone who gave one.

import type { Approval, Decision } from "./approval.ts";
import { type Facts, isOneOf, validityOf, type VoteValidity } from "./authorization.ts";
import { wasInPart } from "./applied-rule.ts";
import { assignParts, type Part } from "./policy/named-people.ts";

/**
 * Checks each vote by itself and, if the rule requires approvals from certain parts, all votes together. An earlier vote in the list keeps
 * its place in a part. A vote that is left without a place no longer meets the rule.
 */
export function validityOfAll(
  votes: readonly Decision[],
  approval: Approval,
  facts: Facts,
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
  const surelySeated = assignParts(notVoid, rule, isInPart(false)).seated;
  const possiblySeated = assignParts(notVoid, rule, isInPart(true)).seated;
  const together = (vote: Decision, validity: VoteValidity): VoteValidity => {
    if (!notVoid.includes(vote) || surelySeated.includes(vote)) return validity;
    return possiblySeated.includes(vote) ? "unverified" : "rule-changed";
  };
  return new Map([...alone].map(([vote, validity]) => [vote, together(vote, validity)]));
}
