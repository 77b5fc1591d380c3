// The named acts that change the state of the sandbox. Buttons on the page and scripts use the same acts.

import { z } from "zod";

export type ControlAct = {
  /** Names the part of the sandbox and the act, such as "service.down". */
  readonly name: string;
  readonly what: string;
  readonly args: z.ZodObject;
  /** Throws z.ZodError if the arguments are invalid, and an Error with a message for people if the act is impossible now. */
  readonly run: (args: unknown) => unknown;
};

export function controlAct<S extends z.ZodObject>(
  { name, what, args }: { readonly name: string; readonly what: string; readonly args: S },
  run: (args: z.infer<S>) => unknown,
): ControlAct {
  return { name, what, args, run: (input) => run(args.parse(input)) };
}

// Reads: the facts that the page draws, as JSON.

export type ControlRead = {
  readonly path: string;
  readonly what: string;
  /** The query parameters, without `wait` and `limit`, which all lists take. */
  readonly query: z.ZodObject;
  /** The name in the answer of the list that `wait` waits for. Null if the read returns no list. */
  readonly list: string | null;
  /** Throws like an act if the query is invalid. */
  readonly look: (query: unknown) => Looked;
};

export type Looked = { readonly [name: string]: unknown };

type Named<S extends z.ZodObject> = { readonly path: string; readonly what: string; readonly query: S };

/** A read of a list, oldest item first. With `wait`, the answer comes as soon as the list is not empty. */
export function listRead<S extends z.ZodObject>(
  { path, what, query }: Named<S>,
  list: string,
  look: (query: z.infer<S>) => readonly unknown[],
): ControlRead {
  return { path, what, query, list, look: (input) => ({ [list]: look(query.parse(input)) }) };
}

export function plainRead(path: string, what: string, look: () => Looked): ControlRead {
  const query = z.strictObject({});
  return {
    path,
    what,
    query,
    list: null,
    look: (input) => {
      query.parse(input);
      return look();
    },
  };
}
