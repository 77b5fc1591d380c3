// Which parts of a rule the approvals of a request fill, by what was known when each was given.

import type { Approval, Decision } from "./approval.ts";
import type { ChannelId, GroupId } from "./ids.ts";
import { assignParts, type Part, setsOfParts } from "./policy/named-people.ts";
import type { Rule } from "./policy/policy.ts";

type Wants = Pick<Rule, "parts" | "needs">;

/** What an approval keeps of where its giver is. Undefined: the rule has no parts. */
export function partMemberships(
  { parts }: Pick<Rule, "parts">,
  memberOf: ReadonlyMap<GroupId | ChannelId, boolean> | undefined,
): Decision["memberOf"] {
  if (parts.length === 0) return undefined;
  return [...new Set(setsOfParts(parts))].filter((set) => memberOf?.get(set) === true);
}

export function wasInPart({ by, memberOf = [] }: Decision, part: Part): boolean {
  if (by === null) return false;
  const sets: readonly (GroupId | ChannelId)[] = [...part.groups, ...part.channels];
  return part.users.includes(by.user) || sets.some((set) => memberOf.includes(set));
}

/** The parts that no approval fills yet. */
export function missingParts({ votes }: Pick<Approval, "votes">, rule: Wants): readonly Part[] {
  return assignParts(votes, rule, wasInPart).missing;
}

/** Null: one more approval finds its place. `isIn`: whether its giver is in the part; null: unknown. */
export function whyNoPlace(
  votes: readonly Decision[],
  rule: Wants,
  isIn: (part: Part) => boolean | null,
):
  | { readonly type: "unverified" }
  | { readonly type: "part-filled"; readonly missing: readonly Part[] }
  | null {
  if (rule.parts.length === 0) return null;
  const { seated, missing } = assignParts(votes, rule, wasInPart);
  const fits = (isUnknownIn: boolean): boolean =>
    assignParts<Decision | null>([...seated, null], rule, (vote, part) =>
      vote === null ? (isIn(part) ?? isUnknownIn) : wasInPart(vote, part),
    ).seated.includes(null);
  if (fits(false)) return null;
  return fits(true) ? { type: "unverified" } : { type: "part-filled", missing };
}
