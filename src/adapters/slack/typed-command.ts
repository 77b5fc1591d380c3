// Reads what a person typed to us, in a command or a message: the text as they see it, the subcommand, and what they may have meant by a
// word that is none.

import { type Subcommand, SUBCOMMANDS } from "./names.ts";

// In events and payloads Slack writes links, channels and calls as tokens, and the characters & < > as entities.

const CHARACTERS: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

/** Slack writes these characters as entities in commands too, with should_escape or without. */
export const withoutEntities = (text: string): string =>
  text.replace(/&(?:amp|lt|gt);/g, (entity) => CHARACTERS[entity] ?? entity);

/** People stay as tokens: their names are not in the message. */
export function asRead(text: string): string {
  const plain = text
    .replace(/<((?:https?|mailto):[^|<>]*)(?:\|[^<>]*)?>/g, "$1")
    .replace(/<#[A-Z0-9]+\|([^<>]+)>/g, "#$1")
    .replace(/<!(here|channel|everyone)(?:\|[^<>]*)?>/g, "@$1");
  return withoutEntities(plain);
}

// The text after the command's name.

type CommandLine =
  /** No text: the form opens. */
  | { readonly type: "form" }
  /** `rest` exactly as typed, after one separating space. */
  | { readonly type: Subcommand; readonly rest: string }
  | { readonly type: "unknown"; readonly word: string };

export function parseCommandLine(text: string): CommandLine {
  const match = /^\s*(\S+)(?:\s([^]*))?$/u.exec(text);
  if (match === null) return { type: "form" };
  const [, first = "", rest = ""] = match;
  const word = SUBCOMMANDS.find((each) => each === first.toLowerCase());
  return word === undefined ? { type: "unknown", word: first } : { type: word, rest };
}

/** A run id as people paste it: with spaces around it, or in backticks. */
export function pastedId(rest: string): string {
  return rest
    .trim()
    .replace(/^`([^]*)`$/u, "$1")
    .trim();
}

// What the person may have meant by a word that is no subcommand.

export type Suggestion =
  /** They want to decide by text, which no command does. */
  | { readonly type: "decide" }
  | { readonly type: "command"; readonly subcommand: Exclude<Subcommand, "run">; readonly rest: string }
  | { readonly type: "run"; readonly task: string };

/** One mistake only: "improve" begins a task. */
const VERDICTS = ["approve", "approved", "deny", "denied", "reject", "decide"] as const;
/** Too short to be told from other words when they are mistyped. */
const ASSENTS: ReadonlySet<string> = new Set(["yes", "no", "ok", "lgtm", "👍", "👎"]);
/** These take more than one word after them. Behind any other, several words are rather a task. */
const TAKES_WORDS: ReadonlySet<string> = new Set(["run", "audit", "freeze"]);

/** `text`: what was typed after the command, the unknown word first. Null: nothing is near it. */
export function suggestCommand(text: string): Suggestion | null {
  const [, first = "", rest = ""] = /^\s*\/?(\S+)(?:\s+([^]*))?$/u.exec(text) ?? [];
  const word = first.toLowerCase().replace(/[!?.,;:]+$/, "");
  if (ASSENTS.has(word) || nearest(word, VERDICTS, 1) !== null) return { type: "decide" };
  const after = rest.trim();
  const subcommand = nearest(word, SUBCOMMANDS);
  if (subcommand === "run" && after !== "") return { type: "run", task: after };
  if (subcommand !== null && subcommand !== "run" && (TAKES_WORDS.has(subcommand) || !/\s/u.test(after)))
    return { type: "command", subcommand, rest: after };
  return after === "" ? null : { type: "run", task: text.trim() };
}

/** Null: none is near. One mistake in a short word, `most` in a long one. */
function nearest<Word extends string>(word: string, words: readonly Word[], most = 2): Word | null {
  const near = words
    .map((each) => ({ each, mistakes: mistakesBetween(word, each) }))
    .filter(({ each, mistakes }) => mistakes <= (each.length > 4 ? most : 1))
    .toSorted((one, other) => one.mistakes - other.mistakes);
  return near[0]?.each ?? null;
}

/** Longer words are near no subcommand. */
const LONGEST = 20;

/** The letters to add, leave out or change, and the neighbours to swap, to make one word of the other (optimal string alignment). */
function mistakesBetween(one: string, other: string): number {
  if (one.length > LONGEST) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const swaps = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const [up = 0, left = 0, diagonal = 0] = [above[j], row[j - 1], above[j - 1]];
      const swapped = swaps ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(up + 1, left + 1, diagonal + (isSame ? 0 : 1), swapped));
    }
    before = above;
    above = row;
  }
  return above.at(-1) ?? 0;
}
