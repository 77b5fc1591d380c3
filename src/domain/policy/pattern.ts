// The patterns of a policy, and the values of a request that they are compared with. A pattern describes the whole text, with * for any
// text. It is not a regular expression, because the texts are untrusted, and some expressions take forever on some texts.

import { type Comparison, satisfies, satisfiesRounded } from "./comparison.ts";
import { isList, isRawNumber, isRecord, type Json, numberText, type RawNumber } from "../json.ts";
import { unseenRemoved } from "../text/text.ts";

/** A pattern as written in the policy. Only a text can contain stars. */
export type Pattern = string | number | boolean | Comparison;

export const isComparison = (pattern: Pattern): pattern is Comparison => typeof pattern === "object";

/** Returns the pattern as the policy writes it. */
export const patternText = (pattern: Pattern): string =>
  isComparison(pattern) ? pattern.text : String(pattern);

/** Normalizing a run of marks takes quadratic time. Unicode's stream-safe format (UAX #15) limits it to 30. */
const MORE_MARKS = /(\p{M}{30})\p{M}+/gu;

/** Returns the same text for all texts that a reader may confuse. Ignores invisible characters, case, Unicode form and spacing. */
export function foldForMatching(text: string): string {
  const form = text.replace(MORE_MARKS, "$1").normalize("NFKC");
  return unseenRemoved(form).toLowerCase().replace(/\s+/g, " ").trim();
}

/** The longest field name that is folded (characters). Longer names are compared as they are. */
const MAX_NAME_CHARS = 1_000;

/** Returns the same text for all field names that some program may confuse. Ignores case, form, separators and invisible characters. */
export function foldName(name: string): string {
  if (/^[a-z0-9]*$/.test(name) || name.length > MAX_NAME_CHARS) return name;
  const folded = foldForMatching(foldForMatching(name).toUpperCase()).replace(/[^\p{L}\p{N}]+/gu, "");
  return folded === "" ? name : folded;
}

/** Returns whether the pattern matches the whole text. Takes time proportional to the sum of their lengths. */
export function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
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

/** Returns the first position of the part between `from` and `end`, or -1. Knuth-Morris-Pratt, so it takes linear time. */
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

/** Returns, for each prefix of the part, the length of its longest proper prefix that is also its suffix. */
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

/** Returns whether the value is exactly what the pattern says, and of the same type. A pattern of only stars matches any value. */
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
 * Returns whether a person or a program could read the value as the pattern. `asRead`: the folded text of the value. Any text, true and
 * false could be read as a number that fits, because programs read "1,000", "0x3e8" and "1k" in many ways. A program may also round a
 * long number, read "yes", "on" and every number but 0 as true, and "no", "off" and 0 as false.
 */
export function mayBe(pattern: Pattern, asRead: string, value: Scalar): boolean {
  if (isComparison(pattern)) {
    const number = numberText(value);
    return number === null || satisfies(number, pattern) || satisfiesRounded(number, pattern);
  }
  const wanted = foldForMatching(String(pattern));
  if (matchesPattern(wanted, asRead)) return true;
  if (wanted === "" || asRead === "") return false;
  const [one, other] = [Number(wanted), Number(asRead)];
  if (!Number.isNaN(one) && !Number.isNaN(other)) return one === other;
  const truth = truthOf(wanted);
  return truth !== null && truth === truthOf(asRead);
}

const TRUE = ["true", "t", "yes", "y", "on"];
const FALSE = ["false", "f", "no", "n", "off"];

/** Returns what many programs read the folded text as, or null. */
function truthOf(text: string): boolean | null {
  const number = Number(text);
  if (!Number.isNaN(number)) return number !== 0;
  return TRUE.includes(text) ? true : FALSE.includes(text) ? false : null;
}

export function textOf(value: Scalar): string {
  return typeof value === "string" || typeof value === "boolean" ? String(value) : (numberText(value) ?? "");
}

// All values that a part of a request may be read as. The code of a service may read `a.b` as a path or as a name, a list as its first
// element, or a nested record as the request itself. None of this may fool a policy.

