// The Home tab: what waits for a decision, the person's own runs, and a button to start one, with the form behind it.

import type { Block, View } from "@slack/types";
import {
  CHANNEL_BLOCK,
  CHANNEL_INPUT,
  HOME_REFRESH,
  HOME_START,
  RUN_FORM,
  TASK_BLOCK,
  TASK_INPUT,
} from "../names.ts";
import { type Linked, runRow } from "./command-answers.ts";
import { partWithId, withId } from "./message-id.ts";
import { queueBlocks, type QueuePage } from "./queue-list.ts";
import { header, INPUT_CHARS, line, rich, span } from "./rich.ts";

export type HomeRows = {
  readonly page: QueuePage;
  readonly own: readonly Linked[];
  /** Whether there are more runs of their own than these. */
  readonly moreOwn: boolean;
};

/** Null rows: Slack or the store did not answer. `at`: when they were looked up (ms). */
export function homeView(rows: HomeRows | null, at: number): View {
  const blocks = rows === null ? [textBlock(UNKNOWN)] : listed(rows);
  const id = rows === null ? "home:unknown" : "home:runs";
  return withId(id, { type: "home", blocks: [...blocks, { type: "divider" }, buttons(), asOf(at)] });
}

const UNKNOWN = "Your runs could not be looked up: Slack or the database did not answer. Press Refresh.";

function listed({ page, own, moreOwn }: HomeRows): Block[] {
  return [
    ...queueBlocks(page),
    { type: "divider" },
    header("Your runs"),
    ...(own.length === 0
      ? [partWithId("home:own:none", textBlock("You have not started a run yet."))]
      : own.map(runRow)),
    ...(moreOwn ? [textBlock("There are more; these are the newest.")] : []),
  ];
}

const textBlock = (text: string): Block => rich(line(span(text)));

function buttons(): Block {
  const button = (action_id: string, text: string): object => ({
    type: "button",
    action_id,
    text: { type: "plain_text", text },
  });
  const start = { ...button(HOME_START, "Start a run"), style: "primary" };
  return { type: "actions", elements: [start, button(HOME_REFRESH, "Refresh")] } as Block;
}

function asOf(at: number): Block {
  const seconds = Math.floor(at / 1_000);
  const fallback = `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  const text = `Updated <!date^${seconds}^{date_short_pretty} at {time_secs}|${fallback}>.`;
  return { type: "context", elements: [{ type: "mrkdwn", text, verbatim: true }] } as Block;
}

// The form that starts a run. The bare command opens it for its own channel; opened from the Home tab, it asks for a channel.

const plain = (text: string): object => ({ type: "plain_text", text });

/** `menu`: of saved tasks. `asksWhere` adds the field for the channel; `task` stands in the field for the task, to be changed or not. */
export function runForm(metadata: string, asksWhere: boolean, task = "", menu: readonly Block[] = []): View {
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
      ...menu,
      {
        type: "input",
        block_id: TASK_BLOCK,
        label: plain("Task"),
        hint: plain(hint),
        element: taskInput(task),
      },
      ...(asksWhere ? [WHERE] : []),
    ],
  } as View;
}

const taskInput = (task: string): object => ({
  ...TASK,
  ...(task === "" ? {} : { initial_value: task }),
});

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
