// Reads what a person typed in a command or a message: the text as they see it, the subcommand, and what they may have meant by an unknown
// word.

import { type Subcommand, SUBCOMMANDS } from "./names.ts";

// In events and payloads, Slack writes links, channels and group mentions as tokens, and the characters & < > as entities.

const CHARACTERS: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

/** Replaces Slack's entities. Commands contain them too, with or without should_escape. */
export const withoutEntities = (text: string): string =>
  text.replace(/&(?:amp|lt|gt);/g, (entity) => CHARACTERS[entity] ?? entity);

/** Returns a message's text as people read it. Mentions of people stay tokens, because the message does not contain their names. */
export function asRead(text: string): string {
  const plain = text
    .replace(/<((?:https?|mailto):[^|<>]*)(?:\|[^<>]*)?>/g, "$1")
    .replace(/<#[A-Z0-9]+\|([^<>]+)>/g, "#$1")
    .replace(/<!(here|channel|everyone)(?:\|[^<>]*)?>/g, "@$1");
  return withoutEntities(plain);
}

// The text after the command's name.

type CommandLine =
  /** There is no text, so the form opens. */
  | { readonly type: "form" }
  /** `rest` is exactly what was typed after one separating space. */
  | { readonly type: Subcommand; readonly rest: string }
  | { readonly type: "unknown"; readonly word: string };

export function parseCommandLine(text: string): CommandLine {
  const match = /^\s*(\S+)(?:\s([^]*))?$/u.exec(text);
  if (match === null) return { type: "form" };
  const [, first = "", rest = ""] = match;
  const word = SUBCOMMANDS.find((subcommand) => subcommand === first.toLowerCase());
  return word === undefined ? { type: "unknown", word: first } : { type: word, rest };
}

/** Removes what people paste around a run id: spaces and backticks. */
export function pastedId(rest: string): string {
  return rest
    .trim()
    .replace(/^`([^]*)`$/u, "$1")
    .trim();
}

// What the person may have meant by a word that is not a subcommand.

export type Suggestion =
  /** The person wants to decide by text, which is impossible. */
  | { readonly type: "decide" }
  | { readonly type: "command"; readonly subcommand: Exclude<Subcommand, "run">; readonly rest: string }
  | { readonly type: "run"; readonly task: string };

/** Only one typing mistake is accepted here, because "improve" begins a task. */
const VERDICTS = ["approve", "approved", "deny", "denied", "reject", "decide"] as const;
/** These are too short to be recognized when they are mistyped. */
const ASSENTS: ReadonlySet<string> = new Set(["yes", "no", "ok", "lgtm", "👍", "👎"]);
/** The subcommands that can be followed by several words. After any other, several words are probably a task. */
const TAKES_WORDS: ReadonlySet<string> = new Set(["run", "audit", "freeze"]);

/** `text` is what was typed after the command, beginning with the unknown word. Returns null if nothing is similar to it. */
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

/** Returns the most similar word, or null if none is similar. Allows one mistake in a short word, and `most` mistakes in a long word. */
function nearest<Word extends string>(word: string, words: readonly Word[], most = 2): Word | null {
  const near = words
    .map((candidate) => ({ candidate, mistakes: mistakesBetween(word, candidate) }))
    .filter(({ candidate, mistakes }) => mistakes <= (candidate.length > 4 ? most : 1))
    .toSorted((one, other) => one.mistakes - other.mistakes);
  return near[0]?.candidate ?? null;
}

/** Longer words are not similar to any subcommand. */
const LONGEST = 20;

/** Counts the letters to add, remove or change, and the neighbors to swap, to turn one word into the other (optimal string alignment). */
function mistakesBetween(one: string, other: string): number {
  if (one.length > LONGEST) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwap = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const up = above[j] ?? 0;
      const left = row[j - 1] ?? 0;
      const diagonal = above[j - 1] ?? 0;
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(up + 1, left + 1, diagonal + (isSame ? 0 : 1), swapped));
    }
    before = above;
    above = row;
  }
  return above.at(-1) ?? 0;
}
