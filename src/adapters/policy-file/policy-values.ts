// The values that a policy file is made of: ids, lists of people, times.

import { z } from "zod";
import { ChannelId, GroupId, UserId } from "../../domain/ids.ts";
import type { Principals } from "../../domain/policy/named-people.ts";

const id = (prefixes: string, what: string, example: string) =>
  z.string(`is not ${what} such as ${example}`).regex(new RegExp(`^[${prefixes}][A-Z0-9]{1,30}$`), {
    error: `is not ${what} such as ${example}; names are not ids`,
  });

export const user = id("UW", "a person's id", "U0123ABCD");
export const group = id("S", "a user group's id", "S0123ABCD");
export const channel = id("CG", "a channel's id", "C0123ABCD");

export const EMPTY = "is empty, so no one is in it";

export function oneOrMore<Item extends z.ZodType<string>>(item: Item, what: string) {
  return z.union([item, z.array(item).min(1)], {
    error: `is neither ${what} nor a list of them (an empty one does not count)`,
  });
}

export const principals = z
  .strictObject(
    {
      users: z.array(user, "is not a list of people's ids").min(1, EMPTY).optional(),
      groups: z.array(group, "is not a list of user groups' ids").min(1, EMPTY).optional(),
      channels: z.array(channel, "is not a list of channels' ids").min(1, EMPTY).optional(),
    },
    { error: principalsFault },
  )
  .refine((given) => Object.values(given).some((list) => list !== undefined), {
    error: "names no one: give users, groups or channels, or the word anyone",
  });
export const who = z.union([z.literal("anyone"), principals], { error: principalsFault });

export function principalsFault(issue: { code?: string | undefined; errors?: unknown }): string | undefined {
  if (issue.code === "unrecognized_keys") return undefined;
  const nested = JSON.stringify(issue.errors ?? "");
  return nested.includes(EMPTY)
    ? `has a list that ${EMPTY}`
    : "is neither the word anyone nor lists of users, groups or channels, by their ids";
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads a text such as "30 s" as milliseconds. */
export function time(longest: string) {
  const says = `is not a time such as 30 s, 15 min, 4 h or 2 d, between 1 s and ${longest}`;
  const ms = (text: string): number => {
    const [, many = "", unit = ""] = /^([1-9][0-9]{0,5}) ?(s|m|min|h|d)$/.exec(text) ?? [];
    return Number(many) * (UNITS[unit] ?? Number.NaN);
  };
  const most = ms(longest);
  return z
    .string(says)
    .regex(/^[1-9][0-9]{0,5} ?(s|m|min|h|d)$/, says)
    .refine((text) => ms(text) <= most, says)
    .transform(ms);
}

export function principalsOf(given: z.output<typeof principals>): Exclude<Principals, "anyone">;
export function principalsOf(given: z.output<typeof who>): Principals;
export function principalsOf(given: z.output<typeof who>): Principals {
  if (given === "anyone") return given;
  const { users = [], groups = [], channels = [] } = given;
  return { users: users.map(UserId), groups: groups.map(GroupId), channels: channels.map(ChannelId) };
}
