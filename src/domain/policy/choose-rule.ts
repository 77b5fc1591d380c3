// Which rule applies to a request: the first that fits. A request that can be read in several ways must meet every rule that fits one of
// its readings. So no odd form, decoy or extra list element can lead to a laxer rule.

import { type Json, numberText } from "../json.ts";
import { type Hours, isWithin } from "./hours.ts";
import {
  everyValue,
  foldForMatching,
  foldName,
  type FoldName,
  isComparison,
  isExactly,
  mayBe,
  type Pattern,
  plainValues,
  type Scalar,
  stepsOf,
  textOf,
} from "./pattern.ts";
import { type Facts, NO_RULE, type Policy, type Rule, type When } from "./policy.ts";
import { combineStrictly } from "./combine-rules.ts";

export function ruleFor(policy: Policy, facts: Facts): Rule {
  return combineStrictly(candidates(policy, facts));
}

/** Returns the rules that may fit, up to and including the first that certainly fits. If none certainly fits, `NO_RULE` is the last. */
export function candidates({ rules }: Policy, facts: Facts): readonly [Rule, ...Rule[]] {
  const match = matcher(facts);
  const possible: Rule[] = [];
  for (const rule of rules) {
    const fit = match(rule.when);
    if (fit === "every") return nonEmpty(possible, rule);
    if (fit === "some") possible.push(rule);
  }
  return nonEmpty(possible, NO_RULE);
}

function nonEmpty([first, ...others]: readonly Rule[], last: Rule): readonly [Rule, ...Rule[]] {
  return first === undefined ? [last] : [first, ...others, last];
}

// Whether a request meets the conditions of a rule: in every reading, in some, or in none.

export type Match = "every" | "some" | "none";

/** Matches one request against conditions, and caches what it has read. */
export type Matcher = (when: When) => Match;

/** Returns a matcher for the request. All conditions must hold. */
export function matcher(facts: Facts): Matcher {
  const fold = memoized(foldName);
  const fieldOf = memoized((path) => readField(facts.content, path, fold));
  const action = readAction(facts, fold);
  const input: Readings = { plain: true, values: facts.input === "" ? [] : [read(facts.input)] };
  const matchId = <Id>(ids: readonly Id[] | null, id: Id): Match =>
    ids === null || ids.includes(id) ? "every" : "none";
  return (when) =>
    combine([
      matchId(when.channels, facts.channel),
      matchRequester(when, facts),
      matchTime(when, facts),
      ...(when.action === null ? [] : [matchRequired(when.action, action)]),
      ...(when.input === null ? [] : [matchRequired(when.input, input)]),
      ...Object.entries(when.fields).map(([path, patterns]) => matchReadings(patterns, fieldOf(path))),
    ]);
}

/** Matches the requester by id or by group. If Slack did not say whether they are in a group, they may be. */
export function matchRequester(
  { requesters, requesterGroups }: When,
  { requester, requesterIn }: Facts,
): Match {
  if (requesters === null && requesterGroups === undefined) return "every";
  if (requesters?.includes(requester) === true) return "every";
  const memberships = (requesterGroups ?? []).map((group) => requesterIn?.[group]);
  if (memberships.includes(true)) return "every";
  return memberships.includes(undefined) ? "some" : "none";
}

/** Matches the time. An unknown time may be any time. */
function matchTime({ hours, outsideHours }: When, { at }: Facts): Match {
  if (hours === undefined && outsideHours === undefined) return "every";
  if (at === undefined) return "some";
  const isWithinAt = (window: Hours): boolean => isWithin(window, at);
  const isInside = hours?.some(isWithinAt) ?? true;
  const isExcluded = outsideHours?.some(isWithinAt) ?? false;
  return isInside && !isExcluded ? "every" : "none";
}

type Reading = { readonly value: Scalar; readonly asRead: () => string };

/** Values that are longer than this in total (characters) are not read. They may match any pattern, so the strictest rule applies. */
const MAX_CHARS = 100_000;
/** Nor is a longer number: the time that a comparison takes grows faster than the length of the exponent. */
const MAX_NUMBER_CHARS = 1_000;
/** The cost of reading one value, in characters. */
const VALUE_CHARS = 50;
/** `plain`: the value has its usual place and form. */
type Readings = { readonly plain: boolean; readonly values: readonly Reading[] };

function read(value: Scalar): Reading {
  let folded: string | null = null;
  return { value, asRead: () => (folded ??= foldForMatching(textOf(value))) };
}

function readField(content: Json, path: string, fold: FoldName): Readings {
  const steps = stepsOf(path);
  return { plain: plainValues(content, steps) !== null, values: everyValue(content, steps, fold).map(read) };
}

/** Includes the values of a record or a list that was sent as the action. */
function readAction({ action, content }: Facts, fold: FoldName): Readings {
  const values = [...(action === null ? [] : [action]), ...everyValue(content, ["action"], fold)];
  return { plain: action !== null, values: [...new Set(values)].map(read) };
}

function combine(matches: readonly Match[]): Match {
  if (matches.includes("none")) return "none";
  return matches.includes("some") ? "some" : "every";
}

/** Matches an action or a task. Every request has both, so one that we cannot read may be anything. */
function matchRequired(patterns: readonly Pattern[], readings: Readings): Match {
  return readings.values.length === 0 ? "some" : matchReadings(patterns, readings);
}

function matchReadings(patterns: readonly Pattern[], { plain, values }: Readings): Match {
  if (isTooLong(values)) return plain && patterns.some(isAnyValue) ? "every" : "some";
  const certainlyMatches = ({ value }: Reading): boolean =>
    patterns.some((pattern) => isExactly(pattern, value));
  if (plain && values.every(certainlyMatches)) return "every";
  const mayMatch = ({ asRead, value }: Reading): boolean =>
    patterns.some((pattern) => mayBe(pattern, isComparison(pattern) ? "" : asRead(), value));
  return values.some(mayMatch) ? "some" : "none";
}

const isAnyValue = (pattern: Pattern): boolean => typeof pattern === "string" && /^\*+$/.test(pattern);

function isTooLong(values: readonly Reading[]): boolean {
  let chars = 0;
  for (const { value } of values) {
    const number = numberText(value);
    if (number !== null && number.length > MAX_NUMBER_CHARS) return true;
    chars += VALUE_CHARS + (typeof value === "string" ? value : (number ?? "")).length;
  }
  return chars > MAX_CHARS;
}

function memoized<Value>(compute: (key: string) => Value): (key: string) => Value {
  const cache = new Map<string, Value>();
  return (key) => {
    const value = cache.get(key) ?? compute(key);
    cache.set(key, value);
    return value;
  };
}
