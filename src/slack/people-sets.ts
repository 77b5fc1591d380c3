// Who is in a user group or a channel, asked of Slack by id.

import { ChannelId, GroupId, parsed, UserId } from "../core/ids.ts";
import type { Clock } from "../flow/clock.ts";
import type { People } from "../flow/people.ts";
import type { Call } from "./clients.ts";
import { createShared } from "./shared-answers.ts";
import { slackGroup, slackMembers } from "./wire.ts";

/** conversations.members pages of 200; in a larger channel only these are counted. */
const MAX_PAGES = 10;

type Memberships = (user: UserId, maxAgeMs: number) => Promise<ReadonlySet<ChannelId>>;

export function createSets(
  call: Call,
  clock: Pick<Clock, "monotonic">,
  memberships: Memberships,
): Pick<People, "memberOf" | "membersOf"> {
  const groups = createShared(clock, (group: GroupId) => inGroup(call, group));
  const inChannel = createShared(clock, (channel: ChannelId) => membersOfChannel(call, channel));

  async function isIn(user: UserId, set: GroupId | ChannelId, maxAgeMs: number): Promise<boolean> {
    const group = parsed(GroupId, set);
    if (group !== null) return (await groups(group, maxAgeMs)).has(user);
    return (await memberships(user, maxAgeMs)).has(ChannelId(set));
  }

  const memberOf: People["memberOf"] = async (user, sets, maxAgeMs) =>
    new Map(await Promise.all(sets.map(async (set) => [set, await isIn(user, set, maxAgeMs)] as const)));

  async function membersOf(set: GroupId | ChannelId, maxAgeMs: number): Promise<readonly UserId[]> {
    const group = parsed(GroupId, set);
    return group === null ? inChannel(ChannelId(set), maxAgeMs) : [...(await groups(group, maxAgeMs))];
  }

  return { memberOf, membersOf };
}

/** An id that is not of our shape is nobody who could decide here. */
async function inGroup(call: Call, usergroup: GroupId): Promise<ReadonlySet<UserId>> {
  const ids = slackGroup(await call("usergroups.users.list", { usergroup }));
  return new Set(ids.map((id) => parsed(UserId, id)).filter((id) => id !== null));
}

async function membersOfChannel(call: Call, channel: ChannelId): Promise<readonly UserId[]> {
  const found: string[] = [];
  let cursor = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const next = slackMembers(await call("conversations.members", { channel, limit: 200, cursor }));
    found.push(...next.ids);
    cursor = next.next;
    if (cursor === "") break;
  }
  return found.map((id) => parsed(UserId, id)).filter((id) => id !== null);
}
