// Which rule applies to a request: the first that fits. A request that can be read in several ways must meet every rule that one of
// its readings fits, so no odd form, decoy or further element of a list can find a laxer rule.

import type { Json } from "../json.ts";
import { combineFollowUps } from "./follow-up-rule.ts";
import { combineParts, coversParts, type Principals } from "./named-people.ts";
import { type Hours, isWithin as isWithinHours } from "./hours.ts";
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
import { bothWords, holdsWords } from "./typed-words.ts";

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

// Does a request meet a rule's conditions: in every reading, in some, or in none?

export type Match = "every" | "some" | "none";

/** Answers for one request, and caches what it has read. */
export type Matcher = (when: When) => Match;

/** All conditions must hold. */
export function matcher(facts: Facts): Matcher {
  const fold = remembered(foldName);
  const fieldOf = remembered((path) => readField(facts.content, path, fold));
  const action = readAction(facts, fold);
  const input: Readings = {
    plain: facts.input !== "",
    values: facts.input === "" ? [] : [read(facts.input)],
  };
  const named = <Id>(ids: readonly Id[] | null, id: Id): Match =>
    ids === null || ids.includes(id) ? "every" : "none";
  return (when) =>
    all([
      named(when.channels, facts.channel),
      asksFor(when, facts),
      inTime(when, facts),
      ...(when.action === null ? [] : [given(when.action, action)]),
      ...(when.input === null ? [] : [given(when.input, input)]),
      ...Object.entries(when.fields).map(([path, patterns]) => ofReadings(patterns, fieldOf(path))),
    ]);
}

/** By id or by group. Where Slack did not say whether the requester is in a group, they may be. */
function asksFor({ requesters, requesterGroups }: When, { requester, requesterIn }: Facts): Match {
  if (requesters === null && requesterGroups === undefined) return "every";
  if (requesters?.includes(requester) === true) return "every";
  const known = (requesterGroups ?? []).map((group) => requesterIn?.[group]);
  return known.includes(true) ? "every" : known.includes(undefined) ? "some" : "none";
}

/** At an unknown time of day it may be any. */
function inTime({ hours, outsideHours }: When, { at }: Facts): Match {
  if (hours === undefined && outsideHours === undefined) return "every";
  if (at === undefined) return "some";
  const within = (each: Hours): boolean => isWithinHours(each, at);
  return (hours?.some(within) ?? true) && !(outsideHours?.some(within) ?? false) ? "every" : "none";
}

type Reading = { readonly value: Scalar; readonly asRead: () => string };

/** Values longer than this together (characters) are not read. They may match any pattern, so the strictest rule applies. */
const MAX_CHARS = 100_000;
/** The cost of reading one value, in characters. */
const VALUE_CHARS = 50;
/** `plain`: the value is at its proper place, in its proper form. */
type Readings = { readonly plain: boolean; readonly values: readonly Reading[] };

function read(value: Scalar): Reading {
  let known: string | null = null;
  return { value, asRead: () => (known ??= foldForMatching(textOf(value))) };
}

function readField(content: Json, path: string, fold: FoldName): Readings {
  const steps = stepsOf(path);
  return { plain: plainValues(content, steps) !== null, values: everyValue(content, steps, fold).map(read) };
}

/** Includes the values in a record or a list in the place of the action. */
function readAction({ action, content }: Facts, fold: FoldName): Readings {
  const values = [...(action === null ? [] : [action]), ...everyValue(content, ["action"], fold)];
  return { plain: action !== null, values: [...new Set(values)].map(read) };
}

function all(matches: readonly Match[]): Match {
  if (matches.includes("none")) return "none";
  return matches.includes("some") ? "some" : "every";
}

/** Every request has an action and a task; an unreadable one may be anything. */
function given(patterns: readonly Pattern[], readings: Readings): Match {
  return readings.values.length === 0 ? "some" : ofReadings(patterns, readings);
}

