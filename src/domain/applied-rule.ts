// Which rule applies to an approval, its deadline, whether enough people can approve, and which parts of the rule the approvals so far fill. A
// card shows the rule of the newest fetch; a decision must meet the rule of its own moment.

import type { Approval, ApproverCount, Decision, Request } from "./approval.ts";
import type { Context } from "./context.ts";
import type { Outcome } from "./effect.ts";
import { escalatedMs, widened } from "./escalation.ts";
import { extendedMs, momentOfAge } from "./follow-up.ts";
import type { ApprovalId, ChannelId, GroupId, UserId } from "./ids.ts";
import { isSameJson } from "./json.ts";
import { ruleFor } from "./policy/choose-rule.ts";
import { assignParts, type Part, setsOfParts } from "./policy/named-people.ts";
import { keptRule, type Rule, type RuleRef } from "./policy/policy.ts";
import { factsFor, nextTurnAt, type PolicyNow, withGroupsToAsk } from "./rule-facts.ts";
import { findApproval, mapApprovals, type PrivateNotice, replaceApproval, type Run } from "./run.ts";

/**
 * The rule for a decision on this request at this moment, by what is known of the requester now: with the people of the stages that the
 * request has reached.
 */
export function ruleOf(ctx: PolicyNow, run: Run, approval: Pick<Approval, "request" | "followUp">): Rule {
  return widened(ruleOfRequest(ctx, run, approval.request), approval);
}

function ruleOfRequest(ctx: PolicyNow, run: Run, request: Request): Rule {
  return ruleFor(ctx.policy, factsFor(run, request, ctx));
}

export function ruleRefOf(
  { version }: { readonly version: string | null },
  { name }: Pick<Rule, "name">,
): RuleRef {
  return version === null ? null : { version, rule: name };
}

/** Applies the current rules to pending approvals. The same object when they apply already. */
export function applyPolicy(before: Run, ctx: RuleMoment): Run {
  const run = withGroupsToAsk(before, ctx.policy);
  return mapApprovals(run, (approval) => withRuleOfNow(approval, run, ctx));
}

/** The policy in force and both clocks. */
type RuleMoment = Pick<Context, "policy" | "now" | "monotonic">;

function withRuleOfNow(approval: Approval, run: Run, ctx: RuleMoment): Approval {
  if (approval.state.type !== "pending") return approval;
  const { policy } = ctx;
  const rule = keptRule(ruleOfRequest(ctx, run, approval.request));
  const { appliedRule } = approval;
  const until = nextTurnAt(policy, ctx, appliedRule.until);
  const card = policy.card === null ? {} : { card: policy.card };
  // By value: a document of an older program may lack a part of the very same rule.
  const isApplied =
    appliedRule.version === policy.version &&
    appliedRule.until === until &&
    isSameJson(appliedRule.rule, rule) &&
    isSameJson(appliedRule.card ?? null, policy.card);
  const ends = until === undefined ? {} : { until };
  return isApplied
    ? approval
    : { ...approval, appliedRule: { version: policy.version, rule, ...card, ...ends } };
}

/** When another rule may apply although nothing happens (monotonic), if ever. */
export function ruleTurnsAt({ state, appliedRule }: Approval): number | null {
  return state.type === "pending" ? (appliedRule.until ?? null) : null;
}

// The deadline that the rule sets.

/**
 * Until when (wall time, for people) the approval can be decided. Null: it does not expire, is no longer pending, or its time stands
 * still.
 */
export function deadlineOf(approval: Approval): number | null {
  const at = endsAt(approval);
  return at === null ? null : approval.since + at - approval.waitsSince;
}

/** The moment of expiry (monotonic), which setting the wall clock does not move. Null as for `deadlineOf`. */
export function endsAt(approval: Approval): number | null {
  const { state, appliedRule } = approval;
  return state.type === "pending" ? endsUnder(approval, appliedRule.rule) : null;
}

