// The building blocks of the schemas of stored documents. Each schema is made for a type: the compiler refuses a schema that lacks a field or
// word of its type, or has an additional one.

import { z } from "zod";
import { parsed } from "../../domain/ids.ts";
import type { Json } from "../../domain/json.ts";

declare const of: unique symbol;
/** A schema of exactly this type, neither wider nor narrower. */
export type Doc<T> = z.ZodType<T> & { readonly [of]?: (value: T) => T };

type Optional<T, Name extends keyof T> = Partial<Pick<T, Name>> extends Pick<T, Name> ? true : false;

/** One schema for each field of the type. Fields that may be left out use `optional`. */
export type Shape<T> = {
  readonly [Name in keyof T]-?: Optional<T, Name> extends true
    ? z.ZodExactOptional<Doc<Required<T>[Name]>>
    : Doc<T[Name]>;
};

export const text: Doc<string> = z.string();
export const number: Doc<number> = z.number();
export const flag: Doc<boolean> = z.boolean();
/** Accepts any JSON without checking its content, because what the service sent can be very long. */
export const opaque: Doc<Json> = z.custom<Json>((value) => value !== undefined);
export const fields: Doc<{ readonly [name: string]: Json }> = z.custom<{ readonly [name: string]: Json }>(
  isObject,
);

/** An id from Slack or from us, in the format that `make` checks. */
export function id<Id extends string>(make: (text: string) => Id): Doc<Id> {
  return z.custom<Id>((value) => parsed(make, value) !== null);
}

/** An id from the service, which may be any text. */
export function serviceId<Id extends string>(): Doc<Id> {
  return z.custom<Id>((value) => typeof value === "string");
}

/** One of these words. Every word of the type must be listed. */
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

/** For a type that contains itself. */
export function lazy<T>(doc: () => Doc<T>): Doc<T> {
  return z.lazy(doc);
}

export function either<A, B>(a: Doc<A>, b: Doc<B>): Doc<A | B> {
  return z.union([a, b]);
}

export function optional<T>(doc: Doc<T>): z.ZodExactOptional<Doc<T>> {
  return z.exactOptional(doc);
}

/** A field that may be missing because an older program wrote the document. `value` is what that program assumed. */
export function orElse<T>(doc: Doc<T>, value: T): Doc<T> {
  return z._default(doc, value as never);
}

/** Drops fields that the type does not have. So a release must not save a document of a newer one (`DOC_VERSION` in run-row.ts). */
export function record<T extends object>(shape: Shape<T>): Doc<T> {
  return z.object(shape) as unknown as Doc<T>;
}

/** A record whose names come from outside. `__proto__` is a name like any other. */
export function byName<T>(doc: Doc<T>): Doc<{ readonly [name: string]: T }> {
  const read = z.custom<{ readonly [name: string]: unknown }>(isObject).transform((value, ctx) => {
    const members = Object.entries(value).map(([name, unread]): [string, T] => {
      const member = doc.safeParse(unread);
      if (member.success) return [name, member.data];
      for (const { path, message } of member.error.issues)
        ctx.addIssue({ code: "custom", message, path: [name, ...path] });
      return [name, unread as T];
    });
    return Object.fromEntries(members);
  });
  // `transform` hides the shape of a member. golden/write-fields.ts, which lists the stored fields, finds it here.
  return read.meta({ member: doc });
}

type Tagged = { readonly type: string };
type Variants<T extends Tagged> = {
  readonly [Type in T["type"]]: Shape<Omit<Extract<T, { readonly type: Type }>, "type">>;
};

/** A union that is discriminated by `type`. */
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
