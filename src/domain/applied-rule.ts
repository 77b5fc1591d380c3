// Which rule applies to an approval, the deadline, whether enough people can approve, and which parts of the rule the votes so far fill. A
// card shows the rule of the newest fetch. A decision must meet the rule in force when it is given.

import type { Approval, ApproverCount, Decision, Request } from "./approval.ts";
import type { Context, RuleMoment } from "./context.ts";
import type { Outcome } from "./effect.ts";
import { escalatedMs, withEscalation } from "./escalation.ts";
import { extendedMs, momentOfAge } from "./follow-up.ts";
import type { ApprovalId, ChannelId, GroupId, UserId } from "./ids.ts";
import { isSameJson } from "./json.ts";
import { candidates, ruleFor } from "./policy/choose-rule.ts";
import { assignParts, type Part, setsOfParts } from "./policy/named-people.ts";
import { keptRule, type Rule, type RuleRef } from "./policy/policy.ts";
import {
  factsFor,
  isRequesterUnknown,
  latestExpiry,
  nextTurnAt,
  type PolicyNow,
  withGroupsToAsk,
} from "./rule-facts.ts";
import { addNotices } from "./notice.ts";
import { findApproval, mapApprovals, replaceApproval, type Run } from "./run.ts";

/**
 * Returns the rule for a decision on this request now, by what we currently know about the requester. It includes the people of the stages
 * that the request has reached.
 */
export function ruleOf(ctx: PolicyNow, run: Run, approval: Pick<Approval, "request" | "followUp">): Rule {
  return withEscalation(ruleOfRequest(ctx, run, approval.request), approval);
}

/**
 * While Slack has not said in which groups the requester is, returns each rule that may turn out to apply, with the people of its stages.
 * `ruleOf` combines them until then. Returns an empty list if the rule is known.
 */
export function rulesInDoubt(
  ctx: PolicyNow,
  run: Run,
  approval: Pick<Approval, "request" | "followUp">,
): readonly Rule[] {
  if (!isRequesterUnknown(run, approval, ctx)) return [];
  const rules = candidates(ctx.policy, factsFor(run, approval.request, ctx));
  return rules.map((rule) => withEscalation(rule, approval));
}

/** Returns what to judge a person by: `ruleOf` and `rulesInDoubt`. */
export const judgingRules = (
  ctx: PolicyNow,
  run: Run,
  approval: Approval,
): { readonly rule: Rule; readonly inDoubt: readonly Rule[] } => ({
  rule: ruleOf(ctx, run, approval),
  inDoubt: rulesInDoubt(ctx, run, approval),
});

function ruleOfRequest(ctx: PolicyNow, run: Run, request: Request): Rule {
  return ruleFor(ctx.policy, factsFor(run, request, ctx));
}

export function ruleRefOf(
  { version }: { readonly version: string | null },
  { name }: Pick<Rule, "name">,
): RuleRef {
  return version === null ? null : { version, rule: name };
}

/** Applies the current rules to pending approvals. Returns the same object if nothing changes. */
export function applyPolicy(before: Run, ctx: RuleMoment): Run {
  const run = withGroupsToAsk(before, ctx.policy);
  return mapApprovals(run, (approval) => withCurrentRule(approval, run, ctx));
}

function withCurrentRule(approval: Approval, run: Run, ctx: RuleMoment): Approval {
  if (approval.state.type !== "pending") return approval;
  const { policy } = ctx;
  const isUnknown = isRequesterUnknown(run, approval, ctx);
  const strict = ruleOfRequest(ctx, run, approval.request);
  const rule = keptRule(isUnknown ? { ...strict, expiry: latestExpiry(run, approval, ctx) } : strict);
  const { appliedRule } = approval;
  const until = nextTurnAt(policy, ctx, appliedRule.until);
  const card = policy.card === null ? {} : { card: policy.card };
  const wasUnknown = appliedRule.inDoubt !== undefined;
  // Compared by value, because a document of an older version may lack a part of the same rule.
  const isApplied =
    appliedRule.version === policy.version &&
    appliedRule.until === until &&
    wasUnknown === isUnknown &&
    isSameJson(appliedRule.rule, rule) &&
    isSameJson(appliedRule.card ?? null, policy.card);
  if (isApplied) return approval;
  const ends = until === undefined ? {} : { until };
  const { name, followUp } = appliedRule.rule;
  const doubt = isUnknown ? { inDoubt: appliedRule.inDoubt ?? { calledBy: { name, followUp } } } : {};
  const applied = { version: policy.version, rule, ...card, ...ends, ...doubt };
  const next = { ...withRemindersCounted(approval, rule), appliedRule: applied };
  return !isUnknown && expiresLater(rule, appliedRule.rule) ? withRemindersAgain(next) : next;
}

