// Every row of the tables of blocks and elements: an example that is fine, and the place of what is wrong with another.

import { expect, test } from "vitest";
import { Refused } from "#sandbox/slack/errors.ts";
import { blockRows } from "#sandbox/slack/rules-blocks.ts";
import { elementRows } from "#sandbox/slack/rules-elements.ts";
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
const feedback = { text: plain("f"), value: "v" };
const workflow = { trigger: { url: "https://x.example" } };
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** The fields of a fine one, those of a wrong one, and where the wrong is, below the element or block. */
type Example = readonly [fine: object, wrong: object, at: string];

const elements: Record<string, Example> = {
  button: [{ text: plain("b"), url: "https://x.example" }, { text: long(76) }, "/text/text"],
  image: [image, { image_url: "https://x.example/a.png" }, ""],
  workflow_button: [{ text: plain("w"), workflow }, { text: plain("w"), workflow: {} }, "/workflow"],
  feedback_buttons: [
    { positive_button: feedback, negative_button: feedback },
    { positive_button: feedback, negative_button: { text: long(76), value: "v" } },
    "/negative_button/text/text",
  ],
  icon_button: [{ icon: "trash", text: plain("d") }, { icon: "trash" }, ""],
  static_select: [{ option_groups: [group] }, { options, option_groups: [group] }, ""],
  multi_static_select: [
    { options, max_selected_items: 1 },
    { options, max_selected_items: 0 },
    "/max_selected_items",
  ],
  external_select: [{ min_query_length: 1 }, { options }, ""],
  multi_external_select: [{ initial_options: options }, { initial_options: [] }, "/initial_options"],
  users_select: [{ initial_user: "U1" }, { initial_users: ["U1"] }, ""],
  multi_users_select: [{ initial_users: ["U1"] }, { initial_users: "U1" }, "/initial_users"],
  channels_select: [{ initial_channel: "C1" }, { placeholder: long(151) }, "/placeholder/text"],
  multi_channels_select: [{ initial_channels: ["C1"] }, { initial_channels: [7] }, "/initial_channels/0"],
  conversations_select: [
    { default_to_current_conversation: true, filter: { include: ["private"] } },
    { filter: { include: ["everything"] } },
    "/filter/include/0",
  ],
  multi_conversations_select: [{ filter: { exclude_bot_users: true } }, { filter: [] }, "/filter"],
  radio_buttons: [
    { options, initial_option: option() },
    { options: many(11, (i) => option(`${i}`)) },
    "/options",
  ],
  checkboxes: [{ options, initial_options: options }, { options, initial_options: [option("other")] }, ""],
  overflow: [
    { options: many(5, (i) => option(`${i}`)) },
    { options: many(6, (i) => option(`${i}`)) },
    "/options",
  ],
  plain_text_input: [{ min_length: 1, max_length: 3000 }, { min_length: 5, max_length: 4 }, ""],
  email_text_input: [{ initial_value: "a@b.example" }, { multiline: true }, ""],
  url_text_input: [{ initial_value: "https://x.example" }, { initial_value: 7 }, "/initial_value"],
  number_input: [{ is_decimal_allowed: false, min_value: "1", max_value: "2" }, { min_value: "1" }, ""],
  rich_text_input: [
    { initial_value: rich(), min_lines: 1, max_lines: 100 },
    { max_lines: 101 },
    "/max_lines",
  ],
  file_input: [{ filetypes: ["png"], max_files: 10 }, { max_files: 11 }, "/max_files"],
  datepicker: [{ initial_date: "2026-11-21" }, { initial_date: "21.11.2026" }, "/initial_date"],
  timepicker: [
    { initial_time: "23:59", timezone: "Europe/Oslo" },
    { initial_time: "24:00" },
    "/initial_time",
  ],
  datetimepicker: [
    { initial_date_time: 1_628_633_820 },
    { initial_date_time: 1_628_633_820_000 },
    "/initial_date_time",
  ],
};

