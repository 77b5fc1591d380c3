import type { Context } from "../core/context.ts";
import { observe } from "../core/observe.ts";
import { observeMissing } from "../core/observe-missing.ts";
import type { Run } from "../core/run.ts";
import type { Look } from "./ports.ts";

/** What a look at the service makes of what we remember. The same object when it taught nothing. */
export function takeIn(run: Run, look: Look, ctx: Context): Run {
  return look.is === "missing" ? observeMissing(run, look.askedAt, ctx) : observe(run, look.snapshot, ctx);
}

/** When the look began. */
export const askedAtOf = (look: Look): number =>
  look.is === "missing" ? look.askedAt : look.snapshot.askedAt;
