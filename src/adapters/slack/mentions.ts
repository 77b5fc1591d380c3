// Starts a run from a message: one that begins with our name, or one whose menu a person used. Nothing else that people say is read.

import { suggestCommand } from "./typed-command.ts";
import type { Asker } from "../../usecases/access.ts";
import { shortened } from "../../domain/text/excerpt.ts";
import { PortError } from "../../ports.ts";
import { runForm } from "./blocks/home-view.ts";
import { textAnswer } from "./blocks/message-id.ts";
import { commandRefusal } from "./blocks/refusal-words.ts";
import type { Message } from "./blocks/rich.ts";
import { commandSuggestion, decideOnCard } from "./unknown-command.ts";
import { recordRefusal } from "./commands.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { asRead } from "./typed-command.ts";
import type { MentionEvent, ShortcutPayload } from "./payloads.ts";
import { recordRun } from "./record-run.ts";

/** A late event is rather a repeat, or its author has asked again by now (ms). Slack repeats events for up to a day where an app wants that. */
const TOO_LATE_MS = 15 * 60_000;

/** The message is the intention, so Slack's repeats start one run. Slack gets the acknowledgement afterwards (`bolt-app.ts`). */
export async function onMention(deps: ListenerDeps, event: MentionEvent): Promise<void> {
  const text = textAfterName(event.text, deps.self);
  if (text === null) return;
  const by: Asker = { team: deps.team, user: event.user, channel: event.channel };
  const answer = await answerTo(deps, by, event, asRead(text));
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

/** Null: the message does not begin with our name, so it is not for us. */
function textAfterName(text: string, self: string): string | null {
  const [, named, rest = ""] = /^\s*<@([A-Z0-9]+)(?:\|[^<>]*)?>[\s:,]*([^]*)$/.exec(text) ?? [];
  return named === self ? rest : null;
}

/** Null: the run is recorded, and its thread is the answer. */
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
  if (deps.clock.now() - Number(ts) * 1_000 > TOO_LATE_MS) return CAME_LATE;
  return recordRun(deps, by, { input: task, intention: `mention ${channel} ${ts}`, answerUrl: null });
}

const sayTask = (command: string): Message =>
  textAnswer(
    "answer:mention-without-task",
    `Nothing was started. Say after the name what the agent should do, in more than one word. \`${command} help\` lists the commands.`,
  );
const CAME_LATE = textAnswer(
  "answer:mention-too-late",
  "Slack delivered your message more than 15 minutes late, so nothing was started now. If it has no thread yet and you still want the run, send it again.",
);

/** Room for the remark of how much is cut. */
const TASK_CHARS = 2_800;

/** Opens the form for a run in the message's channel. The message is shown as it is sent, and can be changed. */
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
    await deps.answerAt(response_url, NOT_OPENED);
  }
}

const NOT_OPENED = textAnswer(
  "answer:form-not-opened",
  "Slack did not open the form in time. Nothing was started. Use the shortcut again.",
);
