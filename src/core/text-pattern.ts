// Patterns of a policy: the whole text, with * for any text. No regular expressions: the texts are a stranger's, and some
// expressions take forever on some texts.

import { numberText } from "./json.ts";
import type { Scalar } from "./readings.ts";
import { unseenRemoved } from "./text.ts";

/** As the policy has it. Only a text holds stars. */
export type Pattern = string | number | boolean;

/** What two texts have in common that a reader takes for the same: without invisible characters, whatever the case, form and spaces. */
export function folded(text: string): string {
  return unseenRemoved(text.normalize("NFKC")).toLowerCase().replace(/\s+/g, " ").trim();
}

/** Takes time in proportion to the text where its parts are found where they are sought first, as in all but contrived texts. */
export function fits(pattern: string, text: string): boolean {
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= end;
}

/** The very same text or value, letter by letter and of the same type. A pattern of stars alone is any value. */
export function isExactly(pattern: Pattern, value: Scalar): boolean {
  if (typeof pattern !== "string")
    return typeof value === "string" ? false : textOf(value) === String(pattern);
  return /^\*+$/.test(pattern) || (typeof value === "string" && fits(pattern, value));
}

/** What somebody or some program could take for it. `asRead`: the value's text, folded. */
export function mayBe(pattern: Pattern, asRead: string): boolean {
  const wanted = folded(String(pattern));
  return fits(wanted, asRead) || (wanted !== "" && asRead !== "" && Number(wanted) === Number(asRead));
}

export function textOf(value: Scalar): string {
  return typeof value === "string" || typeof value === "boolean" ? String(value) : (numberText(value) ?? "");
}
