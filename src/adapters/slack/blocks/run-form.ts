// The form that starts a run. The bare command opens it for its own channel; opened from the Home tab, it asks for a channel.

import type { View } from "@slack/types";
import { CHANNEL_BLOCK, CHANNEL_INPUT, RUN_FORM, TASK_BLOCK, TASK_INPUT } from "../names.ts";
import { INPUT_CHARS } from "./rich.ts";

const plain = (text: string): object => ({ type: "plain_text", text });

/** `asksWhere` adds the field for the channel. */
export function runForm(metadata: string, asksWhere: boolean): View {
  const hint = asksWhere
    ? "What should the agent do? Its thread opens in the channel you choose."
    : "What should the agent do? Its thread opens in the channel you came from.";
  return {
    type: "modal",
    callback_id: RUN_FORM,
    private_metadata: metadata,
    title: plain("Start a run"),
    submit: plain("Start"),
    close: plain("Cancel"),
    blocks: [
      { type: "input", block_id: TASK_BLOCK, label: plain("Task"), hint: plain(hint), element: TASK },
      ...(asksWhere ? [WHERE] : []),
    ],
  } as View;
}

const TASK = {
  type: "plain_text_input",
  action_id: TASK_INPUT,
  multiline: true,
  max_length: INPUT_CHARS,
  placeholder: plain("Deploy billing-api 2026.11.3 to production"),
};

const WHERE = {
  type: "input",
  block_id: CHANNEL_BLOCK,
  label: plain("Channel"),
  hint: plain("Its members see the run, its requests and its output. Countersign must be in it."),
  element: {
    type: "conversations_select",
    action_id: CHANNEL_INPUT,
    placeholder: plain("Choose a channel"),
    filter: { include: ["public", "private"], exclude_bot_users: true },
  },
};
