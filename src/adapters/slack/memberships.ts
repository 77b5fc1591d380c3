// Who belongs to which user groups and channels. A "no" must be certain, because `except` allows people to decide if they are not in a
// channel. So if Slack does not say, the answer is "unknown".

import { ChannelId, GroupId, parsed, UserId } from "../../domain/ids.ts";
import type { Clock } from "../../engine/clock.ts";
import { type People, PortError } from "../../ports.ts";
import { slackChannels, slackGroup, slackMembers } from "./answers.ts";
import type { ChannelKinds } from "./channel-kinds.ts";
import type { Call } from "./clients.ts";
import { CHANNELS_OF_PEOPLE, GROUPS, MEMBERS_OF_CHANNELS, type Pacer, type Pacers } from "./rate-limiter.ts";
import { createSharedAnswers } from "./shared-look-ups.ts";

/** Pages of 200 from users.conversations. Channels beyond them are unknown. */
const MAX_PAGES = 10;
/** Pages of 200 from conversations.members. Members beyond them are unknown. */
const MAX_MEMBER_PAGES = 10;

/** `complete` is true if Slack listed all of them. */
type Listed<Id> = { readonly ids: ReadonlySet<Id>; readonly complete: boolean };

/** `not-listed` means not among the person's channels. Slack lists a private channel there only while the app is also in it. */
export type InChannel = "in" | "not-listed" | "out" | "unknown";

type Memberships = Pick<People, "memberOf" | "membersOf" | "channelsOf"> & {
  /** Whether the person is in the channel. Rejects with PortError. */
  readonly inChannel: (user: UserId, channel: ChannelId, maxAgeMs: number) => Promise<InChannel>;
};

type Deps = { readonly kinds: ChannelKinds; readonly pacers: Pick<Pacers, "make"> };

export function createMemberships(call: Call, clock: Clock, { kinds, pacers }: Deps): Memberships {
  const { channels, members, isBusy, inChannel, amongMembers } = createListings(call, clock, pacers);
  const groups = createGroups(call, clock, pacers);

  /** Resolves to null if Slack does not say. */
  async function isIn(user: UserId, channel: ChannelId, maxAgeMs: number): Promise<boolean | null> {
    if (isBusy() && (await kinds.kindOf(channel)) === "hidden") return null;
    const membership = await inChannel(user, channel, maxAgeMs);
    if (membership !== "not-listed") return membership === "unknown" ? null : membership === "in";
    const kind = await kinds.kindOf(channel);
    if (kind === "hidden") return null;
    if (kind === "public") return false;
    // A member may have removed the app in the meantime, perhaps one whom a rule excepts by this channel. So Slack must list the members
    // now.
    const listed = await amongMembers(user, channel, maxAgeMs);
    return listed === "unknown" ? null : listed === "in";
  }

  const isInGroup = async (user: UserId, group: GroupId, maxAgeMs: number): Promise<boolean> =>
    (await groups(group, maxAgeMs)).has(user);

  async function memberOfOne(
    user: UserId,
    set: GroupId | ChannelId,
    maxAgeMs: number,
  ): Promise<readonly (readonly [GroupId | ChannelId, boolean])[]> {
    const group = parsed(GroupId, set);
    const asked = group === null ? isIn(user, ChannelId(set), maxAgeMs) : isInGroup(user, group, maxAgeMs);
    const isMember = await asked.catch(nullIfRefused);
    return isMember === null ? [] : [[set, isMember]];
  }

  return {
    inChannel,
    channelsOf: async (user, maxAgeMs) => (await channels(user, maxAgeMs)).ids,
    memberOf: async (user, sets, maxAgeMs) =>
      new Map((await Promise.all(sets.map((set) => memberOfOne(user, set, maxAgeMs)))).flat()),
    membersOf: async (set, maxAgeMs) => {
      const group = parsed(GroupId, set);
      return group === null
        ? [...(await members(ChannelId(set), maxAgeMs)).ids]
        : [...(await groups(group, maxAgeMs))];
    },
  };
}

