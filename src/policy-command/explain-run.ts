// Which rule the approvals of a run stand under, and what kept the rules before it from fitting.

import type { Approval } from "../core/approval.ts";
import { type Facts, holds, type Policy, type Rule, ruleFor, type When } from "../core/policy.ts";
import { type Run, runId } from "../core/run.ts";
import { oneLine } from "../core/text.ts";
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
  const before = policy.rules.slice(0, Math.max(policy.rules.indexOf(chosen), 0));
  const passed = policy.rules.includes(chosen) ? before : policy.rules;
  const decided = approval.state.is === "decided" ? (approval.state.decision.policy ?? null) : null;
  return [
    `${approval.id} (${approval.state.is}): ${oneLine(action ?? "(no action)", 120)}`,
    ...passed.map((rule) => `   not ${rule.name}: ${misfits(rule, facts).join(", ")} does not fit`),
    `   stands under ${chosen.name}: ${people(chosen.approvers)} may decide`,
    ...(decided === null ? [] : [`   was decided under ${decided.rule} of policy ${decided.version}`]),
  ];
}

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };

/** The conditions that keep the rule from fitting, by their keys. */
function misfits({ when }: Rule, facts: Facts): string[] {
  const alone: readonly (readonly [string, When])[] = [
    ["channel", { ...ALWAYS, channels: when.channels }],
    ["requester", { ...ALWAYS, requesters: when.requesters }],
    ["action", { ...ALWAYS, action: when.action }],
    ["input", { ...ALWAYS, input: when.input }],
    ...Object.entries(when.fields).map(
      ([path, patterns]) => [`field ${path}`, { ...ALWAYS, fields: { [path]: patterns } }] as const,
    ),
  ];
  return alone.filter(([, condition]) => !holds(condition, facts)).map(([name]) => name);
}
