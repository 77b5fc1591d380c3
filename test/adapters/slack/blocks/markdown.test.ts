import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markdown } from "#src/adapters/slack/blocks/markdown.ts";
import { rich } from "#src/adapters/slack/blocks/rich.ts";
import { always, anyText } from "./hostile.ts";
import { expectInert, expectMessage, textOf } from "./oracle.ts";
import { printedBlocks } from "./printed.ts";

/** The largest number that a list of Slack gets. */
const MAX_NUMBER = 9_999;

const messageOf = (text: string) => ({ text: "The run ended.", blocks: [rich(...markdown(text))] });
const drawnFrom = (text: string): string => `\n${printedBlocks(messageOf(text).blocks)}`;

describe("an output is drawn", () => {
  test.each([
    ["headings and styles", "# Title\n\nsome **bold**, *italic*, ~~struck~~ and `code`"],
    [
      "lists in lists",
      "1. one\n   - a\n   - b\n2. two\n\n- [x] done\n- [ ] open\n\n1. loose\n\n- [x] in a paragraph\n\n- [ ] so too",
    ],
    ["quotes", "> said\n> twice"],
    ["code", "```ts\nconst a = 1;\n```"],
    ["tables as they are", "| a | b |\n|---|---|\n| 1 | 2 |"],
    ["links with their address", "[Approve](https://evil.example) <https://x.example> https://y.example"],
    ["images and HTML as text", "![cat](https://evil.example/x.png) <b>bold</b>\n\n<script>x</script>"],
    ["Slack's markup as text", "<!channel> <@U0EVIL> <https://evil.example|click> :tada: @here"],
    ["entities as text", "&lt;!channel&gt; &amp; &copy;"],
  ])("%s", (_what, text) => expect(drawnFrom(text)).toMatchSnapshot());
});

test("whatever it says, it mentions no one and leads nowhere", () => {
  always(anyText, (text) => expectInert(markdown(text.slice(0, 8_000))));
});

test("no word of it is lost", () => {
  const word = fc.stringMatching(/^[a-z]{6}$/);
  const mark = fc.constantFrom(
    "# ",
    "- ",
    "  - ",
    "    - ",
    "1. ",
    "> ",
    "> - ",
    "**",
    "`",
    "[x](y) ",
    "",
    "\n",
    "| ",
  );
  const lines = fc.array(fc.tuple(mark, word), { minLength: 1, maxLength: 30 });
  always(lines, (given) => {
    const shown = textOf(markdown(given.map(([start, said]) => `${start}${said}`).join("\n")));
    for (const [, said] of given) expect(shown).toContain(said);
  });
});

test("a list keeps its numbers, and Slack accepts it, however large they are", () => {
  const start = fc.oneof(
    fc.integer({ min: 0, max: 999_999_900 }),
    fc.integer({ min: MAX_NUMBER - 5, max: MAX_NUMBER + 5 }),
  );
  always(fc.tuple(start, fc.integer({ min: 1, max: 8 })), ([first, length]) => {
    const items = Array.from({ length }, (_, at) => `${first + at}. item${at}`);
    const message = messageOf(`- nested\n\n  ${items.join("\n  ")}`);
    expectMessage(message);
    for (const item of items) expect(printedBlocks(message.blocks)).toContain(item);
    expect(JSON.stringify(message)).not.toMatch(/"offset":\d{5}/);
  });
});

test.each([
  ["the number of a ticket", "45231. Fix the login", ["45231. Fix the login"]],
  ["a list that starts at 0", "0. stop\n1. copy", ["0. stop", "1. copy"]],
  ["numbers out of order", "45231. Fix it\n380. Ship it", ["45231. Fix it", "380. Ship it"]],
  [
    "a list that ends past the limit",
    `${MAX_NUMBER}. a\n${MAX_NUMBER + 1}. b`,
    [`${MAX_NUMBER}. a`, `${MAX_NUMBER + 1}. b`],
  ],
])("%s: each item is a line with the number that was written", (_what, text, lines) => {
  expect(drawnFrom(text).trim().split(/\n+/)).toEqual(lines);
  expect(JSON.stringify(messageOf(text))).not.toContain("rich_text_list");
});

test("a list nested deeper than Slack indents keeps its words", () => {
  const text = Array.from({ length: 12 }, (_, depth) => `${"  ".repeat(depth)}- level${depth}x`).join("\n");
  const shown = textOf(markdown(text));
  for (let depth = 0; depth < 12; depth += 1) expect(shown).toContain(`level${depth}x`);
});

test("a link's title and a fence's language are shown too", () => {
  expect(textOf(markdown('[a](https://x.example "the small print")'))).toContain("the small print");
  expect(textOf(markdown("```rm -rf /srv\nls\n```"))).toContain("rm -rf /srv");
});

test.each([
  ["quotes", ">"],
  ["spaced quotes", "> "],
  ["brackets", "["],
  ["emphasis", "*a "],
  ["lists", "- "],
  ["HTML", "<b>"],
  ["backticks", "`"],
])("eight thousand characters of nested %s are drawn", (_what, part) => {
  const text = part.repeat(Math.floor(8_000 / part.length));
  expect(textOf(markdown(text)).length).toBeGreaterThan(0);
});

test("paragraphs of one item, or of one quote, do not run into each other", () => {
  expect(textOf(markdown("- first\n\n  second"))).not.toContain("firstsecond");
  expect(textOf(markdown("> first\n>\n> second"))).not.toContain("firstsecond");
});
