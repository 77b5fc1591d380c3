// Private answers to a word that is no subcommand.

import type { Block } from "@slack/types";
import type { Nonce } from "../../../domain/ids.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { RUN_SUGGESTED, type Subcommand } from "../names.ts";
import { textAnswer, withId } from "./message-id.ts";
import { escaped, line, type Message, rich, span, untrustedSpan } from "./rich.ts";

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
