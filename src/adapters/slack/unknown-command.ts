// Answers a word that is no subcommand: with what the person may have meant, and a button that starts the run they may have wanted.
// A press is the same as typing the command: the same checks, for the person who presses. The button holds a nonce only.

import type { Block } from "@slack/types";
import { Nonce, parsed } from "../../domain/ids.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import type { Asker } from "../../usecases/access.ts";
import { textAnswer, withId } from "./blocks/message-id.ts";
import { escaped, line, type Message, rich, span, untrustedSpan } from "./blocks/rich.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { RUN_SUGGESTED, type Subcommand } from "./names.ts";
import type { PrivateClickPayload } from "./payloads.ts";
import { recordRun } from "./record-run.ts";
import { suggestCommand } from "./typed-command.ts";

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

// Private answers to a word that is no subcommand.

/** How much of a person's own words is shown back to them (characters). */
const TYPED_CHARS = 500;

export function unknownWord(word: string, command: string): Message {
  const shown = escaped(oneLine(word, 60)).replaceAll("`", "'");
  return textAnswer(
    "answer:unknown-command",
    `Countersign does not know \`${shown}\`. \`${command} help\` lists the commands. To start a run, type \`${command} run\` before the task.`,
  );
}

export const decideOnCard = (command: string): Message =>
  textAnswer(
    "answer:decide-on-card",
    `No command or message decides an approval, so nothing was decided. Press Approve or Deny on its card: you then see the whole request. \`${command} pending\` lists what waits. To start a run, type \`${command} run\` before the task.`,
  );

type Meant = { readonly subcommand: Subcommand; readonly rest: string };

export function commandSuggestion({ subcommand, rest }: Meant, command: string): Message {
  const meant = `${command} ${subcommand}`;
  const usage = untrustedSpan(rest === "" ? meant : `${meant} ${oneLine(rest, TYPED_CHARS)}`, TYPED_CHARS, {
    code: true,
  });
  const help = [span(" Nothing was done. "), span(`${command} help`, { code: true })];
  return withId("answer:did-you-mean", {
    text: `Did you mean ${meant}?`,
    blocks: [rich(line(span("Did you mean "), usage, span("?"), ...help, span(" lists the commands.")))],
  });
}

/** `nonce`: the button's value. */
export function runSuggestion(task: string, command: string, nonce: Nonce): Message {
  const usage = untrustedSpan(`${command} run ${oneLine(task, TYPED_CHARS)}`, TYPED_CHARS + 40, {
    code: true,
  });
  const text = { type: "plain_text", text: "Start this run", emoji: false };
  const button = { type: "button", action_id: RUN_SUGGESTED, value: nonce, text };
  return withId("answer:did-you-mean-run", {
    text: `Did you mean ${command} run?`,
    blocks: [
      rich(line(span("Did you mean "), usage, span("? Nothing was started."))),
      { type: "actions", elements: [button] } as Block,
    ],
  });
}
