// What was typed after the command's name.

import { SUBCOMMANDS, type Subcommand } from "./names.ts";

export type CommandLine =
  /** Nothing was typed: the form. */
  | { readonly is: "form" }
  /** `rest` exactly as typed, after one separating space. */
  | { readonly is: Subcommand; readonly rest: string }
  | { readonly is: "unknown"; readonly word: string };

export function parseCommandLine(text: string): CommandLine {
  const match = /^\s*(\S+)(?:\s([^]*))?$/u.exec(text);
  if (match === null) return { is: "form" };
  const [, first = "", rest = ""] = match;
  const word = SUBCOMMANDS.find((each) => each === first.toLowerCase());
  return word === undefined ? { is: "unknown", word: first } : { is: word, rest };
}

/** A run id as people paste it: with spaces around it, or in backticks. */
export function pastedId(rest: string): string {
  return rest
    .trim()
    .replace(/^`([^]*)`$/u, "$1")
    .trim();
}
