// Finds probable mistakes in a well-formed policy, for `npm run policy -- lint`.

import type { ChannelId } from "../../domain/ids.ts";
import { coversComparison } from "../../domain/policy/comparison.ts";
import { isWithin, nextClosing, nextOpening } from "../../domain/policy/hours.ts";
import { assignParts, partName } from "../../domain/policy/named-people.ts";
import { isComparison, isExactly, type Pattern } from "../../domain/policy/pattern.ts";
import type { Policy, Rule, When } from "../../domain/policy/policy.ts";
import type { SavedTask } from "../../domain/policy/saved-task.ts";
import { type Doubt, followUpDoubts } from "./follow-up-doubts.ts";

export function findDoubts({ rules, tasks, starters }: Policy): Doubt[] {
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

function shadowed(rules: readonly Rule[], { name, when }: Rule, index: number): Doubt[] {
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

/** Finds tasks that are offered in vain, because the starters let no one start a run there. */
function unusableTask({ name, channels }: SavedTask, index: number, starters: Policy["starters"]): Doubt[] {
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

function neverInTime({ name, when }: Rule, index: number): Doubt[] {
  return sampleHours([when]).some((at) => isTimeOf(when, at))
    ? []
    : [
        {
          path: ["rules", index, "when"],
          says: `means that "${name}" never applies: it is never within "hours" and outside "outside-hours" at once`,
        },
      ];
}

/** Judges only what is known without Slack. The members of groups and channels are unknown here. */
function unsatisfiable(rule: Rule, index: number): Doubt[] {
  const { name, approvers, needs, selfApproval, when, except } = rule;
  if (approvers === "anyone" || approvers.groups.length + approvers.channels.length > 0) return [];
  const people = new Set(approvers.users.filter((user) => except?.users.includes(user) !== true));
  const requesters = when.requesterGroups === undefined ? (when.requesters ?? []) : [];
  const [only] = requesters;
  if (!selfApproval && requesters.length === 1 && only !== undefined) people.delete(only);
  const { assigned, missing } = assignParts([...people], rule, (user, { users }) => users.includes(user));
  const lack =
    people.size >= needs && missing.length > 0
      ? `names no one who is left for ${missing.map(partName).join(" and ")}, because each person counts for one part`
      : `needs ${needs} and names ${people.size} who can approve`;
  return assigned.length >= needs
    ? []
    : [{ path: ["rules", index], says: `"${name}" can never be satisfied: it ${lack}` }];
}

function noLastRule(rules: readonly Rule[]): Doubt[] {
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
          says: 'no rule matches every request, so a request that matches none cannot be decided. Add a last rule without "when"',
        },
      ];
}

/** Returns the moment in words, in the time zone of the first hours. */
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

/** Returns true only if everything that matches `inner` also matches `outer`, apart from hours. It may return false where true is right. */
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

/** A pattern that matches another pattern's text matches everything that the other matches, because only a * matches its stars. */
function patterns(outer: readonly Pattern[] | null, inner: readonly Pattern[] | null): boolean {
  return (
    outer === null || (inner !== null && inner.every((each) => outer.some((all) => coversPattern(all, each))))
  );
}

function coversPattern(outer: Pattern, inner: Pattern): boolean {
  if (!isComparison(inner)) return isExactly(outer, inner);
  return isComparison(outer) ? coversComparison(outer, inner) : /^\*+$/.test(String(outer));
}

// Finds the moments at which the hours of a policy begin or end, in one week in winter and one in summer. Nothing changes between two of
// these moments, so checking them checks the whole week.

const WEEKS = [Date.UTC(2026, 0, 5), Date.UTC(2026, 6, 6)];
/** A window of one day in the week turns within eight days. */
const WEEK_MS = 8 * 86_400_000;
type Timed = Pick<When, "hours" | "outsideHours">;

/** Returns the moments in order (wall time, ms). */
function sampleHours(conditions: readonly Timed[]): readonly number[] {
  const windows = conditions.flatMap(({ hours = [], outsideHours = [] }) => [...hours, ...outsideHours]);
  const found = new Set(WEEKS);
  for (const start of WEEKS)
    for (const window of windows)
      for (const next of [nextOpening, nextClosing])
        for (let at = next(window, start); at !== null && at < start + WEEK_MS; at = next(window, at))
          found.add(at);
  return [...found].toSorted((a, b) => a - b);
}

/** Tests whether the condition's hours allow this moment. */
function isTimeOf({ hours, outsideHours }: Timed, at: number): boolean {
  const within = (windows: When["hours"]): boolean => windows?.some((each) => isWithin(each, at)) ?? false;
  return (hours === undefined || within(hours)) && !within(outsideHours);
}