/** Reminders that were sent before any rule was certain count for the rule that turns out to apply. */
function withRemindersCounted(approval: Approval, { name }: Pick<Rule, "name">): Approval {
  const { appliedRule, followUp } = approval;
  if (appliedRule.inDoubt?.calledBy !== null || followUp?.reminders === undefined) return approval;
  const reminders = followUp.reminders.map(({ upToMs }) => ({ rule: name, upToMs }));
  return { ...approval, followUp: { ...followUp, reminders } };
}

function expiresLater({ expiry }: Pick<Rule, "expiry">, { expiry: before }: Pick<Rule, "expiry">): boolean {
  return before !== null && (expiry === null || expiry.afterMs > before.afterMs);
}

/** The last reminder was for an earlier end. */
function withRemindersAgain(approval: Approval): Approval {
  if (approval.followUp?.warned === undefined) return approval;
  const { warned: _earlier, ...followUp } = approval.followUp;
  return { ...approval, followUp };
}

/** Returns when another rule may apply even if nothing happens (monotonic). Returns null if never. */
export function ruleTurnsAt({ state, appliedRule }: Approval): number | null {
  return state.type === "pending" ? (appliedRule.until ?? null) : null;
}

// The deadline that the rule sets, and what happens then.

/**
 * Returns when the approval expires (wall time, for people). Returns null if it does not expire, is no longer pending, or its clock stands
 * still.
 */
export function deadlineOf(approval: Approval): number | null {
  const at = endsAt(approval);
  return at === null ? null : approval.since + at - approval.waitsSince;
}

/** Returns when the approval expires (monotonic, so setting the wall clock does not move it). Returns null as `deadlineOf` does. */
export function endsAt(approval: Approval): number | null {
  const { state, appliedRule } = approval;
  return state.type === "pending" ? endsUnder(approval, appliedRule.rule) : null;
}

/** Returns when the approval expires under this rule (monotonic). Returns null if it does not, or if its clock stands still. */
export function endsUnder(approval: Approval, { expiry }: Pick<Rule, "expiry">): number | null {
  return expiry === null ? null : momentOfAge(approval, expiry.afterMs + extendedMs(approval));
}

/** Returns what happens at the deadline. Returns null if the rule sets none. */
export function outcomeAtDeadline(approval: Approval): NonNullable<Rule["expiry"]>["outcome"] | null {
  const { expiry } = approval.appliedRule.rule;
  if (expiry === null) return null;
  return onlyPeopleMayDeny(approval) ? "nothing" : expiry.outcome;
}

/** The most denials of one approval that no person gives and that do not take effect, such as under HTTP 429. Our choice. */
export const MAX_AUTOMATIC_DENIALS = 100;

/**
 * Returns whether the approval is denied no more unless a person does so: the service refused a denial that no person gave, or many of them
 * did not take effect. A change of the request does not matter, because it may change with each look.
 */
export function onlyPeopleMayDeny({ past }: Pick<Approval, "past">): boolean {
  const automatic = past.filter(({ decision }) => decision.verdict === "deny" && decision.by === null);
  return automatic.length >= MAX_AUTOMATIC_DENIALS || automatic.some(({ cause }) => cause === "refused");
}

// How many people can approve a request, according to Slack. If there are too few, Countersign says so at once. authorization.ts says who
// may decide.

/** Names the rule, card version and stage that a look-up is for. A different one needs a new look-up. */
export function lookUpKeyOf(approval: Approval): string {
  const { appliedRule, version } = approval;
  const upTo = escalatedMs(approval);
  const stage = upTo === 0 ? "" : ` escalated ${upTo}`;
  return `${appliedRule.version ?? "built-in"} ${appliedRule.rule.name} v${version}${stage}`;
}

/** Names what a count is for. More people may turn out to have asked for the run while Slack is asked. */
export function countKeyOf(run: Run, approval: Approval): string {
  const others = run.mayHaveAsked?.length ?? 0;
  return `${lookUpKeyOf(approval)}${others === 0 ? "" : ` without ${others}`}`;
}

