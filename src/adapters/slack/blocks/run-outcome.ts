// The last message of a run's thread: how the run ended, with its output or the service's reason. Also covers runs that were not started,
// may not have started, or are not watched here.

import type { Block } from "@slack/types";
import type { RunId } from "../../../domain/ids.ts";
import { isRecord, type JsonRecord } from "../../../domain/json.ts";
import { fileState } from "../../../domain/render-key.ts";
import {
  canRunAgain,
  type Creation,
  type Ended,
  isOutputForgotten,
  isStopped,
  type Run,
} from "../../../domain/run.ts";
import { OUTPUT } from "../../../domain/slot.ts";
import { head, oneLine, shortened } from "../../../domain/text/excerpt.ts";
import { writtenValue } from "../../../domain/text/request-text.ts";
import { masked } from "../../../domain/text/secrets.ts";
import { RUN_AGAIN, UNKNOWN_LEAVE, UNKNOWN_START_AGAIN } from "../names.ts";
import { withoutSpeaker } from "./delivery-words.ts";
import { type Deployment, runIdElement } from "./deployment.ts";
import { markdown } from "./markdown.ts";
import { withId } from "./message-id.ts";
import { COMMAND } from "./receipts.ts";
import {
  boxes,
  count,
  duration,
  escaped,
  line,
  type Message,
  note,
  person,
  plain,
  rich,
  span,
} from "./rich.ts";
import { successWords } from "./run-status.ts";

const FIRST_PART_CHARS = 3_000;

export function outcome(run: Run, deployment: Deployment): Message {
  if (run.creation.type === "refused") return notStarted(run, run.creation.words);
  if (run.creation.type === "taken") return taken(run, run.creation.id, deployment);
  if (run.creation.type === "unknown") return unknown(run, run.creation, deployment);
  const ended = run.seen?.ended;
  if (ended === undefined || ended === null)
    return withId("outcome:ended", { text: "The run ended.", blocks: [rich(line(span("The run ended.")))] });
  const took = tookWords(run, ended);
  const { icon, word, denied } = successWords(run);
  const title = { succeeded: `${icon} ${word}`, failed: "❌ Failed", canceled: "⏹️ Canceled" }[ended.how];
  const after = `${took}${ended.how === "succeeded" ? denied : ""}`;
  const first = line(person(run.requester), span(" "), span(title, { bold: true }), span(`${after}.`));
  return withId(`outcome:${ended.how}`, {
    text: escaped(`${title}${after}: ${oneLine(run.input, 150)}`),
    blocks: [rich(first), ...endedDetails(ended), ...output(run, ended), ...againActions(run)],
  });
}

function tookWords(run: Run, { completedAt }: Ended): string {
  const end = completedAt === null ? Number.NaN : Date.parse(completedAt);
  if (run.origin !== "started" || !Number.isFinite(end) || end < run.askedAt - 60_000) return "";
  return ` after ${duration(end - run.askedAt)}`;
}

function output(run: Run, ended: Ended): Block[] {
  if (isOutputForgotten(ended))
    return [rich(line(span("The agent's output was posted here before. The service still has it.")))];
  if (ended.output === null || ended.output === "") {
    return ended.how === "succeeded" ? [rich(line(span("No output.")))] : [];
  }
  const label = rich(line(span("The agent's output:", { bold: true })));
  if (!ended.asFile) {
    const secrets = masked(ended.output).secrets.length;
    const remark =
      secrets === 0
        ? ""
        : ` ${secrets === 1 ? "1 secret in it is" : `${count(secrets)} secrets in it are`} masked; the service has the original.`;
    return [label, rich(...markdown(ended.output)), note(`End of the agent's output.${remark}`)];
  }
  const whole = `The whole output (${count(ended.outputChars)} characters)`;
  const upload = run.uploads[OUTPUT];
  const rest = {
    coming: `First part only. ${whole} follows as a file.`,
    there: `First part only. ${whole} is attached to this thread.`,
    refused: `First part only. ${whole} could not be attached: ${upload?.type === "refused" ? upload.words : ""}. The service still has it.`,
  }[fileState(run, OUTPUT)];
  return [
    label,
    rich(...markdown(head(ended.output, FIRST_PART_CHARS, "masked").text)),
    note(oneLine(`${rest} What looks like a secret is masked; the service has the original.`, 600)),
  ];
}

// Runs that were not started, may not have started, or are not watched here.

function notStarted(run: Run, why: string): Message {
  const text = `❌ Not started: ${oneLine(withoutSpeaker(why), 500)}`;
  const blocks = [
    rich(
      line(person(run.requester), span(" "), span("❌ Not started:", { bold: true })),
      ...boxes(shortened(withoutSpeaker(why), 1_000, "masked")),
    ),
    ...againActions(run),
  ];
  return withId("outcome:not-started", { text: escaped(text), blocks });
}

function taken(run: Run, id: RunId, deployment: Deployment): Message {
  const title = "⚠️ Started, but not watched here";
  const what = "The service gave this run the id of a run in another thread: ";
  const meaning =
    "Either someone began watching it before the service answered, and its requests are in that thread; or the service gave two runs the same id, and Countersign can't tell them apart. Ask the operators of the service.";
  const first = line(person(run.requester), span(" "), span(title, { bold: true }));
  const second = line(
    span(what),
    runIdElement(id, deployment),
    span(". "),
    span(meaning),
    ...(isStopped(run) ? [span(` ${STOP_THERE}`)] : []),
  );
  const text = escaped(`${title}: ${oneLine(run.input, 150)}`);
  return withId("outcome:taken", { text, blocks: [rich(first, second)] });
}

