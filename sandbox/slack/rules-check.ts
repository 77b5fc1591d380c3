// The building blocks of the Block Kit rules, and zod's issues in Slack's words.

import { z } from "zod";
import type { Source } from "./errors.ts";
import { isJson, type Json } from "./json.ts";

/** Where the rule of a block or element is documented. */
export const sources = z.registry<{ source: Source }>();

/**
 * Counts UTF-16 units, unlike zod's `min` and `max`. For a character outside the basic plane that is stricter than
 * Slack, never laxer.
 */
export const string = (min: number, max: number) =>
  z
    .string()
    .refine(({ length }) => length >= min, { error: `must be more than ${min - 1} characters` })
    .refine(({ length }) => length <= max, { error: `must be less than ${max + 1} characters` });

/** One of these words. `max`: how long a text may be that is refused for being none of them. */
export const oneWordOf = (words: readonly string[], max = 20) => string(1, max).pipe(z.enum(words));

/** The number is judged beside the items, so that one refusal names all faults. */
export const list = <T extends z.ZodType>(of: T, min: number, max: number) =>
  z
    .array(of)
    .refine(({ length }) => length >= min, { error: `no fewer than ${min} items allowed`, when: isList })
    .refine(({ length }) => length <= max, { error: `no more than ${max} items allowed`, when: isList });

const isList = ({ value }: { value: unknown }): boolean => Array.isArray(value);

export const flag = z.boolean();

/** Any whole number, beyond zod's safe integers too, so that the range refuses it. */
export const integer = (min: number, max: number) =>
  z
    .number()
    .refine(Number.isInteger, { error: "must provide an integer" })
    .refine((value) => !Number.isInteger(value) || (value >= min && value <= max), {
      error: `must be between ${min} and ${max}`,
    });

export const matching = (pattern: RegExp, what: string) =>
  z.string({ error: `must be ${what}` }).regex(pattern, { error: `must be ${what}` });

export type Fields = Readonly<Record<string, z.ZodType>>;

const optionally = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([field, schema]) => [field, schema.optional()]));

/** An object with these fields, whatever its `type`, and no others. */
export const shape = (required: Fields, optional: Fields = {}) =>
  z.strictObject({ type: z.unknown().optional(), ...required, ...optionally(optional) });

/** As `shape`. A `type` tells it from the others of its union. */
export const typed = (type: string, required: Fields, optional: Fields = {}) =>
  z.strictObject({ ...required, ...optionally(optional), type: z.literal(type) });

export type Typed = ReturnType<typeof typed>;

/** The object's `type` chooses among these. */
export const oneOf = (first: Typed, ...others: Typed[]) => z.discriminatedUnion("type", [first, ...others]);

type Union = ReturnType<typeof oneOf>;

export const typesOf = ({ options }: Union): string[] => options.map(({ shape }) => shape.type.value);

/** For `refine`: the check sees objects with faulty fields too, so that one refusal names all faults. */
type Check = readonly [
  check: (value: Readonly<Json>) => boolean,
  params: { error: string; when: (payload: { value: unknown }) => boolean },
];

const check = (error: string, passes: Check[0]): Check => [
  passes,
  { error, when: ({ value }) => isJson(value) },
];

/** At least one of the fields. */
export const needs = (...fields: readonly string[]): Check =>
  check(`missing required field: ${fields.join(" or ")}`, (value) =>
    fields.some((field) => value[field] !== undefined),
  );

export const exactlyOne = (one: string, other: string): Check =>
  check(
    `must provide exactly one of: ${one}, ${other}`,
    (value) => (value[one] === undefined) !== (value[other] === undefined),
  );

/** The first field may not be larger than the second. */
export const notAbove = (least: string, most: string): Check =>
  check(
    `${least} must not be more than ${most}`,
    (value) =>
      value[least] === undefined || value[most] === undefined || Number(value[least]) <= Number(value[most]),
  );

/** The complaints about a value, in Slack's form: each with its place as a JSON pointer. */
export const complaints = (value: unknown, schema: z.ZodType, at: string): string[] => {
  const { error } = schema.safeParse(value, { error: words, reportInput: true });
  return (error?.issues ?? []).flatMap((issue) => {
    const missing = issue.input === undefined && issue.path.length > 0;
    const place = [at, ...(missing ? issue.path.slice(0, -1) : issue.path)].map(String).join("/");
    return (missing ? [`missing required field: ${String(issue.path.at(-1))}`] : sentences(issue)).map(
      (sentence) => `${sentence} [json-pointer:${place}]`,
    );
  });
};

/** Slack complains about each field by itself. */
const sentences = (issue: z.core.$ZodIssue): string[] =>
  issue.code === "unrecognized_keys"
    ? issue.keys.map((key) => `invalid additional property: ${key}`)
    : [issue.message];

const kinds: Record<string, string> = {
  array: "an array",
  boolean: "a boolean",
  number: "an integer",
  object: "an object",
  string: "a string",
};

/** Slack's words for what a schema does not word itself. */
const words = (issue: z.core.$ZodRawIssue): string | undefined => {
  switch (issue.code) {
    case "invalid_type":
      return `must provide ${kinds[issue.expected]}`;
    case "invalid_union":
      return `unsupported type: ${String((issue.input as Json)["type"])}`;
    case "invalid_value":
      return `must be one of: ${issue.values.map(String).join(", ")}`;
    default:
      return undefined;
  }
};
