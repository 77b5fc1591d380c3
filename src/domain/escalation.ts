// Escalation: the stages of its rule that a request has reached, and who may decide it because of them. The record says which stages were
// reached and whom they called (`ReachedStage`); the current policy always says whom a stage lets in.

import { ageAt, callingRule, type FollowUp, type ReachedStage } from "./follow-up.ts";
import { calledBy, letInBy } from "./policy/follow-up-rule.ts";
import type { AppliedRule, Rule } from "./policy/policy.ts";
import {
  idsOf,
  inEach,
  isNobody,
  isOneOfParts,
  type ListedPeople,
  listsOf,
  NO_ONE,
  type NamedPeople,
  together,
  withoutNamed,
} from "./policy/named-people.ts";

type Followed = { readonly followUp?: FollowUp };
type Waiting = Followed & { readonly waitsSince: number; readonly appliedRule: AppliedRule };

export const reachedStages = ({ followUp }: Followed): readonly ReachedStage[] => followUp?.stages ?? [];

/** Returns the age (ms) up to which the stages of the rule count. Returns 0 if no stage was reached. */
export function escalatedMs(approval: Followed): number {
  return Math.max(0, ...reachedStages(approval).map(({ afterMs }) => afterMs));
}

/** Returns the rule with the people of the stages that the request has reached. */
export const withEscalation = (rule: Rule, approval: Followed): Rule =>
  withStages(rule, escalatedMs(approval));

/** Returns the rule with the people of its stages up to this age (ms). */
export function withStages(rule: Rule, upToMs: number): Rule {
  const escalated = letInBy(rule.followUp, upToMs);
  return isNobody(escalated) ? rule : { ...rule, escalated };
}

type StageRights = { readonly decide: ListedPeople; readonly denyOnly: ListedPeople };

/** Returns what the people whom a stage called may do under the current rule. `others` may do nothing because of it. */
export function rightsOfCalled(
  { afterMs, called, onlyCalled = NO_ONE }: Pick<ReachedStage, "afterMs" | "called" | "onlyCalled">,
  rule: Pick<Rule, "followUp" | "parts" | "needs">,
): StageRights & { readonly others: NamedPeople } {
  const letIn = letInBy(rule.followUp, afterMs);
  if (letIn.alsoIn === undefined) {
    const others = together([withoutNamed(called, letIn), onlyCalled]);
    return { ...rightsOfStage(withoutNamed(called, others), rule), others };
  }
  // Who is in each of several lists is known only to Slack.
  const ids = idsOf(called);
  const hasCalledSome = listsOf(letIn).some((list) => idsOf(list).some((id) => ids.includes(id)));
  return { ...rightsOfStage(hasCalledSome ? letIn : NO_ONE, rule), others: called };
}

/**
 * Returns what the people of a stage may do. If each approval must come from a part of the rule, people whom no part names can only deny,
 * because their approval would fill no place. Groups and channels may share people with a part, but only Slack knows that. Of several
 * lists, the first that names a part is divided.
 */
export function rightsOfStage(
  to: ListedPeople,
  { parts, needs }: Pick<Rule, "parts" | "needs">,
): StageRights {
  const canApprove = (id: string): boolean => needs > parts.length || isOneOfParts(id, parts);
  const lists = listsOf(to);
  const divided = lists.find((list) => idsOf(list).some(canApprove)) ?? lists[0] ?? NO_ONE;
  const others = lists.filter((list) => list !== divided);
  const whose = (isKept: (id: string) => boolean) => inEach(filtered(divided, isKept), others);
  return { decide: whose(canApprove), denyOnly: whose((id) => !canApprove(id)) };
}

const filtered = (
  { users, groups, channels }: NamedPeople,
  isKept: (id: string) => boolean,
): NamedPeople => ({
  users: users.filter(isKept),
  groups: groups.filter(isKept),
  channels: channels.filter(isKept),
});

type NextStage = Pick<ReachedStage, "afterMs" | "called"> & { readonly atAge: number };

/**
 * Returns the stage that the request reaches next, and at which age (ms). Returns null if there is none. People whom the rule names for what
 * was reached under another rule come first, and do not delay the stage after them.
 */
export function nextStage(approval: Waiting): NextStage | null {
  const last = reachedStages(approval).at(-1);
  const upTo = escalatedMs(approval);
  if (last !== undefined) {
    const called = uncalledOf(approval);
    if (!isNobody(called)) return { afterMs: upTo, called, atAge: last.age };
  }
  // If a stage was reached late, for example after a policy change, the next one is delayed too, so that the interval stays the same.
  const delay = last === undefined ? 0 : Math.max(last.age - last.afterMs, 0);
  const stage = callingRule(approval).followUp.escalate.find(({ afterMs }) => afterMs > upTo);
  if (stage === undefined) return null;
  return { afterMs: stage.afterMs, called: calledBy(stage), atAge: stage.afterMs + delay };
}

/** Returns the people whom the rule calls for what was reached and no stage has called, and those whom it lets in and stages only called. */
function uncalledOf(approval: Waiting): NamedPeople {
  const { followUp } = callingRule(approval);
  const upTo = escalatedMs(approval);
  const stages = reachedStages(approval);
  const named = together(followUp.escalate.filter(({ afterMs }) => afterMs <= upTo).map(calledBy));
  const uncalled = withoutNamed(named, together(stages.map(({ called }) => called)));
  const letIn = letInBy(followUp, upTo);
  // Who is in each of several lists is known only to Slack.
  if (letIn.alsoIn !== undefined) return uncalled;
  const told = stages.map(({ called, onlyCalled = NO_ONE }) => withoutNamed(called, onlyCalled));
  return together([uncalled, withoutNamed(letIn, together(told))]);
}

/** Returns the stage that the request has just reached, at most one at a time. Returns null if none is due. */
export function reachStage(
  approval: Waiting,
  { now, monotonic }: { readonly now: number; readonly monotonic: number },
): ReachedStage | null {
  const next = nextStage(approval);
  const age = ageAt(approval, monotonic);
  if (next === null || age < next.atAge) return null;
  const { afterMs, called, atAge } = next;
  const reached = { afterMs, at: now, age: afterMs === escalatedMs(approval) ? atAge : age, called };
  const { followUp } = callingRule(approval);
  const { others } = rightsOfCalled(next, { ...approval.appliedRule.rule, followUp });
  return isNobody(others) ? reached : { ...reached, onlyCalled: others };
}
