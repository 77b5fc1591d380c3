// Answers a word that is no subcommand: with what the person may have meant, and a button that starts the run they may have wanted.
// A press is the same as typing the command: the same checks, for the person who presses. The button holds a nonce only.

import { textAnswer } from "./blocks/message-id.ts";
import type { Message } from "./blocks/rich.ts";
import { commandSuggestion, decideOnCard, runSuggestion, unknownWord } from "./blocks/suggestion.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { type Subcommand, SUBCOMMANDS } from "./names.ts";
import type { PrivateClickPayload } from "./payloads.ts";
import { recordRun } from "./record-run.ts";
import { Nonce, parsed } from "../../domain/ids.ts";
import type { Asker } from "../../usecases/access.ts";

/** `text`: all that was typed after the command; `word`: its first word. */
export function unknownCommand(
  { command, suggestedRuns }: Pick<ListenerDeps, "command" | "suggestedRuns">,
  { user, channel }: Asker,
  text: string,
  word: string,
): Message {
  const meant = suggestCommand(text);
  switch (meant?.type) {
    case undefined:
      return unknownWord(word, command);
    case "decide":
      return decideOnCard(command);
    case "command":
      return commandSuggestion(meant, command);
    case "run":
      return runSuggestion(meant.task, command, suggestedRuns.keep({ user, channel, task: meant.task }));
  }
}

export async function onSuggestedRun(deps: ListenerDeps, payload: PrivateClickPayload): Promise<void> {
  const [{ value }] = payload.actions;
  const by: Asker = { team: deps.team, user: payload.user.id, channel: payload.channel.id };
  const nonce = parsed<Nonce>(Nonce, value);
  const found = nonce === null ? null : deps.suggestedRuns.find(nonce, by);
  if (nonce === null || found === null) {
    await deps.noteRefusal(by, "unknown", { step: "start" });
    return deps.answerAt(payload.response_url, forgotten(deps.command));
  }
  // The answer takes the place of the suggestion, so its button goes.
  const task = { input: found.task, intention: `suggestion ${nonce}`, answerUrl: payload.response_url };
  const refusal = await recordRun(deps, by, task);
  if (refusal === null) return deps.answerAt(payload.response_url, { ...STARTED, replace_original: true });
  // After a refusal the button stays: what was refused now may be allowed later.
  return deps.answerAt(payload.response_url, refusal);
}

const STARTED = textAnswer("answer:suggestion-started", "Started. The run's thread opens in this channel.");
const forgotten = (command: string): Message =>
  textAnswer(
    "answer:suggestion-forgotten",
    `Nothing was started: Countersign no longer has this suggestion. Type \`${command} run\` and the task.`,
  );

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
