// The Home tab: runs that wait for a decision, the person's own runs, and a button to start one. Decisions are made on the cards
// that it links to.

import type { Block, View } from "@slack/types";
import { HOME_REFRESH, HOME_START } from "../names.ts";
import { type Linked, runRow } from "./command-answers.ts";
import { header, line, rich, span } from "./rich.ts";

export type HomeRows = {
  readonly waiting: readonly Linked[];
  readonly own: readonly Linked[];
  /** Whether there are more runs than the rows above. */
  readonly moreWaiting: boolean;
  readonly moreOwn: boolean;
};

/** Null rows: Slack or the store did not answer. `at`: when they were looked up (ms). */
export function homeView(rows: HomeRows | null, command: string, at: number): View {
  const blocks = rows === null ? [textBlock(UNKNOWN)] : listed(rows, command);
  return { type: "home", blocks: [...blocks, { type: "divider" }, buttons(), asOf(at)] };
}

const UNKNOWN =
  "Your runs could not be looked up just now: Slack or the store did not answer. Press Refresh.";

function listed(rows: HomeRows, command: string): Block[] {
  return [
    header("Waiting for a decision"),
    ...(rows.waiting.length === 0
      ? [textBlock("Nothing that somebody else asked for waits in your channels.")]
      : rows.waiting.map(runRow)),
    ...(rows.moreWaiting
      ? [textBlock(`There are more; these are the newest. ${command} pending lists them too.`)]
      : []),
    { type: "divider" },
    header("Your runs"),
    ...(rows.own.length === 0 ? [textBlock("You have not asked for a run yet.")] : rows.own.map(runRow)),
    ...(rows.moreOwn ? [textBlock("There are more; these are the newest.")] : []),
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
  const text = `As of <!date^${seconds}^{date_short_pretty} at {time_secs}|${fallback}>. Decisions are made on the cards.`;
  return { type: "context", elements: [{ type: "mrkdwn", text, verbatim: true }] } as Block;
}
