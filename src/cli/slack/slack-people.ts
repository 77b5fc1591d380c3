// What Slack says about the people, user groups and channels that a policy names.

import { z } from "zod";
import { slackChannel, slackGroup, slackMembers, slackUser } from "../../adapters/slack/answers.ts";
import type { Call } from "../../adapters/slack/clients.ts";
import type { People } from "../../audit/policy-replay.ts";
import type { Environment } from "../../config.ts";
import {
  assignParts,
  groupsAndChannelsOf,
  type NamedPeople,
  partName,
} from "../../domain/policy/named-people.ts";
import { idsNamedIn, type Policy, type Rule } from "../../domain/policy/policy.ts";
import { setsOfRule } from "../../domain/rule-facts.ts";
import { PortError } from "../../ports.ts";
import { slackCall } from "./ask-slack.ts";

/** A larger group is taken to have enough people. */
const MAX_ASKED = 100;

/** One line for each problem with the ids of the policy; none without a token. */
export async function checkIds(policy: Policy, env: Environment): Promise<string[]> {
  const call = await slackCall(env);
  if (call === null) return [];
  const ids = [...new Set(idsNamedIn(policy))];
  const says = await Promise.all(ids.map((id) => doubt(call, id)));
  const lacks = await Promise.all(policy.rules.map((rule) => lackOf(call, rule)));
  const stages = await Promise.all(policy.rules.flatMap((rule) => stageDoubts(call, rule)));
  const excepted = await Promise.all(policy.rules.flatMap((rule) => exceptDoubts(call, rule)));
  return [...says, ...lacks, ...stages, ...excepted].filter((each) => each !== null);
}

/** Channels whose members the rule excepts, and of which Slack tells the app nothing. */
function exceptDoubts(call: Call, { name, except }: Rule): readonly Promise<string | null>[] {
  return (except?.channels ?? []).map(async (channel) => {
    try {
      await call("conversations.info", { channel });
      return null;
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      // Another line says that Slack does not answer now.
      if (error.retry === "later") return null;
      return `"${name}" excepts ${channel}, which the app can't see: no one may decide under this rule. Invite the app there, or except its people by their ids or by a user group`;
    }
  });
}

/** A group of a stage without people, and a channel in which the stage can't be announced. */
function stageDoubts(call: Call, { name, followUp }: Rule): readonly Promise<string | null>[] {
  const people = followUp.escalate.flatMap(({ to, call: called }) =>
    [to, called].filter((each) => each !== null),
  );
  const groups = new Set(people.flatMap((each) => each.groups));
  const channels = new Set(people.flatMap((each) => each.channels));
  const known = async (ask: () => Promise<string | null>): Promise<string | null> => {
    try {
      return await ask();
    } catch (error) {
      // Another line says that Slack does not know the id.
      if (error instanceof PortError) return null;
      throw error;
    }
  };
  return [
    ...[...groups].map((id) =>
      known(async () =>
        (await membersOf(call, id))?.length !== 0 ? null : `"${name}" escalates to ${id}, which is empty`,
      ),
    ),
    ...[...channels].map((id) =>
      known(async () =>
        isMember(await call("conversations.info", { channel: id }))
          ? null
          : `"${name}" escalates to ${id}, where the app is not: invite it, or the stage is not announced there`,
      ),
    ),
  ];
}

const Joined = z.object({ channel: z.object({ is_member: z.boolean().optional() }) });
const isMember = (answer: unknown): boolean => Joined.safeParse(answer).data?.channel.is_member === true;

/** Null: enough people can satisfy the rule, or another line already says that Slack does not know an id. */
async function lackOf(call: Call, rule: Rule): Promise<string | null> {
  const { name, approvers, needs, except } = rule;
  if (approvers === "anyone") return null;
  try {
    const members = new Map<string, readonly string[]>();
    for (const set of new Set(setsOfRule(rule))) {
      const listed = await membersOf(call, set);
      if (listed === null) return null;
      members.set(set, listed);
    }
    const isIn = (user: string, { users, ...sets }: NamedPeople): boolean =>
      users.some((each) => each === user) ||
      [...sets.groups, ...sets.channels].some((set) => members.get(set)?.includes(user));
    const sets = groupsAndChannelsOf(approvers).flatMap((set) => members.get(set) ?? []);
    const people = [...new Set([...approvers.users, ...sets])].filter(
      (user) => except === null || !isIn(user, except),
    );
    if (people.length > MAX_ASKED) return null;
    const doubts = await Promise.all(people.map((user) => asked(call, user)));
    const able = people.filter((_user, index) => doubts[index] === null);
    const { seated, missing } = assignParts(able, rule, isIn);
    const of = missing.length === 0 ? "" : `; no one is left for ${missing.map(partName).join(" and ")}`;
    return seated.length >= needs
      ? null
      : `"${name}" can't be satisfied: it needs ${needs}, and ${seated.length} can approve${of}`;
  } catch (error) {
    if (error instanceof PortError) return null;
    throw error;
  }
}

/** Pages of 200, as the bot reads them. */
const MAX_PAGES = 10;

/** Null: the channel has more members than the bot reads, so who is in it is unknown. */
async function membersOf(call: Call, set: string): Promise<readonly string[] | null> {
  if (set.startsWith("S")) return slackGroup(await call("usergroups.users.list", { usergroup: set }));
  const found: string[] = [];
  let cursor = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { ids, next } = slackMembers(
      await call("conversations.members", { channel: set, limit: 200, cursor }),
    );
    found.push(...ids);
    cursor = next;
    if (cursor === "") return found;
  }
  return null;
}

async function doubt(call: Call, id: string): Promise<string | null> {
  try {
    return await asked(call, id);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return `Slack says of ${id}: ${error.code}`;
  }
}

async function asked(call: Call, id: string): Promise<string | null> {
  if (id.startsWith("S")) {
    await call("usergroups.users.list", { usergroup: id });
    return null;
  }
  if (/^[CG]/.test(id)) {
    slackChannel(await call("conversations.info", { channel: id }));
    return null;
  }
  const { deleted, isBot, isGuest } = slackUser(await call("users.info", { user: id }));
  if (deleted) return `${id} is deactivated and can't decide or start anything`;
  return isBot || isGuest ? `${id} is a ${isBot ? "bot" : "guest"} and can't decide or start anything` : null;
}

/** Asks Slack once for each id, about `MAX_ASKED` people. Without a token, or where Slack does not answer, nothing is known. */
export async function slackPeople(env: Environment): Promise<People & { readonly isKnown: boolean }> {
  const call = await slackCall(env);
  const sets = new Map<string, Promise<readonly string[] | null>>();
  const users = new Map<string, Promise<boolean | null>>();
  const once = <Value>(known: Map<string, Promise<Value | null>>, id: string, ask: () => Promise<Value>) => {
    const answer = known.get(id) ?? ask().catch(unknownIfRefused);
    known.set(id, answer);
    return answer;
  };
  if (call === null)
    return {
      isKnown: false,
      members: () => Promise.resolve(null),
      mayApprove: () => Promise.resolve(null),
    };
  return {
    isKnown: true,
    members: (set) => once(sets, set, () => membersOf(call, set)),
    mayApprove: (user) =>
      users.size >= MAX_ASKED && !users.has(user)
        ? Promise.resolve(null)
        : once(users, user, async () => (await asked(call, user)) === null),
  };
}

function unknownIfRefused(error: unknown): null {
  if (error instanceof PortError) return null;
  throw error;
}
