// What one may do to the sandbox's world beside pressing a key: a button on the page, a scene and a script all do the same named acts.

import type { z } from "zod";

export type ControlAct = {
  /** «service.down»: the part of the world, and what is done to it. */
  readonly name: string;
  readonly what: string;
  readonly args: z.ZodObject;
  /** Checks the arguments first; throws z.ZodError when they do not fit, an Error with words for people when the world does not. */
  readonly run: (given: unknown) => unknown;
};

export function controlAct<S extends z.ZodObject>(
  { name, what, args }: { readonly name: string; readonly what: string; readonly args: S },
  run: (args: z.infer<S>) => unknown,
): ControlAct {
  return { name, what, args, run: (given) => run(args.parse(given)) };
}
