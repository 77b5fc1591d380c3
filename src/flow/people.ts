// The port to what Slack says of people. Always by id.

import type { Person } from "../core/decide.ts";
import type { ChannelId, GroupId, TeamId, UserId } from "../core/ids.ts";

/** Membership may be this old (ms) for reading, where it lets somebody read. */
export const MEMBERSHIP_AGE_MS = 60_000;
/** A «no» is asked again: somebody may have joined a moment ago (ms). Not for each question: whoever keeps asking uses up nobody's look-ups. */
export const JOINED_AGE_MS = 2_000;

/** The channels of a person for reading; that they are not in `channel` is never told from an old answer. */
export async function channelsOf(
  people: Pick<People, "channelsOf">,
  user: UserId,
  channel: ChannelId,
): Promise<ReadonlySet<ChannelId>> {
  const known = await people.channelsOf(user, MEMBERSHIP_AGE_MS);
  return known.has(channel) ? known : people.channelsOf(user, JOINED_AGE_MS);
}

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
