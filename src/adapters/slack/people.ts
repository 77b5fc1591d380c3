// Looks up people, channels and groups in Slack by id. Display names and payloads are not evidence of who somebody is.

import type { Person } from "../../domain/authorization.ts";
import { ChannelId, GroupId, parsed, type TeamId, UserId } from "../../domain/ids.ts";
import type { Clock } from "../../engine/clock.ts";
import { type People, PortError } from "../../ports.ts";
import { slackChannel, slackChannels, slackGroup, slackMembers, type SlackUser } from "./answers.ts";
import type { Call } from "./clients.ts";
import {
  CHANNELS,
  CHANNELS_OF_PEOPLE,
  GROUPS,
  MEMBERS_OF_CHANNELS,
  createPacers,
  type Pacer,
  type Pacers,
} from "./rate-limiter.ts";
import { createSharedAnswers, createUserLookUp } from "./shared-look-ups.ts";
import type { TeamOf } from "./workspace-check.ts";

/** Our own workspace, from auth.test. */
export type Home = { readonly team: TeamId; readonly enterprise: string | null };

/** users.conversations pages of 200. Channels that a person shares with the app beyond these count as not joined. */
const MAX_PAGES = 10;

/** How old an answer may be when we check which workspace a person belongs to (ms). */
const TEAM_AGE_MS = 60_000;
/** How old a name may be that is shown beside an id (ms). */
const NAME_AGE_MS = 10 * 60_000;

export function createPeople(call: Call, home: Home, clock: Clock): People & { teamOf: TeamOf } {
  const pacers = createPacers(clock);
  const users = createUserLookUp(call, pacers, clock);
  const perPerson = pacers.make(CHANNELS_OF_PEOPLE);
  const memberships = createSharedAnswers(clock, async (user: UserId) => {
    await perPerson.waitForTurn(1, null);
    return channelsOf(call, user);
  });
  const sets = createSets(call, clock, { memberships, perPerson, pacers });
  const channels = createChannels(call, clock, { pacers, isInChannel: sets.isInChannel });

  async function lookUp(team: TeamId, user: UserId, channel: ChannelId, maxAgeMs: number): Promise<Person> {
    const [facts, seesChannel] = await Promise.all([
      users(user, maxAgeMs),
      channels.isSeenBy(user, channel, maxAgeMs),
    ]);
    if (facts.id !== user)
      throw new PortError("Slack answered for someone else", {
        applied: "no",
        retry: "later",
        code: "garbled",
      });
    return { team, user, kind: kindOf(facts, home), seesChannel };
  }

  return {
    membersOf: sets.membersOf,
    shareLimits: pacers.share,
    isPublic: channels.isPublic,
    memberOf: (...args) => withDeadline(sets.memberOf(...args)),
    lookUp: (...args) => withDeadline(lookUp(...args)),
    nameOf: (user) => nameIn(withDeadline(users(user, NAME_AGE_MS), LIST_DEADLINE_MS)),
    channelsOf: (user, maxAgeMs) => withDeadline(memberships(user, maxAgeMs), LIST_DEADLINE_MS),
    teamOf: async (user) => {
      const id = parsed(UserId, user);
      return id === null ? "" : (await withDeadline(users(id, TEAM_AGE_MS))).team;
    },
  };
}

async function nameIn(user: Promise<SlackUser>): Promise<string | null> {
  try {
    return (await user).name;
  } catch {
    return null;
  }
}

/**
 * We answer a submit within 2 s and a command within 3 s. A person whom Slack has not identified by then (ms) counts as not
 * verified.
 */
const DEADLINE_MS = 1_800;
/** A list of what waits may take longer (ms): it is no answer to a click. */
const LIST_DEADLINE_MS = 10_000;

async function withDeadline<T>(answer: Promise<T>, ms = DEADLINE_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const details = { applied: "no", retry: "later", code: "timeout" } as const;
  const timer = setTimeout(() => reject(new PortError("Slack did not say in time who this is", details)), ms);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The order matters: for an outsider, Slack's guest flags describe their own workspace and mean nothing here. On Enterprise Grid
 * Slack names one workspace of a person and lists all of them. A member of a sibling workspace only is an outsider.
 */
export function kindOf(facts: SlackUser, home: Home): Person["kind"] {
  if (facts.deleted) return "deactivated";
  if (facts.isBot) return "bot";
  const sameOrg = home.enterprise !== null && facts.enterprise === home.enterprise;
  const isHere = facts.team === home.team || (sameOrg && facts.teams.includes(home.team));
  if (!isHere) return "outsider";
  return facts.isGuest ? "guest" : "member";
}

async function channelsOf(call: Call, user: UserId): Promise<ReadonlySet<ChannelId>> {
  const found = new Set<ChannelId>();
  let cursor = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const args = { user, types: "public_channel,private_channel", limit: 200, exclude_archived: false };
    const answer = slackChannels(
      await call("users.conversations", cursor === "" ? args : { ...args, cursor }),
    );
    for (const id of answer.ids) found.add(ChannelId(id));
    if (answer.next === "") return found;
    cursor = answer.next;
  }
  return found;
}

