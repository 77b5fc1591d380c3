// The slash command. What starts a run is committed before Slack is acknowledged; everything else is acknowledged at once and
// answered privately.

import type { SectionBlock } from "@slack/types";
import { oneLine } from "../../domain/text/excerpt.ts";
import { parsed, RunId } from "../../domain/ids.ts";
import type { Run } from "../../domain/run.ts";
import type { Asker } from "../../usecases/access.ts";
import { PortError } from "../../ports.ts";
import type { AttemptDetails } from "../../usecases/refusals.ts";
import { help, oneRun, runList } from "./blocks/command-answers.ts";
import { healthReport } from "./blocks/health-report.ts";
import { commandRefusalWords } from "./blocks/refusal-words.ts";
import { count, escaped, type Message } from "./blocks/rich.ts";
import { runForm } from "./blocks/run-form.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { type Subcommand, SUBCOMMANDS } from "./names.ts";
import type { CommandPayload } from "./payloads.ts";
import { linked } from "./permalinks.ts";

/** What goes back in the acknowledgement: a private answer, or nothing. False: Slack did not hear it. Never rejects. */
export type CommandAck = (text?: string) => Promise<boolean>;

/** Most runs that one answer lists. */
const LIST_MOST = 10;

export async function onCommand(deps: ListenerDeps, payload: CommandPayload, ack: CommandAck): Promise<void> {
  const by: Asker = { team: deps.team, user: payload.user_id, channel: payload.channel_id };
  const typed = parseCommandLine(asTyped(payload.text));
  switch (typed.type) {
    case "run":
      return run(deps, by, payload, { task: typed.rest, ack });
    case "form":
      return form(deps, by, payload, ack);
    case "unknown": {
      const word = /^[a-z-]{1,20}$/i.test(typed.word) ? typed.word : "";
      await afterAudit(deps, by, "unknown-command", { step: "command", outcome: `refused: ${word}` });
      const shown = escaped(oneLine(typed.word, 60));
      return say(
        deps,
        payload,
        ack,
        `Countersign does not know \`${shown.replaceAll("`", "'")}\`. \`${deps.command} help\` lists what it knows; to start a run, type \`${deps.command} run\` before the task.`,
      );
    }
    default: {
      await ack();
      const { type: is, rest } = typed;
      return deps.answerAt(payload.response_url, await answer(deps, by, { type: is, rest }));
    }
  }
}

const CHARACTERS: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

/** Slack writes & < > of what a person types as entities, with should_escape or without; other apps undo that too. */
const asTyped = (text: string): string =>
  text.replace(/&(?:amp|lt|gt);/g, (entity) => CHARACTERS[entity] ?? entity);

/** In the acknowledgement, or where that did not reach Slack at the command's own address. */
async function say(
  deps: ListenerDeps,
  payload: CommandPayload,
  ack: CommandAck,
  text: string,
): Promise<void> {
  if (!(await ack(text))) await deps.answerAt(payload.response_url, { text });
}

type Running = { readonly task: string; readonly ack: CommandAck };

async function run(
  deps: ListenerDeps,
  by: Asker,
  payload: CommandPayload,
  { task, ack }: Running,
): Promise<void> {
  const says = await start(deps, by, payload, task);
  if (says !== null) return say(deps, payload, ack, says);
  if (!(await ack())) await deps.answerAt(payload.response_url, { text: RECORDED });
}

/** Null: the run is recorded. Otherwise why it is not. */
async function start(
  deps: ListenerDeps,
  by: Asker,
  payload: CommandPayload,
  input: string,
): Promise<string | null> {
  const intention = `command ${payload.trigger_id}`;
  try {
    const started = await deps.startRun.start(by, { input, intention, answerUrl: payload.response_url });
    return started.ok ? null : commandRefusalWords(started.error, deps.command);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "a run could not be recorded");
    return error.applied === "maybe" ? maybeStarted(deps.command) : NOT_STARTED;
  }
}

const NOT_STARTED = "Not started: Countersign could not write it down just now. Try again.";
const maybeStarted = (command: string): string =>
  `Countersign could not make sure that this is written down. Before you try again, see with \`${command} list\` whether the run is there.`;
const RECORDED =
  "Your task is recorded, although Slack may have shown you an error. Its thread opens in this channel; do not start it again.";

async function form(deps: ListenerDeps, by: Asker, payload: CommandPayload, ack: CommandAck): Promise<void> {
  if (by.channel.startsWith("D"))
    return say(deps, payload, ack, commandRefusalWords({ type: "not-a-channel" }, deps.command));
  await ack();
  const view = runForm(`${deps.nonce()} ${by.channel}`, false);
  await deps.quick("views.open", { trigger_id: payload.trigger_id, view });
}

