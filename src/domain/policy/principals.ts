import type { ChannelId, GroupId, UserId } from "../ids.ts";

/** People. The lists add up; a channel stands for its members. */
export type NamedPeople = {
  readonly users: readonly UserId[];
  readonly groups: readonly GroupId[];
  readonly channels: readonly ChannelId[];
};

/** `anyone`: every full member who can see the card. */
export type Principals = "anyone" | NamedPeople;

/** The groups and channels whose members Slack must tell us. */
export function groupsAndChannelsOf(principals: Principals): readonly (GroupId | ChannelId)[] {
  return principals === "anyone" ? [] : [...principals.groups, ...principals.channels];
}
