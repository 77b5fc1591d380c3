// The port to what Slack says of people. Always by id.

import type { Person } from "../core/decide.ts";
import type { ChannelId, GroupId, TeamId, UserId } from "../core/ids.ts";

export type People = {
  /** Facts read now; one answer up to `maxAgeMs` old may be shared. Rejects with PortError when Slack does not say. */
  lookUp(team: TeamId, user: UserId, channel: ChannelId, maxAgeMs: number): Promise<Person>;
  /** The channels, among those we are in, that this person is a member of. Rejects with PortError. */
  channelsOf(user: UserId, maxAgeMs: number): Promise<ReadonlySet<ChannelId>>;
  /** All members of a user group or a channel. Rejects with PortError. */
  membersOf(set: GroupId | ChannelId, maxAgeMs: number): Promise<readonly UserId[]>;
  /** Can every full member open the channel? Rejects with PortError. */
  isPublic(channel: ChannelId, maxAgeMs: number): Promise<boolean>;
  /** For each of these: is the person in it? Rejects with PortError when Slack does not say of one. */
  memberOf(
    user: UserId,
    sets: readonly (GroupId | ChannelId)[],
    maxAgeMs: number,
  ): Promise<ReadonlyMap<GroupId | ChannelId, boolean>>;
};
