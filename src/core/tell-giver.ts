import type { Decision } from "./approval.ts";
import type { Context } from "./context.ts";
import type { Said, Tell } from "./run.ts";

/** Nobody is told where the policy itself decided. */
export function tellGiver({ by }: Decision, says: Said, ctx: Context): Tell[] {
  return by === null ? [] : [{ id: ctx.nonce(), to: by.user, says, state: "planned", notBefore: 0 }];
}
