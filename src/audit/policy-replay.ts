// Replays past requests under a different policy: the evaluator for live requests judges the facts in the audit. The audit lacks some
// facts: erased texts, fields that the policy of that time called volatile, and the members of groups. The people of a stage count if the
// audit says that the request reached a stage at this age or later.

import type { KeyedRequest, PastPolicy, PastRequest } from "./past-requests.ts";
import { withStages } from "../domain/escalation.ts";
import type { GroupId, UserId } from "../domain/ids.ts";
import { isList, parseJson } from "../domain/json.ts";
import { actionIn } from "../domain/listed-item.ts";
import { ruleFor } from "../domain/policy/choose-rule.ts";
import { laxerFields } from "../domain/policy/combine-rules.ts";
import { foldName, stepsOf } from "../domain/policy/pattern.ts";
import type { Facts, Policy, Rule } from "../domain/policy/policy.ts";
import {
  assignParts,
  groupsAndChannelsOf,
  isInAll,
  listsOf,
  type NamedPeople,
  NO_ONE,
  type Principals,
} from "../domain/policy/named-people.ts";
import { requesterGroupsOf, setsOfRule } from "../domain/rule-facts.ts";
import { seenChars } from "../domain/text/text.ts";

export type ReplayTools = {
  /** Null if it was erased, or never stored. */
  readonly textOf: (digest: string) => Promise<string | null>;
  /** Null if the policy is unknown or cannot be read. */
  readonly policyOf: (past: PastPolicy) => Promise<Policy | null>;
  readonly people: People;
};

/** The people who can approve today. Null if they are unknown. */
export type People = {
  members(set: string): Promise<readonly string[] | null>;
  /** Returns whether the person is a full member who is not deactivated. */
  mayApprove(user: string): Promise<boolean | null>;
};

export type WhyNotJudged = "no-text" | "no-task" | "volatile" | "no-group";

export type Replayed =
  | { readonly request: PastRequest; readonly judged: false; readonly why: WhyNotJudged }
  | (Judgement & { readonly request: PastRequest; readonly judged: true });

export type Judgement = {
  /** The rule of that time. Null if its policy, or a fact on which that policy depends, is unknown. */
  readonly before: Rule | null;
  readonly after: Rule;
  readonly action: string | null;
  readonly approvable: "enough" | "too-few" | "unknown";
  /**
   * For an approval that was sent: the reasons why it would not be enough. Empty if it would be enough, which is certain only if `isSure`.
   */
  readonly lacks: readonly string[];
  /** False if it is unknown whether its people are in a group. */
  readonly isSure: boolean;
};

export async function replay(request: PastRequest, policy: Policy, tools: ReplayTools): Promise<Replayed> {
  const was = await tools.policyOf(request.policy);
  const task = request.task === null ? "" : await tools.textOf(request.task);
  const facts = await factsOf(request, task ?? "", was === null ? [policy] : [policy, was], tools);
  if (facts === null) return { request, judged: false, why: "no-text" };
  const known = { facts, task, volatile: was?.volatile ?? [] };
  const why = missingFor(policy, known);
  if (why !== null) return { request, judged: false, why };
  const after = withStages(ruleFor(policy, facts), request.escalatedMs);
  const before = was === null ? null : ruleThen(was, request, known);
  const approvable = await canBeApproved(after, request, tools.people);
  const { lacks, isSure } = await shortfall(after, request, tools.people);
  return { request, judged: true, before, after, action: facts.action, approvable, lacks, isSure };
}

type Known = {
  readonly facts: Facts;
  /** Null if it was erased. */
  readonly task: string | null;
  /** The fields that the policy of that time called volatile. */
  readonly volatile: readonly string[];
};

/** Returns the unknown fact on which the policy depends, or null. */
function missingFor(policy: Policy, { facts, task, volatile }: Known): WhyNotJudged | null {
  if (dependsOn(policy, volatile)) return "volatile";
  if (task === null && policy.rules.some(({ when }) => when.input !== null)) return "no-task";
  return isRuleKnown(policy, facts) ? null : "no-group";
}

/** If a fact is unknown on which the policy of that time depends, only the entry says which rule applied. */
function ruleThen(was: Policy, { rule }: PastRequest, known: Known): Rule | null {
  if (missingFor(was, known) === null) return ruleFor(was, known.facts);
  return was.rules.find(({ name }) => name === rule) ?? null;
}

/** Returns false if the rule depends on whether the requester is in a group whose members are unknown. */
function isRuleKnown(policy: Policy, facts: Facts): boolean {
  const { requesterIn = {} } = facts;
  const unknown = requesterGroupsOf(policy).filter((group) => !Object.hasOwn(requesterIn, group));
  const [none, all] = [false, true].map((isIn) => {
    const supposed = Object.fromEntries(unknown.map((group) => [group, isIn]));
    return ruleFor(policy, { ...facts, requesterIn: { ...requesterIn, ...supposed } }).name;
  });
  return none === all;
}

/** Resolves to null if the text of the request is not in the audit. */
async function factsOf(
  { digest, channel, requester, judgedAt: at }: PastRequest,
  input: string,
  policies: readonly Policy[],
  tools: ReplayTools,
): Promise<Facts | null> {
  const text = digest === null ? null : await tools.textOf(digest);
  const parts = text === null ? null : parseJson(text);
  if (parts === null || !isList(parts)) return null;
  const [, approval, content = null] = parts;
  const action = actionIn(content, typeof approval === "string" ? approval : "");
  const requesterIn = await groupsOf(requester, policies, tools.people);
  return { channel, requester, input, action, content, requesterIn, at };
}

