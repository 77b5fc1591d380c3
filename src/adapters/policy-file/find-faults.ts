// Finds what can be wrong with a well-formed policy. A policy with faults is refused; `npm run policy -- lint` also reports doubts.

import { isStricter, laxerFields } from "../../domain/policy/choose-rule.ts";
import { coversComparison } from "../../domain/policy/comparison.ts";
import { isComparison, isExactly, type Pattern, patternText } from "../../domain/policy/pattern.ts";
import { assignParts, partName } from "../../domain/policy/named-people.ts";
import type { ChannelId } from "../../domain/ids.ts";
import type { SavedTask } from "../../domain/policy/saved-task.ts";
import { isTimeOf, sampleHours } from "./sample-hours.ts";
import { BUILT_IN_RULE, type Policy, type Rule, type When } from "../../domain/policy/policy.ts";
import { followUpDoubts } from "./follow-up-doubts.ts";

type Fault = { readonly path: readonly (string | number)[]; readonly says: string };

export function findFaults({ rules }: Policy): Fault[] {
  return rules.flatMap((rule, index) => [...sameName(rules, rule, index)]);
}

function sameName(rules: readonly Rule[], { name }: Rule, index: number): Fault[] {
  const first = rules.findIndex((each) => each.name === name);
  return first === index
    ? []
    : [
        {
          path: ["rules", index, "name"],
          says: `names a second rule "${name}": the audit could not tell them apart`,
        },
      ];
}

export function findDoubts({ rules, tasks, starters }: Policy): Fault[] {
  return [
    ...tasks.flatMap((task, index) => unusableTask(task, index, starters)),
    ...rules.flatMap((rule, index) => [
      ...shadowed(rules, rule, index),
      ...neverInTime(rule, index),
      ...unsatisfiable(rule, index),
      ...followUpDoubts(rule, index),
    ]),
    ...noLastRule(rules),
  ];
}

function shadowed(rules: readonly Rule[], { name, when }: Rule, index: number): Fault[] {
  const by = rules.slice(0, index).filter((earlier) => covers(earlier.when, when));
  const moments = sampleHours([when, ...by.map((each) => each.when)]).filter((at) => isTimeOf(when, at));
  const isShadowed = moments.every((at) => by.some((each) => isTimeOf(each.when, at)));
  if (by.length === 0 || moments.length === 0 || !isShadowed) return [];
  const always = by.find((each) => moments.every((at) => isTimeOf(each.when, at)));
  const names = always === undefined ? by.map((each) => `"${each.name}"`).join(" and ") : `"${always.name}"`;
  const [comes, matches] = always === undefined ? ["come", "together match"] : ["comes", "matches"];
  return [
    {
      path: ["rules", index],
      says: `"${name}" never applies: ${names} ${comes} before it and ${matches} everything that it matches`,
    },
  ];
}

/** The starters decide who may start at all, so a task that they allow nowhere is offered in vain. */
function unusableTask({ name, channels }: SavedTask, index: number, starters: Policy["starters"]): Fault[] {
  const allows = (channel: ChannelId): boolean =>
    starters === null || starters.some((each) => each.channels?.includes(channel) ?? true);
  const useless = (channels ?? []).filter((channel) => !allows(channel));
  return useless.length === 0
    ? []
    : [
        {
          path: ["tasks", index, "channels"],
          says: `offer "${name}" in ${useless.join(", ")}, where the starters let no one start a run`,
        },
      ];
}

function neverInTime({ name, when }: Rule, index: number): Fault[] {
  return sampleHours([when]).some((at) => isTimeOf(when, at))
    ? []
    : [
        {
          path: ["rules", index, "when"],
          says: `means that "${name}" never applies: it is never within "hours" and outside "outside-hours" at once`,
        },
      ];
}

/** Only what can be seen without asking Slack: the members of groups and channels are not known here. */
function unsatisfiable(rule: Rule, index: number): Fault[] {
  const { name, approvers, needs, selfApproval, when, except } = rule;
  if (approvers === "anyone" || approvers.groups.length + approvers.channels.length > 0) return [];
  const people = new Set(approvers.users.filter((user) => except?.users.includes(user) !== true));
  const requesters = when.requesterGroups === undefined ? (when.requesters ?? []) : [];
  const [only] = requesters;
  if (!selfApproval && requesters.length === 1 && only !== undefined) people.delete(only);
  const { seated, missing } = assignParts([...people], rule, (user, { users }) => users.includes(user));
  const lack =
    people.size >= needs && missing.length > 0
      ? `names no one who is left for ${missing.map(partName).join(" and ")}, because each person counts for one part`
      : `needs ${needs} and names ${people.size} who can approve`;
  return seated.length >= needs
    ? []
    : [{ path: ["rules", index], says: `"${name}" can never be satisfied: it ${lack}` }];
}

