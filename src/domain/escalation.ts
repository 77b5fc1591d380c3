// Escalation: the stages of its rule that a request has reached, and who may decide it because of them. What was reached is recorded
// (`ReachedStage`); what it means is always what the current policy says.

import { ageAt, type FollowUp, type ReachedStage } from "./follow-up.ts";
import type { FollowUpRule, Stage } from "./policy/follow-up-rule.ts";
import type { Rule } from "./policy/policy.ts";
import { isOneOfParts, type NamedPeople, together } from "./policy/named-people.ts";

type Followed = { readonly followUp?: FollowUp };

export const reachedStages = ({ followUp }: Followed): readonly ReachedStage[] => followUp?.stages ?? [];

/** Up to this age (ms) of the request, the stages of its rule count. 0: none. */
export function escalatedMs(approval: Followed): number {
  return Math.max(0, ...reachedStages(approval).map(({ afterMs }) => afterMs));
}

/** The rule for this request: with the people of the stages that it has reached. */
export function widened(rule: Rule, approval: Followed): Rule {
  const upTo = escalatedMs(approval);
  const people = rule.followUp.escalate.flatMap(({ afterMs, to }) =>
    to !== null && afterMs <= upTo ? [to] : [],
  );
  return people.length === 0 ? rule : { ...rule, escalated: together(people) };
}

/**
 * What the people of a stage may do. Where each approval must come from a part of the rule, those whom no part names can only deny: their
 * approval fills no place. Groups and channels may share people with a part; only Slack knows.
 */
export function rightsIn(
  to: NamedPeople,
  { parts, needs }: Pick<Rule, "parts" | "needs">,
): { readonly decide: NamedPeople; readonly denyOnly: NamedPeople } {
  const isIn = (id: string): boolean => needs > parts.length || isOneOfParts(id, parts);
  return { decide: filtered(to, isIn), denyOnly: filtered(to, (id) => !isIn(id)) };
}

const filtered = ({ users, groups, channels }: NamedPeople, keeps: (id: string) => boolean): NamedPeople => ({
  users: users.filter(keeps),
  groups: groups.filter(keeps),
  channels: channels.filter(keeps),
});

/** The stage that the request reaches next, and at which age (ms). Null: there is none. */
export function nextStage(
  approval: Followed,
  { escalate }: Pick<FollowUpRule, "escalate">,
): { readonly stage: Stage; readonly atAge: number } | null {
  const last = reachedStages(approval).at(-1);
  const upTo = escalatedMs(approval);
  const stage = escalate.find(({ afterMs }) => afterMs > upTo);
  if (stage === undefined) return null;
  // If a stage was reached late, for example after a policy change, the next one is delayed as well, so the interval stays.
  const atAge = last === undefined ? stage.afterMs : last.age + stage.afterMs - last.afterMs;
  return { stage, atAge: Math.max(stage.afterMs, atAge) };
}

/** The request has reached the stage now. At most one at a time. Null: none is due. */
export function reachStage<Of extends Followed & { readonly waitsSince: number }>(
  approval: Of,
  rule: Pick<FollowUpRule, "escalate">,
  { now, monotonic }: { readonly now: number; readonly monotonic: number },
): { readonly stage: Stage; readonly reached: ReachedStage } | null {
  const next = nextStage(approval, rule);
  const age = ageAt(approval, monotonic);
  if (next === null || age < next.atAge) return null;
  return { stage: next.stage, reached: { afterMs: next.stage.afterMs, at: now, age } };
}
