import { describe, expect, test } from "vitest";
import { homeBlocks, messageBlocks, modalBlocks } from "#sandbox/slack/rules-blocks.ts";
import type { Json } from "#sandbox/slack/json-object.ts";
import { complaints, typesOf } from "#sandbox/slack/rules-check.ts";
import { asAccessory, inActions, inInput } from "#sandbox/slack/rules-elements.ts";
import { richTextParts, richTextPieces } from "#sandbox/slack/rules-rich-text.ts";
import type { Block } from "#sandbox/slack/model.ts";
import { drawBlocks } from "#sandbox/page/drawing/blocks.ts";
import { createReader } from "#sandbox/page/base/reader.ts";
import { blocksWith, ELEMENTS, PARTS, PIECES, plain, richText } from "./admitted.ts";
import { createStage, OPS } from "./stage.ts";

const { parts } = createStage();
const reader = createReader(parts, { person: "U0ANA", where: OPS, thread: null, panel: null });
const surface = { reader, id: "x", workspace: parts.workspace };
const asBlocks = (blocks: readonly Json[]): Block[] =>
  blocks.map((one) => ({ ...one, type: String(one["type"]) }));
const draw = (...blocks: Json[]): string => drawBlocks(asBlocks(blocks), surface).toString();

const BLOCKS = blocksWith(typesOf(inActions));
const block = (type: string): Json => ({ type, block_id: type, ...BLOCKS[type]?.[0] });
const inputHolding = (element: Json): Json => ({
  type: "input",
  block_id: "i",
  label: plain("Label"),
  element,
});

const SURFACES: [name: string, rule: typeof messageBlocks][] = [
  ["message", messageBlocks],
  ["modal", modalBlocks],
  ["Home tab", homeBlocks],
];

/** Expects that the text is drawn and recognizable, without the words for undrawn content. */
function expectDrawn(drawn: string, shows: string): void {
  expect(drawn).not.toContain("data-undrawn");
  expect(drawn).toContain(shows);
}

describe.each(SURFACES)("on a %s", (_, rule) => {
  const types = typesOf(rule.element);

  test("the rules allow the blocks that every app uses", () => {
    expect(types).toEqual(expect.arrayContaining(["section", "rich_text", "divider", "actions"]));
  });

  test.each(types)("every allowed block of type %s is drawn", (type) => {
    expect(Object.keys(BLOCKS)).toContain(type);
    expect(complaints([block(type)], rule, "")).toEqual([]);
    expectDrawn(draw(block(type)), BLOCKS[type]?.[1] ?? "");
  });
});

const PLACES: [name: string, union: typeof inActions, holding: (element: Json) => Json][] = [
  ["actions", inActions, (element) => ({ type: "actions", block_id: "b", elements: [element] })],
  [
    "a section",
    asAccessory,
    (accessory) => ({ type: "section", block_id: "b", text: plain("x"), accessory }),
  ],
  ["an input", inInput, inputHolding],
];

describe.each(PLACES)("in %s", (_, union, holding) => {
  test.each(typesOf(union))("every allowed element of type %s is drawn", (type) => {
    expect(Object.keys(ELEMENTS)).toContain(type);
    const element = { ...(type === "image" ? {} : { action_id: "a" }), ...ELEMENTS[type]?.[0], type };
    expect(complaints(element, union, "")).toEqual([]);
    expectDrawn(draw(holding(element)), ELEMENTS[type]?.[1] ?? "");
  });
});

describe("in rich text", () => {
  test.each(typesOf(richTextParts))("a %s is drawn", (type) => {
    expect(Object.keys(PARTS)).toContain(type);
    const part = { type, ...PARTS[type]?.[0] };
    expect(complaints(part, richTextParts, "")).toEqual([]);
    expectDrawn(draw(richText(part)), PARTS[type]?.[1] ?? "");
  });

  test.each(typesOf(richTextPieces))("a piece of type %s is drawn", (type) => {
    expect(Object.keys(PIECES)).toContain(type);
    const piece = { type, ...PIECES[type]?.[0] };
    expect(complaints(piece, richTextPieces, "")).toEqual([]);
    expectDrawn(draw(richText({ type: "rich_text_section", elements: [piece] })), PIECES[type]?.[1] ?? "");
  });
});

describe("content that cannot be drawn says so", () => {
  test("a block, with its content", () => {
    const drawn = draw({ type: "hologram", depth: 3 });
    expect(drawn).toContain("This sandbox cannot draw a block of type hologram.");
    expect(drawn).toContain("&quot;depth&quot;: 3");
  });

  test("an element, a part of a context and a piece of rich text", () => {
    const drawn = draw(
      { type: "actions", elements: [{ type: "lever", action_id: "l" }] },
      { type: "context", elements: [{ type: "bell" }] },
      richText({ type: "rich_text_section", elements: [{ type: "smell", of: "roses" }] }),
      richText({ type: "rich_text_poem", elements: [] }),
    );
    for (const what of ["an element of type lever", "type bell", "type smell", "type rich_text_poem"])
      expect(drawn).toContain(what);
    expect(drawn).toContain("&quot;of&quot;:&quot;roses&quot;");
  });
});

describe("long code", () => {
  const lines = Array.from({ length: 43 }, (_, i) => `line ${i + 1}`).join("\n");
  const box = richText({ type: "rich_text_preformatted", elements: [{ type: "text", text: lines }] });

  test("is folded, shows its length, and keeps every line in the page", () => {
    const drawn = draw(box);
    expect(drawn).toContain("Show all 43 lines");
    expect(drawn).toContain(lines);
  });

  test("is folded in mrkdwn and Markdown as in rich text", () => {
    for (const one of [
      { type: "section", text: { type: "mrkdwn", text: `\`\`\`${lines}\`\`\`` } },
      { type: "markdown", text: `\`\`\`\n${lines}\n\`\`\`` },
    ])
      expect(draw(one)).toContain("Show all 43 lines");
  });

  test("of a few lines is not folded", () => {
    expect(draw({ type: "markdown", text: "```\na\nb\n```" })).not.toContain("data-fold");
  });
});

describe("selects", () => {
  test("offer a person only the channels that they can see", () => {
    const guest = createReader(parts, { person: "U0GIL", where: OPS, thread: null, panel: null });
    const block = asBlocks([inputHolding({ type: "conversations_select", action_id: "a" })]);
    const drawn = drawBlocks(block, { ...surface, reader: guest }).toString();
    expect(drawn).toContain("#ops-agents");
    expect(drawn).not.toContain("payments-ops");
  });

  test("can filter out direct messages with bots", () => {
    const dm = parts.workspace.dmOf("U0ANA");
    const select = (filter: Json): string =>
      draw(inputHolding({ type: "conversations_select", action_id: "a", filter }));
    expect(select({ include: ["im"] })).toContain(dm.id);
    expect(select({ exclude_bot_users: true })).not.toContain(dm.id);
  });

  test("with a confirmation refer to its dialog", () => {
    const drawn = draw({
      type: "actions",
      block_id: "b",
      elements: [{ type: "radio_buttons", action_id: "r", ...ELEMENTS["radio_buttons"]?.[0] }],
    });
    const asked = /data-asks-first="([^"]+)"/.exec(drawn)?.[1];
    expect(drawn).toContain(`<dialog id="${asked}"`);
  });
});
