// The queue as a list: one request per line, with filters above and pages below. The Home tab and the answer to `pending` both show it.

import type { Block } from "@slack/types";
import { claimOf } from "../../../domain/handling.ts";
import { openQuestions } from "../../../domain/question.ts";
import type { Freeze } from "../../../domain/freeze.ts";
import type { HoldEnd } from "../../../domain/hold.ts";
import type { QueueItem, ReviewGroup, UndeliveredItem } from "../../../domain/queue.ts";
import { BUILT_IN_RULE } from "../../../domain/policy/policy.ts";
import type { Run } from "../../../domain/run.ts";
import { askedIn } from "../../../domain/text/headline.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { ageWords } from "../../../domain/text/time-words.ts";
import { QUEUE_REVIEW, QUEUE_REVIEW_RULE, QUEUE_REVIEW_RUN } from "../names.ts";
import { isFiltered, type QueueChoice } from "../queue-choice.ts";
import { frozenBlocks } from "./brake-blocks.ts";
import { marksInPlainText, riskMark } from "./pending-card.ts";
import { runRow, undeliveredLine } from "./command-answers.ts";
import { partWithId } from "./message-id.ts";
import { filters, pager } from "./queue-filters.ts";
import { refusalReason } from "./queue-reasons.ts";
import { missingInWords } from "./waiting-lines.ts";
import {
  count,
  countedLength,
  escaped,
  header,
  line,
  localTime,
  note,
  plain,
  plural,
  rich,
  span,
} from "./rich.ts";

/**
 * `link` leads to the card, and is null if Slack gave none. `review` is the value of the button, and is null if the reader may not decide.
 */
export type QueueRow = {
  readonly item: QueueItem;
  readonly link: string | null;
  readonly review: string | null;
};

/** A group of requests. `together` is how many of them can be reviewed in one form, and `review` is the value of the button. */
export type GroupRow = { readonly group: ReviewGroup; readonly together: number; readonly review: string };

/** One page of the queue. */
export type QueuePage = {
  readonly yours: readonly QueueRow[];
  readonly others: readonly QueueRow[];
  /** The first decisions that the service has not confirmed yet. Empty except on the first page. */
  readonly undelivered: readonly (UndeliveredItem & { readonly link: string | null })[];
  /** The counts over all pages. `unreadable` counts runs. */
  readonly counts: Readonly<Record<"yours" | "others" | "undelivered" | "unreadable", number>>;
  /** The index of the page, from 0. */
  readonly page: number;
  readonly pages: number;
  readonly choice: QueueChoice;
  /** The names of the rules that the filter offers. */
  readonly rules: readonly string[];
  /** Requests that can be reviewed together. Empty except on the first page. */
  readonly groups: readonly GroupRow[];
  /** The first runs with unreadable approvals. Empty except on the first page. */
  readonly unreadable: readonly { readonly run: Run; readonly link: string | null }[];
  /** Whether the reader may decide nothing, like a guest. */
  readonly closed: boolean;
  /** Whether more runs wait than were read. */
  readonly more: boolean;
  /** The freezes that are in force in at least one of the reader's channels. */
  readonly freezes: readonly Freeze[];
};

/** Whether nothing waits, and nothing was filtered out or left unread. */
export function isEmpty({ counts, choice, more }: QueuePage): boolean {
  const all = counts.yours + counts.others + counts.undelivered + counts.unreadable;
  return all === 0 && !isFiltered(choice) && !more;
}

export const NOTHING_WAITS = "Nothing in your channels is waiting for a decision.";
export const CLOSED_QUEUE = "Only full members of this workspace decide requests, so none are listed here.";

export function queueBlocks(page: QueuePage): Block[] {
  if (page.closed) return [header("Waiting for you"), partWithId("queue:yours:none", words(CLOSED_QUEUE))];
  return [
    ...frozenBlocks(page.freezes),
    header(titled("Waiting for you", page.counts.yours)),
    ...filters(page),
    ...page.groups.map(groupRow),
    ...(page.counts.yours === 0 ? [partWithId("queue:yours:none", words(noneOf(page)))] : []),
    ...rowsWithId("queue:yours", page.yours),
    ...(page.counts.others === 0 ? [] : othersBlocks(page)),
    ...undeliveredBlocks(page),
    ...unreadableBlocks(page),
    ...pager(page),
  ];
}

function othersBlocks({ yours, others, counts }: QueuePage): Block[] {
  if (others.length === 0)
    return yours.length === 0
      ? []
      : [note(`${titled("Waiting for others", counts.others)}: on the next pages`)];
  return [header(titled("Waiting for others", counts.others)), ...rowsWithId("queue:others", others)];
}

function undeliveredBlocks({ undelivered, counts, page }: QueuePage): Block[] {
  if (counts.undelivered === 0 || page > 0) return [];
  const more = counts.undelivered - undelivered.length;
  const rest = `Not listed here: ${count(more)}. The threads of their runs show them.`;
  const rows = [
    ...undelivered.map((item) => undeliveredLine(item)),
    ...(more === 0 ? [] : [line(span(rest))]),
  ];
  return [
    header(titled("Decided, not confirmed yet", counts.undelivered)),
    partWithId("queue:undelivered", rich(...rows)),
  ];
}

function unreadableBlocks({ unreadable, counts, page }: QueuePage): Block[] {
  const more = page > 0 ? 0 : counts.unreadable - unreadable.length;
  const runs = `${count(more)} ${plural(more, "run")} whose requests can't be read`;
  const rest =
    more === 0
      ? []
      : [words(`Not listed here: ${runs}. ${plural(more, "Its thread says", "Their threads say")} why.`)];
  return [...unreadable.map((row) => runRow(row, "short")), ...rest];
}

