// Asks Slack who can approve a request. They are counted when its card is posted, so that people do not wait in vain if there are too few.

import type { RuleMoment } from "../domain/context.ts";
import { countKeyOf, ruleOf, rulesInDoubt } from "../domain/applied-rule.ts";
import { decidersOf } from "../domain/approval-transitions.ts";
import type { Approval } from "../domain/approval.ts";
import { type Person, refusalToDecide } from "../domain/authorization.ts";
import { MAX_CALLED } from "../domain/gathered-call.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import type { Called } from "../domain/follow-up.ts";
import type { GroupId, UserId } from "../domain/ids.ts";
import { assignParts, type ListedPeople, listsOf, NO_ONE } from "../domain/policy/named-people.ts";
import type { Rule } from "../domain/policy/policy.ts";
import { isRequesterUnknown, type PolicyNow, setsOfRule } from "../domain/rule-facts.ts";
import { findApproval, mayHaveAsked, type Run } from "../domain/run.ts";
import { needsFile } from "../domain/text/request-text.ts";
import { type People, PortError } from "../ports.ts";
import { SHOWN_AGE_MS } from "./fresh-facts.ts";

/** The maximum number of people who are looked up. If too few of them may approve, and there are more, the count is unknown. */
const MAX_ASKED = 100;
const AT_ONCE = 5;

type PeopleLookup = Pick<People, "lookUp" | "memberOf" | "membersOf">;

export async function countApprovers(
  run: Run,
  effect: Extract<Effect, { type: "count-approvers" }>,
  people: PeopleLookup,
  ctx: PolicyNow,
): Promise<Outcome> {
  const approval = findApproval(run, effect.approval);
  if (approval === null) return { type: "gone" };
  const of = countKeyOf(run, approval);
  // Slack has not said yet which groups the requester is in, so every rule that may apply counts. A count under all of them means nothing.
  if (isRequesterUnknown(run, approval, ctx)) return { type: "counted", of, able: null, grows: false };
  const rule = ruleOf(ctx, run, approval);
  try {
    return {
      type: "counted",
      of,
      able: await countAble(run, approval, rule, people),
      grows: rule.approvers === "anyone",
    };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { type: "counted", of, able: null, grows: false };
  }
}

/** Counts only up to the number that the rule needs. Resolves to null if there are too many people to look them all up. */
async function countAble(
  run: Run,
  { request }: Approval,
  rule: Rule,
  people: PeopleLookup,
): Promise<number | null> {
  const named = await candidatesOf(run, rule, people);
  // People of a stage who do not see the file with the whole request can only deny it.
  const candidates = needsFile(request) ? named.map((each) => ({ ...each, escalated: false })) : named;
  const membersOfParts = new Map(
    await Promise.all(
      rule.parts.map(async (part) => [part, new Set(await everyoneIn(part, people))] as const),
    ),
  );
  const found: UserId[] = [];
  const countAssigned = (): number =>
    assignParts(found, rule, (user, part) => membersOfParts.get(part)?.has(user) ?? false).assigned.length;
  for (let from = 0; from < Math.min(candidates.length, MAX_ASKED); from += AT_ONCE) {
    const batch = candidates.slice(from, Math.min(from + AT_ONCE, MAX_ASKED));
    const able = await Promise.all(batch.map((candidate) => isAble(run, rule, candidate, people)));
    found.push(...batch.flatMap(({ user }, index) => (able[index] === true ? [user] : [])));
    if (countAssigned() >= rule.needs) return rule.needs;
  }
  return candidates.length > MAX_ASKED ? null : countAssigned();
}

type Candidate = { readonly user: UserId; readonly escalated: boolean };

async function candidatesOf(run: Run, rule: Rule, people: PeopleLookup): Promise<Candidate[]> {
  const { approvers, escalated } = rule;
  const called = escalated === undefined ? [] : await everyoneIn(escalated, people);
  const named =
    approvers === "anyone"
      ? await people.membersOf(run.channel, SHOWN_AGE_MS)
      : await everyoneIn(approvers, people);
  return [...new Set([...called, ...named])].map((user) => ({ user, escalated: called.includes(user) }));
}

async function everyoneIn(named: ListedPeople, { membersOf }: PeopleLookup): Promise<readonly UserId[]> {
  const [first = [], ...others] = await Promise.all(
    listsOf(named).map(async ({ users, groups, channels }) => {
      const members = await Promise.all([...groups, ...channels].map((set) => membersOf(set, SHOWN_AGE_MS)));
      return [...users, ...members.flat()];
    }),
  );
  return first.filter((user) => others.every((list) => list.includes(user)));
}

/** The caller must pass only people whom the rule names. `refusalToDecide` judges everything else. */
async function isAble(
  run: Run,
  rule: Rule,
  { user, escalated }: Candidate,
  people: PeopleLookup,
): Promise<boolean> {
  if (mayHaveAsked(run, user) && !rule.selfApproval) return false;
  if (rule.except !== null && (await everyoneIn(rule.except, people)).includes(user)) return false;
  const { escalated: _stages, ...ofRule } = rule;
  const among = escalated ? { escalated: { users: [user], groups: [], channels: [] } } : {};
  const person = await personIfKnown(run, user, people);
  const judgedBy = { ...ofRule, ...among, approvers: "anyone", except: null } as const;
  return person !== null && refusalToDecide(person, run, judgedBy) === null;
}

/** Resolves to null if Slack does not know the person, who then can't approve anything. */
async function personIfKnown(run: Run, user: UserId, people: PeopleLookup): Promise<Person | null> {
  try {
    return await people.lookUp(run.team, user, run.channel, SHOWN_AGE_MS);
  } catch (error) {
    if (error instanceof PortError && error.code === "user_not_found") return null;
    throw error;
  }
}

