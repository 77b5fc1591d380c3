// Which rule applies to an approval. A card shows the rule of the newest fetch; a decision must meet the rule of its own moment.

import type { Approval, Request } from "./approval.ts";
import type { Context } from "./context.ts";
import { ruleFor } from "./policy/choose-rule.ts";
import { isSameJson } from "./json.ts";
import { keptRule, type Policy, type RuleRef, type Rule } from "./policy/policy.ts";
import type { Run } from "./run.ts";

export function ruleOf(
  policy: Policy,
  { channel, requester, input }: Run,
  { action, content }: Request,
): Rule {
  return ruleFor(policy, { channel, requester, input, action, content });
}

export function ruleRefOf({ version }: Pick<Policy, "version">, { name }: Pick<Rule, "name">): RuleRef {
  return version === null ? null : { version, rule: name };
}

/** Applies the current rules to pending approvals. The same object when they apply already. */
export function applyPolicy(run: Run, { policy }: Pick<Context, "policy">): Run {
  const approvals = run.approvals.map((approval) => withRuleOfNow(approval, run, policy));
  return approvals.every((each, index) => each === run.approvals[index]) ? run : { ...run, approvals };
}

function withRuleOfNow(approval: Approval, run: Run, policy: Policy): Approval {
  if (approval.state.type !== "pending") return approval;
  const rule = keptRule(ruleOf(policy, run, approval.request));
  const { appliedRule } = approval;
  const card = policy.card === null ? {} : { card: policy.card };
  // By value: a document of an older program may lack a part of the very same rule.
  const isApplied =
    appliedRule.version === policy.version &&
    isSameJson(appliedRule.rule, rule) &&
    isSameJson(appliedRule.card ?? null, policy.card);
  return isApplied ? approval : { ...approval, appliedRule: { version: policy.version, rule, ...card } };
}