function ofReadings(patterns: readonly Pattern[], { plain, values }: Readings): Match {
  if (isTooLong(values)) return plain && patterns.some(isAnyValue) ? "every" : "some";
  const exactly = ({ value }: Reading): boolean => patterns.some((pattern) => isExactly(pattern, value));
  if (plain && values.every(exactly)) return "every";
  const perhaps = ({ asRead, value }: Reading): boolean =>
    patterns.some((pattern) => mayBe(pattern, isComparison(pattern) ? "" : asRead(), value));
  return values.some(perhaps) ? "some" : "none";
}

const isAnyValue = (pattern: Pattern): boolean => typeof pattern === "string" && /^\*+$/.test(pattern);

function isTooLong(values: readonly Reading[]): boolean {
  let chars = 0;
  for (const { value } of values) chars += VALUE_CHARS + (typeof value === "string" ? value.length : 0);
  return chars > MAX_CHARS;
}

function remembered<Value>(ask: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>();
  return (key) => {
    const found = known.get(key) ?? ask(key);
    known.set(key, found);
    return found;
  };
}

// Which of two rules is stricter, and what both together require.

/** Everything that satisfies `a` satisfies `b`, judged by the rules alone: who is in a group is unknown here. */
export const isAsStrict = (a: Rule, b: Rule): boolean =>
  isNobody(a.approvers) || (demandsAsMuch(a, b) && holdsWords(a.friction.word, b.friction.word));

/** Any word to type is as much as any other. */
function demandsAsMuch(a: Rule, b: Rule): boolean {
  const { friction } = a;
  return (
    isNobody(a.approvers) ||
    (isWithin(a.approvers, b.approvers) &&
      (!a.selfApproval || b.selfApproval) &&
      a.needs >= b.needs &&
      coversParts(a.parts, b.parts) &&
      exceptsAll(a, b) &&
      a.holdMs >= b.holdMs &&
      expiresAsSoon(a, b) &&
      a.reason.approve >= b.reason.approve &&
      (a.receiptAtOnce || !b.receiptAtOnce) &&
      (friction.readFirst || !b.friction.readFirst) &&
      (friction.word !== null || b.friction.word === null) &&
      escalatesWithin(a, b))
  );
}

/** For the linter, which compares how much rules ask for, not which word. */
export const isStricter = (a: Rule, b: Rule): boolean => demandsAsMuch(a, b) && !demandsAsMuch(b, a);

/** In words, for the linter: what `b` requires and `a` does not. Empty where `a` is as strict. */
export function laxerFields(a: Rule, b: Rule): readonly string[] {
  const ways: readonly (readonly [boolean, string])[] = [
    [!isWithin(a.approvers, b.approvers), "who may approve"],
    [a.selfApproval && !b.selfApproval, "the requester may approve"],
    [a.needs < b.needs, "how many must approve"],
    [!coversParts(a.parts, b.parts), "from which parts approvals must come"],
    [!exceptsAll(a, b), "who may not approve"],
    [a.holdMs < b.holdMs, "the hold"],
    [!expiresAsSoon(a, b), "how soon it expires"],
    [a.reason.approve < b.reason.approve, "the reason"],
    [b.receiptAtOnce && !a.receiptAtOnce, "the receipt at once"],
    [b.friction.readFirst && !a.friction.readFirst, "reading first"],
    [b.friction.word !== null && a.friction.word === null, "the typed word"],
    [!escalatesWithin(a, b), "who may approve after an escalation"],
  ];
  return isAsStrict(a, b) ? [] : ways.flatMap(([is, says]) => (is ? [says] : []));
}

/**
 * One rule that requires everything that these rules require: only people whom all of them allow may decide. A rule that another one
 * of them covers is left out, so the result is usually one of them.
 */
