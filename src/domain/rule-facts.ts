// Facts that determine which rule applies and that change by themselves: the requester's groups, according to Slack, and the time of day.
// A run keeps Slack's newest answer about its requester. Right before a decision counts, Slack is asked again.

import type { Approval, Request } from "./approval.ts";
import type { Context, Times } from "./context.ts";
import type { Outcome } from "./effect.ts";
import { withEscalation } from "./escalation.ts";
import type { ChannelId, GroupId } from "./ids.ts";
import { isSameJson } from "./json.ts";
import { candidates, matchRequester } from "./policy/choose-rule.ts";
import { nextClosing, nextOpening } from "./policy/hours.ts";
import type { Facts, Policy, Rule } from "./policy/policy.ts";
import { groupsAndChannelsOf, setsOfParts } from "./policy/named-people.ts";
import { isWatched, mapApprovals, type Run } from "./run.ts";

/** The policy in force, and the wall time. */
export type PolicyNow = Pick<Context, "policy" | "now">;

export function factsFor(run: Run, { action, content }: Request, { now }: Pick<Context, "now">): Facts {
  const { channel, requester, input, requesterGroups } = run;
  const facts = { channel, requester, input, action, content, at: now };
  return requesterGroups === undefined ? facts : { ...facts, requesterIn: requesterGroups.in };
}

/**
 * Returns the groups and channels to ask Slack about for a person who wants to decide: those of every rule that may apply, whichever groups
 * the requester turns out to be in.
 */
export function membershipsToLookUp(
  run: Run,
  approval: Pick<Approval, "request" | "followUp">,
  ctx: PolicyNow,
): readonly (GroupId | ChannelId)[] {
  const facts = { ...factsFor(run, approval.request, ctx), requesterIn: {} };
  const rules = candidates(ctx.policy, facts).map((rule) => withEscalation(rule, approval));
  return [...new Set(rules.flatMap(setsOfRule))];
}

/** Returns the groups and channels that say who may decide under the rule. */
export const setsOfRule = ({
  approvers,
  parts,
  except,
  escalated,
}: Rule): readonly (GroupId | ChannelId)[] => [
  ...groupsAndChannelsOf(approvers),
  ...setsOfParts(parts),
  ...[except, escalated].flatMap((people) =>
    people === null || people === undefined ? [] : groupsAndChannelsOf(people),
  ),
];

// The requester's groups.

/** Returns the groups that the conditions of the policy name, in a fixed order. */
export function requesterGroupsOf({ rules }: Policy): readonly GroupId[] {
  return [...new Set(rules.flatMap(({ when }) => when.requesterGroups ?? []))].toSorted();
}

/** Sets the groups that the run must ask Slack about for its requester. Returns the same run if nothing changes. */
export function withGroupsToAsk(run: Run, policy: Policy): Run {
  const asks = requesterGroupsOf(policy);
  const { requesterGroups: before, ...others } = run;
  if (asks.length === 0) return before === undefined ? run : others;
  if (before !== undefined && isSameJson(before.asks, asks)) return run;
  return { ...run, requesterGroups: { asks, in: before?.in ?? {}, at: null } };
}

/** Applies a fresh answer right before a decision counts. `isIn`: what Slack says now, or null if nothing depends on it. */
export function withFreshRequester(
  run: Run,
  isIn: { readonly [group: GroupId]: boolean } | null,
  ctx: Pick<Context, "policy" | "monotonic">,
): Run {
  return isIn === null ? run : withRequesterGroups(withGroupsToAsk(run, ctx.policy), isIn, ctx);
}

/**
 * Returns whether the rule for this request depends on a group of the requester about which Slack has not answered. All rules that may apply
 * then apply together.
 */
export function isRequesterUnknown(
  run: Run,
  { request }: Pick<Approval, "request">,
  ctx: PolicyNow,
): boolean {
  if (!hasUnknownGroups(run)) return false;
  const facts = factsFor(run, request, ctx);
  return candidates(ctx.policy, facts).some(({ when }) => matchRequester(when, facts) === "some");
}

/** Returns whether Slack has not answered about one of the groups that the policy names for requesters. */
export function hasUnknownGroups({ requesterGroups: known }: Run): boolean {
  return known?.asks.some((group) => known.in[group] === undefined) ?? false;
}

/**
 * Returns the latest end among the rules that may apply, or null if one of them has none. While Slack has not answered about the requester,
 * a request does not expire under a rule that may not be its own.
 */
export function latestExpiry(
  run: Run,
  { request }: Pick<Approval, "request">,
  ctx: PolicyNow,
): Rule["expiry"] {
  const expiries = candidates(ctx.policy, factsFor(run, request, ctx)).map(({ expiry }) => expiry);
  return expiries.reduce(later);
}

function later(a: Rule["expiry"], b: Rule["expiry"]): Rule["expiry"] {
  if (a === null || b === null) return null;
  return a.afterMs < b.afterMs ? b : a;
}

/** `isIn`: what Slack says now. A group that is missing is unknown. */
function withRequesterGroups(
  run: Run,
  isIn: { readonly [group: GroupId]: boolean },
  { monotonic }: Pick<Context, "monotonic">,
): Run {
  const { requesterGroups: known } = run;
  if (known === undefined) return run;
  const next = { ...run, requesterGroups: { ...known, in: isIn, at: monotonic } };
  // Approvers are not counted while the answer is missing.
  return hasUnknownGroups(run) && !hasUnknownGroups(next) ? mapApprovals(next, countedAgain) : next;
}

const countedAgain = (approval: Approval): Approval =>
  approval.approverCount?.able === null ? { ...approval, approverCount: null } : approval;

export function applyRequesterGroups(run: Run, outcome: Outcome, ctx: Pick<Context, "monotonic">): Run {
  return outcome.type === "groups-known" ? withRequesterGroups(run, outcome.in, ctx) : run;
}

/** How old the answer that a card relies on may be (ms). */
const REQUESTER_AGE_MS = 5 * 60_000;
/** When to ask again if the answer was incomplete (ms). Until then, the card shows the strictest of the possible rules. */
const AGAIN_AFTER_MS = 60_000;

/** Returns when to ask Slack about the requester (monotonic). Returns null if nothing depends on it now. */
export function requesterLookUpAt(run: Run): number | null {
  const { requesterGroups: known, approvals } = run;
  if (known === undefined || !isWatched(run)) return null;
  if (known.at === null) return 0;
  if (!approvals.some(({ state }) => state.type === "pending")) return null;
  return known.at + (hasUnknownGroups(run) ? AGAIN_AFTER_MS : REQUESTER_AGE_MS);
}

// The time of day.

/** How far the two clocks may drift apart before the stored time is replaced (ms). */
const DRIFT_MS = 1_000;

/**
 * Returns when another rule may apply because hours begin or end (monotonic). Returns undefined if no rule depends on the time. `before`:
 * the stored time, which is returned if it is still right.
 */
export function nextTurnAt(
  { rules }: Policy,
  { now, monotonic }: Times,
  before: number | undefined,
): number | undefined {
  const windows = rules.flatMap(({ when }) => [...(when.hours ?? []), ...(when.outsideHours ?? [])]);
  const turns = windows
    .flatMap((hours) => [nextOpening(hours, now), nextClosing(hours, now)])
    .filter((at) => at !== null);
  if (turns.length === 0) return undefined;
  const at = monotonic + Math.min(...turns) - now;
  return before !== undefined && before > monotonic && Math.abs(before - at) <= DRIFT_MS ? before : at;
}
