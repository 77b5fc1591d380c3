// The named acts that change the sandbox's world. Buttons on the page, scenes and scripts all use the same acts.

import { z } from "zod";

export type ControlAct = {
  /** "service.down": the part of the world, and what is done to it. */
  readonly name: string;
  readonly what: string;
  readonly args: z.ZodObject;
  /** Throws z.ZodError if the arguments are wrong, and an Error with words for people if the world does not allow the act. */
  readonly run: (given: unknown) => unknown;
};

export function controlAct<S extends z.ZodObject>(
  { name, what, args }: { readonly name: string; readonly what: string; readonly args: S },
  run: (args: z.infer<S>) => unknown,
): ControlAct {
  return { name, what, args, run: (given) => run(args.parse(given)) };
}

// Reads: the facts that the page draws, as JSON.

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
