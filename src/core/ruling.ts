// Which rule an approval stands under. A card shows the one of its newest look; a decision is held to the one of its own moment.

import type { Approval, Request } from "./approval.ts";
import type { Context } from "./context.ts";
import { ruleFor } from "./choose-rule.ts";
import type { Policy, PolicyMark, Rule } from "./policy.ts";
import type { Run } from "./run.ts";

export function ruleOf(
  policy: Policy,
  { channel, requester, input }: Run,
  { action, content }: Request,
): Rule {
  return ruleFor(policy, { channel, requester, input, action, content });
}

export function markOf({ version }: Pick<Policy, "version">, { name }: Rule): PolicyMark {
  return version === null ? null : { version, rule: name };
}

/** Pending approvals under the rules of now. The same object when they stand there already. */
export function underPolicy(run: Run, { policy }: Pick<Context, "policy">): Run {
  const approvals = run.approvals.map((approval) => ruled(approval, run, policy));
  return approvals.every((each, index) => each === run.approvals[index]) ? run : { ...run, approvals };
}

function ruled(approval: Approval, run: Run, policy: Policy): Approval {
  if (approval.state.is !== "pending") return approval;
  const rule = ruleOf(policy, run, approval.request);
  const { ruling } = approval;
  if (ruling.version === policy.version && ruling.rule.name === rule.name) return approval;
  return { ...approval, ruling: { version: policy.version, rule } };
}
