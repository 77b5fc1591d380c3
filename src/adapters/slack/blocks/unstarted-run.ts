// The last message of a thread whose run was not started, may not have started, or is not watched here.

import type { Block } from "@slack/types";
import { oneLine, shortened } from "../../../domain/text/excerpt.ts";
import type { RunId } from "../../../domain/ids.ts";
import type { Run } from "../../../domain/run.ts";
import { UNKNOWN_LEAVE, UNKNOWN_START_AGAIN } from "../names.ts";
import { boxes, escaped, line, type Message, person, rich, untrustedSpan, span } from "./rich.ts";

export function notStarted(run: Run, why: string): Message {
  const text = `Not started: ${oneLine(why, 500)}`;
  const blocks = [
    rich(
      line(person(run.requester), span(" "), span("Not started. ", { bold: true }), span("The reason:")),
      ...boxes(shortened(why, 1_000, "masked")),
    ),
  ];
  return { text: escaped(text), blocks };
}

export function taken(run: Run, id: RunId): Message {
  const title = "⚠️ Started, but not followed here";
  const what = "The service gave this run an id that belongs to a run in another thread: ";
  const meaning =
    "If somebody began to watch this run before the service answered, its approvals are in that thread. If not, the service has used the id twice, and Countersign cannot tell the two runs apart: ask whoever runs the service.";
  const first = line(person(run.requester), span(" "), span(title, { bold: true }));
  const second = line(span(what), untrustedSpan(id, 120, { code: true }), span(". "), span(meaning));
  return { text: escaped(`${title}: ${oneLine(run.input, 150)}`), blocks: [rich(first, second)] };
}

export function unknown(run: Run, again: "asked" | "started" | "left"): Message {
  const title = "❔ It is not known whether a run was started";
  const why =
    "The task was sent, but the answer was lost. A run may have started. Countersign does not send the task again by itself. If a run did start, its approvals are not shown here.";
  const answered = { asked: null, started: "You chose to start again.", left: "You chose to leave it." }[
    again
  ];
  const blocks: Block[] = [
    rich(line(person(run.requester), span(" "), span(title, { bold: true })), line(span(why))),
  ];
  blocks.push(answered === null ? choices(run) : rich(line(span(answered))));
  return { text: escaped(`${title}: ${oneLine(run.input, 150)}`), blocks };
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
    text: { type: "plain_text", text: "If the first task did arrive, this starts a second run of it." },
    confirm: { type: "plain_text", text: "Start again" },
    deny: { type: "plain_text", text: "Cancel" },
  };
  const elements = [button(UNKNOWN_START_AGAIN, "Start again", confirm), button(UNKNOWN_LEAVE, "Leave it")];
  return { type: "actions", block_id: `unknown-${run.key}`, elements } as Block;
}
