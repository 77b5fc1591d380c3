// Patterns of a policy, and the values of a request that they are compared with. A pattern is the whole text, with * for any text.
// No regular expressions, because the texts are untrusted and some expressions take forever on some texts.

import { type Comparison, satisfies, satisfiesRounded } from "./comparison.ts";
import { isList, isRawNumber, isRecord, type Json, numberText, type RawNumber } from "../json.ts";
import { unseenRemoved } from "../text/text.ts";

/** As written in the policy. Only a text can hold stars. */
export type Pattern = string | number | boolean | Comparison;

export const isComparison = (pattern: Pattern): pattern is Comparison => typeof pattern === "object";

/** As the policy writes it. */
export const patternText = (pattern: Pattern): string =>
  isComparison(pattern) ? pattern.text : String(pattern);

/** Normalizing a run of marks takes quadratic time. Unicode's stream-safe format (UAX #15) limits it to 30. */
const MORE_MARKS = /(\p{M}{30})\p{M}+/gu;

/** The same for all texts that a reader may take for one another: ignores invisible characters, case, Unicode form and spaces. */
export function foldForMatching(text: string): string {
  const form = text.replace(MORE_MARKS, "$1").normalize("NFKC");
  return unseenRemoved(form).toLowerCase().replace(/\s+/g, " ").trim();
}

/** Longer names (characters) are compared as they are. */
const MAX_NAME_CHARS = 1_000;

/** The same for all field names that some program takes for each other: it ignores case, form, separators and invisible characters. */
export function foldName(name: string): string {
  if (/^[a-z0-9]*$/.test(name) || name.length > MAX_NAME_CHARS) return name;
  const folded = foldForMatching(foldForMatching(name).toUpperCase()).replace(/[^\p{L}\p{N}]+/gu, "");
  return folded === "" ? name : folded;
}

/** Both are folded. Takes time proportional to the sum of the two lengths. */
export function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const [first = "", last = ""] = [parts[0], parts.at(-1)];
  if (parts.length === 1) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    if (part === "") continue;
    const found = find(part, text, at, end);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}

/** The first position of the part between `from` and `end`, or -1. Knuth, Morris and Pratt: takes linear time. */
function find(part: string, text: string, from: number, end: number): number {
  const back = bordersOf(part);
  let matched = 0;
  for (let at = from; at < end; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = back[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched === part.length) return at + 1 - matched;
  }
  return -1;
}

/** For each prefix of the part: the length of its longest proper prefix that is also its suffix. */
function bordersOf(part: string): readonly number[] {
  const borders = [0];
  let matched = 0;
  for (let at = 1; at < part.length; at += 1) {
    const unit = part.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === unit) matched += 1;
    borders.push(matched);
  }
  return borders;
}

/** The same text or value, letter by letter and of the same type. A pattern of stars alone matches any value. */
export function isExactly(pattern: Pattern, value: Scalar): boolean {
  if (isComparison(pattern)) {
    const number = numberText(value);
    return number !== null && satisfies(number, pattern) && satisfiesRounded(number, pattern);
  }
  if (typeof pattern !== "string")
    return typeof value === "string" ? false : textOf(value) === String(pattern);
  return /^\*+$/.test(pattern) || (typeof value === "string" && matchesPattern(pattern, value));
}

/**
 * Whether a person or a program could take the value for it. `asRead`: the value's text, folded. A text, true and false may be taken for
 * any number: programs read "1,000", "0x3e8" and "1k" in many ways. A long number may be rounded.
 */
export function mayBe(pattern: Pattern, asRead: string, value: Scalar): boolean {
  if (isComparison(pattern)) {
    const number = numberText(value);
    return number === null || satisfies(number, pattern) || satisfiesRounded(number, pattern);
  }
  const wanted = foldForMatching(String(pattern));
  return (
    matchesPattern(wanted, asRead) || (wanted !== "" && asRead !== "" && Number(wanted) === Number(asRead))
  );
}

export function textOf(value: Scalar): string {
  return typeof value === "string" || typeof value === "boolean" ? String(value) : (numberText(value) ?? "");
}

// Everything that a part of a request may be read as. The code of a service may read `a.b` as a path or as a name, a list as its
// first element, or a record inside a record as the request itself. None of this may fool a policy.

export type Scalar = string | number | RawNumber | boolean;

/** The names of a path; a dot after a backslash is part of a name. */
export function stepsOf(path: string): readonly string[] {
  return path.split(/(?<!\\)\./).map((step) => step.replaceAll("\\.", "."));
}

/**
 * The values at the path, read in the one plain way: record by record, through lists in which every element has the rest of the path.
 * Null: there is none, or it is not a text, a number, true or false.
 */
export function plainValues(content: Json, steps: readonly string[]): readonly Scalar[] | null {
  if (isList(content)) {
    const each = content.map((element) => plainValues(element, steps));
    return each.length === 0 || each.includes(null) ? null : each.flatMap((values) => values ?? []);
  }
  const [step, ...rest] = steps;
  if (step === undefined) return isScalar(content) ? [content] : null;
  const inner = isRecord(content) && Object.hasOwn(content, step) ? content[step] : undefined;
  return inner === undefined ? null : plainValues(inner, rest);
}

/** Gives names that a program may take for each other the same form (`foldName`). */
export type FoldName = (name: string) => string;

/**
 * Every text, number, true and false at or below the path, wherever the path begins in the request, however it is split and
 * however its names are written.
 */
export function everyValue(content: Json, steps: readonly string[], fold: FoldName): readonly Scalar[] {
  const found: Scalar[] = [];
  const seek = (value: Json): void => {
    if (isRecord(value)) for (const each of valuesAt(value, steps, fold)) gather(each, found);
    for (const inner of innerOf(value)) seek(inner);
  };
  seek(content);
  return found;
}

function valuesAt(value: Json, steps: readonly string[], fold: FoldName): readonly Json[] {
  if (steps.length === 0) return [value];
  if (isList(value)) return value.flatMap((element) => valuesAt(element, steps, fold));
  if (!isRecord(value)) return [];
  const wanted = steps.map((_step, index) => fold(steps.slice(0, index + 1).join(".")));
  return Object.entries(value).flatMap(([name, inner]) => {
    const folded = fold(name);
    return wanted.flatMap((each, index) =>
      each === folded ? valuesAt(inner, steps.slice(index + 1), fold) : [],
    );
  });
}

function gather(value: Json, found: Scalar[]): void {
  if (isScalar(value)) found.push(value);
  else for (const inner of innerOf(value)) gather(inner, found);
}

function innerOf(value: Json): readonly Json[] {
  if (isList(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

function isScalar(value: Json): value is Scalar {
  return ["string", "number", "boolean"].includes(typeof value) || isRawNumber(value);
}
