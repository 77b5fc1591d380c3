// A policy in sentences, so that its author can check that it says what they mean.

import type { Pattern } from "../../domain/policy/pattern.ts";
import type { Principals, Policy, Rule, When } from "../../domain/policy/policy.ts";

/** One paragraph for each rule, then one for the whole policy. */
export function explainedPolicy(policy: Policy): string[] {
  const rules = policy.rules.map((rule, index) =>
    [`${index + 1}. ${rule.name}`, ...sentences(rule)].join("\n   "),
  );
  return [...rules, "If no rule fits, nobody may decide.", ...everywhere(policy)];
}

function sentences(rule: Rule): string[] {
  const { needs, holdMs, expiry, friction, reason, selfApproval, mention } = rule;
  const called = [...mention.users, ...mention.groups];
  return [
    `Fits ${conditions(rule.when)}.`,
    `May be decided by ${people(rule.approvers)}, ${selfApproval ? "the requester too" : "never by the requester"}.`,
    needs === 1
      ? "One person approves; one denial ends it."
      : `${needs} different people must approve; one denial ends it.`,
    `A reason to approve: ${fewest(reason.approve)}; to deny: ${fewest(reason.deny)}.`,
    ...(friction.readFirst ? ["The approver must first press Read in full."] : []),
    ...(friction.word === null ? [] : [`The approver must type "${friction.word}".`]),
    ...(holdMs === 0 ? [] : [`An approval is held for ${time(holdMs)} and can be undone until then.`]),
    expiry === null
      ? "It waits as long as the service lists it."
      : `After ${time(expiry.afterMs)} ${expiry.outcome === "deny" ? "it is denied" : "it closes"}.`,
    called.length === 0 ? "The card mentions nobody." : `The card mentions ${called.join(", ")}.`,
  ];
}

function everywhere({ starters, volatile, fallback, auditors }: Policy): string[] {
  const starts = starters?.map(
    ({ channels, who }) => `${people(who)} in ${channels?.join(", ") ?? "every channel"}`,
  );
  return [
    `Runs are started and watched by ${starts?.join("; by ") ?? "everybody, everywhere"}.`,
    ...(volatile.length === 0 ? [] : [`May change without notice: ${volatile.join(", ")}.`]),
    ...(fallback === null ? [] : [`${fallback} is also told when nobody can approve something.`]),
    ...(auditors === null ? [] : [`The audit of a run may be read by ${people(auditors)}.`]),
  ];
}

function conditions({ channels, requesters, action, input, fields }: When): string {
  const texts = (name: string, patterns: readonly Pattern[] | null): string[] =>
    patterns === null ? [] : [`${name} ${patterns.map((each) => `"${each}"`).join(" or ")}`];
  const parts = [
    ...(channels === null ? [] : [`channel ${channels.join(" or ")}`]),
    ...(requesters === null ? [] : [`requester ${requesters.join(" or ")}`]),
    ...texts("action", action),
    ...texts("input", input),
    ...Object.entries(fields).flatMap(([path, patterns]) => texts(`field ${path}`, patterns)),
  ];
  return parts.length === 0 ? "everything" : parts.join(", and ");
}

export function people(principals: Principals): string {
  if (principals === "anyone") return "every full member who sees the card";
  const { users, groups, channels } = principals;
  const sets = [
    ...groups.map((each) => `members of ${each}`),
    ...channels.map((each) => `members of ${each}`),
  ];
  return [...users, ...sets].join(", ") || "nobody";
}

const fewest = (chars: number): string =>
  chars === 0 ? "none needed" : `at least ${chars} ${chars === 1 ? "character" : "characters"}`;

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
] as const;

function time(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms % size === 0) ?? [1_000, "s"];
  return `${ms / size} ${unit}`;
}