export function combineStrictly(rules: readonly [Rule, ...Rule[]]): Rule {
  const [first, ...others] = rules.filter(
    (rule, at) =>
      !rules.some((other, index) => isAsStrict(other, rule) && (index < at || !isAsStrict(rule, other))),
  );
  return others.reduce(both, first ?? rules[0]);
}

function both(a: Rule, b: Rule): Rule {
  const most = (of: (rule: Rule) => number): number => Math.max(of(a), of(b));
  const parts = combineParts(a.parts, b.parts);
  return {
    name: `${a.name} and ${b.name}`,
    when: a.when,
    approvers: shared(a.approvers, b.approvers),
    selfApproval: a.selfApproval && b.selfApproval,
    reason: { approve: most(({ reason }) => reason.approve), deny: most(({ reason }) => reason.deny) },
    parts,
    except: together(a.except, b.except),
    needs: Math.max(
      most(({ needs }) => needs),
      parts.length,
    ),
    holdMs: most(({ holdMs }) => holdMs),
    expiry: sooner(a.expiry, b.expiry),
    friction: {
      readFirst: a.friction.readFirst || b.friction.readFirst,
      word: bothWords(a.friction.word, b.friction.word),
    },
    receiptAtOnce: a.receiptAtOnce || b.receiptAtOnce,
    followUp: combineFollowUps(a.followUp, b.followUp),
    denyReasons: [...new Set([...a.denyReasons, ...b.denyReasons])],
    mention: {
      users: [...new Set([...a.mention.users, ...b.mention.users])],
      groups: [...new Set([...a.mention.groups, ...b.mention.groups])],
    },
  };
}

const expiresAsSoon = ({ expiry: a }: Rule, { expiry: b }: Rule): boolean =>
  b === null || (a !== null && a.afterMs <= b.afterMs);

function sooner(a: Rule["expiry"], b: Rule["expiry"]): Rule["expiry"] {
  if (a === null || b === null) return a ?? b;
  return b.afterMs < a.afterMs ? b : a;
}

/** Each person that `b` excepts is excepted by `a`, too. */
function exceptsAll({ except: a }: Rule, { except: b }: Rule): boolean {
  return b === null || (a !== null && isWithin(b, a));
}

function together(a: Rule["except"], b: Rule["except"]): Rule["except"] {
  if (a === null || b === null) return a ?? b;
  return {
    users: [...new Set([...a.users, ...b.users])],
    groups: [...new Set([...a.groups, ...b.groups])],
    channels: [...new Set([...a.channels, ...b.channels])],
  };
}

/** The people in both. Someone who is in one list by id and in the other by a group may be missed, but is never let in by mistake. */
function shared(a: Principals, b: Principals): Principals {
  if (a === "anyone" || b === "anyone") return a === "anyone" ? b : a;
  return {
    users: a.users.filter((each) => b.users.includes(each)),
    groups: a.groups.filter((each) => b.groups.includes(each)),
    channels: a.channels.filter((each) => b.channels.includes(each)),
  };
}

function isWithin(a: Principals, b: Principals): boolean {
  if (a === "anyone" || b === "anyone") return b === "anyone";
  return (
    a.users.every((each) => b.users.includes(each)) &&
    a.groups.every((each) => b.groups.includes(each)) &&
    a.channels.every((each) => b.channels.includes(each))
  );
}

/** Each stage of `a` lets in only people whom `b` lets in by then. */
function escalatesWithin(a: Rule, b: Rule): boolean {
  return a.followUp.escalate.every(({ to, afterMs }) => {
    const inTime = b.followUp.escalate.filter((stage) => stage.afterMs <= afterMs);
    const allowed = [b.approvers, ...inTime.flatMap((stage) => (stage.to === null ? [] : [stage.to]))];
    return to === null || allowed.some((each) => isWithin(to, each));
  });
}

function isNobody(principals: Principals): boolean {
  return (
    principals !== "anyone" &&
    principals.users.length + principals.groups.length + principals.channels.length === 0
  );
}
