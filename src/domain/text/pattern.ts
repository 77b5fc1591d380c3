// Patterns of a policy: the whole text, with * for any text. No regular expressions, because the texts are untrusted and some
// expressions take forever on some texts.

import { numberText } from "../json.ts";
import type { Scalar } from "../policy/readings.ts";
import { unseenRemoved } from "./text.ts";

/** As written in the policy. Only a text can hold stars. */
export type Pattern = string | number | boolean;

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
  if (typeof pattern !== "string")
    return typeof value === "string" ? false : textOf(value) === String(pattern);
  return /^\*+$/.test(pattern) || (typeof value === "string" && matchesPattern(pattern, value));
}

/** Whether a person or a program could take the value for it. `asRead`: the value's text, folded. */
export function mayBe(pattern: Pattern, asRead: string): boolean {
  const wanted = foldForMatching(String(pattern));
  return (
    matchesPattern(wanted, asRead) || (wanted !== "" && asRead !== "" && Number(wanted) === Number(asRead))
  );
}

export function textOf(value: Scalar): string {
  return typeof value === "string" || typeof value === "boolean" ? String(value) : (numberText(value) ?? "");
}
