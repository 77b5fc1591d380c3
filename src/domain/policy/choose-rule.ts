// Which rule applies to a request: the first that fits. A request that can be read in several ways must meet every rule that one of
// its readings fits, so no odd form, decoy or further element of a list can find a laxer rule.

import { type Facts, NO_RULE, type Policy, type Rule } from "./policy.ts";
import { matcher } from "./match.ts";
import { combineStrictly } from "./strictness.ts";

export function ruleFor(policy: Policy, facts: Facts): Rule {
  return combineStrictly(candidates(policy, facts));
}

/** The rules that perhaps fit before the first that surely fits, and that one. If none surely fits, `NO_RULE` is the last. */
export function candidates({ rules }: Policy, facts: Facts): readonly [Rule, ...Rule[]] {
  const match = matcher(facts);
  const perhaps: Rule[] = [];
  for (const rule of rules) {
    const fits = match(rule.when);
    if (fits === "every") return ahead(perhaps, rule);
    if (fits === "some") perhaps.push(rule);
  }
  return ahead(perhaps, NO_RULE);
}

function ahead([first, ...others]: readonly Rule[], last: Rule): readonly [Rule, ...Rule[]] {
  return first === undefined ? [last] : [first, ...others, last];
}
