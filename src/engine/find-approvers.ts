// Asks Slack who can approve a request. Whether they are enough is counted when its card is posted, so that people do not wait in vain.

import { countKeyOf, ruleOf } from "../domain/applied-rule.ts";
import { decidersOf } from "../domain/approval-transitions.ts";
import type { Approval } from "../domain/approval.ts";
import { refusalToDecide } from "../domain/authorization.ts";
import type { Context } from "../domain/context.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import type { GroupId, UserId } from "../domain/ids.ts";
import { assignParts, groupsAndChannelsOf, type NamedPeople } from "../domain/policy/named-people.ts";
import type { Rule } from "../domain/policy/policy.ts";
import type { PolicyNow } from "../domain/rule-facts.ts";
import { findApproval, mayHaveAsked, type Run } from "../domain/run.ts";
import { type People, PortError } from "../ports.ts";

/** This age (ms) is enough for display; a person who clicks is looked up again. */
export const SHOWN_AGE_MS = 60_000;
/** How many members of a group are asked about. If too few of them may approve, the count of a larger group is unknown. */
const MAX_ASKED = 100;
const AT_ONCE = 5;

/** Slack, as far as it says who someone is and who belongs where. */
type Asking = Pick<People, "lookUp" | "membersOf" | "isPublic">;

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
  for (let from = 0; from < Math.min(candidates.length, MAX_ASKED); from += AT_ONCE) {
    const some = candidates.slice(from, Math.min(from + AT_ONCE, MAX_ASKED));
    const able = await Promise.all(some.map((each) => isAble(run, rule, each, people)));
    found.push(...some.flatMap(({ user }, index) => (able[index] === true ? [user] : [])));
    if (countSeats() >= rule.needs) return rule.needs;
  }
  return candidates.length > MAX_ASKED ? null : countSeats();
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
async function isAble(
  run: Run,
  rule: Rule,
  { user, escalated }: Candidate,
  people: Asking,
): Promise<boolean> {
  if (mayHaveAsked(run, user) && !rule.selfApproval) return false;
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

// Who is mentioned by a call: the people who can still decide the request, looked up when the call is due.

/** More people than this are called as the group that they are, or not at all. A message mentions at most so many. */
const FEW = 20;

type Found = { readonly user: UserId; readonly escalated: boolean };

/** Rejects with PortError when Slack does not answer. */
export async function findPeople(
  run: Run,
  effect: Extract<Effect, { type: "find-people" }>,
  people: Asking,
  ctx: Pick<Context, "policy" | "now" | "monotonic">,
): Promise<Outcome> {
  const approval = findApproval(run, effect.approval);
  const call = approval?.calls?.find(({ n }) => n === effect.call);
  if (approval === null || call === undefined) return { type: "gone" };
  const rule = ruleOf(ctx, run, approval);
  const { found, groups } = await namedBy(rule, people);
  const skipped = silent(approval, ctx.monotonic);
  const asked = inOrder(approval, found).filter(({ user }) => !skipped.includes(user));
  const able = await Promise.all(asked.map((each) => isAble(run, rule, each, people)));
  const users = asked.filter((_, at) => able[at]).map(({ user }) => user);
  if (call.first !== undefined && users.includes(call.first))
    return { type: "people-found", users: [call.first], groups: [], more: 0 };
  // At the end of the time the requester is told as well.
  const all = call.says === "over" ? [...new Set([run.requester, ...users])] : users;
  const shown = all.slice(0, FEW);
  return {
    type: "people-found",
    users: shown,
    groups: groups.slice(0, FEW),
    more: all.length - shown.length,
  };
}

/** People who have approved it already, and who asked to be left alone for a while. */
function silent(approval: Approval, monotonic: number): readonly UserId[] {
  const { claim } = approval.followUp ?? {};
  const snoozes = claim?.snoozedUntil !== undefined && claim.snoozedUntil > monotonic;
  return [...decidersOf(approval), ...(snoozes ? [claim.by] : [])];
}

/** Who looks at the request comes first. */
function inOrder({ followUp }: Approval, found: readonly Found[]): readonly Found[] {
  const first = followUp?.claim?.by;
  return found.toSorted((a, b) => Number(b.user === first) - Number(a.user === first));
}

/** Of a rule for anyone, only the people that its card mentions: being in a channel is no reason to be called. */
async function namedBy(
  { approvers, escalated, mention }: Rule,
  people: Asking,
): Promise<{ readonly found: readonly Found[]; readonly groups: readonly GroupId[] }> {
  const usual = approvers === "anyone" ? { ...mention, channels: [] } : approvers;
  const [later, named] = await Promise.all([expanded(escalated ?? NO_ONE, people), expanded(usual, people)]);
  const users = [...new Set([...later.users, ...named.users])];
  return {
    found: users.map((user) => ({ user, escalated: later.users.includes(user) })),
    groups: [...new Set([...later.groups, ...named.groups])],
  };
}

const NO_ONE: NamedPeople = { users: [], groups: [], channels: [] };

async function expanded(
  { users, groups, channels }: NamedPeople,
  { membersOf }: Asking,
): Promise<{ readonly users: readonly UserId[]; readonly groups: readonly GroupId[] }> {
  const ofGroups = await Promise.all(groups.map((group) => membersOf(group, SHOWN_AGE_MS)));
  const ofChannels = await Promise.all(channels.map((channel) => membersOf(channel, SHOWN_AGE_MS)));
  const few = [...ofGroups, ...ofChannels].filter((members) => members.length <= FEW);
  return {
    users: [...new Set([...users, ...few.flat()])],
    groups: groups.filter((_, at) => (ofGroups[at]?.length ?? 0) > FEW),
  };
}