/** Uses today's members. A missing group is unknown. */
async function groupsOf(requester: UserId, policies: readonly Policy[], people: People) {
  const known: [GroupId, boolean][] = [];
  for (const group of new Set(policies.flatMap(requesterGroupsOf))) {
    const members = await people.members(group);
    if (members !== null) known.push([group, members.includes(requester)]);
  }
  return Object.fromEntries(known);
}

/** Volatile fields are not part of the stored request. A condition on a field with the same name may depend on one. */
function dependsOn({ rules }: Policy, volatile: readonly string[]): boolean {
  const names = new Set(volatile.flatMap((path) => stepsOf(path).map(foldName)));
  const paths = rules.flatMap(({ when }) => Object.keys(when.fields));
  return paths.some((path) => stepsOf(path).some((step) => names.has(foldName(step))));
}

async function canBeApproved(
  rule: Rule,
  { requester }: KeyedRequest,
  people: People,
): Promise<Judgement["approvable"]> {
  const { approvers, needs, selfApproval, except, escalated = NO_ONE } = rule;
  const members = await membersOfSets(rule, people);
  const isIn = isInBy(members);
  if (approvers === "anyone") return "enough";
  const membersOfEach = (list: Principals) =>
    groupsAndChannelsOf(list).map((set) => members.get(set) ?? null);
  const named = new Set<string>(
    [approvers, escalated].flatMap((list) => [
      ...list.users,
      ...membersOfEach(list).flatMap((each) => each ?? []),
    ]),
  );
  if (!selfApproval) named.delete(requester);
  const listed = [...named].filter(
    (user) => (except === null || isIn(user, except) !== true) && isAmong(user, rule, isIn) === true,
  );
  const may = await Promise.all(listed.map((user) => people.mayApprove(user)));
  const able = listed.filter((_user, index) => may[index] !== false);
  const { assigned } = assignParts(able, rule, (user, part) => isIn(user, part) !== false);
  if (assigned.length >= needs) return "enough";
  return [approvers, escalated].flatMap(membersOfEach).includes(null) ? "unknown" : "too-few";
}

/** Returns whether the rule or one of its stages names the person. Null if it is unknown. */
function isAmong(user: string, { approvers, escalated = NO_ONE }: Rule, isIn: IsIn): boolean | null {
  const answers = [approvers, escalated].map((who) => isInAll(listsOf(who).map((list) => isIn(user, list))));
  if (answers.includes(true)) return true;
  return answers.includes(null) ? null : false;
}

async function shortfall(
  rule: Rule,
  { sent, requester }: PastRequest,
  people: People,
): Promise<Pick<Judgement, "lacks" | "isSure">> {
  if (sent === null || sent.verdict !== "approve") return { lacks: [], isSure: true };
  const { approvals } = sent;
  const users = [...new Set(approvals.map(({ user }) => user))];
  const isIn = isInBy(await membersOfSets(rule, people));
  const among = users.map((user) => isAmong(user, rule, isIn));
  const excepted = users.map((user) => rule.except !== null && isIn(user, rule.except));
  const assignedCount = (isUnknownIn: boolean): number =>
    assignParts(users, rule, (user, part) => isIn(user, part) ?? isUnknownIn).assigned.length;
  const ways: readonly (readonly [boolean, string])[] = [
    [users.length < rule.needs, "too few people"],
    [!rule.selfApproval && users.includes(requester), "the requester approved"],
    [among.includes(false) || excepted.includes(true), "a person who may not approve"],
    [users.length >= rule.needs && assignedCount(true) < rule.needs, "a part of the rule did not approve"],
    [approvals.some(({ reason }) => seenChars(reason) < rule.reason.approve), "too short a reason"],
  ];
  return {
    lacks: ways.flatMap(([is, says]) => (is ? [says] : [])),
    isSure: !among.includes(null) && !excepted.includes(null) && assignedCount(true) === assignedCount(false),
  };
}

type Members = ReadonlyMap<string, readonly string[] | null>;

async function membersOfSets(rule: Rule, people: People): Promise<Members> {
  const sets = [...new Set<string>(setsOfRule(rule))];
  return new Map(await Promise.all(sets.map(async (set) => [set, await people.members(set)] as const)));
}

/** Returns null if it is unknown. */
type IsIn = (user: string, named: NamedPeople) => boolean | null;

const isInBy =
  (members: Members): IsIn =>
  (user, { users, groups, channels }) => {
    const lists = [...groups, ...channels].map((set) => members.get(set) ?? null);
    if (users.some((each) => each === user) || lists.some((list) => list?.includes(user) === true))
      return true;
    return lists.includes(null) ? null : false;
  };

/** Describes how the rule of that time and the new rule differ. */
export type Difference = {
  readonly otherRule: boolean;
  readonly stricter: readonly string[];
  readonly laxer: readonly string[];
};

/** `rule`: the rule's name in the audit, if it has one. */
export function differenceOf({ before, after, request }: Extract<Replayed, { judged: true }>): Difference {
  const name = request.rule ?? before?.name ?? null;
  return {
    otherRule: name !== null && name !== after.name,
    stricter: before === null ? [] : laxerFields(before, after),
    laxer: before === null ? [] : laxerFields(after, before),
  };
}
