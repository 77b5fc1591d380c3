// Looks up people, channels and groups in Slack by id. Display names and payloads are not evidence of who somebody is.

import type { Person } from "../../domain/authorization.ts";
import { ChannelId, GroupId, parsed, type TeamId, UserId } from "../../domain/ids.ts";
import type { Clock } from "../../engine/clock.ts";
import { type People, PortError } from "../../ports.ts";
import {
  slackChannel,
  slackChannels,
  slackGroup,
  slackMembers,
  type SlackUser,
  slackUser,
  slackUsers,
} from "./answers.ts";
import type { Call } from "./clients.ts";
import {
  beginsNow,
  CHANNELS_OF_PEOPLE,
  GROUPS,
  LISTS_OF_PEOPLE,
  createPacers,
  type Pacer,
  type Pacers,
  SINGLE_PEOPLE,
} from "./rate-limiter.ts";
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
  const users = createSharedAnswers(clock, createUserLookUp(call, pacers));
  const channels = createSharedAnswers(clock, async (channel: ChannelId) =>
    slackChannel(await call("conversations.info", { channel })),
  );
  const perPerson = pacers.make(CHANNELS_OF_PEOPLE);
  const memberships = createSharedAnswers(clock, async (user: UserId) => {
    await perPerson.waitForTurn(1, null);
    return channelsOf(call, user);
  });
  const sets = createSets(call, clock, { memberships, perPerson, pacers });

  async function lookUp(team: TeamId, user: UserId, channel: ChannelId, maxAgeMs: number): Promise<Person> {
    const [facts, { isPublic }] = await Promise.all([users(user, maxAgeMs), channels(channel, maxAgeMs)]);
    if (facts.id !== user)
      throw new PortError("Slack answered for someone else", {
        applied: "no",
        retry: "later",
        code: "garbled",
      });
    // Every full member can open a public channel. Any other channel is visible to its members only.
    const seesChannel = isPublic || (await sets.isInChannel(user, channel, maxAgeMs));
    return { team, user, kind: kindOf(facts, home), seesChannel };
  }

  return {
    membersOf: sets.membersOf,
    shareLimits: pacers.share,
    isPublic: async (channel, maxAgeMs) => (await channels(channel, maxAgeMs)).isPublic,
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

// Many people who act at once. Slack answers about a hundred questions a minute about single people, and fewer about the channels of a
// person. Beyond that we ask for a whole list, which answers for all who wait. A list is asked for after the question that it answers, so
// its answers are as fresh as single ones.

/** One question for each person; when Slack would answer no more of those, one for everybody. */
function createUserLookUp(call: Call, pacers: Pacers): (user: UserId) => Promise<SlackUser> {
  const single = pacers.make(SINGLE_PEOPLE);
  const everybody = createPeopleList(call, pacers);
  return async (user) => {
    if (beginsNow(single)) return slackUser(await call("users.info", { user }));
    const listed = (await everybody()).get(user);
    if (listed !== undefined) return listed;
    await single.waitForTurn(0, null);
    return slackUser(await call("users.info", { user }));
  };
}

/** Slack's most for one page of users.list. */
const LIST_PAGE = 1_000;
/** In a larger workspace those beyond are looked up one by one, as far as Slack allows. */
const MAX_LIST_PAGES = 3;

/** Everybody whom Slack lists, asked for after the call. Calls that come while one waits for its turn share it. */
function createPeopleList(call: Call, pacers: Pacers) {
  const pacer = pacers.make(LISTS_OF_PEOPLE);
  let next: Promise<ReadonlyMap<UserId, SlackUser>> | null = null;

  async function list(): Promise<ReadonlyMap<UserId, SlackUser>> {
    await pacer.waitForTurn(0, null);
    next = null;
    const found = new Map<UserId, SlackUser>();
    let cursor = "";
    for (let page = 0; page < MAX_LIST_PAGES; page += 1) {
      if (page > 0) await pacer.waitForTurn(0, null);
      const args = cursor === "" ? { limit: LIST_PAGE } : { limit: LIST_PAGE, cursor };
      const answer = slackUsers(await call("users.list", args));
      for (const user of answer.users) {
        const id = parsed(UserId, user.id);
        if (id !== null) found.set(id, user);
      }
      if (answer.next === "") return found;
      cursor = answer.next;
    }
    return found;
  }

  return (): Promise<ReadonlyMap<UserId, SlackUser>> => (next ??= list());
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
  isInChannel(user: UserId, channel: ChannelId, maxAgeMs: number): Promise<boolean>;
} {
  const perGroup = pacers.make(GROUPS);
  const groups = createSharedAnswers(clock, async (group: GroupId) => {
    await perGroup.waitForTurn(0, null);
    return inGroup(call, group);
  });
  const inChannel = createSharedAnswers(clock, (channel: ChannelId) => membersOfChannel(call, channel));

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

async function membersOfChannel(call: Call, channel: ChannelId): Promise<Members> {
  const found: string[] = [];
  let cursor = "";
  for (let page = 0; page < MAX_MEMBER_PAGES; page += 1) {
    const next = slackMembers(await call("conversations.members", { channel, limit: 200, cursor }));
    found.push(...next.ids);
    cursor = next.next;
    if (cursor === "") break;
  }
  const users = new Set(found.map((id) => parsed(UserId, id)).filter((id) => id !== null));
  return { users, complete: cursor === "" };
}

/** The oldest answers go when there are more than this. */
const MAX_KEPT = 5_000;

/**
 * Shares one call among many callers: each gets the answer of a call that began at most `maxAgeMs` ago, finished or not. Ages are
 * measured by the monotonic clock, so no step of the wall clock makes an old answer fresh. Failures are not kept.
 */
export function createSharedAnswers<Key, Value>(
  { monotonic }: Pick<Clock, "monotonic">,
  ask: (key: Key) => Promise<Value>,
): (key: Key, maxAgeMs: number) => Promise<Value> {
  const kept = new Map<Key, { readonly at: number; readonly answer: Promise<Value> }>();
  return (key, maxAgeMs) => {
    const known = kept.get(key);
    if (known !== undefined && monotonic() - known.at <= maxAgeMs) return known.answer;
    const entry = { at: monotonic(), answer: ask(key) };
    kept.delete(key);
    kept.set(key, entry);
    entry.answer.catch(() => kept.get(key) === entry && kept.delete(key));
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return entry.answer;
  };
}
