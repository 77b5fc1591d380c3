// The building blocks of the Block Kit rules, and the translation of zod's issues into Slack's messages.

import { z } from "zod";
import type { Source } from "./errors.ts";
import { isJson, type Json } from "./json-object.ts";

/** Where the rule of a block or element is documented. */
export const sources = z.registry<{ source: Source }>();

/**
 * Counts UTF-16 units, unlike zod's `min` and `max`. For characters outside the basic plane this is stricter than Slack, never more
 * lenient.
 */
export const string = (min: number, max: number) =>
  z
    .string()
    .refine(({ length }) => length >= min, { error: `must be more than ${min - 1} characters` })
    .refine(({ length }) => length <= max, { error: `must be less than ${max + 1} characters` });

/** One of these words. A text longer than `max` is refused for its length, not for being an unknown word. */
export const oneWordOf = (words: readonly string[], max = 20) => string(1, max).pipe(z.enum(words));

/** The number of items is checked even if items are invalid, so that one error names all problems. */
export const list = <T extends z.ZodType>(of: T, min: number, max: number) =>
  z
    .array(of)
    .refine(({ length }) => length >= min, { error: `no fewer than ${min} items allowed`, when: isList })
    .refine(({ length }) => length <= max, { error: `no more than ${max} items allowed`, when: isList });

const isList = ({ value }: { value: unknown }): boolean => Array.isArray(value);

export const flag = z.boolean();

/** Any integer, including numbers beyond zod's safe integers, so that the range check refuses those. */
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

/** An object with these fields and no others. Its `type` is not checked. */
export const shape = (required: Fields, optional: Fields = {}) =>
  z.strictObject({ type: z.unknown().optional(), ...required, ...optionally(optional) });

/** Like `shape`, with a `type` that distinguishes it in a union. */
export const typed = (type: string, required: Fields, optional: Fields = {}) =>
  z.strictObject({ ...required, ...optionally(optional), type: z.literal(type) });

export type Typed = ReturnType<typeof typed>;

/** One of these objects, selected by `type`. */
export const oneOf = (first: Typed, ...others: Typed[]) => z.discriminatedUnion("type", [first, ...others]);

type Union = ReturnType<typeof oneOf>;

export const typesOf = ({ options }: Union): string[] => options.map(({ shape }) => shape.type.value);

/** Arguments for `refine`. The check runs even if fields are invalid, so that one error names all problems. */
type Check = readonly [
  check: (value: Readonly<Json>) => boolean,
  params: { error: string; when: (payload: { value: unknown }) => boolean },
];

const check = (error: string, passes: Check[0]): Check => [
  passes,
  { error, when: ({ value }) => isJson(value) },
];

/** Requires at least one of the fields. */
export const needs = (...fields: readonly string[]): Check =>
  check(`missing required field: ${fields.join(" or ")}`, (value) =>
    fields.some((field) => value[field] !== undefined),
  );

export const exactlyOne = (one: string, other: string): Check =>
  check(
    `must provide exactly one of: ${one}, ${other}`,
    (value) => (value[one] === undefined) !== (value[other] === undefined),
  );

/** Requires that the first field is not larger than the second. */
export const notAbove = (least: string, most: string): Check =>
  check(
    `${least} must not be more than ${most}`,
    (value) =>
      value[least] === undefined || value[most] === undefined || Number(value[least]) <= Number(value[most]),
  );

/** The problems of a value in Slack's format, each with its place as a JSON pointer. */
export function complaints(value: unknown, schema: z.ZodType, at: string): string[] {
  const { error } = schema.safeParse(value, { error: words, reportInput: true });
  return (error?.issues ?? []).flatMap((issue) => {
    const missing = issue.input === undefined && issue.path.length > 0;
    const place = [at, ...(missing ? issue.path.slice(0, -1) : issue.path)].map(String).join("/");
    return (missing ? [`missing required field: ${String(issue.path.at(-1))}`] : sentences(issue)).map(
      (sentence) => `${sentence} [json-pointer:${place}]`,
    );
  });
}

/** The messages of an issue. Slack reports each unknown field separately. */
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

/** Slack's messages for issues that have no message of their own in the schema. */
function words(issue: z.core.$ZodRawIssue): string | undefined {
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
}
