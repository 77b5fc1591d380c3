// What the policy does with an approval that expired.

import { close, withExpiry } from "./approval-transitions.ts";
import type { Approval, Decision } from "./approval.ts";
import type { Context } from "./context.ts";
import type { Rule } from "./policy/policy.ts";
import type { Run } from "./run.ts";
import { endsAt } from "./schedule.ts";

/** The same object when nothing has expired. */
export function expire(run: Run, ctx: Context): Run {
  const approvals = run.approvals.map((approval) => expired(approval, ctx));
  return approvals.every((each, index) => each === run.approvals[index]) ? run : { ...run, approvals };
}

function expired(approval: Approval, ctx: Context): Approval {
  const deadline = endsAt(approval);
  const { rule, version } = approval.appliedRule;
  if (deadline === null || ctx.monotonic < deadline || rule.expiry === null) return approval;
  if (rule.expiry.outcome === "nothing" || wasRefused(approval)) return close(approval, "expired", ctx.now);
  const decision: Decision = {
    verdict: "deny",
    reason: reasonOf(rule.expiry),
    by: null,
    at: ctx.now,
    digest: approval.request.digest,
    policy: version === null ? null : { version, rule: rule.name },
  };
  return withExpiry(approval, decision);
}

/** The service has refused this denial once, and would refuse it again. */
function wasRefused({ past, request }: Approval): boolean {
  return past.some(
    ({ decision, cause }) =>
      cause === "refused" && decision.by === null && decision.digest === request.digest,
  );
}

/** The reason that the agent gets. */
function reasonOf({ afterMs }: NonNullable<Rule["expiry"]>): string {
  return `Denied by policy: nobody decided it within ${written(afterMs)}.`;
}

function written(ms: number): string {
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ] as const;
  const [size, unit] = units.find(([size]) => ms % size === 0) ?? [1, "ms"];
  return `${ms / size} ${unit}`;
}