function noLastRule(rules: readonly Rule[]): Fault[] {
  const last = rules.filter(({ when }) => covers(when, NOTHING_ASKED));
  const gap = sampleHours(last.map(({ when }) => when)).find(
    (at) => !last.some(({ when }) => isTimeOf(when, at)),
  );
  if (gap === undefined) return [];
  return last.length > 0
    ? [
        {
          path: ["rules"],
          says: `leave a gap between their hours, from ${momentIn(last, gap)} for example: then no one may decide a request that no rule matches. Add a last rule without "when"`,
        },
      ]
    : [
        {
          path: ["rules"],
          says: 'no rule matches every request, and a request that no rule matches can be decided by nobody. Add a last rule without "when"',
        },
      ];
}

/** In the time zone of the first hours. */
function momentIn(rules: readonly Rule[], at: number): string {
  const [first] = rules.flatMap(({ when }) => [...(when.hours ?? []), ...(when.outsideHours ?? [])]);
  const timeZone = first?.tz ?? "UTC";
  const says = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "long",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return `${says.format(at)} (${timeZone})`;
}

const NOTHING_ASKED: When = { channels: null, requesters: null, action: null, input: null, fields: {} };

/** True only if everything that matches `inner` matches `outer`, hours aside. It may say no where yes would be right. */
function covers(outer: When, inner: When): boolean {
  const ids = (all: readonly string[] | null, some: readonly string[] | null): boolean =>
    all === null || (some !== null && some.every((each) => all.includes(each)));
  return (
    ids(outer.channels, inner.channels) &&
    coversRequesters(outer, inner) &&
    patterns(outer.action, inner.action) &&
    patterns(outer.input, inner.input) &&
    Object.entries(outer.fields).every(([path, all]) => patterns(all, inner.fields[path] ?? null))
  );
}

function coversRequesters(outer: When, inner: When): boolean {
  if (outer.requesters === null) return true;
  const [people, groups] = [outer.requesters, outer.requesterGroups ?? []];
  return (
    inner.requesters !== null &&
    inner.requesters.every((each) => people.includes(each)) &&
    (inner.requesterGroups ?? []).every((each) => groups.includes(each))
  );
}

/** A pattern that matches another pattern's text matches everything that the other does: only a * matches its stars. */
function patterns(outer: readonly Pattern[] | null, inner: readonly Pattern[] | null): boolean {
  return (
    outer === null || (inner !== null && inner.every((each) => outer.some((all) => coversPattern(all, each))))
  );
}

function coversPattern(outer: Pattern, inner: Pattern): boolean {
  if (!isComparison(inner)) return isExactly(outer, inner);
  return isComparison(outer) ? coversComparison(outer, inner) : /^\*+$/.test(String(outer));
}

// Finds rules that people or agents can evade: the agent chooses the words of a request, and the requester chooses task and channel.

export function findEvasions(policy: Policy): Fault[] {
  return policy.rules.flatMap((rule, index) => [
    ...laxAndOpen(policy, rule, index),
    ...strictAndEvaded(policy, rule, index),
  ]);
}

/** A rule that asks for less than a later one, and that any request can be made to match. */
function laxAndOpen({ rules, starters }: Policy, rule: Rule, index: number): Fault[] {
  const stricter = rules.slice(index + 1).find((later) => isStricter(later, rule));
  if (stricter === undefined || isAnchored(rule.when, starters)) return [];
  const less = laxerFields(rule, stricter).join(", ");
  const says =
    `"${rule.name}" is laxer than "${stricter.name}" after it (${less}), and ${whyOpen(rule.when)}. ` +
    "Name exact values, without *, of the action or of a field that says what is touched";
  return [{ path: ["rules", index], says }];
}

/** A rule that asks for more than an open one after it: a request that does not match it falls under that one. */
function strictAndEvaded({ rules, starters }: Policy, rule: Rule, index: number): Fault[] {
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
 * Whether the rule has a condition that the author of a request cannot meet at will: an exact value, a person, a channel or the time. Who
 * waits for other hours does what such a rule is for.
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

/** Only people whom the policy names may start runs there. */
function isLimited(channel: NonNullable<When["channels"]>[number], starters: Policy["starters"]): boolean {
  const here = starters?.filter(({ channels }) => channels === null || channels.includes(channel)) ?? null;
  return here !== null && here.every(({ who }) => who !== "anyone");
}

const { when: ALWAYS } = BUILT_IN_RULE;
/** The same object where the condition does not ask for the time. */
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
    : "a run can be started elsewhere, or by somebody else";
}