const cell = { type: "raw_text", text: "c" };
const task = (task_id: string) => ({ type: "task_card", task_id, title: "T", status: "pending" });

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
  context_actions: [
    { elements: [{ type: "icon_button", icon: "trash", text: plain("d") }] },
    { elements: [{ type: "button", text: plain("b") }] },
    "/elements/0/type",
  ],
  data_visualization: [{ anything: "goes" }, { block_id: "no rule" }, "none"],
  alert: [{ text: long(200), level: "error" }, { text: long(201) }, "/text/text"],
  card: [
    { body: mrkdwn("b"), actions: [{ type: "button", text: plain("b") }] },
    { subtitle: mrkdwn("s") },
    "",
  ],
  carousel: [{ elements: [{ type: "card", body: mrkdwn("b") }] }, { elements: [] }, "/elements"],
  table: [
    { rows: [[cell]], column_settings: [{ align: "right" }] },
    { rows: many(101, () => [cell]) },
    "/rows",
  ],
  data_table: [{ rows: [[cell]], caption: "C" }, { rows: [[cell]] }, ""],
  task_card: [task("1"), { ...task("1"), status: "finished" }, "/status"],
  plan: [{ title: "P", tasks: [task("1")] }, { title: plain("P") }, "/title"],
  file: [{ external_id: "x", source: "remote" }, { external_id: "x", source: "remote" }, "never"],
  video: [
    {
      video_url: "https://x.example/v",
      thumbnail_url: "https://x.example/t",
      alt_text: "a",
      title: plain("V"),
    },
    { video_url: "http://x.example/v", thumbnail_url: "x", alt_text: "a", title: plain("V") },
    "/video_url",
  ],
  container: [
    { title: plain("C"), child_blocks: [{ type: "divider" }] },
    { title: plain("C"), child_blocks: [{ type: "markdown", text: "x" }] },
    "/child_blocks/0/type",
  ],
};

/** The first place that a refusal points at, or "none". */
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

const inContext = new Set(["icon_button", "feedback_buttons"]);
const accessories = new Set(["button", "image", "overflow", "workflow_button"]);

/** The element in the block that it may stand in, and the pointer to it. */
const elementIn = (element: Typed): { block: Typed; at: string } => {
  if (inContext.has(element.type))
    return { block: { type: "context_actions", elements: [element] }, at: "/blocks/0/elements/0" };
  if (accessories.has(element.type))
    return { block: { type: "section", text: plain("s"), accessory: element }, at: "/blocks/0/accessory" };
  return { block: { type: "input", label: plain("L"), element }, at: "/blocks/0/element" };
};

test("every row of both tables has its examples", () => {
  expect(Object.keys(elements).sort()).toEqual(Object.keys(elementRows).sort());
  expect(Object.keys(blocks).sort()).toEqual(Object.keys(blockRows).sort());
});

test.each(Object.entries(elements))("the rules of the element %s hold", (type, [fine, wrong, at]) => {
  expect(blockAt(elementIn({ ...fine, type }).block)).toBe("none");
  const bad = elementIn({ ...wrong, type });
  expect(blockAt(bad.block)).toBe(`${bad.at}${at}`);
});

const nobodySends = new Set(["file"]);
const unchecked = new Set(["data_visualization"]);
const rowsWithRules = Object.entries(blocks).filter(
  ([type]) => !nobodySends.has(type) && !unchecked.has(type),
);

test.each(rowsWithRules)("the rules of the block %s hold", (type, [fine, wrong, at]) => {
  expect(blockAt({ ...fine, type })).toBe("none");
  expect(blockAt({ ...wrong, type })).toBe(`/blocks/0${at}`);
});

test("a file block comes from Slack alone, and of a data visualization only the name is known", () => {
  expect(blockAt({ type: "file", external_id: "x", source: "remote" })).toBe("/blocks/0/type");
  expect(blockAt({ type: "data_visualization", whatever: true })).toBe("none");
});

test("an id stands once in a surface or block, and only one element of a view has the focus", () => {
  const twice = many(2, () => ({ type: "divider", block_id: "b" }));
  expect(place(() => acceptBlocks(twice))).toBe("/blocks/1/block_id");
  const focused = many(2, (i) => ({
    type: "input",
    block_id: `b${i}`,
    label: plain("L"),
    element: { type: "plain_text_input", focus_on_load: true },
  }));
  const view = { type: "modal", title: plain("M"), submit: plain("S"), blocks: focused };
  expect(place(() => acceptView(view, "modal"))).toBe("/view/blocks");
});
