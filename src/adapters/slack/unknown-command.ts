// Answers a word that is no subcommand: with what the person may have meant, and a button that starts the run they may have wanted.
// A press is the same as typing the command: the same checks, for the person who presses. The button holds a nonce only.

import { Nonce, parsed } from "../../domain/ids.ts";
import type { Asker } from "../../usecases/access.ts";
import { textAnswer } from "./blocks/message-id.ts";
import type { Message } from "./blocks/rich.ts";
import { commandSuggestion, decideOnCard, runSuggestion, unknownWord } from "./blocks/suggestion.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { PrivateClickPayload } from "./payloads.ts";
import { recordRun } from "./record-run.ts";
import { suggestCommand } from "./suggest-command.ts";

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
