// Rules for whole messages and views: limits over all blocks, unique ids, and ids for blocks that have none.

import { randomBytes } from "node:crypto";
import { z } from "zod";
import { Refused, refusedWith } from "./errors.ts";
import { isJson, type Json } from "./json-object.ts";
import type { Block } from "./model.ts";
import { homeBlocks, messageBlocks, modalBlocks } from "./rules-blocks.ts";
import { complaints, flag, shape, string } from "./rules-check.ts";
import { plainText } from "./rules-fields.ts";

const anyView = {
  private_metadata: string(0, 3000),
  callback_id: string(0, 255),
  external_id: string(0, 255),
};

/** @slack/types ModalView: title, submit and close have 24 characters, private_metadata 3000, callback_id 255. */
const modal = shape(
  { title: plainText(24), blocks: modalBlocks },
  {
    ...anyView,
    submit: plainText(24),
    close: plainText(24),
    clear_on_close: flag,
    notify_on_close: flag,
    submit_disabled: flag,
  },
);
const home = shape({ blocks: homeBlocks }, anyView);

/** docs.slack.dev, views: 250 kB. */
const maxViewBytes = 250_000;

/** Not published. Third parties measured about this limit, with & < > counted as entities and each header as 100 more characters. */
const maxCounted = 13_200;

/** docs.slack.dev, markdown block: the limit for all markdown blocks of a payload together. */
const maxMarkdown = 12_000;

const blocksIn = (value: unknown): Json[] => listed(value).filter(isJson);

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

type Place = (string | number)[];

/** Every object in a value, including the value itself, with its place. */
function placedWithin(value: unknown, place: Place): { held: Json; place: Place }[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => placedWithin(one, [...place, index]));
  if (!isJson(value)) return [];
  const inner = Object.entries(value).flatMap(([field, one]) => placedWithin(one, [...place, field]));
  return [{ held: value, place }, ...inner];
}

const within = (value: unknown): Json[] => placedWithin(value, []).map(({ held }) => held);

// Rules over several fields or blocks. They check what the app sent, not the parsed result, and apply even if single fields are invalid.

type Report = (message: string, path?: Place) => void;

const whole = (rule: (value: unknown, report: Report) => void) =>
  z
    .unknown()
    .superRefine((value, context) =>
      rule(value, (message, path = []) => context.addIssue({ code: "custom", input: value, message, path })),
    );

/** @slack/types: a block_id is unique in its surface, an action_id in its block. */
const uniqueIds = whole((value, report) => {
  const blockIds = new Set<unknown>();
  for (const [index, block] of blocksIn(value).entries()) {
    if (block["block_id"] !== undefined && blockIds.has(block["block_id"]))
      report(`block_id ${JSON.stringify(block["block_id"])} already exists`, [index, "block_id"]);
    blockIds.add(block["block_id"]);
    const actionIds = within(block).flatMap((held) => held["action_id"] ?? []);
    for (const id of actionIds.filter((one, first) => actionIds.indexOf(one) !== first))
      report(`action_id ${JSON.stringify(id)} already exists`, [index]);
  }
});

const choosing = new Set<unknown>(["static_select", "multi_static_select", "radio_buttons", "checkboxes"]);

const optionsOf = (element: Json): unknown[] =>
  [element, ...blocksIn(element["option_groups"])].flatMap((one) => blocksIn(one["options"]));

/** An initial option must equal one of the options exactly, including the order of its fields (@slack/types, StaticSelect). */
const initialIsOffered = whole((value, report) => {
  for (const { held, place } of placedWithin(value, []).filter(({ held }) => choosing.has(held["type"]))) {
    const offered = new Set(optionsOf(held).map((option) => JSON.stringify(option)));
    for (const option of listed(held["initial_options"] ?? [held["initial_option"]]))
      if (option !== undefined && !offered.has(JSON.stringify(option)))
        report("initial option must be one of the options", place);
  }
});

/** @slack/types Focusable: at most one element of a view. */
const oneFocus = whole((value, report) => {
  const focused = within(value).filter((held) => held["focus_on_load"] === true);
  if (focused.length > 1) report("only one element can have focus_on_load");
});

const markdownFits = whole((value, report) => {
  const markdown = blocksIn(value).filter(({ type }) => type === "markdown");
  const length = markdown.reduce((sum, { text }) => sum + String(text).length, 0);
  if (length > maxMarkdown) report(`markdown must be less than ${maxMarkdown + 1} characters in total`);
});

/** A view with inputs must have a submit button. */
const inputsHaveSubmit = whole((view, report) => {
  if (!isJson(view) || view["submit"] !== undefined) return;
  if (blocksIn(view["blocks"]).some(({ type }) => type === "input")) report("missing required field: submit");
});

const countedLength = (blocks: unknown): number =>
  within(blocks).reduce((sum, { type, text }) => {
    const own = typeof text === "string" ? text.replace(/&/g, "&amp;").replace(/[<>]/g, "&lt;").length : 0;
    return sum + own + (type === "header" ? 100 : 0);
  }, 0);

const shortId = (): string => randomBytes(4).toString("base64url").slice(0, 5);

const interactive = (held: Json): boolean =>
  typeof held["type"] === "string" &&
  /^(button|radio_buttons|checkboxes|overflow|.*(select|picker|_input))$/.test(held["type"]);

/** Returns a copy in which each block has a block_id and each interactive element an action_id, as in Slack's answers. */
function identified(blocks: unknown): Block[] {
  const copy = structuredClone(blocks) as Block[];
  for (const block of copy) {
    block.block_id ??= shortId();
    for (const held of within(block)) if (interactive(held)) held["action_id"] ??= shortId();
  }
  return copy;
}

/** Returns the blocks as a message stores them. Throws `Refused` if they break a rule. */
export function acceptBlocks(blocks: unknown): Block[] {
  const rules = [messageBlocks, initialIsOffered, uniqueIds, markdownFits];
  const wrong = rules.flatMap((rule) => complaints(blocks, rule, "/blocks"));
  if (wrong.length > 0) {
    const refused = refusedWith("invalid_blocks", wrong);
    throw new Refused(refused.code, { ...refused.more, errors: wrong });
  }
  if (countedLength(blocks) > maxCounted) throw new Refused("msg_blocks_too_long");
  return identified(blocks);
}

/** Returns the view as it is stored. Throws `Refused` if it breaks a rule. */
export function acceptView(view: Json, kind: "modal" | "home"): Json & { blocks: Block[] } {
  if (Buffer.byteLength(JSON.stringify(view)) > maxViewBytes) throw new Refused("view_too_large");
  if (view["type"] !== kind)
    throw refusedWith("invalid_arguments", [
      `unsupported type: ${String(view["type"])} [json-pointer:/view/type]`,
    ]);
  const ofView = kind === "modal" ? [modal, inputsHaveSubmit] : [home];
  const wrong = [
    ...ofView.flatMap((rule) => complaints(view, rule, "/view")),
    ...[initialIsOffered, uniqueIds, oneFocus].flatMap((rule) =>
      complaints(view["blocks"], rule, "/view/blocks"),
    ),
  ];
  if (wrong.length > 0) throw refusedWith("invalid_arguments", wrong);
  return { ...structuredClone(view), blocks: identified(view["blocks"]) };
}
