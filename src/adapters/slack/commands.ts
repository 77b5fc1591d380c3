// Handles the slash command. The start of a run is committed before it is acknowledged. All other subcommands are acknowledged at
// once and answered privately.

import { parsed, RunId } from "../../domain/ids.ts";
import type { Run } from "../../domain/run.ts";
import { OPENING } from "../../domain/slot.ts";
import { PortError } from "../../ports.ts";
import { ROW_UNREADABLE } from "../../ports/store.ts";
import type { Asker } from "../../usecases/access.ts";
import { help, type ListWords, oneRun, runList } from "./blocks/command-answers.ts";
import { healthReport } from "./blocks/health-answer.ts";
import { named } from "./blocks/deployment.ts";
import { weekReport } from "./blocks/look-back-message.ts";
import { textAnswer } from "./blocks/message-id.ts";
import { commandRefusal, typedRunRefusal } from "./blocks/command-refusal-words.ts";
import { count, type Message, plural } from "./blocks/rich.ts";
import { unknownCommand } from "./free-text.ts";
import { freezeCommand } from "./freeze-command.ts";
import { RECORDED, recordRefusal, recordRun } from "./record-start.ts";
import { pendingAnswer } from "./home-and-queue.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import type { Subcommand } from "./names.ts";
import { linked } from "./own-messages.ts";
import type { CommandPayload, PrivateClickPayload } from "./payloads.ts";
import { openTaskForm, type UnfinishedTask } from "./task-form.ts";
import { parseCommandLine, pastedId, withoutEntities } from "./typed-command.ts";

/** Acknowledges the command, with or without a private answer. Resolves to false if the answer did not reach Slack. Never rejects. */
export type CommandAck = (answer?: Message) => Promise<boolean>;

/** The most runs that an answer lists. */
const MAX_LISTED = 10;

export async function onCommand(deps: ListenerDeps, payload: CommandPayload, ack: CommandAck): Promise<void> {
  const by: Asker = { team: deps.team, user: payload.user_id, channel: payload.channel_id };
  const line = parseCommandLine(withoutEntities(payload.text));
  switch (line.type) {
    case "run":
      return startRun(deps, by, payload, { task: line.rest, ack });
    case "form":
      return openForm(deps, by, payload, { ack, unfinished: null });
    case "unknown": {
      const word = /^[a-z-]{1,20}$/i.test(line.word) ? line.word : "";
      await recordRefusal(deps, by, "unknown-command", { step: "command", outcome: `refused: ${word}` });
      return answerInAck(
        deps,
        payload,
        ack,
        unknownCommand(deps, by, withoutEntities(payload.text), line.word),
      );
    }
    default: {
      await ack();
      const { type, rest } = line;
      const question = { type, rest, trigger: payload.trigger_id };
      return deps.answerAt(payload.response_url, await answerIfPossible(deps, by, question));
    }
  }
}

/** Answers in the acknowledgement, or through the `response_url` if the acknowledgement did not reach Slack. */
async function answerInAck(
  deps: ListenerDeps,
  payload: CommandPayload,
  ack: CommandAck,
  message: Message,
): Promise<void> {
  if (!(await ack(message))) await deps.answerAt(payload.response_url, message);
}

type Start = { readonly task: string; readonly ack: CommandAck };

async function startRun(
  deps: ListenerDeps,
  by: Asker,
  payload: CommandPayload,
  { task, ack }: Start,
): Promise<void> {
  const named = deps.startRun.named(task);
  const intention = `command ${payload.trigger_id}`;
  const saved = named === null ? {} : { saved: named.saved };
  const start = { input: task, intention, answerUrl: payload.response_url, typed: task, ...saved };
  if (named?.lacks === true)
    return openForm(deps, by, payload, { ack, unfinished: { ...start, saved: named.saved } });
  const refusal = await recordRun(deps, by, start);
  if (refusal !== null) return answerInAck(deps, payload, ack, refusal);
  if (!(await ack())) await deps.answerAt(payload.response_url, RECORDED);
}

/** `unfinished` is null for the bare command. */
type FormFor = { readonly ack: CommandAck; readonly unfinished: UnfinishedTask | null };

