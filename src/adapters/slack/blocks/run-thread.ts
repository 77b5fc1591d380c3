// The messages of a run: its opening, its end and notices in between. `messageIn` adds the cards.

import type { Block } from "@slack/types";
import type { RunId } from "../../../domain/ids.ts";
import { digestPages, isStormSlot } from "../../../domain/storm.ts";
import { BACK, DOWN, fileState, isDisputed, MISSING, STOPPED } from "../../../domain/render-key.ts";
import {
  cardSlot,
  digestSlot,
  type Ended,
  OPENING,
  OUTCOME,
  OUTPUT,
  type Run,
  runId,
  type Slot,
  UNREADABLE,
} from "../../../domain/run.ts";
import { head, oneLine, shortened } from "../../../domain/text/excerpt.ts";
import { masked } from "../../../domain/text/secrets.ts";
import { UNKNOWN_LEAVE, UNKNOWN_START_AGAIN } from "../names.ts";
import { approvalCard } from "./approval-card.ts";
import { againActions } from "./run-again.ts";
import { stopActions, stopMessage, stoppedLine } from "./brake.ts";
import { type Deployment, named, namedText, runIdElement, UNNAMED } from "./deployment.ts";
import { digestMessage } from "./digest.ts";
import { endedDetails } from "./ended-details.ts";
import { markdown } from "./markdown.ts";
import { type MessageId, withId } from "./message-id.ts";
import {
  boxes,
  count,
  duration,
  escaped,
  line,
  type Message,
  moment,
  note,
  person,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";
import { runStatus, stays, successWords } from "./run-status.ts";
import { withoutSpeaker } from "./delivery-words.ts";
import { stormNotice } from "./storm.ts";
import { unreadableCard } from "./unreadable-card.ts";

const TASK_IN_OPENING_CHARS = 2_500;
const FIRST_PART_CHARS = 3_000;

/** Null: the slot is not one of these. */
export function threadMessage(run: Run, slot: string, deployment: Deployment): Message | null {
  if (slot === OPENING) return opening(run, deployment);
  if (slot === OUTCOME) return outcome(run, deployment);
  if (slot === MISSING) return missing(run);
  if (slot === STOPPED && run.stop !== undefined) return stopMessage(run, run.stop);
  if (isStormSlot(slot)) return stormNotice(run, slot);
  if (slot.startsWith(DOWN)) return serviceDown(run);
  return slot.startsWith(BACK) ? serviceBack(run) : null;
}

function opening(run: Run, deployment: Deployment): Message {
  const { name, icon, text } = runStatus(run);
  const id = runId(run);
  const task = run.input === "" ? [] : [quote(untrustedSpan(run.input, TASK_IN_OPENING_CHARS))];
  const verb =
    run.origin === "started" ? " asked for a run:" : " is watching a run that was started elsewhere:";
  const since = run.seen?.since ?? run.askedAt;
  const blocks: Block[] = [
    rich(line(person(run.requester), span(verb)), ...task),
    rich(
      line(
        span(`${icon} ${text}`, { bold: true }),
        span(stays(run) ? " since " : " "),
        moment(since),
        ...(id === null ? [] : [span(" · "), runIdElement(id, deployment)]),
      ),
      ...(isDisputed(run)
        ? [line(span("⚠️ A decision of this run is disputed. Its card says by whom."))]
        : []),
      ...stoppedLine(run),
    ),
    ...stopActions(run),
  ];
  const about = run.input === "" ? "" : `: ${oneLine(run.input, 200)}`;
  return withId(`run:${name}`, { text: escaped(`${text}${about}`), blocks });
}

function outcome(run: Run, deployment: Deployment): Message {
  if (run.creation.type === "refused") return notStarted(run, run.creation.words);
  if (run.creation.type === "taken") return taken(run, run.creation.id, deployment);
  if (run.creation.type === "unknown") return unknown(run, run.creation.again);
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
  if (ended.output === null || ended.output === "") {
    return ended.how === "succeeded" ? [rich(line(span("No output.")))] : [];
  }
  const label = rich(line(span("The agent's output:", { bold: true })));
  if (!ended.asFile) {
    const many = masked(ended.output).secrets.length;
    const remark =
      many === 0 ? "" : ` ${count(many)} secrets in it are masked; the service has the original.`;
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
    rich(...markdown(head(ended.output, FIRST_PART_CHARS, "masked").text)),
    note(oneLine(`${rest} What looks like a secret is masked; the service has the original.`, 600)),
  ];
}

function givenUpWords({ creation }: Run): string {
  return creation.type === "created" && creation.reused === true
    ? "The service no longer knew this run, and gave its id to another one. Countersign has stopped asking."
    : "The service has not known this run for a day. Countersign has stopped asking.";
}

function missing(run: Run): Message {
  switch (run.watch.type) {
    case "tampered":
      return tampered();
    case "given-up":
      return oneSentence("thread:given-up", givenUpWords(run));
    case "missing":
      return oneSentence("thread:missing", NO_LONGER_KNOWN);
    default:
      return oneSentence("thread:known-again", "The service knows this run again.");
  }
}

const NO_LONGER_KNOWN =
  "The service no longer knows this run. Its cards are closed. Countersign keeps asking for a day.";

const oneSentence = (id: MessageId, text: string): Message =>
  withId(id, { text, blocks: [rich(line(span(text)))] });

function tampered(): Message {
  const title = "🚨 Stopped: this run's record was changed outside Countersign";
  const meaning =
    "Nothing more is sent for this run, and its cards are closed. The service may still be waiting for decisions: make them there.";
  const advice =
    "Countersign's admins: find out who changed the database. Then watch the run again to get new cards.";
  return withId("thread:tampered", {
    text: title,
    blocks: [rich(line(span(title, { bold: true })), line(span(meaning)), line(span(advice)))],
  });
}

function serviceDown(run: Run): Message {
  const text = "⚠️ No usable answer from the agent service";
  const rest =
    "Runs and approvals in this channel may be out of date until it is back. Decisions are kept until then.";
  const why = run.outage === null ? [] : [quote(untrustedSpan(run.outage.why, 300))];
  const first = line(span(text, { bold: true }), span(", since "), moment(run.outage?.since ?? 0), span(":"));
  return withId("thread:service-down", { text, blocks: [rich(first, ...why, line(span(rest)))] });
}

function serviceBack(run: Run): Message {
  const away = duration((run.outage?.until ?? 0) - (run.outage?.since ?? 0));
  return oneSentence("thread:service-back", `The agent service answers again after ${away}.`);
}

/** True for messages of the channel itself. All others are replies in the run's thread. */
export function inChannel(slot: Slot): boolean {
  return slot === OPENING || isStormSlot(slot) || slot.startsWith(DOWN) || slot.startsWith(BACK);
}

/** Draws the message of a slot as the run is now. Throws for an unknown slot: only known messages may be posted. */
export function messageIn(run: Run, slot: Slot, deployment: Deployment = UNNAMED): Message {
  const thread = threadMessage(run, slot, deployment);
  if (thread !== null) return inChannel(slot) ? named(thread, deployment) : namedText(thread, deployment);
  if (slot === UNREADABLE) return named(unreadableCard(run, deployment), deployment);
  const page = digestPages(run).find((each) => digestSlot(each) === slot);
  if (page !== undefined) return named(digestMessage(run, page), deployment);
  const approval = run.approvals.find((each) => cardSlot(each.id) === slot);
  if (approval === undefined) throw new TypeError(`no message is drawn for ${slot}`);
  return approvalCard(run, approval, deployment);
}

// The last message of a thread whose run was not started, may not have started, or is not watched here.

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
  const title = "⚠️ Started, but not followed here";
  const what = "The service gave this run the id of a run in another thread: ";
  const meaning =
    "Perhaps someone started watching it before the service answered; then its approvals are in that thread. Otherwise the service used one id for two runs, and Countersign can't tell them apart. Ask the operators of the service.";
  const first = line(person(run.requester), span(" "), span(title, { bold: true }));
  const second = line(span(what), runIdElement(id, deployment), span(". "), span(meaning));
  const text = escaped(`${title}: ${oneLine(run.input, 150)}`);
  return withId("outcome:taken", { text, blocks: [rich(first, second)] });
}

function unknown(run: Run, again: "asked" | "started" | "left"): Message {
  const title = "❓ Start not confirmed";
  const why =
    "The task was sent, but the answer was lost, so a run may have started. If it did, its approvals are not shown here. Countersign does not send the task again by itself.";
  const answered = { asked: null, started: "Chosen: Start again.", left: "Chosen: Leave it." }[again];
  const blocks: Block[] = [
    rich(line(person(run.requester), span(" "), span(title, { bold: true })), line(span(why))),
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