const STOP_THERE =
  "Someone stopped this run before the service answered. Requests of the run in the other thread are not denied automatically. To deny everything that it asks for, press Stop there.";

const ANSWER_LOST =
  "The task was sent, but the answer was lost, so a run may have started. Its requests are not shown here, and Countersign does not send the task again by itself.";
const RECORD_LOST =
  "Countersign was restored from an older copy of its database, so it can't tell whether the task was sent after that copy was made. If a run has started, its requests are not shown here. Countersign does not send the task by itself.";

const STOP_AGAIN =
  " The stop does not carry over to a run that is watched this way: press Stop in its thread.";

/** What to do if the run has started: with its id, anyone who may start runs can have its requests shown. */
const ifFound = (run: Run, command: string) =>
  line(
    span("Look for the run in the agent service. If it is there, "),
    span(`${command} watch <run id>`, { code: true }),
    span(` shows its requests in this channel.${isStopped(run) ? STOP_AGAIN : ""}`),
  );

function unknown(
  run: Run,
  { again, restored }: Extract<Creation, { type: "unknown" }>,
  { command = COMMAND }: Deployment,
): Message {
  const title = "❓ Start not confirmed";
  const why = restored === true ? RECORD_LOST : ANSWER_LOST;
  const answered = { asked: null, started: "Chosen: Start again.", left: "Chosen: Leave it." }[again];
  const blocks: Block[] = [
    rich(
      line(person(run.requester), span(" "), span(title, { bold: true })),
      line(span(why)),
      ifFound(run, command),
    ),
  ];
  blocks.push(answered === null ? choices(run) : rich(line(span(answered))));
  return withId(`outcome:unknown:${again}`, {
    text: escaped(`${title}: ${oneLine(run.input, 150)}`),
    blocks,
  });
}

function choices(run: Run): Block {
  const button = (action_id: string, text: string, confirm?: object): object => ({
    type: "button",
    action_id,
    value: run.key,
    text: { type: "plain_text", text, emoji: false },
    ...(confirm === undefined ? {} : { confirm }),
  });
  const confirm = {
    title: { type: "plain_text", text: "Start again?" },
    text: { type: "plain_text", text: "If the task did arrive the first time, this starts a second run." },
    confirm: { type: "plain_text", text: "Start again" },
    deny: { type: "plain_text", text: "Cancel" },
  };
  const elements = [button(UNKNOWN_START_AGAIN, "Start again", confirm), button(UNKNOWN_LEAVE, "Leave it")];
  return { type: "actions", block_id: `unknown-${run.key}`, elements } as Block;
}

// What the service says about the end besides the output: the message of an error record, then every other field.

/** The room for the message and the other fields together. */
const DETAILS_CHARS = 2_500;
/** The room that the other fields always have, however long the message is. */
const REST_CHARS = 500;
const CODE_CHARS = 120;

type Failure = { readonly message: string; readonly code: string | null; readonly rest: JsonRecord };

/** Failure details or the reason for a cancellation: every field that the service does not document, except `created_at`. */
function endedDetails({ extra, how }: Ended): Block[] {
  const { created_at: _known, ...fields } = extra;
  if (Object.keys(fields).length === 0)
    return how === "succeeded" ? [] : [rich(line(span("The service gave no reason.")))];
  const { message, code, rest } = failureIn(fields);
  const room = Math.max(DETAILS_CHARS - message.length, REST_CHARS);
  return [
    rich(
      line(span("The service says:")),
      ...(message === "" ? [] : boxes(shortened(message, DETAILS_CHARS, "masked"))),
      ...(message === "" ? restBoxes(rest, room) : []),
    ),
    ...(code === null
      ? []
      : [note(`Error code: ${shortened(code.replace(/\s+/g, " "), CODE_CHARS, "masked")}`)]),
    ...(message === "" || Object.keys(rest).length === 0 ? [] : [rich(...restBoxes(rest, room))]),
  ];
}

function restBoxes(rest: JsonRecord, room: number): ReturnType<typeof boxes> {
  const text = Object.entries(rest).map(([name, value]) => `${name}: ${writtenValue(value)}`);
  return boxes(shortened(text.join("\n"), room, "masked"));
}

/** Reads an error record from the field `error`, or from the fields themselves. The message is empty if there is no record. */
function failureIn(fields: JsonRecord): Failure {
  const { error, ...others } = fields;
  if (error !== undefined && isRecord(error)) {
    const { message, code, rest } = recordIn(error);
    if (message !== "")
      return { message, code, rest: Object.keys(rest).length === 0 ? others : { ...others, error: rest } };
  }
  return recordIn(fields);
}

function recordIn(fields: JsonRecord): Failure {
  const { message, ...others } = fields;
  if (typeof message !== "string" || message.trim() === "") return { message: "", code: null, rest: fields };
  const { code, ...rest } = others;
  return typeof code === "string" && code.trim() !== ""
    ? { message, code, rest }
    : { message, code: null, rest: others };
}

// The button that runs the task of a finished run again.

/** Leaves room for our own words: Slack accepts 300 characters in the text of a dialog. */
const TASK_CHARS = 200;

function againActions(run: Run): Block[] {
  if (!canRunAgain(run)) return [];
  const button = {
    type: "button",
    action_id: RUN_AGAIN,
    value: run.key,
    text: plain("Run again"),
    confirm: {
      title: plain("Run this again?"),
      text: plain(`A new run starts in your name, with the same task: ${oneLine(run.input, TASK_CHARS)}`),
      confirm: plain("Run again"),
      deny: plain("Cancel"),
    },
  };
  return [{ type: "actions", block_id: `again-${run.key}`, elements: [button] } as Block];
}