type Asked = { readonly type: Exclude<Subcommand, "run">; readonly rest: string };

async function answer(deps: ListenerDeps, by: Asker, asked: Asked): Promise<Message> {
  switch (asked.type) {
    case "help":
      return help(deps.command);
    case "health":
      return healthReport(await deps.queries.health(), deps.clock.now());
    case "list": {
      const none = `There are no runs in your channels yet. ${deps.command} run and a task starts one.`;
      return listed(
        deps,
        { title: "Runs of your channels", none },
        await deps.queries.list(by, "all", LIST_MOST + 1),
      );
    }
    case "pending": {
      const none = "Nothing waits for a decision in your channels.";
      const runs = await deps.queries.list(by, "pending", LIST_MOST + 1);
      deps.cards.lookNow(runs);
      return listed(deps, { title: "Waiting for a decision", none }, runs);
    }
    case "audit":
      return audit(deps, by, asked.rest);
    case "status":
    case "watch":
    case "unwatch":
      return aboutOne(deps, by, asked);
  }
}

async function listed(
  deps: ListenerDeps,
  says: { title: string; none: string },
  runs: readonly Run[],
): Promise<Message> {
  const shown = await Promise.all(runs.slice(0, LIST_MOST).map((each) => linked(deps, each)));
  return runList(says.title, says.none, shown, runs.length - shown.length);
}

async function audit(deps: ListenerDeps, by: Asker, rest: string): Promise<Message> {
  const [, code, reason = ""] = /^acknowledge\s+(\S+)(?:\s+([^]*))?$/.exec(rest) ?? [];
  if (code !== undefined) return acknowledge(deps, by, code, reason);
  const id = parsed(RunId, pastedId(rest));
  if (id === null) return sayWhich(deps, "audit");
  const given = await deps.exportEvidence(by, id);
  if (!given.ok) return plain(commandRefusalWords(given.error, deps.command));
  return plain(`The evidence is in your direct messages with Countersign: ${count(given.value)} entries.`);
}

async function acknowledge(deps: ListenerDeps, by: Asker, code: string, reason: string): Promise<Message> {
  const done = await deps.acknowledge(by, code, reason);
  if (!done.ok) return plain(commandRefusalWords(done.error, deps.command));
  const what = done.value === 1 ? "1 finding" : `${count(done.value)} findings`;
  return plain(
    `Acknowledged: ${what}. Approvals leave again. The audit has it in your name, and \`npm run audit -- verify\` goes on to tell of it.`,
  );
}

function sayWhich({ command }: ListenerDeps, is: Subcommand): Message {
  return plain(`Say which run: \`${command} ${is} <run id>\`. \`${command} list\` shows the ids.`);
}

async function aboutOne(deps: ListenerDeps, by: Asker, { type: is, rest }: Asked): Promise<Message> {
  const id = parsed(RunId, pastedId(rest));
  if (id === null) return sayWhich(deps, is);
  if (is === "status") {
    const found = await deps.queries.status(by.user, id);
    if (found === null) await afterAudit(deps, by, "unknown-run", { step: "status", runId: id });
    return found === null
      ? plain(commandRefusalWords({ type: "unknown-run" }, deps.command))
      : oneRun(await linked(deps, found));
  }
  const done = is === "watch" ? await deps.adoptRun.adopt(by, id) : await deps.adoptRun.unwatch(by, id);
  if (!done.ok && done.error.type === "already-watched") deps.cards.lookNow([done.error.run]);
  if (!done.ok) return plain(commandRefusalWords(done.error, deps.command));
  return plain(
    is === "watch"
      ? "Watching it. Its thread opens in this channel."
      : "Let go. Its thread says so, and its open cards are closed.",
  );
}

/** Best effort: nothing was asked for that a missing entry would let through. */
async function afterAudit(
  { noteRefusal, log }: ListenerDeps,
  by: Asker,
  because: "unknown-command" | "unknown-run",
  tried: AttemptDetails,
): Promise<void> {
  try {
    await noteRefusal(by, because, tried);
  } catch (error) {
    log.error({ error }, "a refusal could not be written down");
  }
}

/** Slack reads markup in a section's text, so only our own words and escaped ones come here. */
function plain(text: string): Message {
  const section: SectionBlock = { type: "section", text: { type: "mrkdwn", text, verbatim: true } };
  return { text, blocks: [section] };
}

// What was typed after the command's name.

export type CommandLine =
  /** Nothing was typed: the form. */
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