export type Scalar = string | number | RawNumber | boolean;

/** Returns the names of a path. A dot after a backslash is part of a name. */
export function stepsOf(path: string): readonly string[] {
  return path.split(/(?<!\\)\./).map((step) => step.replaceAll("\\.", "."));
}

/**
 * Returns the values at the path, read in the usual way: record by record, and through lists in which every element has the rest of the
 * path. Returns null if there is none, or if it is not a text, a number, true or false.
 */
export function plainValues(content: Json, steps: readonly string[]): readonly Scalar[] | null {
  if (isList(content)) {
    const found = content.map((element) => plainValues(element, steps));
    return found.length === 0 || found.includes(null) ? null : found.flatMap((values) => values ?? []);
  }
  const [step, ...rest] = steps;
  if (step === undefined) return isScalar(content) ? [content] : null;
  const inner = isRecord(content) && Object.hasOwn(content, step) ? content[step] : undefined;
  return inner === undefined ? null : plainValues(inner, rest);
}

/** Gives names that a program may confuse the same form (see `foldName`). */
export type FoldName = (name: string) => string;

/**
 * Returns every text, number, true and false at or below the path, wherever in the request the path begins, however it is split, and
 * however its names are written.
 */
export function everyValue(content: Json, steps: readonly string[], fold: FoldName): readonly Scalar[] {
  const found: Scalar[] = [];
  // Everything below these is found. A name may be nested in itself many times, so nothing is gathered twice.
  const gathered = new Set<Json>();
  const gather = (value: Json): void => {
    if (gathered.has(value)) return;
    if (isScalar(value)) return void found.push(value);
    gathered.add(value);
    innerOf(value).forEach(gather);
  };
  const seek = (value: Json): void => {
    if (gathered.has(value)) return;
    if (isRecord(value)) valuesAt(value, steps, fold, { begins: true }).forEach(gather);
    innerOf(value).forEach(seek);
  };
  seek(content);
  return found;
}

/** `begins`: the path may also begin inside a name with dots. */
function valuesAt(
  value: Json,
  steps: readonly string[],
  fold: FoldName,
  { begins = false } = {},
): readonly Json[] {
  if (steps.length === 0) return [value];
  if (isList(value)) return value.flatMap((element) => valuesAt(element, steps, fold));
  if (!isRecord(value)) return [];
  const wanted = steps.map((_step, index) => fold(steps.slice(0, index + 1).join(".")));
  return Object.entries(value).flatMap(([name, inner]) => {
    const taken = new Set([
      ...stepsOfName(fold(name), wanted),
      ...(name.includes(".") ? stepsInParts(partsOf(name, fold), wanted, begins) : []),
    ]);
    return [...taken].flatMap((count) => valuesAt(inner, steps.slice(count), fold));
  });
}

/** Returns how many steps of a path the name may be read as. */
function stepsOfName(name: string, wanted: readonly string[]): readonly number[] {
  return wanted.flatMap((prefix, index) => (prefix === name ? [index + 1] : []));
}

function partsOf(name: string, fold: FoldName): readonly string[] {
  return name
    .split(".")
    .filter((part) => part !== "")
    .map(fold);
}

/** Does the same for a name with dots that is a path itself: in `{"spec.target.env": 1}`, 1 is below `target`. */
function stepsInParts(
  parts: readonly string[],
  wanted: readonly string[],
  begins: boolean,
): readonly number[] {
  const whole = wanted.at(-1) ?? "";
  return (begins ? parts : parts.slice(0, 1)).flatMap((_part, first) => {
    let read = "";
    for (let at = first; at < parts.length; at += 1) {
      read += parts[at] ?? "";
      if (read === whole) return [wanted.length];
      if (read.length > whole.length) return [];
    }
    return stepsOfName(read, wanted);
  });
}

function innerOf(value: Json): readonly Json[] {
  if (isList(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

function isScalar(value: Json): value is Scalar {
  return ["string", "number", "boolean"].includes(typeof value) || isRawNumber(value);
}
