// Which rule applies to the approvals of a run, and why the rules before it do not fit.

import type { Approval } from "../../domain/approval.ts";
import { type Match, matcher, ruleFor } from "../../domain/policy/choose-rule.ts";
import { BUILT_IN_RULE, type Facts, type Policy, type Rule, type When } from "../../domain/policy/policy.ts";
import { type Run, runId } from "../../domain/run.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import { people } from "./explain-policy.ts";

export function explainedRun(run: Run, policy: Policy): string[] {
  const head = `${runId(run) ?? run.key}, asked for by ${run.requester} in ${run.channel}`;
  if (run.approvals.length === 0) return [`${head}, has asked for no approval yet.`];
  return [head, ...run.approvals.flatMap((approval) => explained(run, approval, policy))];
}

function explained({ channel, requester, input }: Run, approval: Approval, policy: Policy): string[] {
  const { action, content } = approval.request;
  const facts = { channel, requester, input, action, content };
  const chosen = ruleFor(policy, facts);
  const match = matcher(facts);
  const first = policy.rules.findIndex(({ when }) => match(when) === "every");
  const before = first < 0 ? policy.rules : policy.rules.slice(0, first);
  const decided = approval.state.type === "decided" ? (approval.state.decision.policy ?? null) : null;
  return [
    `${approval.id} (${approval.state.type}): ${oneLine(action ?? "(no action)", 120)}`,
    ...before.map((rule) =>
      match(rule.when) === "none"
        ? `   not ${rule.name}: ${conditions(rule, facts, "none")} does not fit`
        : `   perhaps ${rule.name}: ${conditions(rule, facts, "some")} can be read in several ways, and not all fit`,
    ),
    `   ${chosen.name} applies: ${people(chosen.approvers)} may decide`,
    ...(decided === null ? [] : [`   was decided under ${decided.rule} of policy ${decided.version}`]),
  ];
}

const { when: ALWAYS } = BUILT_IN_RULE;

/** The rule's conditions with this kind of match, by their keys. */
function conditions({ when }: Rule, facts: Facts, so: Match): string {
  const alone: readonly (readonly [string, When])[] = [
    ["channel", { ...ALWAYS, channels: when.channels }],
    ["requester", { ...ALWAYS, requesters: when.requesters }],
    ["action", { ...ALWAYS, action: when.action }],
    ["input", { ...ALWAYS, input: when.input }],
    ...Object.entries(when.fields).map(
      ([path, patterns]) => [`field ${path}`, { ...ALWAYS, fields: { [path]: patterns } }] as const,
    ),
  ];
  const match = matcher(facts);
  return alone.flatMap(([name, condition]) => (match(condition) === so ? [name] : [])).join(", ");
}
