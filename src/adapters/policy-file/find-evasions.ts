// Rules that whoever asks can slip past, or into: the agent chooses the words of a request, and whoever starts a run chooses where.

import { BUILT_IN_RULE, type Policy, type Rule, type When } from "../../domain/policy/policy.ts";
import { isStricter, laxerFields } from "../../domain/policy/strictness.ts";
import type { Pattern } from "../../domain/text/pattern.ts";
import type { Fault } from "./find-faults.ts";

export function findEvasions(policy: Policy): Fault[] {
  return policy.rules.flatMap((rule, index) => [
    ...laxAndOpen(policy, rule, index),
    ...strictAndEvaded(policy, rule, index),
  ]);
}

/** A rule that asks for less than one after it, and that anybody can bring a request under. */
function laxAndOpen({ rules, starters }: Policy, rule: Rule, index: number): Fault[] {
  const stricter = rules.slice(index + 1).find((later) => isStricter(later, rule));
  if (stricter === undefined || isAnchored(rule.when, starters)) return [];
  const less = laxerFields(rule, stricter).join(", ");
  const says =
    `«${rule.name}» is laxer than «${stricter.name}» after it (${less}), and ${whyOpen(rule.when)}. ` +
    "Name exact values, without *, of the action or of a field that says what is touched";
  return [{ path: ["rules", index], says }];
}

/** A rule that asks for more than an open one after it: what does not meet its conditions falls there. */
function strictAndEvaded({ rules, starters }: Policy, rule: Rule, index: number): Fault[] {
  const open = rules
    .slice(index + 1)
    .find((later) => isStricter(rule, later) && !isAnchored(later.when, starters));
  if (open === undefined || isUnconditional(rule.when)) return [];
  const less = laxerFields(open, rule).join(", ");
  const says =
    `«${rule.name}» can be evaded: ${whyEvaded(rule.when)}, and what does not fit it may fall under «${open.name}», ` +
    `which is laxer (${less}). Let the last rule be the strictest, and name before it, by exact values, what is harmless`;
  return [{ path: ["rules", index], says }];
}

/** Something holds a request there that its author does not choose freely: what is asked for exactly, or a person or a channel. */
function isAnchored({ action, fields, requesters, channels }: When, starters: Policy["starters"]): boolean {
  const texts = [action ?? ["*"], ...Object.values(fields)];
  return (
    texts.some(isExact) ||
    requesters !== null ||
    (channels?.every((each) => isLimited(each, starters)) ?? false)
  );
}

const isExact = (patterns: readonly Pattern[]): boolean =>
  patterns.every((each) => !String(each).includes("*"));

/** Only people whom the policy names may start runs there. */
function isLimited(channel: NonNullable<When["channels"]>[number], starters: Policy["starters"]): boolean {
  const here = starters?.filter(({ channels }) => channels === null || channels.includes(channel)) ?? null;
  return here !== null && here.every(({ who }) => who !== "anyone");
}

const { when: ALWAYS } = BUILT_IN_RULE;
const isUnconditional = (when: When): boolean => JSON.stringify(when) === JSON.stringify(ALWAYS);

function whyOpen({ channels, action, input, fields }: When): string {
  if (action !== null || Object.keys(fields).length > 0) return "any text fits its *";
  if (input !== null) return "whoever starts a run chooses its task";
  return channels === null ? "it fits everything" : "whoever starts a run chooses its channel";
}

function whyEvaded({ action, input, fields }: When): string {
  return action !== null || input !== null || Object.keys(fields).length > 0
    ? "other words for the same do not fit it"
    : "a run can be started elsewhere, or by somebody else";
}
