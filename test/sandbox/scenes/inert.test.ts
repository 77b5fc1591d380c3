import { expect, test } from "vitest";
import { tricksIn } from "#sandbox/scenes/inert.ts";
import type { Message, Person } from "#sandbox/slack/model.ts";

const ana: Person = {
  id: "U0ANA",
  team: "T",
  name: "Ana",
  handle: "ana",
  kind: "member",
  deactivated: false,
};
const people = new Map([[ana.id, ana]]);

const message = (text: string, ...elements: object[]): Message => ({
  channel: "C",
  ts: "1.000000",
  thread: null,
  broadcast: false,
  author: "U0COUNTERSIGN",
  text,
  blocks: [{ type: "rich_text", elements: [{ type: "rich_text_section", elements }] }],
  metadata: null,
  edited: null,
  files: [],
  ephemeralFor: null,
  at: 0,
});
const plain = (text: string) => ({ type: "text", text });

test("plain text that only looks like markup is harmless, and so is a mention of a member", () => {
  const looks = plain("<!channel> <https://evil.example|bank> *bold* ⟨U+202E⟩ 👩‍💻");
  expect(tricksIn(message("&lt;!channel&gt;", looks, { type: "user", user_id: "U0ANA" }), people)).toEqual(
    [],
  );
});

test.for([
  ["a control sequence in its notification", message("hello <!channel>")],
  ["a control sequence in its notification", message("see <https://evil.example|bank>")],
  ["an element of type link", message("x", { type: "link", url: "https://evil.example" })],
  ["an element of type broadcast", message("x", { type: "broadcast", range: "channel" })],
  ["a mention of an unknown person", message("x", { type: "user", user_id: "U0000001" })],
  ["a control sequence", message("x", { type: "mrkdwn", text: "<!here>" })],
  ["an invisible character in its notification", message("safe\u202eelif")],
  ["an invisible character", message("x", plain("safe\u202eelif"))],
  ["an invisible character", message("x", plain("zero\u200bwidth"))],
  ["an invisible character", message("x", plain("tag\u{e0061}"))],
] as const)("%s is found", ([what, tricked]) => {
  expect(tricksIn(tricked, people)).toEqual([what]);
});

test.for([
  "@here",
  "ask @channel now",
  "(@everyone)",
  "see https://evil.example",
  "HTTP://evil.example",
  "www.evil.example",
])('"%s" in markup is interpreted by Slack, unless it is verbatim', (text) => {
  const words = ["text that Slack turns into a link or a mention"];
  expect(tricksIn(message("x", { type: "mrkdwn", text }), people)).toEqual(words);
  expect(tricksIn(message("x", { type: "mrkdwn", text, verbatim: false }), people)).toEqual(words);
  expect(tricksIn(message("x", { type: "mrkdwn", text, verbatim: true }), people)).toEqual([]);
  expect(tricksIn(message("x", plain(text)), people)).toEqual([]);
});

test.for(["ana@here.example", "@hereafter", "*bold* and `code`", "a wwwide http"])(
  '"%s" is not interpreted by Slack',
  (text) => {
    expect(tricksIn(message("x", { type: "mrkdwn", text }), people)).toEqual([]);
  },
);

/** Written by hand, from the code charts. A pair is a range. */
const UNSEEN: readonly (readonly [from: number, to?: number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad],
  [0x34f],
  [0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x2800],
  [0x3164],
  [0xd800],
  [0xdfff],
  [0xe000],
  [0xfe00, 0xfe0f],
  [0xfeff],
  [0xffa0],
  [0xfff0, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe007f],
  [0xe0100, 0xe01ef],
  [0xf0000],
  [0x10ffff],
];

test.for(UNSEEN)("each of %j is found between letters", ([from, to = from]) => {
  const missed: string[] = [];
  for (let code = from; code <= to; code += 1) {
    const [found] = tricksIn(message("x", plain(`a${String.fromCodePoint(code)}b`)), people);
    if (found !== "an invisible character") missed.push(code.toString(16));
  }
  expect(missed).toEqual([]);
});

test.for([
  "👩‍💻",
  "❤️‍🔥",
  "👍🏽",
  "1️⃣",
  "⚠️ careful",
  "tab\tand\nnewline",
  "Zoë, Ω, 漢字, שלום",
  "a combining e\u0301",
])('all of "%s" is seen', (text) => {
  expect(tricksIn(message(text, plain(text)), people)).toEqual([]);
});
