import { expect, test } from "vitest";
import { tricksIn } from "#src/sandbox/scenes/inert.ts";
import type { Message, Person } from "#src/sandbox/slack/model.ts";

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
  edited: false,
  files: [],
  ephemeralFor: null,
  at: 0,
});
const plain = (text: string) => ({ type: "text", text });

test("plain text that only looks like more is harmless, and so is a mention of somebody who is here", () => {
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
  ["a mention of nobody", message("x", { type: "user", user_id: "U0000001" })],
  ["a control sequence", message("x", { type: "mrkdwn", text: "<!here>" })],
  ["a character nobody sees", message("x", plain("safe\u202eelif"))],
  ["a character nobody sees", message("x", plain("zero\u200bwidth"))],
  ["a character nobody sees", message("x", plain("tag\u{e0061}"))],
] as const)("%s is found", ([what, tricked]) => {
  expect(tricksIn(tricked, people)).toEqual([what]);
});
