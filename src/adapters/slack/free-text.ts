// Starts runs from free text: a message that begins with our name, a message whose menu the person used, or a command that does not begin
// with a subcommand. No other text is read. Commands record their runs here too.

import type { Block } from "@slack/types";
import { oneLine, shortened } from "../../domain/text/excerpt.ts";
import { PortError } from "../../ports.ts";
import type { Asker } from "../../usecases/access.ts";
import { runForm } from "./blocks/run-form.ts";
import { textAnswer, withId } from "./blocks/message-id.ts";
import { commandRefusal, withTyped } from "./blocks/command-refusal-words.ts";
import { escaped, line, type Message, rich, span, untrustedSpan } from "./blocks/rich.ts";
import { answerInThread } from "./follow-up-clicks.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { RUN_SUGGESTED, type Subcommand } from "./names.ts";
import type { MentionEvent, PrivateClickPayload, ShortcutPayload } from "./payloads.ts";
import { FORM_NOT_OPENED, recordRefusal, recordRun } from "./record-start.ts";
import { suggestedRun, suggestionValue } from "./suggested-runs.ts";
import { asRead, suggestCommand } from "./typed-command.ts";

// Messages that begin with our name, and messages whose menu a person used.

/** A later event (ms) is probably a repeat, or its author has already asked again. Slack can repeat events for up to a day. */
const TOO_LATE_MS = 15 * 60_000;

/** The message identifies the intention, so Slack's repeats start only one run. The event is acknowledged afterwards (`bolt-app.ts`). */
export async function onMention(deps: ListenerDeps, event: MentionEvent): Promise<void> {
  const text = textAfterName(event.text, deps.self);
  if (text === null) return;
  const by: Asker = { team: deps.team, user: event.user, channel: event.channel };
  const said = asRead(text);
  const answer = (await answerInThread(deps, event, said)) ?? (await answerTo(deps, by, event, said));
  if (answer === null) return;
  const { channel, user, thread_ts } = event;
  const where = { channel, user, ...(thread_ts === undefined ? {} : { thread_ts }) };
  try {
    await deps.quick("chat.postEphemeral", { ...where, ...answer, parse: "none", link_names: false });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not answer a mention");
  }
}

/** Returns null if the message does not begin with our name and is therefore not for us. */
function textAfterName(text: string, self: string): string | null {
  const [, named, rest = ""] = /^\s*<@([A-Z0-9]+)(?:\|[^<>]*)?>[\s:,]*([^]*)$/.exec(text) ?? [];
  return named === self ? rest : null;
}

/** Resolves to null if the run is recorded, because its thread is the answer. */
async function answerTo(
  deps: ListenerDeps,
  by: Asker,
  { channel, ts }: MentionEvent,
  text: string,
): Promise<Message | null> {
  const task = text.replace(/^run\s+/i, "");
  const meant = suggestCommand(text);
  if (meant === null || meant.type !== "run") {
    await recordRefusal(deps, by, "unknown-command", { step: "command", outcome: "refused: mention" });
    if (meant?.type === "decide") return decideOnCard(deps.command);
    return meant === null ? sayTask(deps.command) : commandSuggestion(meant, deps.command);
  }
  if (deps.clock.now() - Number(ts) * 1_000 > TOO_LATE_MS) return TOO_LATE;
  return recordRun(deps, by, { input: task, intention: `mention ${channel} ${ts}`, answerUrl: null });
}

const sayTask = (command: string): Message =>
  textAnswer(
    "answer:mention-without-task",
    `Nothing was started. After the name, say what the agent should do, in more than one word. \`${command} help\` lists the commands.`,
  );
const TOO_LATE = textAnswer(
  "answer:mention-too-late",
  "Slack delivered your message more than 15 minutes late, so nothing was started now. If it has no thread yet and you still want the run, send it again.",
);

/** Less than the field's limit, so that the remark about how much is cut fits too. */
const TASK_CHARS = 2_800;