/** When to count again if there were too few people, or an unknown number (ms). People join groups and come back. */
const AGAIN_AFTER_MS = 5 * 60_000;

/** Returns when to count (monotonic). Returns null if no count is needed. */
export function countAt(approval: Approval): number | null {
  const { state, approverCount } = approval;
  if (state.type !== "pending") return null;
  if (approverCount === null || approverCount.of !== lookUpKeyOf(approval)) return 0;
  return approverCount.able !== null && !isTooFew(approval, approverCount)
    ? null
    : approverCount.at + AGAIN_AFTER_MS;
}

/**
 * Compares with the number that the rule needed when the people were counted. Counting stopped there, so it does not say whether there are
 * more.
 */
const isTooFew = (
  { appliedRule }: Approval,
  { able, needs = appliedRule.rule.needs }: ApproverCount,
): boolean => able !== null && able < needs;

export type TooFewApprovers = { readonly able: number; readonly needs: number; readonly grows: boolean };

/** Returns null if enough people can approve the request, or if the number is unknown. */
export function tooFewApprovers(approval: Approval): TooFewApprovers | null {
  const { approverCount, appliedRule, state } = approval;
  if (
    state.type !== "pending" ||
    approverCount === null ||
    approverCount.able === null ||
    approverCount.of !== lookUpKeyOf(approval)
  )
    return null;
  const { able, grows } = approverCount;
  return able < appliedRule.rule.needs ? { able, needs: appliedRule.rule.needs, grows } : null;
}

/** Records the count. When it is first too low, notifies the requester and the fallback channel once. */
export function applyApproverCount(run: Run, id: ApprovalId, outcome: Outcome, ctx: Context): Run {
  const approval = findApproval(run, id);
  if (outcome.type !== "counted" || approval === null || outcome.of !== countKeyOf(run, approval)) return run;
  const { able, grows } = outcome;
  const of = lookUpKeyOf(approval);
  const { needs } = approval.appliedRule.rule;
  const counted: Approval = { ...approval, approverCount: { of, at: ctx.monotonic, able, needs, grows } };
  const next = replaceApproval(run, counted);
  const few = tooFewApprovers(counted);
  const wasTooFew = approval.approverCount !== null && isTooFew(approval, approval.approverCount);
  if (few === null || wasTooFew) return next;
  const { fallback } = ctx.policy;
  const addressees: (UserId | ChannelId)[] = fallback === null ? [run.requester] : [run.requester, fallback];
  const says = { type: "nobody-can-approve", approval: id, ...few } as const;
  return addNotices(next, addressees, says, ctx);
}

// Which parts of a rule the votes on a request fill, by the memberships that were known when each was given.

type Quorum = Pick<Rule, "parts" | "needs">;

/** Returns the approver's memberships that a vote keeps. Returns undefined if the rule has no parts. */
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

/** Returns the parts that no vote fills yet. */
export function missingParts({ votes }: Pick<Approval, "votes">, rule: Quorum): readonly Part[] {
  return assignParts(votes, rule, wasInPart).missing;
}

/**
 * Returns null if one more approval finds a place. `isIn`: whether a person is in the part, or null if unknown. Null as the person means
 * whoever gives the new approval. If the policy now needs no more approvals than were given, all places are taken. Then the new approval
 * gets a place, and an earlier one loses its place.
 */
export function refusalOfPlace(
  votes: readonly Decision[],
  rule: Quorum,
  isIn: (by: Decision["by"], part: Part) => boolean | null,
):
  | { readonly type: "unverified" }
  | { readonly type: "part-filled"; readonly missing: readonly Part[] }
  | null {
  if (rule.parts.length === 0) return null;
  const isVoterIn = (vote: Decision, part: Part): boolean =>
    (vote.by === null ? null : isIn(vote.by, part)) ?? wasInPart(vote, part);
  const { assigned, missing } = assignParts(votes, rule, isVoterIn);
  const isFull = assigned.length >= rule.needs;
  // The new approval is null here.
  const voters = isFull ? [null, ...assigned] : [...assigned, null];
  const fits = (ifUnknown: boolean): boolean =>
    assignParts<Decision | null>(voters, rule, (vote, part) =>
      vote === null ? (isIn(null, part) ?? ifUnknown) : isVoterIn(vote, part),
    ).assigned.includes(null);
  if (fits(false)) return null;
  return fits(true)
    ? { type: "unverified" }
    : { type: "part-filled", missing: isFull ? rule.parts : missing };
}
