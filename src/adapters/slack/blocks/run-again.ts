// The button that starts the task of a finished run again.

import type { Block } from "@slack/types";
import { canRunAgain, type Run } from "../../../domain/run.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { RUN_AGAIN } from "../names.ts";

/** Slack takes 300 characters in a dialog's text. */
const TASK_CHARS = 200;

const plain = (text: string): object => ({ type: "plain_text", text, emoji: false });

export function againActions(run: Run): Block[] {
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