async function openForm(
  deps: ListenerDeps,
  by: Asker,
  payload: CommandPayload,
  { ack, unfinished }: FormFor,
): Promise<void> {
  if (by.channel.startsWith("D")) {
    const refusal = { type: "not-a-channel" } as const;
    const refused =
      unfinished === null
        ? commandRefusal(refusal, deps.command)
        : typedRunRefusal(refusal, deps.command, unfinished.typed);
    return answerInAck(deps, payload, ack, refused);
  }
  await ack();
  const failure = await openTaskForm(deps, by, payload.trigger_id, unfinished);
  if (failure !== null) await deps.answerAt(payload.response_url, failure);
}

/** `trigger` identifies the command or press that asks. */
type Question = {
  readonly type: Exclude<Subcommand, "run">;
  readonly rest: string;
  readonly trigger: string;
};

/** These change nothing, whatever fails. */
const READING: readonly Question["type"][] = ["help", "list", "pending", "status"];

async function answerIfPossible(deps: ListenerDeps, by: Asker, question: Question): Promise<Message> {
  try {
    return await answer(deps, by, question);
  } catch (error) {
    if (!(error instanceof PortError) || !READING.includes(question.type)) throw error;
    if (error.code === ROW_UNREADABLE) {
      deps.log.error({ error }, "could not answer a question, because a stored row cannot be read");
      return unreadableRun();
    }
    deps.log.warn({ error }, "could not answer a question, because Slack or the database failed");
    return notRead(deps.command);
  }
}

export function notRead(command: string): Message {
  const text = `Countersign cannot answer this just now, because Slack or its own database did not answer. Nothing was changed. Try again in a minute. If this keeps happening, tell the people who operate Countersign. \`${command} health\` shows what works.`;
  return textAnswer("answer:not-read", text);
}

/** Trying again would not help. */
export function unreadableRun(): Message {
  const text =
    "Countersign has a record of this run, but cannot read it, so it cannot show the run or decide its requests. Nothing was changed. Tell the people who operate Countersign: the log says what is wrong.";
  return textAnswer("answer:unreadable-run", text);
}

async function answer(deps: ListenerDeps, by: Asker, question: Question): Promise<Message> {
  switch (question.type) {
    case "help":
      return help(
        deps.command,
        (await deps.startRun.offered(by)).map(({ task }) => task),
      );
    case "health":
      return named(
        healthReport(await deps.queries.health(by.user), deps.clock.now(), deps.command),
        deps.deployment,
      );
    case "list": {
      const none = `There are no runs in your channels yet. Type ${deps.command} run and a task to start one.`;
      return listRuns(deps, by, { title: "Runs in your channels", none }, placeIn(question.rest));
    }
    case "pending":
      return pendingAnswer(deps, by.user, by.channel);
    case "audit":
      return audit(deps, by, question.rest);
    case "report": {
      const reported = await deps.reportWeek(by);
      return reported.ok ? weekReport(reported.value) : commandRefusal(reported.error, deps.command);
    }
    case "freeze":
      return freezeCommand(deps, by, question.rest, question.trigger);
    case "status":
    case "watch":
    case "unwatch":
      return answerAboutRun(deps, by, question);
  }
}

/** `from`: the place of the first run that is listed. If there are fewer runs by now, the list begins at the newest. */
async function listRuns(deps: ListenerDeps, by: Asker, words: ListWords, from: number): Promise<Message> {
  const runs = await deps.queries.list(by, "all", from + MAX_LISTED + 1);
  const start = from < runs.length ? from : 0;
  const listed = runs.slice(start, start + MAX_LISTED);
  const shown = await Promise.all(listed.map((run) => linked(deps, run)));
  return runList(words, shown, runs.length > start + shown.length, start);
}

const placeIn = (text: string): number => (/^\d{1,4}$/.test(text) ? Number(text) : 0);

