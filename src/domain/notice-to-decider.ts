import type { Decision } from "./approval.ts";
import type { Context } from "./context.ts";
import type { NoticeContent, PrivateNotice } from "./run.ts";

/** Empty where the policy itself decided. */
export function noticeToDecider({ by }: Decision, says: NoticeContent, ctx: Context): PrivateNotice[] {
  return by === null ? [] : [{ id: ctx.nonce(), to: by.user, says, state: "planned", notBefore: 0 }];
}
