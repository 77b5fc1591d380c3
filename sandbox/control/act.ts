// The named acts that change the sandbox's world. Buttons on the page, scenes and scripts all use the same acts.

import type { z } from "zod";

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
