// Whole messages and views: limits over all blocks, unique ids, and ids for blocks that have none.

import { randomBytes } from "node:crypto";
import { Refused, refusedWith } from "./errors.ts";
import type { Block } from "./model.ts";
import { homeBlocks, messageBlocks, modalBlocks } from "./rules-blocks.ts";
import {
  both,
  complaints,
  type Fields,
  flag,
  isJson,
  type Json,
  type Rule,
  shape,
  string,
} from "./rules-check.ts";
import { plainText } from "./rules-fields.ts";

/** @slack/types ModalView: title, submit and close 24, private_metadata 3000, callback_id 255. */
const anyView: Fields = {
  private_metadata: string(0, 3000),
  callback_id: string(0, 255),
  external_id: string(0, 255),
};
const modal: Rule = shape(
  { title: plainText(24), blocks: modalBlocks },
  {
    ...anyView,
    submit: plainText(24),
    close: plainText(24),
    clear_on_close: flag,
    notify_on_close: flag,
    submit_disabled: flag,
  },
  (value, at, report) => {
    const inputs = isJson(value) && blocksIn(value["blocks"]).some(({ type }) => type === "input");
    if (inputs && value["submit"] === undefined) report("missing required field: submit", at);
  },
);
const home: Rule = shape({ blocks: homeBlocks }, anyView);

/** docs.slack.dev, views: 250 kB. */
const maxViewBytes = 250_000;

/** Not published. Third parties measured about this much, with & < > as entities and 100 for each header. */
const maxCounted = 13_200;

/** docs.slack.dev, markdown block: cumulative over one payload. */
const maxMarkdown = 12_000;

const blocksIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

/** Every object in a value, including itself. */
const within = (value: unknown): Json[] => {
  if (Array.isArray(value)) return value.flatMap(within);
  return isJson(value) ? [value, ...Object.values(value).flatMap(within)] : [];
};

/** @slack/types: block_id is unique in its surface, action_id in its block. */
const uniqueIds: Rule = (value, at, report) => {
  const blockIds = new Set<unknown>();
  for (const [index, block] of blocksIn(value).entries()) {
    if (block["block_id"] !== undefined && blockIds.has(block["block_id"]))
      report(`block_id ${JSON.stringify(block["block_id"])} already exists`, `${at}/${index}/block_id`);
    blockIds.add(block["block_id"]);
    const actionIds = within(block).flatMap((held) => held["action_id"] ?? []);
    for (const id of actionIds.filter((one, first) => actionIds.indexOf(one) !== first))
      report(`action_id ${JSON.stringify(id)} already exists`, `${at}/${index}`);
  }
};

/** @slack/types Focusable: one element of a view at most. */
const oneFocus: Rule = (value, at, report) => {
  const focused = within(value).filter((held) => held["focus_on_load"] === true);
  if (focused.length > 1) report("only one element can have focus_on_load", at);
};

const markdownFits: Rule = (value, at, report) => {
  const markdown = blocksIn(value).filter(({ type }) => type === "markdown");
  const length = markdown.reduce((sum, { text }) => sum + String(text).length, 0);
  if (length > maxMarkdown) report(`markdown must be less than ${maxMarkdown + 1} characters in total`, at);
};

const countedLength = (blocks: unknown): number =>
  within(blocks).reduce((sum, { type, text }) => {
    const own = typeof text === "string" ? text.replace(/&/g, "&amp;").replace(/[<>]/g, "&lt;").length : 0;
    return sum + own + (type === "header" ? 100 : 0);
  }, 0);

const shortId = (): string => randomBytes(4).toString("base64url").slice(0, 5);

const interactive = (held: Json): boolean =>
  typeof held["type"] === "string" &&
  /^(button|radio_buttons|checkboxes|overflow|.*(select|picker|_input))$/.test(held["type"]);

/** A copy in which each block has a block_id and each interactive element an action_id, as Slack returns them. */
const identified = (blocks: unknown): Block[] => {
  const copy = structuredClone(blocks) as Block[];
  for (const block of copy) {
    block.block_id ??= shortId();
    for (const held of within(block)) if (interactive(held)) held["action_id"] ??= shortId();
  }
  return copy;
};

/** The blocks as a message stores them, or a refusal. */
export const acceptBlocks = (blocks: unknown): Block[] => {
  const rules: readonly Rule[] = [messageBlocks, uniqueIds, markdownFits];
  const wrong = rules.flatMap((rule) => complaints(blocks, rule, "/blocks"));
  if (wrong.length > 0) {
    const refused = refusedWith("invalid_blocks", wrong);
    throw new Refused(refused.code, { ...refused.more, errors: wrong });
  }
  if (countedLength(blocks) > maxCounted) throw new Refused("msg_blocks_too_long");
  return identified(blocks);
};

/** The view as it is stored, or a refusal. */
export const acceptView = (view: Json, kind: "modal" | "home"): Json & { blocks: Block[] } => {
  if (Buffer.byteLength(JSON.stringify(view)) > maxViewBytes) throw new Refused("view_too_large");
  if (view["type"] !== kind)
    throw refusedWith("invalid_arguments", [
      `unsupported type: ${String(view["type"])} [json-pointer:/view/type]`,
    ]);
  const wrong = [
    ...complaints(view, kind === "modal" ? modal : home, "/view"),
    ...complaints(view["blocks"], both(uniqueIds, oneFocus), "/view/blocks"),
  ];
  if (wrong.length > 0) throw refusedWith("invalid_arguments", wrong);
  return { ...structuredClone(view), blocks: identified(view["blocks"]) };
};