// A call mentions the people who can still decide the request. They are looked up when the call is due.

/** Rejects with PortError if Slack does not answer. */
export async function findPeople(
  run: Run,
  effect: Extract<Effect, { type: "find-people" }>,
  people: PeopleLookup,
  ctx: RuleMoment,
): Promise<Outcome> {
  const approval = findApproval(run, effect.approval);
  const call = approval?.calls?.find(({ n }) => n === effect.call);
  if (approval === null || call === undefined) return { type: "gone" };
  const skipped = peopleToSkip(approval, ctx.monotonic);
  const { first } = call;
  const judging = ruleOf(ctx, run, approval);
  const inDoubt = rulesInDoubt(ctx, run, approval);
  if (first !== undefined && !skipped.includes(first)) {
    const asked = [judging, ...inDoubt].map((rule) => mayDecide(run, rule, first, people));
    if ((await answersOf(asked)).includes(true))
      return { type: "people-found", users: [first], groups: [], more: 0 };
  }
  const calledUnder = async (rule: Rule): Promise<CalledByRule> => {
    const { candidates, groups } = await namedBy(rule, people);
    const left = claimerFirst(approval, candidates).filter(({ user }) => !skipped.includes(user));
    const able = await Promise.all(left.map((candidate) => isAble(run, rule, candidate, people)));
    return { users: left.filter((_, at) => able[at]).map(({ user }) => user), groups };
  };
  const sure = await calledUnder(judging).catch((error: unknown) => {
    if (inDoubt.length > 0 && error instanceof PortError) return NO_ONE;
    throw error;
  });
  const isNoOne = sure.users.length + sure.groups.length === 0;
  // While Slack has not said which rule applies, all hold together, and may leave no one. Someone must still hear of the request.
  const { users, groups } =
    isNoOne && inDoubt.length > 0 ? together(await answersOf(inDoubt.map(calledUnder))) : sure;
  // When the time is over, the requester is mentioned as well.
  const all = call.says === "over" ? [...new Set([run.requester, ...users])] : users;
  const shown = all.slice(0, MAX_CALLED);
  return {
    type: "people-found",
    users: shown,
    groups: groups.slice(0, MAX_CALLED),
    more: all.length - shown.length,
  };
}

/** Judges one person by their own memberships, because a large group or "anyone" is not expanded. */
async function mayDecide(run: Run, rule: Rule, user: UserId, people: PeopleLookup): Promise<boolean> {
  const person = await personIfKnown(run, user, people);
  if (person === null) return false;
  const memberOf = await people.memberOf(user, setsOfRule(rule), SHOWN_AGE_MS);
  return refusalToDecide({ ...person, memberOf }, run, rule) === null;
}

type CalledByRule = Pick<Called, "users" | "groups">;

/** Leaves out what Slack refuses to say, such as the members of a group that is gone. Rejects only if Slack says nothing at all. */
async function answersOf<Answer>(asked: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const settled = await Promise.allSettled(asked);
  const answers = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  return answers.length > 0 ? answers : Promise.all(asked);
}

const together = (called: readonly CalledByRule[]): CalledByRule => ({
  users: [...new Set(called.flatMap(({ users }) => users))],
  groups: [...new Set(called.flatMap(({ groups }) => groups))],
});

/** Returns the people who have already approved the request, and the person who has snoozed it. */
function peopleToSkip(approval: Approval, monotonic: number): readonly UserId[] {
  const { claim } = approval.followUp ?? {};
  const snoozes = claim?.snoozedUntil !== undefined && claim.snoozedUntil > monotonic;
  return [...decidersOf(approval), ...(snoozes ? [claim.by] : [])];
}

/** Puts the person who has claimed the request first. */
function claimerFirst({ followUp }: Approval, candidates: readonly Candidate[]): readonly Candidate[] {
  const claimer = followUp?.claim?.by;
  return candidates.toSorted((a, b) => Number(b.user === claimer) - Number(a.user === claimer));
}

/** If a rule lets anyone approve, only the people whom its card mentions are called, and not every member of the channel. */
async function namedBy(
  { approvers, escalated, mention }: Rule,
  people: PeopleLookup,
): Promise<{ readonly candidates: readonly Candidate[]; readonly groups: readonly GroupId[] }> {
  const regular = approvers === "anyone" ? { ...mention, channels: [] } : approvers;
  const [ofStages, ofRule] = await Promise.all([
    expand(escalated ?? NO_ONE, people),
    expand(regular, people),
  ]);
  const users = [...new Set([...ofStages.users, ...ofRule.users])];
  return {
    candidates: users.map((user) => ({ user, escalated: ofStages.users.includes(user) })),
    groups: [...new Set([...ofStages.groups, ...ofRule.groups])],
  };
}

/** A user group that is too large for one message is mentioned as a group. The members of a channel that is too large are not mentioned. */
async function expand(named: ListedPeople, people: PeopleLookup): Promise<CalledByRule> {
  if (named.alsoIn !== undefined)
    return { users: (await everyoneIn(named, people)).slice(0, MAX_ASKED), groups: [] };
  const { users, groups, channels } = named;
  const { membersOf } = people;
  const ofGroups = await Promise.all(groups.map((group) => membersOf(group, SHOWN_AGE_MS)));
  const ofChannels = await Promise.all(channels.map((channel) => membersOf(channel, SHOWN_AGE_MS)));
  const few = [...ofGroups, ...ofChannels].filter((members) => members.length <= MAX_CALLED);
  return {
    users: [...new Set([...users, ...few.flat()])],
    groups: groups.filter((_, at) => (ofGroups[at]?.length ?? 0) > MAX_CALLED),
  };
}
