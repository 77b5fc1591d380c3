// Private answers to commands: lists of runs, a single run, and the help.

import type { Block, RichTextSection } from "@slack/types";
import { isUndecided } from "../../../domain/approval.ts";
import { isUndelivered, type Undelivered } from "../../../domain/decision-delivery.ts";
import { type Run, runId, unreadableNow } from "../../../domain/run.ts";
import { OPENING } from "../../../domain/slot.ts";
import type { SavedTask } from "../../../domain/policy/saved-task.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { RUNS_NEWEST, RUNS_NEXT, SUBCOMMANDS } from "../names.ts";
import { cardState } from "./card-state.ts";
import { type Deployment, runIdElement, UNNAMED } from "./deployment.ts";
import { followUpLines } from "./follow-up-lines.ts";
import { withId } from "./message-id.ts";
import {
  count,
  countedLength,
  escaped,
  line,
  type Message,
  MESSAGE_CHARS,
  person,
  plural,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";
import { type RunStatus, runStatus, statusElements, whyLines } from "./run-status.ts";
import { unreadableTitle } from "./run-thread.ts";

/** The most pending approvals that a row of a list names. */
const MAX_WAITS = 3;

/** A run with a link to its thread, or to a card if `linkWords` says so. The link is null if Slack gave none. */
export type Linked = {
  readonly run: Run;
  readonly link: string | null;
  readonly linkWords?: string;
  readonly deployment?: Deployment;
};

/** `tasks` are the saved tasks that the person may use in this channel. */
export function help(command: string, tasks: readonly SavedTask[] = []): Message {
  const rows: [string, string][] = [
    ["run <task>", "start a run; its thread opens in this channel"],
    ["status <run id>", "show the state of a run"],
    ["list", "list the runs in your channels"],
    ["pending", "list what waits for you, then what waits for others in your channels"],
    ["watch <run id>", "watch, in this channel, a run that was started elsewhere"],
    ["unwatch <run id>", "stop watching a run"],
    ["audit <run id>", "send the evidence of a run as a file, to admins and auditors only"],
    ["audit acknowledge <code> <why>", "let approvals be sent again after tampering, for admins only"],
    ["audit close <run id> <why>", "close the disputes of a run, for admins only"],
    ["report", "show who decided in the last full week, to admins only"],
    [
      "freeze here | everywhere | lift",
      "stop all starts and approvals, or resume them, for people who may freeze",
    ],
    ["health", "check the agent service, the token gateway and Countersign itself"],
    ["help", "show this list"],
  ];
  const lines = rows.map(([usage, what]) =>
    line(span(`${command} ${usage}`, { code: true }), span(` ${what}\n`)),
  );
  const ending = line(
    span(
      `${command} alone opens a form. Requests are decided with the buttons on their cards, never with a command.`,
    ),
  );
  return withId("answer:help", {
    text: `${command}: ${SUBCOMMANDS.join(", ")}`,
    blocks: [rich(...lines, ending), ...savedTaskLines(command, tasks)],
  });
}

/** Keeps the text below Slack's limit of 3,000 characters. The form lists all saved tasks. */
const TASKS_IN_HELP = 10;

function savedTaskLines(command: string, tasks: readonly SavedTask[]): Block[] {
  if (tasks.length === 0) return [];
  const rows = tasks.slice(0, TASKS_IN_HELP).map(({ name, fields, description }) => {
    const usage = [`${command} run ${name}`, ...fields.map((field) => `${field.name}=…`)].join(" ");
    return line(span(usage, { code: true }), untrustedSpan(` ${description}\n`, DESCRIPTION_CHARS));
  });
  const more = tasks.length - TASKS_IN_HELP;
  const rest = more > 0 ? [line(span(`${count(more)} more ${plural(more, "is", "are")} in the form.`))] : [];
  return [rich(line(span("Saved tasks in this channel", { bold: true })), ...rows, ...rest)];
}
const DESCRIPTION_CHARS = 200;

export type ListWords = { readonly title: string; readonly none: string };

/** `more`: whether there are older runs that are not listed; how many is unknown. `from`: how many newer runs are left out. */
export function runList(
  { title, none }: ListWords,
  runs: readonly Linked[],
  more: boolean,
  from = 0,
): Message {
  if (runs.length === 0) return withId("answer:list:empty", { text: none, blocks: [rich(line(span(none)))] });
  const heading = rich(line(span(title, { bold: true })));
  const rows = fittingRows(runs, MESSAGE_CHARS - countedLength([heading, ...runsPager(from, from, true)]));
  const isCut = more || rows.length < runs.length;
  const blocks: Block[] = [heading, ...rows, ...runsPager(from, from + rows.length, isCut)];
  return withId("answer:list", { text: `${title}: ${rows.length}`, blocks });
}

export const MORE_RUNS = "There are more; these are the newest.";

/** `next`: the place of the first run that is not listed. Pages differ in length, so it does not follow from the number of the page. */
function runsPager(from: number, next: number, isCut: boolean): Block[] {
  if (from === 0 && !isCut) return [];
  const place = `Runs ${count(from + 1)} to ${count(next)}, counted from the newest.`;
  const words = from === 0 ? MORE_RUNS : `${place}${isCut ? " There are more." : ""}`;
  const to = (action_id: string, text: string, value: number): object => ({
    type: "button",
    action_id,
    value: String(value),
    text: { type: "plain_text", text, emoji: false },
  });
  const elements = [
    ...(from > 0 ? [to(RUNS_NEWEST, "Newest", 0)] : []),
    ...(isCut ? [to(RUNS_NEXT, "Next", next)] : []),
  ];
  return [rich(line(span(words))), { type: "actions", elements } as Block];
}

/** Shortens the last rows until all fit. If short rows don't fit either, leaves out the last ones. */
function fittingRows(runs: readonly Linked[], chars: number): readonly Block[] {
  const whole = runs.map((run) => runRow(run));
  const short = runs.map((run) => runRow(run, "short"));
  const candidates = [
    ...runs.map((_, cut) => [...whole.slice(0, whole.length - cut), ...short.slice(whole.length - cut)]),
    ...runs.map((_, cut) => short.slice(0, short.length - cut)),
  ];
  return candidates.find((rows) => countedLength(rows) <= chars) ?? [];
}

/** A short row counts the requests that wait and the decisions on their way. The others name the first of each. */
export function runRow(
  { run, link, linkWords = "open the thread", deployment = UNNAMED }: Linked,
  size: "whole" | "short" = "whole",
): Block {
  const status = listedStatus(run);
  const id = runId(run);
  const thread = link === null ? [] : [span(" · "), { type: "link" as const, url: link, text: linkWords }];
  const head = line(
    ...statusElements(run, status),
    span(run.origin === "started" ? " · asked by " : " · watched by "),
    person(run.requester),
    ...(id === null ? [] : [span(" · "), runIdElement(id, deployment)]),
    ...thread,
  );
  const unreadable = unreadableNow(run);
  return rich(
    head,
    ...whyLines(status),
    ...(run.input === "" ? [] : [quote(untrustedSpan(oneLine(run.input, 200), 200))]),
    ...requestLines(run, size),
    ...undeliveredLines(run, size),
    ...(unreadable === null ? [] : [line(span(`⚠️ ${unreadableTitle(unreadable)}.`))]),
  );
}

function requestLines(run: Run, size: "whole" | "short"): RichTextSection[] {
  const waits = run.approvals.filter(({ state }) => state.type === "pending");
  const shown = size === "short" ? [] : waits.slice(0, MAX_WAITS);
  const more = waits.length - shown.length;
  const and = shown.length === 0 ? "Waits for" : "… and for";
  const rest = `${and} ${count(more)}${shown.length === 0 ? "" : " more"} ${plural(more, "decision")}`;
  return [
    ...shown.flatMap((approval) => [
      line(span("Waits for: "), untrustedSpan(oneLine(approval.request.action ?? "(not said)", 160), 160)),
      ...followUpLines(approval),
    ]),
    ...(more === 0 ? [] : [line(span(rest))]),
  ];
}

/** Returns the run's state as in its thread, or that its requests are decided, while the service still says that it waits for them. */
function listedStatus(run: Run): Omit<RunStatus, "name"> {
  const status = runStatus(run);
  const decidedAt = run.approvals.filter(isUndelivered).map(({ state }) => state.decision.at);
  const waits = run.approvals.some(isUndecided) || decidedAt.length === 0;
  return status.name !== "awaiting-approval" || waits
    ? status
    : { icon: "🟠", text: "Decided, not confirmed yet", since: Math.min(...decidedAt) };
}

function undeliveredLines(run: Run, size: "whole" | "short"): RichTextSection[] {
  const undelivered = run.approvals.filter(isUndelivered);
  const shown = size === "short" ? [] : undelivered.slice(0, MAX_WAITS);
  const more = undelivered.length - shown.length;
  const rest =
    shown.length === 0
      ? `Decided, not confirmed yet: ${count(more)}`
      : `… and ${count(more)} more, not confirmed yet`;
  return [
    ...shown.map((approval) => undeliveredLine({ run, approval, link: null })),
    ...(more === 0 ? [] : [line(span(rest))]),
  ];
}

/** A decision that is on its way to the service, with the title of its card. `link` leads to the card. */
export function undeliveredLine({
  run,
  approval,
  link,
}: {
  readonly run: Run;
  readonly approval: Undelivered;
  readonly link: string | null;
}): RichTextSection {
  const { by } = approval.state.decision;
  return line(
    span(cardState(run, approval).title, { bold: true }),
    ...(by === null ? [] : [span(" · "), person(by.user)]),
    span(": "),
    untrustedSpan(oneLine(approval.request.action ?? "(not said)", 160), 160),
    ...(link === null ? [] : [span(" · "), { type: "link" as const, url: link, text: "card" }]),
  );
}

export function oneRun(linked: Linked): Message {
  const { text } = listedStatus(linked.run);
  const notPosted =
    linked.run.posts[OPENING]?.type === "up" ? [] : [rich(line(span("Its thread is not posted yet.")))];
  return withId("answer:status", {
    text: escaped(`${text}: ${oneLine(linked.run.input, 200)}`),
    blocks: [runRow(linked), ...notPosted],
  });
}
