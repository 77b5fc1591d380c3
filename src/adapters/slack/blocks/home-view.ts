// The Home tab: what waits for a decision, the person's own runs, and a button to start one.

import type { Block, View } from "@slack/types";
import { HOME_REFRESH, HOME_START } from "../names.ts";
import { type Linked, MORE_RUNS, runRow } from "./command-answers.ts";
import { partWithId, withId } from "./message-id.ts";
import { queueBlocks, type QueuePage } from "./queue-list.ts";
import { header, line, rich, span } from "./rich.ts";

export type HomeRows = {
  readonly page: QueuePage;
  readonly own: readonly Linked[];
  /** Whether the person has more runs than those in `own`. */
  readonly moreOwn: boolean;
};

/** `rows` is null if Slack or the store did not answer. `at` is when they were looked up (wall clock, ms). */
export function homeView(rows: HomeRows | null, at: number): View {
  const blocks = rows === null ? [textBlock(UNKNOWN)] : listed(rows);
  const id = rows === null ? "home:unknown" : "home:runs";
  return withId(id, { type: "home", blocks: [...blocks, { type: "divider" }, buttons(), asOf(at)] });
}

const UNKNOWN = "Your runs could not be loaded: Slack or the database did not answer. Press Refresh.";

function listed({ page, own, moreOwn }: HomeRows): Block[] {
  return [
    ...queueBlocks(page),
    { type: "divider" },
    header("Your runs"),
    ...(own.length === 0
      ? [partWithId("home:own:none", textBlock("You have no runs in your channels."))]
      : own.map((run) => runRow(run))),
    ...(moreOwn ? [textBlock(MORE_RUNS)] : []),
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
