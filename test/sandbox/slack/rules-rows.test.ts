// Every row of the tables of blocks and elements: a valid example, and the place of the fault in an invalid one.

import { expect, test } from "vitest";
import { Refused } from "#sandbox/slack/errors.ts";
import { allBlocks } from "#sandbox/slack/rules-blocks.ts";
import { typesOf } from "#sandbox/slack/rules-check.ts";
import { allElements } from "#sandbox/slack/rules-elements.ts";
import { acceptBlocks, acceptView } from "#sandbox/slack/rules-surface.ts";
import { plain } from "./bolt-app.ts";

const long = (length: number) => plain("x".repeat(length));
const mrkdwn = (text: string) => ({ type: "mrkdwn", text });
const option = (value = "v") => ({ text: plain("o"), value });
const options = [option()];
const group = { label: plain("g"), options };
const rich = (text = "x") => ({
  type: "rich_text",
  elements: [{ type: "rich_text_section", elements: [{ type: "text", text }] }],
});
const image = { type: "image", image_url: "https://x.example/a.png", alt_text: "a" };
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** The fields of a valid one, those of an invalid one, and the place of the fault below the element or block. */
type Example = readonly [fine: object, wrong: object, at: string];

const elements: Record<string, Example> = {
  button: [{ text: plain("b"), url: "https://x.example" }, { text: long(76) }, "/text/text"],
  image: [image, { image_url: "https://x.example/a.png" }, ""],
  static_select: [{ option_groups: [group] }, { options, option_groups: [group] }, ""],
  multi_static_select: [
    { options, max_selected_items: 1 },
    { options, max_selected_items: 0 },
    "/max_selected_items",
  ],
  users_select: [{ initial_user: "U1" }, { initial_users: ["U1"] }, ""],
  multi_users_select: [{ initial_users: ["U1"] }, { initial_users: "U1" }, "/initial_users"],
  channels_select: [{ initial_channel: "C1" }, { placeholder: long(151) }, "/placeholder/text"],
  conversations_select: [
    { default_to_current_conversation: true, filter: { include: ["private"] } },
    { filter: { include: ["everything"] } },
    "/filter/include/0",
  ],
  radio_buttons: [
    { options, initial_option: option() },
    { options: times(11, (i) => option(`${i}`)) },
    "/options",
  ],
  checkboxes: [{ options, initial_options: options }, { options, initial_options: [option("other")] }, ""],
  overflow: [
    { options: times(5, (i) => option(`${i}`)) },
    { options: times(6, (i) => option(`${i}`)) },
    "/options",
  ],
  plain_text_input: [{ min_length: 1, max_length: 3000 }, { min_length: 5, max_length: 4 }, ""],
  datepicker: [{ initial_date: "2026-11-21" }, { initial_date: "21.11.2026" }, "/initial_date"],
};

const cell = { type: "raw_text", text: "c" };

const blocks: Record<string, Example> = {
  section: [{ text: long(3000) }, {}, ""],
  header: [{ text: long(150) }, { text: mrkdwn("x") }, "/text/type"],
  context: [{ elements: [image, mrkdwn("x")] }, { elements: [] }, "/elements"],
  actions: [{ elements: [{ type: "button", text: plain("b") }] }, { elements: [image] }, "/elements/0/type"],
  divider: [{}, { text: plain("x") }, ""],
  rich_text: [rich(), { elements: [] }, "/elements"],
  input: [
    { label: plain("L"), element: { type: "datepicker" } },
    { label: plain("L"), element: image },
    "/element/type",
  ],
  markdown: [{ text: "x".repeat(12_000) }, { text: "" }, "/text"],
  image: [image, { alt_text: "a" }, ""],
  alert: [{ text: long(200), level: "error" }, { text: long(201) }, "/text/text"],
  table: [
    { rows: [[cell]], column_settings: [{ align: "right" }] },
    { rows: times(101, () => [cell]) },
    "/rows",
  ],
  data_table: [{ rows: [[cell]], caption: "C" }, { rows: [[cell]] }, ""],
};

/** Returns the first place that a refusal points at, or "none". */
const place = (accept: () => unknown): string => {
  try {
    accept();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { messages } = error.more["response_metadata"] as { messages: string[] };
    return /json-pointer:([^\]]*)/.exec(messages[0] ?? "")?.[1] ?? "nowhere";
  }
  return "none";
};

type Typed = { readonly type: string } & Record<string, unknown>;

const onlyInModals = new Set(["input", "alert"]);

const blockAt = (block: Typed): string =>
  onlyInModals.has(block.type)
    ? place(() =>
        acceptView({ type: "modal", title: plain("M"), submit: plain("S"), blocks: [block] }, "modal"),
      ).replace("/view", "")
    : place(() => acceptBlocks([block]));

const accessories = new Set(["button", "image", "overflow"]);

/** Returns a block that may contain the element, and the pointer to the element. */
const elementIn = (element: Typed): { block: Typed; at: string } => {
  if (accessories.has(element.type))
    return { block: { type: "section", text: plain("s"), accessory: element }, at: "/blocks/0/accessory" };
  return { block: { type: "input", label: plain("L"), element }, at: "/blocks/0/element" };
};

test("every row of both tables has its examples", () => {
  expect(Object.keys(elements).sort()).toEqual(typesOf(allElements).sort());
  expect(Object.keys(blocks).sort()).toEqual(typesOf(allBlocks).sort());
});

test.each(Object.entries(elements))("the rules of the element %s hold", (type, [fine, wrong, at]) => {
  expect(blockAt(elementIn({ ...fine, type }).block)).toBe("none");
  const bad = elementIn({ ...wrong, type });
  expect(blockAt(bad.block)).toBe(`${bad.at}${at}`);
});

test.each(Object.entries(blocks))("the rules of the block %s hold", (type, [fine, wrong, at]) => {
  expect(blockAt({ ...fine, type })).toBe("none");
  expect(blockAt({ ...wrong, type })).toBe(`/blocks/0${at}`);
});

test("an id is unique in a surface or block, and only one element of a view has the focus", () => {
  const twice = times(2, () => ({ type: "divider", block_id: "b" }));
  expect(place(() => acceptBlocks(twice))).toBe("/blocks/1/block_id");
  const focused = times(2, (i) => ({
    type: "input",
    block_id: `b${i}`,
    label: plain("L"),
    element: { type: "plain_text_input", focus_on_load: true },
  }));
  const view = { type: "modal", title: plain("M"), submit: plain("S"), blocks: focused };
  expect(place(() => acceptView(view, "modal"))).toBe("/view/blocks");
});
