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

/** Those of `named` that `except` does not name. Members of a group who are excepted by id stay in. */
export function withoutNamed(named: NamedPeople, except: NamedPeople | null): NamedPeople {
  if (except === null) return named;
  return {
    users: named.users.filter((each) => !except.users.includes(each)),
    groups: named.groups.filter((each) => !except.groups.includes(each)),
    channels: named.channels.filter((each) => !except.channels.includes(each)),
  };
}
