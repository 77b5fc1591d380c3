// Does a request meet a rule's conditions: in every reading, in some, or in none?

import type { Json } from "../json.ts";
import type { Facts, When } from "./policy.ts";
import { everyValue, type FoldName, plainValues, type Scalar, stepsOf } from "./readings.ts";
import { foldForMatching, foldName, isExactly, mayBe, type Pattern, textOf } from "../text/pattern.ts";

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
      named(when.requesters, facts.requester),
      ...(when.action === null ? [] : [given(when.action, action)]),
      ...(when.input === null ? [] : [given(when.input, input)]),
      ...Object.entries(when.fields).map(([path, patterns]) => ofReadings(patterns, fieldOf(path))),
    ]);
}

type Reading = { readonly value: Scalar; readonly asRead: () => string };

/** Values longer than this together (characters) are not read. They may match any pattern, so the strictest rule applies. */
const MOST_CHARS = 100_000;
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
  const perhaps = ({ asRead }: Reading): boolean => patterns.some((pattern) => mayBe(pattern, asRead()));
  return values.some(perhaps) ? "some" : "none";
}

const isAnyValue = (pattern: Pattern): boolean => typeof pattern === "string" && /^\*+$/.test(pattern);

function isTooLong(values: readonly Reading[]): boolean {
  let chars = 0;
  for (const { value } of values) chars += VALUE_CHARS + (typeof value === "string" ? value.length : 0);
  return chars > MOST_CHARS;
}

function remembered<Value>(ask: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>();
  return (key) => {
    const found = known.get(key) ?? ask(key);
    known.set(key, found);
    return found;
  };
}
