// How many people can approve something, as Slack tells it. Too few are told of at once; whoever may decide is asked elsewhere.

import type { Approval, Audience } from "./approval.ts";
import type { Context } from "./context.ts";
import type { Outcome } from "./effect.ts";
import type { ApprovalId, ChannelId, UserId } from "./ids.ts";
import { findApproval, replaceApproval, type Run, type Tell } from "./run.ts";

/** What is counted for: another rule or another request is counted anew. */
export function audienceFor({ ruling, version }: Approval): string {
  return `${ruling.version ?? "built-in"} ${ruling.rule.name} v${version}`;
}

/** Somebody may join a group or come back: too few are counted again after this long (ms), and so is what Slack did not say. */
const AGAIN_AFTER_MS = 5 * 60_000;

/** When to count (monotonic). Null: not, or not any more. */
export function countAt(approval: Approval): number | null {
  const { state, audience } = approval;
  if (state.is !== "pending") return null;
  if (audience === null || audience.of !== audienceFor(approval)) return 0;
  return audience.able !== null && !isTooFew(approval, audience) ? null : audience.at + AGAIN_AFTER_MS;
}

const isTooFew = ({ ruling }: Approval, { able }: Audience): boolean =>
  able !== null && able < ruling.rule.needs;

export type TooFew = { readonly able: number; readonly needs: number; readonly grows: boolean };

/** Null: enough people can approve it, or nobody knows. */
export function tooFew(approval: Approval): TooFew | null {
  const { audience, ruling, state } = approval;
  if (
    state.is !== "pending" ||
    audience === null ||
    audience.able === null ||
    audience.of !== audienceFor(approval)
  )
    return null;
  const { able, grows } = audience;
  return able < ruling.rule.needs ? { able, needs: ruling.rule.needs, grows } : null;
}

/** The requester and the fallback channel hear of it once, when it is found out. */
export function settleCount(run: Run, id: ApprovalId, outcome: Outcome, ctx: Context): Run {
  const approval = findApproval(run, id);
  if (outcome.is !== "counted" || approval === null || outcome.of !== audienceFor(approval)) return run;
  const { of, able, grows } = outcome;
  const counted: Approval = { ...approval, audience: { of, at: ctx.monotonic, able, grows } };
  const next = replaceApproval(run, counted);
  const few = tooFew(counted);
  const known = approval.audience !== null && isTooFew(approval, approval.audience);
  if (few === null || known) return next;
  const { fallback } = ctx.policy;
  const told: (UserId | ChannelId)[] = fallback === null ? [run.requester] : [run.requester, fallback];
  const says = { is: "nobody-can-approve", approval: id, ...few } as const;
  const tells = told.map((to): Tell => ({ id: ctx.nonce(), to, says, state: "planned", notBefore: 0 }));
  return { ...next, tells: [...next.tells, ...tells] };
}
