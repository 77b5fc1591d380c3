import { describe, expect, test } from "vitest";
import { Refused } from "#sandbox/slack/errors.ts";
import { acceptBlocks, acceptView } from "#sandbox/slack/rules-surface.ts";
import { plain, reasonModal } from "./bolt-app.ts";

const text = (length: number) => plain("x".repeat(length));
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const actions = (...elements: object[]) => ({ type: "actions", elements });
const button = (more: object = {}) => ({ type: "button", text: text(1), ...more });
const option = (value: string) => ({ text: text(75), value });
const section = (more: object) => ({ type: "section", ...more });
const rich = (...elements: object[]) => ({ type: "rich_text", elements });
const confirm = { title: text(100), text: text(300), confirm: text(30), deny: text(30), style: "danger" };

/** Returns Slack's verdict: the code, and the places that it points at. */
const verdict = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const metadata = error.more["response_metadata"] as { messages: string[] } | undefined;
    const places = (metadata?.messages ?? []).map((one) => /json-pointer:([^\]]*)/.exec(one)?.[1] ?? one);
    return [error.code, ...places].join(" ");
  }
  return "fine";
};

const inMessage = (...blocks: object[]): string => verdict(() => acceptBlocks(blocks));

describe("a block at the limit is valid", () => {
  test.each<[string, object[]]>([
    ["section", [section({ text: text(3000) })]],
    ["fields", [section({ fields: times(10, () => plain("x".repeat(300))) })]],
    ["header", [{ type: "header", text: text(150) }]],
    [
      "context",
      [{ type: "context", elements: times(10, () => ({ type: "mrkdwn", text: "x", verbatim: true })) }],
    ],
    ["actions", [actions(...times(25, () => button()))]],
    [
      "button",
      [actions(button({ text: text(75), value: "v".repeat(2000), confirm, action_id: "a".repeat(255) }))],
    ],
    ["select", [actions({ type: "static_select", options: times(100, (i) => option(`${i}`)) })]],
    ["radio buttons", [actions({ type: "radio_buttons", options: times(10, (i) => option(`${i}`)) })]],
    ["checkboxes", [actions({ type: "checkboxes", options: [option("v".repeat(75))] })]],
    [
      "a people select",
      [section({ text: text(1), accessory: { type: "users_select", placeholder: text(150) } })],
    ],
    ["markdown", [{ type: "markdown", text: "x".repeat(12_000) }]],
    ["fifty blocks", times(50, () => ({ type: "divider" }))],
    ["image", [{ type: "image", image_url: "https://x.example/a.png", alt_text: "a" }]],
    [
      "rich text",
      [
        rich(
          { type: "rich_text_section", elements: [{ type: "text", text: "a", style: { bold: true } }] },
          {
            type: "rich_text_list",
            style: "bullet",
            indent: 1,
            elements: [{ type: "rich_text_section", elements: [{ type: "user", user_id: "U0ANA" }] }],
          },
          { type: "rich_text_quote", elements: [{ type: "emoji", name: "eyes" }] },
          { type: "rich_text_preformatted", border: 0, elements: [{ type: "text", text: "x".repeat(9000) }] },
        ),
      ],
    ],
  ])("%s", (_what, blocks) => expect(inMessage(...blocks)).toBe("fine"));
});

