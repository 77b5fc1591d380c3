// The basic values of a policy file: ids, lists of people, times.

import { z } from "zod";
import { ChannelId, GroupId, UserId } from "../../domain/ids.ts";
import { type ListedPeople, type Part, type Principals, together } from "../../domain/policy/named-people.ts";
import type { Rule } from "../../domain/policy/policy.ts";

const id = (prefixes: string, what: string, example: string) =>
  z.string(`is not ${what} such as ${example}`).regex(new RegExp(`^[${prefixes}][A-Z0-9]{1,30}$`), {
    error: `is not ${what} such as ${example}; names are not ids`,
  });

export const user = id("UW", "a person's id", "U0123ABCD");
export const group = id("S", "a user group's id", "S0123ABCD");
export const channel = id("CG", "a channel's id", "C0123ABCD");

/** The message of a union whose fault is that of the one alternative that has the shape of the value. */
export const BY_SHAPE = "by shape";

export const EMPTY_LIST = "is an empty list: fill it or remove the key";
export const EMPTY = "is empty, so no one is in it";
export const NO_LISTS = "names no one: give users or groups";

export function oneOrMore<Item extends z.ZodType<string>>(item: Item, what: string) {
  return z.union([item, z.array(item).min(1)], {
    error: `is neither ${what} nor a list of them (an empty one does not count)`,
  });
}

const lists = {
  users: z.array(user, "is not a list of people's ids").min(1, EMPTY).optional(),
  groups: z.array(group, "is not a list of user groups' ids").min(1, EMPTY).optional(),
  channels: z.array(channel, "is not a list of channels' ids").min(1, EMPTY).optional(),
};

export const principals = z
  .strictObject(lists, { error: principalsFault })
  .refine((given) => Object.values(given).some((list) => list !== undefined), {
    error: "names no one: give users, groups or channels, or the word anyone",
  });
export const who = z.union([z.literal("anyone"), principals], { error: principalsFault });

function principalsFault(issue: { code?: string | undefined; errors?: unknown }): string | undefined {
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

export function principalsOf(given: z.output<typeof principals>): ListedPeople;
export function principalsOf(given: z.output<typeof who>): Principals;
export function principalsOf(given: z.output<typeof who>): Principals {
  if (given === "anyone") return given;
  const { users = [], groups = [], channels = [] } = given;
  return { users: users.map(UserId), groups: groups.map(GroupId), channels: channels.map(ChannelId) };
}

// Reads who may decide under a rule: anyone, lists of people, or parts that must each approve, minus exceptions.

type Lists = z.output<z.ZodObject<typeof lists>>;

const namesSomeone = ({ users, groups, channels }: Lists): boolean =>
  users !== undefined || groups !== undefined || channels !== undefined;

const part = z
  .strictObject({
    name: z
      .string("is not a text")
      .regex(/^[\p{L}\p{N}](?:[\p{L}\p{N} ._/-]{0,38}[\p{L}\p{N}])?$/u, {
        error: "is not a short name (letters, digits, spaces, . _ / -; at most 40 characters)",
      })
      .optional()
      .meta({ description: "as the card calls this part; left out: by its ids" }),
    ...lists,
  })
  .refine(namesSomeone, { error: "names no one: give users, groups or channels" });

/** More parts would make a card hard to read. */
const MAX_PARTS = 6;

const given = z
  .strictObject(
    {
      anyone: z.literal(true, "is not true; leave it out to name people").optional(),
      ...lists,
      "all-of": z
        .array(part, "is not a list of parts")
        .min(2, "has less than two parts; name the people without all-of")
        .max(MAX_PARTS, `has more than ${MAX_PARTS} parts`)
        .optional()
        .meta({ description: "one approval from each of these parts, by different people" }),
      except: principals.optional().meta({ description: "they may not decide, whatever else names them" }),
    },
    { error: principalsFault },
  )
  .superRefine((who, issues) => {
    const ways = [who.anyone, who["all-of"], namesSomeone(who) ? who : undefined];
    const many = ways.filter((way) => way !== undefined).length;
    if (many === 0) issues.addIssue({ code: "custom", message: NAMES_NO_ONE });
    if (many > 1) issues.addIssue({ code: "custom", message: ONE_WAY });
  });

const NAMES_NO_ONE = "names no one: give users, groups or channels, or the word anyone";
const ONE_WAY = "mixes anyone, lists and all-of: give one of them";

export const approversShape = z.union([z.literal("anyone"), given], { error: principalsFault });
type Written = z.output<typeof approversShape>;

export function approversOf(who: Written): Pick<Rule, "approvers" | "parts" | "except"> {
  if (who === "anyone") return { approvers: who, parts: [], except: null };
  const { anyone, "all-of": parts = [], except } = who;
  const read = parts.map(partOf);
  return {
    approvers: anyone === true ? "anyone" : together([principalsOf(who), ...read]),
    parts: read,
    except: except === undefined ? null : principalsOf(except),
  };
}

function partOf({ name, ...people }: NonNullable<Exclude<Written, "anyone">["all-of"]>[number]): Part {
  return { ...(name === undefined ? {} : { name }), ...principalsOf(people) };
}