/** Opens the form for a run in the message's channel. The form contains the task as it will be sent, and the person can change it. */
export async function onRunOnMessage(deps: ListenerDeps, payload: ShortcutPayload): Promise<void> {
  const { trigger_id, channel, message, response_url } = payload;
  if (channel.id.startsWith("D"))
    return deps.answerAt(response_url, commandRefusal({ type: "not-a-channel" }, deps.command));
  const task = shortened(asRead(message.text), TASK_CHARS, "masked");
  const form = runForm(`${deps.nonce()} ${channel.id}`, false, task);
  try {
    await deps.quick("views.open", { trigger_id, view: form });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, "could not open the form for a message");
    await deps.answerAt(response_url, FORM_NOT_OPENED);
  }
}

// The answer to a word that is not a subcommand: what the person may have meant, and a button that starts the run they may have wanted. A
// press is the same as typing the command, with the same checks for the person who presses. The button contains the task.

/** `text` is everything that was typed after the command, and `word` is its first word. */
export function unknownCommand(
  deps: Pick<ListenerDeps, "command" | "macOf" | "nonce">,
  by: Asker,
  text: string,
  word: string,
): Message {
  const { command } = deps;
  const meant = suggestCommand(text);
  switch (meant?.type) {
    case undefined:
      return unknownWord(word, command);
    case "decide":
      return decideOnCard(command);
    case "command":
      return commandSuggestion(meant, command);
    case "run": {
      const value = suggestionValue(deps, by, meant.task);
      return value === null
        ? withTyped(tooLongForButton(command), `${command} ${text}`)
        : runSuggestion(meant.task, command, value);
    }
  }
}

export async function onSuggestedRun(deps: ListenerDeps, payload: PrivateClickPayload): Promise<void> {
  const [{ value }] = payload.actions;
  const by: Asker = { team: deps.team, user: payload.user.id, channel: payload.channel.id };
  const found = suggestedRun(deps, by, value);
  if (found === null) {
    await deps.noteRefusal(by, "unknown", { step: "start" });
    return deps.answerAt(payload.response_url, invalidSuggestion(deps.command));
  }
  // The answer replaces the suggestion and its button.
  const task = { input: found.task, intention: `suggestion ${found.nonce}`, answerUrl: payload.response_url };
  const refusal = await recordRun(deps, by, task);
  if (refusal === null) return deps.answerAt(payload.response_url, { ...STARTED, replace_original: true });
  // After a refusal, the button stays, because the run may be allowed later.
  return deps.answerAt(payload.response_url, refusal);
}

const STARTED = textAnswer("answer:suggestion-started", "Started. The run's thread opens in this channel.");
const invalidSuggestion = (command: string): Message =>
  textAnswer(
    "answer:suggestion-invalid",
    `Nothing was started: this button is no longer valid. Type \`${command} run\` and the task.`,
  );

// Private answers to commands and mentions.

/** How much of their own text people are shown (characters). */
const TYPED_CHARS = 500;

function unknownWord(word: string, command: string): Message {
  const shown = escaped(oneLine(word, 60)).replaceAll("`", "'");
  return textAnswer(
    "answer:unknown-command",
    `Countersign does not know \`${shown}\`. \`${command} help\` lists the commands. To start a run, type \`${command} run\` before the task.`,
  );
}

const decideOnCard = (command: string): Message =>
  textAnswer(
    "answer:decide-on-card",
    `No command or message decides a request, so nothing was decided. Press Approve or Deny on its card: you then see the whole request. \`${command} pending\` lists what waits. To start a run, type \`${command} run\` before the task.`,
  );

type Meant = { readonly subcommand: Subcommand; readonly rest: string };

function commandSuggestion({ subcommand, rest }: Meant, command: string): Message {
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

/** `value`: the button's value. */
export function runSuggestion(task: string, command: string, value: string): Message {
  const usage = untrustedSpan(`${command} run ${oneLine(task, TYPED_CHARS)}`, TYPED_CHARS + 40, {
    code: true,
  });
  const text = { type: "plain_text", text: "Start this run", emoji: false };
  const button = { type: "button", action_id: RUN_SUGGESTED, value, text };
  return withId("answer:did-you-mean-run", {
    text: `Did you mean ${command} run?`,
    blocks: [
      rich(line(span("Did you mean "), usage, span("? Nothing was started."))),
      { type: "actions", elements: [button] } as Block,
    ],
  });
}

const tooLongForButton = (command: string): Message =>
  textAnswer(
    "answer:did-you-mean-long-run",
    `Did you mean \`${command} run\`? Nothing was started. This task is too long for a button. To start it, type \`${command} run\` and then the task.`,
  );
