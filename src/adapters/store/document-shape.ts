// The bricks of stored documents' schemas. A schema is made for a type: the compiler refuses one that lacks a field or a word of
// it, or has one too many.

import { z } from "zod";
import { parsed } from "../../domain/ids.ts";
import type { Json } from "../../domain/json.ts";

declare const of: unique symbol;
/** Of exactly this type: what it takes is neither wider nor narrower. */
export type Doc<T> = z.ZodType<T> & { readonly [of]?: (value: T) => T };

type Optional<T, Name extends keyof T> = Partial<Pick<T, Name>> extends Pick<T, Name> ? true : false;

/** One schema for each field of the type. Those that may be left out are marked with `optional`. */
export type Shape<T> = {
  readonly [Name in keyof T]-?: Optional<T, Name> extends true
    ? z.ZodExactOptional<Doc<Required<T>[Name]>>
    : Doc<T[Name]>;
};

export const text: Doc<string> = z.string();
export const number: Doc<number> = z.number();
export const flag: Doc<boolean> = z.boolean();
/** Taken as it is: what the service sent is never walked through, however long it is. */
export const opaque: Doc<Json> = z.custom<Json>((value) => value !== undefined);
export const fields: Doc<{ readonly [name: string]: Json }> = z.custom<{ readonly [name: string]: Json }>(
  isObject,
);

/** An id of Slack's or of ours, in the shape that its maker checks. */
export function id<Id extends string>(make: (text: string) => Id): Doc<Id> {
  return z.custom<Id>((value) => parsed(make, value) !== null);
}

/** An id of the service's: any text. */
export function serviceId<Id extends string>(): Doc<Id> {
  return z.custom<Id>((value) => typeof value === "string");
}

/** One of these words, and each of the type's must be given. */
export function word<Word extends string>(words: { readonly [Each in Word]: true }): Doc<Word> {
  return z.enum(Object.keys(words)) as unknown as Doc<Word>;
}

export const yes: Doc<true> = z.literal(true);

export function list<Item>(item: Doc<Item>): Doc<readonly Item[]> {
  return z.array(item);
}

export function orNull<T>(doc: Doc<T>): Doc<T | null> {
  return doc.nullable();
}

/** Of a type that holds itself. */
export function lazy<T>(doc: () => Doc<T>): Doc<T> {
  return z.lazy(doc);
}

export function either<A, B>(a: Doc<A>, b: Doc<B>): Doc<A | B> {
  return z.union([a, b]);
}

export function optional<T>(doc: Doc<T>): z.ZodExactOptional<Doc<T>> {
  return z.exactOptional(doc);
}

/** A field that a document may lack because an older program wrote it; `value` is what that program went by. */
export function orElse<T>(doc: Doc<T>, value: T): Doc<T> {
  return z._default(doc, value as never);
}

/** Fields that the type does not name are left out. */
export function record<T extends object>(shape: Shape<T>): Doc<T> {
  return z.object(shape) as unknown as Doc<T>;
}

/** By names that others choose: `__proto__` is one like any other. */
export function byName<T>(doc: Doc<T>): Doc<{ readonly [name: string]: T }> {
  return z.custom<{ readonly [name: string]: unknown }>(isObject).transform((value, ctx) => {
    const members = Object.entries(value).map(([name, each]): [string, T] => {
      const member = doc.safeParse(each);
      if (member.success) return [name, member.data];
      for (const { path, message } of member.error.issues)
        ctx.addIssue({ code: "custom", message, path: [name, ...path] });
      return [name, each as T];
    });
    return Object.fromEntries(members);
  });
}

type Tagged = { readonly type: string };
type Variants<T extends Tagged> = {
  readonly [Type in T["type"]]: Shape<Omit<Extract<T, { readonly type: Type }>, "type">>;
};

/** A union by its `type`. */
export function tagged<T extends Tagged>(variants: Variants<T>): Doc<T> {
  const options = Object.entries<z.ZodRawShape>(variants).map(([type, shape]) =>
    z.object({ type: z.literal(type), ...shape }),
  );
  const [first, ...others] = options;
  if (first === undefined) throw new TypeError("a union of nothing");
  return z.discriminatedUnion("type", [first, ...others]) as unknown as Doc<T>;
}

function isObject(value: unknown): boolean {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !JSON.isRawJSON(value);
}
