// Private answers to commands: lists, one run, help, health.

import type { Block } from "@slack/types";
import type { Run } from "../../../domain/run.ts";
import { OPENING, runId, unreadableNow } from "../../../domain/run.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import {
  count,
  escaped,
  line,
  type Message,
  moment,
  person,
  quote,
  rich,
  untrustedSpan,
  span,
} from "./rich.ts";
import { runStatus, stays } from "./run-status.ts";
import { unreadableTitle } from "./unreadable-card.ts";

/** Most pending approvals that a row of a list names. */
const WAITS_MOST = 3;

/** A run with a link to its thread, or with other words to a card. Null: Slack gave none. */
export type Linked = { readonly run: Run; readonly link: string | null; readonly linkWords?: string };

export function help(command: string): Message {
  const rows: [string, string][] = [
    ["run <task>", "start a run; its thread opens in this channel"],
    ["status <run id>", "how a run stands"],
    ["list", "the runs of your channels"],
    ["pending", "what waits for a decision in your channels"],
    ["watch <run id>", "follow a run that was started elsewhere, in this channel"],
    ["unwatch <run id>", "stop following a run"],
    [
      "audit <run id>",
      "everything that is recorded about a run, as a file, for those who may read the audit",
    ],
    ["health", "whether the agent service and its gateway answer"],
    ["help", "this list"],
  ];
  const lines = rows.map(([usage, what]) =>
    line(span(`${command} ${usage}`, { code: true }), span(` ${what}\n`)),
  );
  const ending = line(
    span(
      `${command} alone opens a form. Approvals are decided with the buttons on their cards; no command decides anything.`,
    ),
  );
  return {
    text: `${command}: run, status, list, pending, watch, unwatch, audit, health, help`,
    blocks: [rich(...lines, ending)],
  };
}

/** `more` is the number of runs that are not listed. */
export function runList(title: string, none: string, runs: readonly Linked[], more: number): Message {
  if (runs.length === 0) return { text: none, blocks: [rich(line(span(none)))] };
  const blocks: Block[] = [rich(line(span(title, { bold: true }))), ...runs.map((each) => runRow(each))];
  if (more > 0)
    blocks.push(
      rich(line(span(`${count(more)} more ${more === 1 ? "is" : "are"} not shown; these are the newest.`))),
    );
  return { text: `${title} ${runs.length}`, blocks };
}

export function runRow({ run, link, linkWords = "open the thread" }: Linked): Block {
  const { icon, text } = runStatus(run);
  const id = runId(run);
  const waits = run.approvals.filter((each) => each.state.type === "pending");
  const thread = link === null ? [] : [span(" · "), { type: "link" as const, url: link, text: linkWords }];
  const head = line(
    span(`${icon} ${text}`, { bold: true }),
    span(stays(run) ? " since " : " "),
    moment(run.seen?.since ?? run.askedAt),
    span(", asked by "),
    person(run.requester),
    ...(id === null ? [] : [span(" · "), untrustedSpan(id, 120, { code: true })]),
    ...thread,
  );
  const asks = waits
    .slice(0, WAITS_MOST)
    .map((each) =>
      line(span("Waits for: "), untrustedSpan(oneLine(each.request.action ?? "(not said)", 160), 160)),
    );
  const unreadable = unreadableNow(run);
  if (unreadable !== null) asks.push(line(span(`⚠️ ${unreadableTitle(unreadable)}.`)));
  if (waits.length > WAITS_MOST)
    asks.push(line(span(`… and for ${count(waits.length - WAITS_MOST)} more decisions`)));
  return rich(
    head,
    ...(run.input === "" ? [] : [quote(untrustedSpan(oneLine(run.input, 200), 200))]),
    ...asks,
  );
}

export function oneRun(linked: Linked): Message {
  const { text } = runStatus(linked.run);
  const notPosted =
    linked.run.posts[OPENING]?.type === "up" ? [] : [rich(line(span("Its thread is not posted yet.")))];
  return {
    text: escaped(`${text}: ${oneLine(linked.run.input, 200)}`),
    blocks: [runRow(linked), ...notPosted],
  };
}
