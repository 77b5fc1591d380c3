// People, as a policy names them, and the parts of a rule.

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

/** Each of them once. */
export function together(people: readonly NamedPeople[]): NamedPeople {
  return {
    users: [...new Set(people.flatMap(({ users }) => users))],
    groups: [...new Set(people.flatMap(({ groups }) => groups))],
    channels: [...new Set(people.flatMap(({ channels }) => channels))],
  };
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

// A rule can want approvals from several parts, such as operations and security: one from each, by different people. A person who is in
// two parts counts for one of them, whichever lets more approvals count.

/** `name`: as people read it; left out: the part is called by its ids. */
export type Part = NamedPeople & { readonly name?: string };

export const partName = ({ name, users, groups, channels }: Part): string =>
  name ?? [...users, ...groups, ...channels].join(", ");

/** By its id: a person, a user group or a channel. */
export const isOneOfParts = (id: string, parts: readonly Part[]): boolean =>
  parts.some(({ users, groups, channels }) => [...users, ...groups, ...channels].some((each) => each === id));

/** All of them, in one list. */
export const idsOf = ({ users, groups, channels }: NamedPeople): readonly string[] => [
  ...groups,
  ...channels,
  ...users,
];

export const setsOfParts = (parts: readonly Part[]): readonly (GroupId | ChannelId)[] =>
  parts.flatMap(groupsAndChannelsOf);

/** The parts of both rules; one that both want is wanted once. */
export function combineParts(a: readonly Part[], b: readonly Part[]): readonly Part[] {
  return [...a, ...missingParts(a, b)];
}

/** Approvals that fill the parts of `a` also fill those of `b`. */
export const coversParts = (a: readonly Part[], b: readonly Part[]): boolean =>
  missingParts(a, b).length === 0;

/** What `wanted` has more often than `given`. */
function missingParts(given: readonly Part[], wanted: readonly Part[]): readonly Part[] {
  const left = given.map(peopleKey);
  return wanted.filter((part) => {
    const at = left.indexOf(peopleKey(part));
    if (at < 0) return true;
    left.splice(at, 1);
    return false;
  });
}

function peopleKey({ users, groups, channels }: Part): string {
  return [users, groups, channels].map((ids) => ids.map(String).toSorted().join(" ")).join("|");
}

type Assignment<Voter> = {
  /** Those whose approval counts. */
  readonly seated: readonly Voter[];
  readonly missing: readonly Part[];
};

/**
 * Gives each voter one part, or one of the places that are for anyone: as many voters as can be, and an earlier one rather than a later
 * one (augmenting paths: a bipartite matching). `needs`: how many approvals the rule wants, at least one for each part.
 */
export function assignParts<Voter>(
  voters: readonly Voter[],
  { parts, needs }: { readonly parts: readonly Part[]; readonly needs: number },
  isIn: (voter: Voter, part: Part) => boolean,
): Assignment<Voter> {
  const places: readonly (Part | null)[] = [
    ...parts,
    ...Array.from({ length: Math.max(needs - parts.length, 0) }, () => null),
  ];
  const sitter = new Map<number, Voter>();
  const fits = (voter: Voter, part: Part | null): boolean => part === null || isIn(voter, part);
  const seat = (voter: Voter, tried: Set<number>): boolean => {
    for (const [place, part] of places.entries()) {
      if (tried.has(place) || !fits(voter, part)) continue;
      tried.add(place);
      const other = sitter.get(place);
      if (other !== undefined && !seat(other, tried)) continue;
      sitter.set(place, voter);
      return true;
    }
    return false;
  };
  const seated = voters.filter((voter) => seat(voter, new Set()));
  return { seated, missing: parts.filter((_part, place) => !sitter.has(place)) };
}