/** The moment of expiry (monotonic) under this rule. Null: it does not expire, or its time stands still. */
export function endsUnder(approval: Approval, { expiry }: Pick<Rule, "expiry">): number | null {
  return expiry === null ? null : momentOfAge(approval, expiry.afterMs + extendedMs(approval));
}

// How many people can approve a request, according to Slack. If there are too few, Countersign says so at once. Who may decide is
// the business of authorization.ts.

/** What a count is for: another rule, another request and a stage need a new count. */
export function countKeyOf(approval: Approval): string {
  const { appliedRule, version } = approval;
  const upTo = escalatedMs(approval);
  const stage = upTo === 0 ? "" : ` escalated ${upTo}`;
  return `${appliedRule.version ?? "built-in"} ${appliedRule.rule.name} v${version}${stage}`;
}

/** People join groups and come back. Too few people, or an unknown number, are counted again after this time (ms). */
const AGAIN_AFTER_MS = 5 * 60_000;

/** When to count (monotonic). Null: no count is needed. */
export function countAt(approval: Approval): number | null {
  const { state, approverCount } = approval;
  if (state.type !== "pending") return null;
  if (approverCount === null || approverCount.of !== countKeyOf(approval)) return 0;
  return approverCount.able !== null && !isTooFew(approval, approverCount)
    ? null
    : approverCount.at + AGAIN_AFTER_MS;
}

const isTooFew = ({ appliedRule }: Approval, { able }: ApproverCount): boolean =>
  able !== null && able < appliedRule.rule.needs;

export type TooFewApprovers = { readonly able: number; readonly needs: number; readonly grows: boolean };

/** Null: enough people can approve it, or the number is unknown. */
export function tooFewApprovers(approval: Approval): TooFewApprovers | null {
  const { approverCount, appliedRule, state } = approval;
  if (
    state.type !== "pending" ||
    approverCount === null ||
    approverCount.able === null ||
    approverCount.of !== countKeyOf(approval)
  )
    return null;
  const { able, grows } = approverCount;
  return able < appliedRule.rule.needs ? { able, needs: appliedRule.rule.needs, grows } : null;
}

/** Notifies the requester and the fallback channel once, when the count is first too low. */
export function applyApproverCount(run: Run, id: ApprovalId, outcome: Outcome, ctx: Context): Run {
  const approval = findApproval(run, id);
  if (outcome.type !== "counted" || approval === null || outcome.of !== countKeyOf(approval)) return run;
  const { of, able, grows } = outcome;
  const counted: Approval = { ...approval, approverCount: { of, at: ctx.monotonic, able, grows } };
  const next = replaceApproval(run, counted);
  const few = tooFewApprovers(counted);
  const known = approval.approverCount !== null && isTooFew(approval, approval.approverCount);
  if (few === null || known) return next;
  const { fallback } = ctx.policy;
  const addressees: (UserId | ChannelId)[] = fallback === null ? [run.requester] : [run.requester, fallback];
  const says = { type: "nobody-can-approve", approval: id, ...few } as const;
  const notices = addressees.map((to): PrivateNotice => ({
    id: ctx.nonce(),
    to,
    says,
    state: "planned",
    notBefore: 0,
  }));
  return { ...next, notices: [...next.notices, ...notices] };
}

// Which parts of a rule the approvals of a request fill, by what was known when each was given.

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

/**
 * Null: one more approval finds its place. `isIn`: whether its giver is in the part; null: unknown. If the policy now needs
 * no more approvals than were given, all places are taken; then the new approval gets a place and an earlier one loses its place.
 */
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
  const isFull = seated.length >= rule.needs;
  const fits = (isUnknownIn: boolean): boolean =>
    assignParts<Decision | null>(isFull ? [null, ...seated] : [...seated, null], rule, (vote, part) =>
      vote === null ? (isIn(part) ?? isUnknownIn) : wasInPart(vote, part),
    ).seated.includes(null);
  if (fits(false)) return null;
  return fits(true)
    ? { type: "unverified" }
    : { type: "part-filled", missing: isFull ? rule.parts : missing };
}
