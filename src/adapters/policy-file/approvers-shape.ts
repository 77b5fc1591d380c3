// Who may decide under a rule, as a policy file writes it: anyone, lists of people, or parts of which each must approve; and exceptions.

import { z } from "zod";
import type { NamedPeople, Part } from "../../domain/policy/named-people.ts";
import type { Rule } from "../../domain/policy/policy.ts";
import { channel, EMPTY, group, principals, principalsFault, principalsOf, user } from "./policy-values.ts";

const lists = {
  users: z.array(user, "is not a list of people's ids").min(1, EMPTY).optional(),
  groups: z.array(group, "is not a list of user groups' ids").min(1, EMPTY).optional(),
  channels: z.array(channel, "is not a list of channels' ids").min(1, EMPTY).optional(),
};
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

/** More make a card hard to read. */
const MOST_PARTS = 6;

const given = z
  .strictObject(
    {
      anyone: z.literal(true, "is not true; leave it out to name people").optional(),
      ...lists,
      "all-of": z
        .array(part, "is not a list of parts")
        .min(2, "has less than two parts; name the people without all-of")
        .max(MOST_PARTS, `has more than ${MOST_PARTS} parts`)
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

function together(all: readonly NamedPeople[]): NamedPeople {
  return {
    users: [...new Set(all.flatMap(({ users }) => users))],
    groups: [...new Set(all.flatMap(({ groups }) => groups))],
    channels: [...new Set(all.flatMap(({ channels }) => channels))],
  };
}
