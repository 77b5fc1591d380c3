// The conditions of a rule in words, and which of them a request meets.

import { type Match, matcher } from "../../domain/policy/choose-rule.ts";
import type { Hours } from "../../domain/policy/hours.ts";
import { isComparison, type Pattern, patternText } from "../../domain/policy/pattern.ts";
import { BUILT_IN_RULE, type Facts, type Rule, type When } from "../../domain/policy/policy.ts";

export function conditionsInWords(when: When): string {
  const { channels, requesters, requesterGroups = [], action, input, fields, hours, outsideHours } = when;
  const asked = [...(requesters ?? []), ...requesterGroups.map((group) => `a member of ${group}`)];
  const parts = [
    ...(channels === null ? [] : [`channel ${channels.join(" or ")}`]),
    ...(asked.length === 0 ? [] : [`requester ${asked.join(" or ")}`]),
    ...texts("action", action),
    ...texts("input", input),
    ...Object.entries(fields).flatMap(([path, patterns]) => texts(`field ${path}`, patterns)),
    ...(hours === undefined ? [] : [`the time is ${hours.map(hoursInWords).join(" or ")}`]),
    ...(outsideHours === undefined ? [] : [`the time is not ${outsideHours.map(hoursInWords).join(" or ")}`]),
  ];
  return parts.length === 0 ? "everything" : parts.join(", and ");
}

function texts(name: string, patterns: readonly Pattern[] | null): string[] {
  const written = (each: Pattern): string => (isComparison(each) ? each.text : `"${patternText(each)}"`);
  return patterns === null ? [] : [`${name} ${patterns.map(written).join(" or ")}`];
}

export function hoursInWords({ tz, days, from, to }: Hours): string {
  const on = days.length === 7 ? "every day" : days.join(", ");
  return `${on} from ${from} to ${to}${to < from ? " on the next day" : ""} (${tz})`;
}

const { when: ALWAYS } = BUILT_IN_RULE;

/** The rule's conditions with this kind of match, by their keys. */
export function conditionsOfKind({ when }: Rule, facts: Facts, so: Match): string {
  const { channels, requesters, requesterGroups, action, input, fields, hours, outsideHours } = when;
  const asked = requesterGroups === undefined ? { requesters } : { requesters, requesterGroups };
  const alone: readonly (readonly [string, When])[] = [
    ["channel", { ...ALWAYS, channels }],
    ["requester", { ...ALWAYS, ...asked }],
    ["action", { ...ALWAYS, action }],
    ["input", { ...ALWAYS, input }],
    ...Object.entries(fields).map(
      ([path, patterns]) => [`field ${path}`, { ...ALWAYS, fields: { [path]: patterns } }] as const,
    ),
    ["hours", hours === undefined ? ALWAYS : { ...ALWAYS, hours }],
    ["outside-hours", outsideHours === undefined ? ALWAYS : { ...ALWAYS, outsideHours }],
  ];
  const match = matcher(facts);
  return alone.flatMap(([name, condition]) => (match(condition) === so ? [name] : [])).join(", ");
}
