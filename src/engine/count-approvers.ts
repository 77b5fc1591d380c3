// Counts whether enough people can approve a request, when its card is posted, so that people do not wait in vain.

import { countKeyOf, ruleOf } from "../domain/applied-rule.ts";
import { refusalToDecide } from "../domain/authorization.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import type { UserId } from "../domain/ids.ts";
import type { Rule } from "../domain/policy/policy.ts";
import { groupsAndChannelsOf } from "../domain/policy/principals.ts";
import type { PolicyNow } from "../domain/rule-facts.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { type People, PortError } from "../ports.ts";

/** This age (ms) is enough for display; a person who clicks is looked up again. */
export const SHOWN_AGE_MS = 60_000;
/** How many members of a group are asked about. If too few of them may approve, the count of a larger group is unknown. */
const ASKED_AT_MOST = 100;
const AT_ONCE = 5;

type Counting = Pick<People, "lookUp" | "membersOf" | "isPublic">;

export async function countApprovers(
  run: Run,
  effect: Extract<Effect, { type: "count-approvers" }>,
  people: Counting,
  ctx: PolicyNow,
): Promise<Outcome> {
  const approval = findApproval(run, effect.approval);
  if (approval === null) return { type: "gone" };
  const of = countKeyOf(approval);
  const rule = ruleOf(ctx, run, approval.request);
  try {
    const grows = rule.approvers === "anyone" && (await people.isPublic(run.channel, SHOWN_AGE_MS));
    return { type: "counted", of, able: await countAble(run, rule, people), grows };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { type: "counted", of, able: null, grows: false };
  }
}

/** Counts no further than the rule needs. Null: there are too many people to ask about all. */
async function countAble(run: Run, rule: Rule, people: Counting): Promise<number | null> {
  const candidates = await candidatesOf(run, rule, people);
  let able = 0;
  for (let from = 0; from < Math.min(candidates.length, ASKED_AT_MOST); from += AT_ONCE) {
    const some = candidates.slice(from, Math.min(from + AT_ONCE, ASKED_AT_MOST));
    const found = await Promise.all(some.map((user) => isAble(run, rule, user, people)));
    able += found.filter(Boolean).length;
    if (able >= rule.needs) return rule.needs;
  }
  return candidates.length > ASKED_AT_MOST ? null : able;
}

async function candidatesOf(
  { channel }: Run,
  { approvers }: Rule,
  { membersOf }: Counting,
): Promise<UserId[]> {
  const sets = approvers === "anyone" ? [channel] : groupsAndChannelsOf(approvers);
  const members = await Promise.all(sets.map((set) => membersOf(set, SHOWN_AGE_MS)));
  return [...new Set([...(approvers === "anyone" ? [] : approvers.users), ...members.flat()])];
}

/** The caller takes people from the rule's approvers only; `refusalToDecide` judges the rest. */
async function isAble(run: Run, rule: Rule, user: UserId, people: Counting): Promise<boolean> {
  if (user === run.requester && !rule.selfApproval) return false;
  try {
    const person = await people.lookUp(run.team, user, run.channel, SHOWN_AGE_MS);
    return refusalToDecide(person, run, { ...rule, approvers: "anyone" }) === null;
  } catch (error) {
    // A person whom Slack does not know can't approve anything.
    if (error instanceof PortError && error.code === "user_not_found") return false;
    throw error;
  }
}
