// The filters and the pages of a queue. Their values decide only what is listed.

import type { Block } from "@slack/types";
import { oneLine } from "../../../domain/text/excerpt.ts";
import {
  QUEUE_CHANNEL,
  QUEUE_CLEAR,
  QUEUE_FILTERS,
  QUEUE_NEXT,
  QUEUE_PREVIOUS,
  QUEUE_SHOW,
} from "../names.ts";
import {
  encodeChoice,
  isFiltered,
  isRuleValue,
  type QueueChoice,
  ruleNameIn,
  ruleValue,
  SHOW_ALL,
  SHOW_MINE,
} from "../queue-choice.ts";
import { count, countedLength, note, plain } from "./rich.ts";

type Filtered = {
  readonly counts: { readonly yours: number; readonly others: number };
  readonly choice: QueueChoice;
  readonly rules: readonly string[];
};
type Paged = {
  readonly page: number;
  readonly pages: number;
  readonly choice: QueueChoice;
  readonly more: boolean;
};

/** Slack's limit for the text of an option. */
const OPTION_CHARS = 75;
/** The most rules in the filter. Slack accepts 100 options in a menu. */
const MAX_RULES = 90;
/** The room for the names of rules, which count like the text of the message. */
const RULES_CHARS = 4_000;
/** The shortest list that has filters. */
const FILTER_FROM = 2;

/** Draws the menus, or nothing above a short list of everything. */
export function filters({ counts, choice, rules }: Filtered): Block[] {
  if (counts.yours + counts.others < FILTER_FROM && !isFiltered(choice)) return [];
  // The chosen rule is also an option when nothing waits under it any more.
  const chosenRule = isRuleValue(choice.show) ? [[choice.show, ruleNameIn(choice.show)] as const] : [];
  const waiting = rules.slice(0, MAX_RULES).map((name) => [ruleValue(name), name] as const);
  const offered = fitting([...new Map([...chosenRule, ...waiting])].map(ruleOption));
  const options = [
    { text: plain("Everything"), value: SHOW_ALL },
    { text: plain("What I started or watch"), value: SHOW_MINE },
    ...offered,
  ];
  const chosen = options.find(({ value }) => value === choice.show) ?? options[0];
  const show = { type: "static_select", action_id: QUEUE_SHOW, options, initial_option: chosen };
  const channel = {
    type: "conversations_select",
    action_id: QUEUE_CHANNEL,
    placeholder: { type: "plain_text", text: "All channels" },
    filter: { include: ["public", "private"], exclude_bot_users: true },
    ...(choice.channel === null ? {} : { initial_conversation: choice.channel }),
  };
  const clear = { type: "button", action_id: QUEUE_CLEAR, value: "all", text: plain("Show everything") };
  return [
    {
      type: "actions",
      block_id: `${QUEUE_FILTERS}:${choice.menuName}`,
      elements: [show, channel, ...(isFiltered(choice) ? [clear] : [])],
    } as Block,
    ...leftOut(rules, new Set(offered.map(({ value }) => value)), choice),
  ];
}

/** Says how many rules the menu has no room for. */
function leftOut(rules: readonly string[], offered: ReadonlySet<string>, choice: QueueChoice): Block[] {
  const left = rules.filter((name) => !offered.has(ruleValue(name))).length;
  if (left === 0) return [];
  const what = left === 1 ? "1 rule is" : `${count(left)} rules are`;
  const where = isFiltered(choice)
    ? "Press Show everything to list their requests too."
    : "The list below has their requests too.";
  return [note(`${what} not in the menu, because it has no more room. ${where}`)];
}

type Option = { readonly text: object; readonly value: string };

const ruleOption = ([value, name]: readonly [string, string]): Option => ({
  text: plain(oneLine(`Rule: ${name}`, OPTION_CHARS)),
  value,
});

/** Returns the first options that have room. */
function fitting(options: readonly Option[]): readonly Option[] {
  const over = options.findIndex((_, at) => countedLength(options.slice(0, at + 1)) > RULES_CHARS);
  return over === -1 ? options : options.slice(0, over);
}

export function pager({ page, pages, choice, more }: Paged): Block[] {
  const rest = more
    ? [
        note(
          "More runs wait than can be listed. These are the oldest; newer ones appear as these are decided.",
        ),
      ]
    : [];
  if (pages <= 1) return rest;
  const to = (action_id: string, text: string, next: number): object => ({
    type: "button",
    action_id,
    value: encodeChoice({ ...choice, page: next }) || "all",
    text: plain(text),
  });
  const elements = [
    ...(page > 0 ? [to(QUEUE_PREVIOUS, "Previous", page - 1)] : []),
    ...(page + 1 < pages ? [to(QUEUE_NEXT, "Next", page + 1)] : []),
  ];
  return [
    note(`Page ${count(page + 1)} of ${count(pages)}`),
    { type: "actions", elements } as Block,
    ...rest,
  ];
}
