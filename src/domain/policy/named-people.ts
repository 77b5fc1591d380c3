// People as a policy names them, and the parts of a rule.

import type { ChannelId, GroupId, UserId } from "../ids.ts";

/** The people in any of these lists. A group and a channel stand for their members. */
export type NamedPeople = {
  readonly users: readonly UserId[];
  readonly groups: readonly GroupId[];
  readonly channels: readonly ChannelId[];
};

export const NO_ONE: NamedPeople = { users: [], groups: [], channels: [] };

/** `alsoIn`: the person must be in each of these lists as well, because several rules apply at once. */
export type ListedPeople = NamedPeople & { readonly alsoIn?: readonly NamedPeople[] };

/** "anyone" means every full member who can see the card. */
export type Principals = "anyone" | ListedPeople;

/** Returns the lists that a person must be in: every one of them. Returns an empty list if anyone will do. */
export function listsOf(principals: Principals): readonly NamedPeople[] {
  if (principals === "anyone") return [];
  const { alsoIn = [], ...first } = principals;
  return [first, ...alsoIn];
}

/** Returns whether a person is in every list, from the answers for each. Null is unknown. */
export function isInAll(answers: readonly (boolean | null)[]): boolean | null {
  if (answers.includes(false)) return false;
  return answers.includes(null) ? null : true;
}

/** Returns whether a list is empty, so that no person can be in all of them. */
export const isNobody = (principals: Principals): boolean =>
  listsOf(principals).some((list) => idsOf(list).length === 0);

/** Returns whether everyone in `a` is in `b`, by the ids alone. */
export const areAllIn = (a: Principals, b: Principals): boolean =>
  listsOf(b).every((outer) => listsOf(a).some((inner) => isListIn(inner, outer)));

function isListIn(a: NamedPeople, b: NamedPeople): boolean {
  const ids = idsOf(b);
  return idsOf(a).every((id) => ids.includes(id));
}

/** Returns the people who are in both. */
export function inBoth(a: ListedPeople, b: ListedPeople): ListedPeople;
export function inBoth(a: Principals, b: Principals): Principals;
export function inBoth(a: Principals, b: Principals): Principals {
  const lists = [...listsOf(a), ...listsOf(b)];
  const byId = lists.filter(isById);
  // People who are named by id can be compared now. Who else is in a group is known only when Slack is asked.
  const known = byId.slice(0, 1).map((list) => ({
    ...list,
    users: list.users.filter((user) => byId.every(({ users }) => users.includes(user))),
  }));
  const all = [...known, ...lists.filter((list) => !isById(list))];
  const [first, ...others] = all.filter(
    (list, at) =>
      !all.some(
        (other, index) => index !== at && isListIn(other, list) && (index < at || !isListIn(list, other)),
      ),
  );
  return first === undefined ? "anyone" : inEach(first, others);
}

/** Returns the people who are in the first list and in each of the others. */
export const inEach = (first: NamedPeople, others: readonly NamedPeople[]): ListedPeople =>
  others.length === 0 ? first : { ...first, alsoIn: others };

/** Returns whether the list names no group and no channel. */
export const isById = ({ groups, channels }: NamedPeople): boolean => groups.length + channels.length === 0;

/** Returns the groups and channels whose members we must ask Slack about. */
export const groupsAndChannelsOf = (principals: Principals): readonly (GroupId | ChannelId)[] =>
  listsOf(principals).flatMap(({ groups, channels }) => [...groups, ...channels]);

/** Combines the lists, with each id once. */
export function together(people: readonly NamedPeople[]): NamedPeople {
  return {
    users: [...new Set(people.flatMap(({ users }) => users))],
    groups: [...new Set(people.flatMap(({ groups }) => groups))],
    channels: [...new Set(people.flatMap(({ channels }) => channels))],
  };
}

/** Removes what `except` names, by id. A person who is excepted by id can still be included through a group. */
export function withoutNamed(named: NamedPeople, except: NamedPeople | null): NamedPeople {
  if (except === null) return named;
  return {
    users: named.users.filter((user) => !except.users.includes(user)),
    groups: named.groups.filter((group) => !except.groups.includes(group)),
    channels: named.channels.filter((channel) => !except.channels.includes(channel)),
  };
}

// Parts. A rule can require approvals from several parts, such as operations and security: one from each, by different people. A person
// who is in two parts counts for one of them, whichever lets more approvals count.

/** `name` is for people. If it is absent, the ids are shown. */
export type Part = NamedPeople & { readonly name?: string };

export const partName = ({ name, users, groups, channels }: Part): string =>
  name ?? [...users, ...groups, ...channels].join(", ");

/** Returns whether one of the parts names this id, which may be a person's, a user group's or a channel's. */
export const isOneOfParts = (id: string, parts: readonly Part[]): boolean =>
  parts.some(({ users, groups, channels }) => [...users, ...groups, ...channels].some((each) => each === id));

/** Returns all ids in one list. */
export const idsOf = ({ users, groups, channels }: NamedPeople): readonly string[] => [
  ...groups,
  ...channels,
  ...users,
];

export const setsOfParts = (parts: readonly Part[]): readonly (GroupId | ChannelId)[] =>
  parts.flatMap(groupsAndChannelsOf);

/** Combines the parts of two rules. A part that both require is required once. */
export function combineParts(a: readonly Part[], b: readonly Part[]): readonly Part[] {
  return [...a, ...missingParts(a, b)];
}

/** Returns whether approvals that fill the parts of `a` also fill those of `b`. */
export const coversParts = (a: readonly Part[], b: readonly Part[]): boolean =>
  missingParts(a, b).length === 0;

/** Returns the parts that `required` has more often than `available`. */
function missingParts(available: readonly Part[], required: readonly Part[]): readonly Part[] {
  const left = available.map(peopleKey);
  return required.filter((part) => {
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
  /** The voters whose approval counts. */
  readonly assigned: readonly Voter[];
  readonly missing: readonly Part[];
};

/**
 * Assigns each voter to one part, or to one of the places that are open to anyone. Assigns as many voters as possible, and prefers earlier
 * ones (bipartite matching by augmenting paths). `needs`: the number of approvals that the rule requires, at least one for each part.
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
  const holder = new Map<number, Voter>();
  const fits = (voter: Voter, part: Part | null): boolean => part === null || isIn(voter, part);
  const assign = (voter: Voter, tried: Set<number>): boolean => {
    for (const [place, part] of places.entries()) {
      if (tried.has(place) || !fits(voter, part)) continue;
      tried.add(place);
      const other = holder.get(place);
      if (other !== undefined && !assign(other, tried)) continue;
      holder.set(place, voter);
      return true;
    }
    return false;
  };
  const assigned = voters.filter((voter) => assign(voter, new Set()));
  return { assigned, missing: parts.filter((_part, place) => !holder.has(place)) };
}