/** Draws another page of `list` in the same place. */
export async function onRunsPage(deps: ListenerDeps, payload: PrivateClickPayload): Promise<void> {
  const [{ value }] = payload.actions;
  const by: Asker = { team: deps.team, user: payload.user.id, channel: payload.channel.id };
  const question = { type: "list", rest: value, trigger: payload.trigger_id } as const;
  const page = await answerIfPossible(deps, by, question);
  await deps.answerAt(payload.response_url, { ...page, replace_original: true });
}

async function audit(deps: ListenerDeps, by: Asker, typed: string): Promise<Message> {
  const rest = typed.trim();
  const [, code, reason = ""] = /^acknowledge\s+(\S+)(?:\s+([^]*))?$/.exec(rest) ?? [];
  if (code !== undefined) return acknowledge(deps, by, code, reason);
  const [, disputed, found = ""] = /^close\s+(\S+)(?:\s+([^]*))?$/.exec(rest) ?? [];
  if (disputed !== undefined) return closeDispute(deps, by, disputed, found);
  const id = parsed(RunId, pastedId(rest));
  if (id === null) return askWhichRun(deps, "audit");
  const exported = await deps.exportEvidence(by, id);
  if (!exported.ok) return commandRefusal(exported.error, deps.command);
  return textAnswer(
    "answer:evidence-sent",
    `The evidence is in your direct messages with Countersign: ${count(exported.value)} ${plural(exported.value, "entry", "entries")}.`,
  );
}

async function acknowledge(deps: ListenerDeps, by: Asker, code: string, reason: string): Promise<Message> {
  const result = await deps.acknowledge(by, code, reason);
  if (!result.ok) return commandRefusal(result.error, deps.command);
  const findings = result.value === 1 ? "1 finding" : `${count(result.value)} findings`;
  return textAnswer(
    "answer:acknowledged",
    `Acknowledged: ${findings}. Approvals are no longer held back. The audit records this in your name, and \`npm run audit -- verify\` keeps reporting the change.`,
  );
}

async function closeDispute(deps: ListenerDeps, by: Asker, run: string, found: string): Promise<Message> {
  const id = parsed(RunId, pastedId(run));
  if (id === null) return askWhichRun(deps, "audit close");
  const result = await deps.closeDispute(by, id, found);
  if (!result.ok) return commandRefusal(result.error, deps.command);
  const { disputes, isCardKept } = result.value;
  const closed = disputes === 1 ? "1 dispute" : `${count(disputes)} disputes`;
  const shown = isCardKept
    ? "The card shows your words, and the audit records them in your name."
    : "The audit records your words in your name. The card is unchanged, because the run's record was deleted or replaced, or cannot be read.";
  return textAnswer("answer:dispute-closed", `${closed} closed. ${shown}`);
}

function askWhichRun({ command }: ListenerDeps, subcommand: Subcommand | "audit close"): Message {
  return textAnswer(
    "answer:which-run",
    `Say which run: \`${command} ${subcommand} <run id>\`. \`${command} list\` shows the ids.`,
  );
}

async function answerAboutRun(deps: ListenerDeps, by: Asker, { type, rest }: Question): Promise<Message> {
  const id = parsed(RunId, pastedId(rest));
  if (id === null) return askWhichRun(deps, type);
  if (type === "status") {
    const found = await deps.queries.status(by.user, id);
    if (found === null) await recordRefusal(deps, by, "unknown-run", { step: "status", runId: id });
    return found === null
      ? commandRefusal({ type: "unknown-run" }, deps.command)
      : oneRun(await linked(deps, found));
  }
  const result = type === "watch" ? await deps.adoptRun.adopt(by, id) : await deps.adoptRun.unwatch(by, id);
  if (!result.ok && result.error.type === "already-watched") deps.cards.lookNow([result.error.run]);
  if (!result.ok) return commandRefusal(result.error, deps.command);
  return type === "watch"
    ? watching(result.value)
    : textAnswer(
        "answer:unwatched",
        "No longer watching this run. Its thread says so, and its open cards close.",
      );
}

/** A run that is watched again stays in its channel, whichever channel the command came from. */
function watching({ channel, posts }: Run): Message {
  const verb = posts[OPENING]?.type === "up" ? "is" : "opens";
  return textAnswer("answer:watching", `Watching this run. Its thread ${verb} in <#${channel}>.`);
}