/** Look-ups of the channels of a person, and of the members of a channel. */
function createListings(call: Call, clock: Clock, pacers: Pick<Pacers, "make">) {
  const perPerson = pacers.make(CHANNELS_OF_PEOPLE);
  const channels = createSharedAnswers(
    clock,
    (user: UserId) => channelsOfPerson(call, user),
    () => perPerson.waitForTurn(1, null),
  );
  const perChannel = pacers.make(MEMBERS_OF_CHANNELS);
  const members = createSharedAnswers(clock, (channel: ChannelId) =>
    membersOfChannel(call, perChannel, channel),
  );
  const isBusy = (): boolean => perPerson.queueBefore(1).ms > 0;

  /** Asks for the person's channels, or for the channel's members when the rate limit for people is used up. */
  async function inChannel(user: UserId, channel: ChannelId, maxAgeMs: number): Promise<InChannel> {
    if (isBusy()) return amongMembers(user, channel, maxAgeMs);
    const { ids, complete } = await channels(user, maxAgeMs);
    if (ids.has(channel)) return "in";
    return complete ? "not-listed" : amongMembers(user, channel, maxAgeMs);
  }

  /** Slack lists the members only of channels that the app can see. */
  async function amongMembers(user: UserId, channel: ChannelId, maxAgeMs: number): Promise<InChannel> {
    const found = await members(channel, maxAgeMs);
    if (found.ids.has(user)) return "in";
    if (found.complete) return "out";
    const { ids, complete } = await channels(user, maxAgeMs);
    if (ids.has(channel)) return "in";
    return complete ? "out" : "unknown";
  }

  return { channels, members, isBusy, inChannel, amongMembers };
}

/**
 * Slack's refusal to answer about one channel or group, such as a disabled group, must not affect other rules. Other failures affect all
 * rules, and are thrown.
 */
function nullIfRefused(error: unknown): null {
  if (error instanceof PortError && error.retry === "never") return null;
  throw error;
}

/** Leaves out ids that are not user ids, because they cannot belong to an approver. */
function createGroups(call: Call, clock: Clock, pacers: Pick<Pacers, "make">) {
  const perGroup = pacers.make(GROUPS);
  return createSharedAnswers(
    clock,
    async (usergroup: GroupId): Promise<ReadonlySet<UserId>> =>
      peopleIn(slackGroup(await call("usergroups.users.list", { usergroup }))),
    () => perGroup.waitForTurn(0, null),
  );
}

const peopleIn = (ids: readonly string[]): ReadonlySet<UserId> =>
  new Set(ids.map((id) => parsed(UserId, id)).filter((id) => id !== null));

async function channelsOfPerson(call: Call, user: UserId): Promise<Listed<ChannelId>> {
  const ids = new Set<ChannelId>();
  let cursor = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const args = { user, types: "public_channel,private_channel", limit: 200, exclude_archived: false };
    const answer = slackChannels(
      await call("users.conversations", cursor === "" ? args : { ...args, cursor }),
    );
    // A channel with an id of an unknown kind cannot be one that a rule or a run names.
    for (const id of answer.ids.flatMap((each) => parsed(ChannelId, each) ?? [])) ids.add(id);
    cursor = answer.next;
    if (cursor === "") break;
  }
  return { ids, complete: cursor === "" };
}

async function membersOfChannel(call: Call, pacer: Pacer, channel: ChannelId): Promise<Listed<UserId>> {
  const found: string[] = [];
  let cursor = "";
  for (let page = 0; page < MAX_MEMBER_PAGES; page += 1) {
    await pacer.waitForTurn(0, null);
    const next = slackMembers(await call("conversations.members", { channel, limit: 200, cursor }));
    found.push(...next.ids);
    cursor = next.next;
    if (cursor === "") break;
  }
  return { ids: peopleIn(found), complete: cursor === "" };
}