type IsInChannel = (user: UserId, channel: ChannelId, maxAgeMs: number) => Promise<boolean>;

/**
 * Every full member can open a public channel. Any other channel is visible to its members only. So a member sees it in any case: that
 * is asked first when Slack would not say now what kind of channel it is.
 */
function createChannels(
  call: Call,
  clock: Clock,
  { pacers, isInChannel }: { readonly pacers: Pacers; readonly isInChannel: IsInChannel },
) {
  const pacer = pacers.make(CHANNELS);
  const kinds = createSharedAnswers(clock, async (channel: ChannelId) => {
    await pacer.waitForTurn(0, null);
    return slackChannel(await call("conversations.info", { channel }));
  });
  const isPublic = async (channel: ChannelId, maxAgeMs: number): Promise<boolean> =>
    (await kinds(channel, maxAgeMs)).isPublic;
  const isSeenBy: IsInChannel = async (user, channel, maxAgeMs) => {
    const kindFirst = kinds.has(channel, maxAgeMs) || pacer.queueBefore(0).ms === 0;
    if (kindFirst) return (await isPublic(channel, maxAgeMs)) || isInChannel(user, channel, maxAgeMs);
    return (await isInChannel(user, channel, maxAgeMs)) || isPublic(channel, maxAgeMs);
  };
  return { isPublic, isSeenBy };
}

// Membership of user groups and channels.

/** conversations.members pages of 200. In a larger channel we count only the members on these pages. */
const MAX_MEMBER_PAGES = 10;

type Memberships = {
  readonly memberships: (user: UserId, maxAgeMs: number) => Promise<ReadonlySet<ChannelId>>;
  /** Paces what `memberships` asks of Slack. */
  readonly perPerson: Pacer;
  readonly pacers: Pick<Pacers, "make">;
};

type Members = { readonly users: ReadonlySet<UserId>; readonly complete: boolean };

export function createSets(
  call: Call,
  clock: Clock,
  { memberships, perPerson, pacers }: Memberships,
): Pick<People, "memberOf" | "membersOf"> & {
  readonly isInChannel: IsInChannel;
} {
  const perGroup = pacers.make(GROUPS);
  const groups = createSharedAnswers(clock, async (group: GroupId) => {
    await perGroup.waitForTurn(0, null);
    return inGroup(call, group);
  });
  const perChannel = pacers.make(MEMBERS_OF_CHANNELS);
  const inChannel = createSharedAnswers(clock, (channel: ChannelId) =>
    membersOfChannel(call, perChannel, channel),
  );

  /** One question for each person; when Slack would answer no more of those, one for the channel. */
  async function isInChannel(user: UserId, channel: ChannelId, maxAgeMs: number): Promise<boolean> {
    if (perPerson.queueBefore(1).ms === 0) return (await memberships(user, maxAgeMs)).has(channel);
    const { users, complete } = await inChannel(channel, maxAgeMs);
    return users.has(user) || (!complete && (await memberships(user, maxAgeMs)).has(channel));
  }

  async function isIn(user: UserId, set: GroupId | ChannelId, maxAgeMs: number): Promise<boolean> {
    const group = parsed(GroupId, set);
    if (group !== null) return (await groups(group, maxAgeMs)).has(user);
    return isInChannel(user, ChannelId(set), maxAgeMs);
  }

  const memberOf: People["memberOf"] = async (user, sets, maxAgeMs) =>
    new Map(await Promise.all(sets.map(async (set) => [set, await isIn(user, set, maxAgeMs)] as const)));

  async function membersOf(set: GroupId | ChannelId, maxAgeMs: number): Promise<readonly UserId[]> {
    const group = parsed(GroupId, set);
    if (group === null) return [...(await inChannel(ChannelId(set), maxAgeMs)).users];
    return [...(await groups(group, maxAgeMs))];
  }

  return { memberOf, membersOf, isInChannel };
}

/** Leaves out ids that are not user ids: they cannot belong to an approver. */
async function inGroup(call: Call, usergroup: GroupId): Promise<ReadonlySet<UserId>> {
  const ids = slackGroup(await call("usergroups.users.list", { usergroup }));
  return new Set(ids.map((id) => parsed(UserId, id)).filter((id) => id !== null));
}

async function membersOfChannel(call: Call, pacer: Pacer, channel: ChannelId): Promise<Members> {
  const found: string[] = [];
  let cursor = "";
  for (let page = 0; page < MAX_MEMBER_PAGES; page += 1) {
    await pacer.waitForTurn(0, null);
    const next = slackMembers(await call("conversations.members", { channel, limit: 200, cursor }));
    found.push(...next.ids);
    cursor = next.next;
    if (cursor === "") break;
  }
  const users = new Set(found.map((id) => parsed(UserId, id)).filter((id) => id !== null));
  return { users, complete: cursor === "" };
}
