// Reads: the facts that the page draws, as JSON.

import { z } from "zod";

export type ControlRead = {
  readonly path: string;
  readonly what: string;
  /** Without `wait` and `limit`, which all lists take. */
  readonly query: z.ZodObject;
  /** The name in the answer of the list that `wait` waits for; null: there is none. */
  readonly list: string | null;
  /** Throws like an act if the query is wrong. */
  readonly look: (given: unknown) => Looked;
};

export type Looked = { readonly [name: string]: unknown };

type Named<S extends z.ZodObject> = { readonly path: string; readonly what: string; readonly query: S };

/** A list, oldest first. With `wait` the answer comes as soon as the list is not empty. */
export function listRead<S extends z.ZodObject>(
  { path, what, query }: Named<S>,
  list: string,
  look: (query: z.infer<S>) => readonly unknown[],
): ControlRead {
  return { path, what, query, list, look: (given) => ({ [list]: look(query.parse(given)) }) };
}

export function plainRead(path: string, what: string, look: () => Looked): ControlRead {
  const query = z.strictObject({});
  return {
    path,
    what,
    query,
    list: null,
    look: (given) => {
      query.parse(given);
      return look();
    },
  };
}