const titled = (title: string, requests: number): string =>
  requests === 0 ? title : `${title} (${count(requests)})`;

function noneOf({ choice, counts, more }: QueuePage): string {
  if (isFiltered(choice)) return "Nothing here waits for you with this filter.";
  if (more) return "Nothing among the oldest requests waits for you.";
  return counts.others === 0 ? NOTHING_WAITS : "Nothing waits for you now.";
}

const words = (text: string): Block => rich(line(span(text)));

function rowsWithId(id: "queue:yours" | "queue:others", rows: readonly QueueRow[]): Block[] {
  return rows.flatMap((row, at) => {
    const [asked, ...rest] = requestRow(row);
    return asked === undefined ? [] : [at === 0 ? partWithId(id, asked) : asked, ...rest];
  });
}

/** Shorter than the headline of a card, because a line on a phone has less room. */
const ASKED_CHARS = 110;
/** Slack's limit for an `accessibility_label`. */
const LABEL_CHARS = 75;

/** The service's words are plain text, in which Slack reads no markup. Our words, with mentions and links, are in the small print below. */
export function requestRow({ item, link, review }: QueueRow): Block[] {
  const { run, approval, marks } = item;
  const asked = askedIn(approval.request, ASKED_CHARS);
  const mark = marks.risk === null ? "" : `${riskMark(marks.risk)} `;
  const text = `${mark}${marksInPlainText(marks)}: ${asked}`;
  const place = `<#${run.channel}> · ${run.origin === "started" ? "asked" : "watched"} by <@${run.requester}>`;
  const state = [...stateParts(item), ...cardLink(link)].join(" · ");
  const opens = formName(item);
  const button = {
    type: "button",
    action_id: QUEUE_REVIEW,
    value: review,
    text: plain(opens),
    accessibility_label: oneLine(`${opens}: ${asked}`, LABEL_CHARS),
  };
  const section = { type: "section", text: plain(text), ...(review === null ? {} : { accessory: button }) };
  const small = { type: "context", elements: [ours(`${place} · ${state}`)] };
  return [section, small];
}

/** Names the form that opens: who may not approve gets the form for a denial. */
const formName = ({ may }: QueueItem): string => (may.includes("approve") ? "Review" : "Deny");

/** The most characters of a link. Slack's own have about 150 and count with their markup. */
export const LINK_CHARS = 200;

/**
 * A link from Slack. Its markup needs `&` as an entity. A link with any other special character, or a longer one, does not come from Slack,
 * and is left out.
 */
function cardLink(link: string | null): string[] {
  const inMarkup = link?.replaceAll("&", "&amp;") ?? "";
  const isUsable = inMarkup !== "" && countedLength({ text: inMarkup }) <= LINK_CHARS;
  return isUsable && !/[<>|\s]/.test(inMarkup) ? [`<${inMarkup}|card>`] : [];
}

const ours = (text: string): object => ({ type: "mrkdwn", text, verbatim: true });

/** How long the request has waited, how many people have approved it, its deadline, and why the reader can't approve it now. */
function stateParts({ run, approval, rule, refusal, waitedMs, deadline, held }: QueueItem): string[] {
  const votes =
    approval.votes.length > 0 || rule.needs > 1
      ? [
          `${count(approval.votes.length)} of ${count(rule.needs)} ${rule.needs === 1 ? "approval" : "approvals"}`,
        ]
      : [];
  const missing = missingInWords(approval, rule);
  if (missing !== "") votes.push(`missing: ${escaped(oneLine(missing, PARTS_CHARS))}`);
  const until = deadline === null ? [] : [`until ${localTime(deadline)}`];
  const why = refusal === null || held !== null ? null : refusalReason(refusal, run.origin);
  return [
    ...(held === null ? [`waiting ${ageWords(waitedMs)}`, ...votes] : [heldWords(held)]),
    ...until,
    ...followUpWords(approval),
    ...(why === null ? [] : [why]),
  ];
}

const heldWords = ({ until }: HoldEnd): string =>
  until === null ? "approved, on hold" : `approved, held until ${localTime(until)}`;

/** Who is looking at the request, and whether a question to the requester is open. */
function followUpWords(approval: QueueItem["approval"]): string[] {
  const claim = claimOf(approval);
  const asked = openQuestions(approval).length;
  return [
    ...(claim === null ? [] : [`<@${claim.by}> is looking at it`]),
    ...(asked === 0 ? [] : ["a question waits for an answer"]),
  ];
}

const PARTS_CHARS = 120;

// Requests that can be reviewed together.

function groupRow({ group: { kind, items }, together, review }: GroupRow): Block {
  const [first] = items;
  if (first === undefined) return words("");
  const { run, rule } = first;
  const requests = `*${count(items.length)} requests`;
  const what =
    kind === "run"
      ? `${requests} of one run* in <#${run.channel}>, ${run.origin === "started" ? "asked" : "watched"} by <@${run.requester}>`
      : rule.name === BUILT_IN_RULE.name
        ? `${requests}* in <#${run.channel}>`
        : `${requests} under the rule* \`${escaped(oneLine(rule.name, 80)).replaceAll("`", "'")}\` in <#${run.channel}>`;
  const left = items.length - together;
  return {
    type: "section",
    text: ours(`${what}${left === 0 ? "" : ` · ${count(left)} not included`}`),
    accessory: {
      type: "button",
      action_id: kind === "run" ? QUEUE_REVIEW_RUN : QUEUE_REVIEW_RULE,
      value: review,
      text: plain(`Review ${count(together)} together`),
    },
  } as Block;
}
