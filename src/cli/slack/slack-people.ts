// Looks up in Slack the people, user groups and channels that a policy names.

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

/** A group with more people is assumed to have enough approvers. */
const MAX_ASKED = 100;

/** Resolves to one line for each problem with the ids of the policy. Without a token there are none. */
export async function checkIds(policy: Policy, env: Environment): Promise<string[]> {
  const call = await slackCall(env);
  if (call === null) return [];
  const ids = [...new Set(idsNamedIn(policy))];
  const unknown = await Promise.all(ids.map((id) => idDoubt(call, id)));
  const lacks = await Promise.all(policy.rules.map((rule) => lackOf(call, rule)));
  const stages = await Promise.all(policy.rules.flatMap((rule) => stageDoubts(call, rule)));
  const excepted = await Promise.all(policy.rules.flatMap((rule) => exceptDoubts(call, rule)));
  return [...unknown, ...lacks, ...stages, ...excepted].filter((doubt) => doubt !== null);
}

/** Reports channels whose members the rule excepts, but which the app cannot see. */
function exceptDoubts(call: Call, { name, except }: Rule): readonly Promise<string | null>[] {
  return (except?.channels ?? []).map(async (channel) => {
    try {
      await call("conversations.info", { channel });
      return null;
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      // Another line reports that Slack does not answer now.
      if (error.retry === "later") return null;
      return `"${name}" excepts ${channel}, which the app can't see: no one may decide under this rule. Invite the app there, or except its people by their ids or by a user group`;
    }
  });
}

/** Reports empty groups of a stage, and channels in which the stage cannot be announced. */
function stageDoubts(call: Call, { name, followUp }: Rule): readonly Promise<string | null>[] {
  const people = followUp.escalate.flatMap((stage) =>
    [stage.to, stage.call].filter((named) => named !== null),
  );
  const groups = new Set(people.flatMap((named) => named.groups));
  const channels = new Set(people.flatMap((named) => named.channels));
  const unlessRefused = async (ask: () => Promise<string | null>): Promise<string | null> => {
    try {
      return await ask();
    } catch (error) {
      // Another line reports that Slack does not know the id.
      if (error instanceof PortError) return null;
      throw error;
    }
  };
  return [
    ...[...groups].map((id) =>
      unlessRefused(async () =>
        (await membersOf(call, id))?.length !== 0 ? null : `"${name}" escalates to ${id}, which is empty`,
      ),
    ),
    ...[...channels].map((id) =>
      unlessRefused(async () =>
        isMember(await call("conversations.info", { channel: id }))
          ? null
          : `"${name}" escalates to ${id}, but the app is not in it: invite it, or the stage is not announced there`,
      ),
    ),
  ];
}

const Joined = z.object({ channel: z.object({ is_member: z.boolean().optional() }) });
const isMember = (answer: unknown): boolean => Joined.safeParse(answer).data?.channel.is_member === true;

/** Resolves to null if enough people can satisfy the rule, or if another line already reports an id that Slack does not know. */
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
      users.some((id) => id === user) ||
      [...sets.groups, ...sets.channels].some((set) => members.get(set)?.includes(user));
    const sets = groupsAndChannelsOf(approvers).flatMap((set) => members.get(set) ?? []);
    const people = [...new Set([...approvers.users, ...sets])].filter(
      (user) => except === null || !isIn(user, except),
    );
    if (people.length > MAX_ASKED) return null;
    const doubts = await Promise.all(people.map((user) => checkId(call, user)));
    const able = people.filter((_user, index) => doubts[index] === null);
    const { assigned, missing } = assignParts(able, rule, isIn);
    const parts = missing.length === 0 ? "" : `; no one is left for ${missing.map(partName).join(" and ")}`;
    return assigned.length >= needs
      ? null
      : `"${name}" can't be satisfied: it needs ${needs} approvals, and ${assigned.length} can approve${parts}`;
  } catch (error) {
    if (error instanceof PortError) return null;
    throw error;
  }
}

/** The number of pages of 200 members that the bot reads too. */
const MAX_PAGES = 10;

/** Resolves to null if the channel has more members than the bot reads, so its members are unknown. */
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

async function idDoubt(call: Call, id: string): Promise<string | null> {
  try {
    return await checkId(call, id);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return `Slack's answer about ${id}: ${error.code}`;
  }
}

/** Resolves to what is wrong with this id, or to null. Rejects with PortError if Slack refuses the look-up. */
async function checkId(call: Call, id: string): Promise<string | null> {
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

/** Asks Slack once for each id, about at most `MAX_ASKED` people. Without a token or an answer, everything is unknown. */
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
        : once(users, user, async () => (await checkId(call, user)) === null),
  };
}

function unknownIfRefused(error: unknown): null {
  if (error instanceof PortError) return null;
  throw error;
}