describe("a block beyond the limit is refused, and the refusal points at the place", () => {
  test.each<[string, object[], string]>([
    ["section text", [section({ text: text(3001) })], "/blocks/0/text/text"],
    ["empty text", [section({ text: plain("") })], "/blocks/0/text/text"],
    ["empty section", [section({})], "/blocks/0"],
    ["fields", [section({ fields: times(11, () => text(1)) })], "/blocks/0/fields"],
    ["long field", [section({ fields: [text(2001)] })], "/blocks/0/fields/0/text"],
    ["header", [{ type: "header", text: text(151) }], "/blocks/0/text/text"],
    ["mrkdwn header", [{ type: "header", text: { type: "mrkdwn", text: "x" } }], "/blocks/0/text/type"],
    ["context", [{ type: "context", elements: times(11, () => text(1)) }], "/blocks/0/elements"],
    ["actions", [actions(...times(26, () => button()))], "/blocks/0/elements"],
    ["button text", [actions(button({ text: text(76) }))], "/blocks/0/elements/0/text/text"],
    ["button value", [actions(button({ value: "v".repeat(2001) }))], "/blocks/0/elements/0/value"],
    ["action_id", [actions(button({ action_id: "a".repeat(256) }))], "/blocks/0/elements/0/action_id"],
    ["block_id", [{ type: "divider", block_id: "b".repeat(256) }], "/blocks/0/block_id"],
    [
      "confirm",
      [actions(button({ confirm: { ...confirm, text: text(301) } }))],
      "/blocks/0/elements/0/confirm/text/text",
    ],
    ["style", [actions(button({ style: "loud" }))], "/blocks/0/elements/0/style"],
    [
      "options",
      [actions({ type: "radio_buttons", options: times(11, (i) => option(`${i}`)) })],
      "/blocks/0/elements/0/options",
    ],
    [
      "option value",
      [actions({ type: "checkboxes", options: [option("v".repeat(76))] })],
      "/blocks/0/elements/0/options/0/value",
    ],
    [
      "initial option",
      [actions({ type: "static_select", options: [option("a")], initial_option: option("b") })],
      "/blocks/0/elements/0",
    ],
    ["input", [reasonModal().blocks[0] ?? {}], "/blocks/0/type"],
    ["alert", [{ type: "alert", text: text(1) }], "/blocks/0/type"],
    ["unknown type", [{ type: "banner" }], "/blocks/0/type"],
    ["unknown field", [{ type: "divider", colour: "red" }], "/blocks/0"],
    ["blocks", times(51, () => ({ type: "divider" })), "/blocks"],
    ["equal block_ids", times(2, () => ({ type: "divider", block_id: "b" })), "/blocks/1/block_id"],
    ["equal action_ids", [actions(...times(2, () => button({ action_id: "a" })))], "/blocks/0"],
    ["markdown in total", times(2, () => ({ type: "markdown", text: "x".repeat(6001) })), "/blocks"],
    [
      "empty rich text",
      [rich({ type: "rich_text_section", elements: [{ type: "text", text: "" }] })],
      "/blocks/0/elements/0/elements/0/text",
    ],
    [
      "an emoji in preformatted text",
      [rich({ type: "rich_text_preformatted", elements: [{ type: "emoji", name: "eyes" }] })],
      "/blocks/0/elements/0/elements/0/type",
    ],
  ])("%s", (_what, blocks, place) => expect(inMessage(...blocks)).toBe(`invalid_blocks ${place}`));
});

test("the limit of a whole message is checked before the limits of its blocks", () => {
  const full = times(4, () => section({ text: text(3000) }));
  expect(inMessage(...full, section({ text: text(1200) }))).toBe("fine");
  expect(inMessage(...full, section({ text: text(1201) }))).toBe("msg_blocks_too_long");
  expect(inMessage(...full, section({ text: plain("&".repeat(241)) }))).toBe("msg_blocks_too_long");
  expect(inMessage(...full, { type: "header", text: text(150) }, section({ text: text(951) }))).toBe(
    "msg_blocks_too_long",
  );
});

test("a character beyond the basic plane counts as two", () => {
  const header = (count: number) => inMessage({ type: "header", text: plain("😀".repeat(count)) });
  expect([header(75), header(76)]).toEqual(["fine", "invalid_blocks /blocks/0/text/text"]);
});

test("missing ids are created", () => {
  const [block] = acceptBlocks([actions(button())]);
  expect(block?.block_id).toMatch(/^.{5}$/);
  expect(block).toMatchObject({ elements: [{ action_id: expect.stringMatching(/^.{5}$/) as string }] });
});

test("a modal accepts only the blocks that are allowed in modals", () => {
  const modal = (more: object) => verdict(() => acceptView(reasonModal({ ...more }), "modal"));
  const divider = { type: "divider" };
  expect(modal({ private_metadata: "x".repeat(3000), blocks: times(100, () => divider) })).toBe("fine");
  expect(modal({ private_metadata: "x".repeat(3001) })).toBe("invalid_arguments /view/private_metadata");
  expect(modal({ blocks: times(101, () => divider) })).toBe("invalid_arguments /view/blocks");
  expect(modal({ blocks: [{ type: "markdown", text: "x" }] })).toBe("invalid_arguments /view/blocks/0/type");
  expect(modal({ blocks: [{ type: "alert", text: text(200), level: "warning" }] })).toBe("fine");
  expect(modal({ type: "home" })).toBe("invalid_arguments /view/type");
});
