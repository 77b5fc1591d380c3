// Counts whether enough people can approve a request, when its card is posted, so that people do not wait in vain.

import { countKeyOf, ruleOf } from "../domain/applied-rule.ts";
import { refusalToDecide } from "../domain/authorization.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import type { UserId } from "../domain/ids.ts";
import { assignParts } from "../domain/policy/parts.ts";
import type { Rule } from "../domain/policy/policy.ts";
import { groupsAndChannelsOf, type NamedPeople } from "../domain/policy/principals.ts";
import type { PolicyNow } from "../domain/rule-facts.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { type People, PortError } from "../ports.ts";

/** This age (ms) is enough for display; a person who clicks is looked up again. */
export const SHOWN_AGE_MS = 60_000;
/** How many members of a group are asked about. If too few of them may approve, the count of a larger group is unknown. */
const ASKED_AT_MOST = 100;
const AT_ONCE = 5;

/** Slack, as far as it says who somebody is and who belongs where. */
export type Asking = Pick<People, "lookUp" | "membersOf" | "isPublic">;

export async function countApprovers(
  run: Run,
  effect: Extract<Effect, { type: "count-approvers" }>,
  people: Asking,
  ctx: PolicyNow,
): Promise<Outcome> {
  const approval = findApproval(run, effect.approval);
  if (approval === null) return { type: "gone" };
  const of = countKeyOf(approval);
  const rule = ruleOf(ctx, run, approval);
  try {
    const grows = rule.approvers === "anyone" && (await people.isPublic(run.channel, SHOWN_AGE_MS));
    return { type: "counted", of, able: await countAble(run, rule, people), grows };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { type: "counted", of, able: null, grows: false };
  }
}

/** Counts no further than the rule needs. Null: there are too many people to ask about all. */
async function countAble(run: Run, rule: Rule, people: Asking): Promise<number | null> {
  const candidates = await candidatesOf(run, rule, people);
  const inParts = new Map(
    await Promise.all(
      rule.parts.map(async (each) => [each, new Set(await everyoneIn(each, people))] as const),
    ),
  );
  const found: UserId[] = [];
  const countSeats = (): number =>
    assignParts(found, rule, (user, each) => inParts.get(each)?.has(user) ?? false).seated.length;
  for (let from = 0; from < Math.min(candidates.length, ASKED_AT_MOST); from += AT_ONCE) {
    const some = candidates.slice(from, Math.min(from + AT_ONCE, ASKED_AT_MOST));
    const able = await Promise.all(some.map((each) => isAble(run, rule, each, people)));
    found.push(...some.flatMap(({ user }, index) => (able[index] === true ? [user] : [])));
    if (countSeats() >= rule.needs) return rule.needs;
  }
  return candidates.length > ASKED_AT_MOST ? null : countSeats();
}

type Candidate = { readonly user: UserId; readonly escalated: boolean };

async function candidatesOf(run: Run, rule: Rule, people: Asking): Promise<Candidate[]> {
  const { approvers, escalated } = rule;
  const called = escalated === undefined ? [] : await everyoneIn(escalated, people);
  const named =
    approvers === "anyone"
      ? await people.membersOf(run.channel, SHOWN_AGE_MS)
      : await everyoneIn(approvers, people);
  return [...new Set([...called, ...named])].map((user) => ({ user, escalated: called.includes(user) }));
}

async function everyoneIn(named: NamedPeople, { membersOf }: Asking): Promise<readonly UserId[]> {
  const members = await Promise.all(groupsAndChannelsOf(named).map((set) => membersOf(set, SHOWN_AGE_MS)));
  return [...named.users, ...members.flat()];
}

/** The caller takes people from the rule's approvers only; `refusalToDecide` judges the rest. */
export async function isAble(
  run: Run,
  rule: Rule,
  ...[{ user, escalated }, people]: readonly [Candidate, Asking]
): Promise<boolean> {
  if (user === run.requester && !rule.selfApproval) return false;
  if (rule.except !== null && (await everyoneIn(rule.except, people)).includes(user)) return false;
  const { escalated: _stages, ...ofRule } = rule;
  const among = escalated ? { escalated: { users: [user], groups: [], channels: [] } } : {};
  try {
    const person = await people.lookUp(run.team, user, run.channel, SHOWN_AGE_MS);
    return refusalToDecide(person, run, { ...ofRule, ...among, approvers: "anyone", except: null }) === null;
  } catch (error) {
    // A person whom Slack does not know can't approve anything.
    if (error instanceof PortError && error.code === "user_not_found") return false;
    throw error;
  }
}
