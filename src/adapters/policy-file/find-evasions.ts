// Finds rules that people or agents can evade: the agent chooses the words of a request, and the requester chooses task and channel.

import { isStricter, laxerFields } from "../../domain/policy/combine-rules.ts";
import { isComparison, type Pattern, patternText } from "../../domain/policy/pattern.ts";
import { BUILT_IN_RULE, type Policy, type Rule, type When } from "../../domain/policy/policy.ts";
import type { Doubt } from "./follow-up-doubts.ts";

export function findEvasions(policy: Policy): Doubt[] {
  return policy.rules.flatMap((rule, index) => [
    ...laxAndOpen(policy, rule, index),
    ...strictAndEvaded(policy, rule, index),
  ]);
}

/** Finds a rule that asks for less than a later rule and that any request can be made to match. */
function laxAndOpen({ rules, starters }: Policy, rule: Rule, index: number): Doubt[] {
  const stricter = rules.slice(index + 1).find((later) => isStricter(later, rule));
  if (stricter === undefined || isAnchored(rule.when, starters)) return [];
  const less = laxerFields(rule, stricter).join(", ");
  const says =
    `"${rule.name}" is laxer than "${stricter.name}" after it (${less}), and ${whyOpen(rule.when)}. ` +
    "Name exact values, without *, of the action or of a field that says what is touched";
  return [{ path: ["rules", index], says }];
}

/** Finds a rule that asks for more than an open rule after it. A request that does not match the first falls under the open one. */
function strictAndEvaded({ rules, starters }: Policy, rule: Rule, index: number): Doubt[] {
  const open = rules
    .slice(index + 1)
    .find((later) => isStricter(rule, later) && !isAnchored(later.when, starters));
  if (open === undefined || isUnconditional(rule.when) || isUnconditional(atAnyTime(rule.when))) return [];
  const less = laxerFields(open, rule).join(", ");
  const says =
    `"${rule.name}" can be evaded: ${whyEvaded(rule.when)}, and a request that does not match it may fall under "${open.name}", ` +
    `which is laxer (${less}). Make the last rule the strictest, and list harmless requests before it by exact values`;
  return [{ path: ["rules", index], says }];
}

/**
 * Tests whether the rule has a condition that the author of a request cannot meet at will: an exact value, a person, a channel or the time.
 * Waiting for other hours is not an evasion, because that is the purpose of such a rule.
 */
function isAnchored(when: When, starters: Policy["starters"]): boolean {
  const { action, fields, requesters, channels } = when;
  const texts = [action ?? ["*"], ...Object.values(fields)];
  return (
    texts.some(isExact) ||
    requesters !== null ||
    atAnyTime(when) !== when ||
    (channels?.every((each) => isLimited(each, starters)) ?? false)
  );
}

const isExact = (patterns: readonly Pattern[]): boolean =>
  patterns.every((each) => isComparison(each) || !patternText(each).includes("*"));

/** Tests whether only people whom the policy names may start runs there. */
function isLimited(channel: NonNullable<When["channels"]>[number], starters: Policy["starters"]): boolean {
  const here = starters?.filter(({ channels }) => channels === null || channels.includes(channel)) ?? null;
  return here !== null && here.every(({ who }) => who !== "anyone");
}

const { when: ALWAYS } = BUILT_IN_RULE;
/** Returns the same object if the condition does not depend on the time. */
function atAnyTime(when: When): When {
  const { hours, outsideHours, ...others } = when;
  return hours === undefined && outsideHours === undefined ? when : others;
}

const isUnconditional = (when: When): boolean => JSON.stringify(when) === JSON.stringify(ALWAYS);

function whyOpen({ channels, action, input, fields }: When): string {
  if (action !== null || Object.keys(fields).length > 0) return "any text matches its *";
  if (input !== null) return "the requester chooses the task";
  return channels === null ? "it matches everything" : "the requester chooses the channel";
}

function whyEvaded({ action, input, fields }: When): string {
  return action !== null || input !== null || Object.keys(fields).length > 0
    ? "other words for the same thing do not match it"
    : "a run can be started elsewhere, or by someone else";
}
