// More time to decide, where the rule allows it. authorization.ts says who may extend.

import type { Approval } from "./approval.ts";
import type { Refusal } from "./authorization.ts";
import type { Context } from "./context.ts";
import { extendedMs, type FollowUp, withFollowUp } from "./follow-up.ts";
import type { UserId } from "./ids.ts";
import type { KeptRule } from "./policy/policy.ts";
import { err, ok, type Result } from "./result.ts";

/** What the next extension adds (ms). Null: the rule allows none. 0: all that it allows was added. */
export function nextExtension(
  approval: Approval,
  { expiry, followUp: { extend } }: Pick<KeptRule, "expiry" | "followUp">,
): number | null {
  if (expiry === null || extend === null) return null;
  return Math.max(Math.min(extend.byMs, extend.atMostMs - extendedMs(approval)), 0);
}

/** How often it was extended. Buttons name it, so a press that is delivered twice, or that comes late, adds nothing. */
export const timesExtended = ({ followUp }: Pick<Approval, "followUp">): number =>
  followUp?.extensions?.length ?? 0;

/** `times`: how often it was extended by what the person saw. The same approval for a press that was delivered twice. */
export function extendTime(
  approval: Approval,
  { by, times, rule }: { by: UserId; times: number; rule: Pick<KeptRule, "expiry" | "followUp"> },
  { now }: Pick<Context, "now">,
): Result<Approval, Refusal> {
  const { extensions = [], warned: _again, ...rest }: FollowUp = approval.followUp ?? {};
  const last = extensions.at(-1);
  if (last !== undefined && times === extensions.length - 1 && last.by === by) return ok(approval);
  if (times !== extensions.length) return err({ type: "extended-meanwhile", by: last?.by ?? null });
  const byMs = nextExtension(approval, rule);
  if (byMs === null) return err({ type: "not-extendable" });
  const { extend } = rule.followUp;
  if (byMs === 0) return err({ type: "extension-cap", atMostMs: extend?.atMostMs ?? 0 });
  return ok(
    withFollowUp({ ...approval, followUp: rest }, { extensions: [...extensions, { by, at: now, byMs }] }),
  );
}
