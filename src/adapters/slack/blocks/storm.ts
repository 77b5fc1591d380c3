// The notice of a channel in which many requests wait for their cards. Its button opens the reader's own queue, and decides nothing.

import type { Block } from "@slack/types";
import type { Run, Slot } from "../../../domain/run.ts";
import { stormIn } from "../../../domain/storm.ts";
import { STORM_REVIEW } from "../names.ts";
import { withId } from "./message-id.ts";
import { count, line, type Message, moment, rich, span } from "./rich.ts";

const WHY =
  "Slack takes about one message a second here, so their cards come one after the other, for minutes. You need not wait for them: Review lists what waits for you, and only you see the list.";

export function stormNotice(run: Run, slot: Slot): Message {
  const storm = stormIn(run, slot);
  if (storm === null) return over();
  const { waiting, at } = storm;
  const text =
    waiting === 1 ? "1 request waits for its card" : `${count(waiting)} requests wait for their cards`;
  return withId("thread:storm", {
    text,
    blocks: [
      rich(line(span(`🟡 ${text}`, { bold: true }), span(" · "), moment(at)), line(span(WHY))),
      { type: "actions", block_id: `storm-${run.key}`, elements: [button(run)] } as Block,
    ],
  });
}

const button = ({ key }: Run): object => ({
  type: "button",
  action_id: STORM_REVIEW,
  value: key,
  style: "primary",
  text: { type: "plain_text", text: "Review", emoji: false },
});

function over(): Message {
  const text = "The cards of the requests that waited here are posted, or follow within seconds";
  return withId("thread:storm-over", { text, blocks: [rich(line(span(`${text}.`)))] });
}
