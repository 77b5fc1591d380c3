import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { avatar } from "#sandbox/page/base/avatar.ts";
import { fileCard } from "#sandbox/page/drawing/file-card.ts";
import { drawMessage } from "#sandbox/page/drawing/message.ts";
import type { Shown } from "#sandbox/page/drawing/message.ts";
import { createReader } from "#sandbox/page/base/reader.ts";
import { createStage, OPS } from "./stage.ts";

const { parts, workspace } = createStage();
const place = { person: "U0ANA", where: OPS, thread: null, panel: null };
const reader = createReader(parts, place);
const post = (more: Partial<Message> = {}): Message =>
  workspace.post({ channel: OPS, author: "U0BEN", text: "words", ...more });
const draw = (message: Message, more: Partial<Shown> = {}): string =>
  drawMessage({ message, replies: [], pane: place, shortcuts: [], ...more }, workspace, reader).toString();

describe("a message", () => {
  test("that is private says so and can be dismissed", () => {
    const drawn = draw(post({ ephemeralFor: "U0ANA" }));
    expect(drawn).toContain("Only visible to you");
    expect(drawn).toContain("data-dismiss-message");
    expect(draw(post())).not.toContain("data-dismiss-message");
  });

  test("that was changed says so at the end of its text, but not if it has blocks", () => {
    const message = post();
    expect(draw(message)).not.toContain("(edited)");
    workspace.edit(message, { text: "other words" });
    expect(draw(message)).toMatch(/other words<\/span> <span data-edited>\(edited\)<\/span>\s*<\/div>/);
    workspace.edit(message, { blocks: [{ type: "divider" }] });
    expect(draw(message)).not.toContain("(edited)");
  });

  test("has the app's shortcuts in its menu, unless it is private", () => {
    const shortcuts = [{ callbackId: "look", name: "Look & <see>" }];
    const drawn = draw(post(), { shortcuts });
    expect(drawn).toContain('aria-label="More actions on this message"');
    expect(drawn).toMatch(/data-shortcut="look"\s*>\s*Look &amp; &lt;see&gt;/);
    expect(draw(post({ ephemeralFor: "U0ANA" }), { shortcuts })).not.toContain("data-shortcut");
    expect(draw(post())).not.toContain("data-message-menu");
  });

  test("in the channel that replies to a deleted message says so", () => {
    expect(draw(post({ thread: "1.000001", broadcast: true }))).toContain("whose first message was deleted");
  });

  test("with replies shows their authors, their number, and when the last one was posted", () => {
    const parent = post();
    const replies = [post({ thread: parent.ts }), post({ thread: parent.ts, author: "U0COUNTERSIGN" })];
    const drawn = draw(parent, { replies });
    expect(drawn).toContain("2 replies");
    expect(drawn).toMatch(/Last reply today at \d\d:\d\d/);
    expect(drawn.split("<p data-summary>")[1]?.match(/data-avatar/g)).toHaveLength(2);
  });

  test("shows who reacted, and whether the reader did", () => {
    const message = post();
    message.reactions = { eyes: ["U0ANA", "U0BEN"], rocket: ["U0BEN"], gone: [] };
    const drawn = draw(message);
    expect(drawn).toContain("Ana Ruiz, Ben Okafor reacted with :eyes:");
    expect(drawn.match(/data-mine/g)).toHaveLength(1);
    expect(drawn).not.toContain(":gone:");
  });
});

describe("a message after one of the same author", () => {
  const first = post();
  const joins = (more: Partial<Message>, shown: Partial<Shown> = {}): boolean =>
    draw({ ...post(), at: first.at + 60_000, ...more }, { after: first, ...shown }).includes("data-joins");

  test("within five minutes has no heading of its own", () => {
    expect(joins({})).toBe(true);
    expect(joins({ at: first.at + 5 * 60_000 + 1 })).toBe(false);
  });

  test("has one if it has another author, is private, is a reply, or has replies", () => {
    expect(joins({ author: "U0CAT" })).toBe(false);
    expect(joins({ ephemeralFor: "U0ANA" })).toBe(false);
    expect(joins({ thread: first.ts, broadcast: true })).toBe(false);
    expect(joins({}, { replies: [post()] })).toBe(false);
  });

  test("keeps its time and its link", () => {
    const message = post();
    expect(draw({ ...message, at: first.at + 1000 }, { after: first })).toContain(`#m-${message.ts}`);
  });
});

describe("a file", () => {
  const file = (name: string, title: string, bytes: Uint8Array) =>
    fileCard({ id: "F1", name, title, bytes, description: "", owner: "U0COUNTERSIGN" }, "F1").toString();
  const words = (drawn: string): string => drawn.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

  test("is named once if its title is its name", () => {
    expect(words(file("a.txt", "a.txt", Buffer.from("x"))).match(/a\.txt/g)).toHaveLength(1);
    expect(words(file("a.txt", "A title", Buffer.from("x")))).toContain("A title a.txt · TXT · 1 byte");
  });

  test("of text has a preview, and says how much is missing from it", () => {
    const drawn = file("a.txt", "", Buffer.from("y".repeat(21_500)));
    expect(drawn).toContain("1,500 more characters are in the download.");
    expect(drawn).toContain("21.5 kB");
  });

  test("of another type has only a download", () => {
    const drawn = file("core", "core", Buffer.alloc(1_234_567));
    expect(drawn).not.toContain("Preview");
    expect(words(drawn)).toContain("Binary · 1.2 MB");
    expect(drawn).toContain('href="/page/file/F1" download="core"');
  });

  test("that is gone says so", () => {
    expect(fileCard(undefined, "F9").toString()).toContain("no longer exists (F9)");
  });
});

describe("avatars", () => {
  test("of all the sandbox's people have different colors", () => {
    const people = [...workspace.people.values()].filter((one) => one.id !== "U0COUNTERSIGN");
    const tones = people.map((one) => /data-tone="(\d+)"/.exec(avatar(one).toString())?.[1]);
    expect(new Set(tones).size).toBe(people.length);
  });

  test("are easy to read: the contrast of white on each color is at least 4.5 : 1", () => {
    const css = readFileSync(new URL("../../../sandbox/page/browser/avatar.css", import.meta.url), "utf8");
    const colors = [...css.matchAll(/\[data-tone="\d+"\] \{\s*background: (#[\da-f]{6})/g)].map(
      (one) => one[1],
    );
    expect(colors).toHaveLength(16);
    expect(colors.filter((color) => 1.05 / (luminance(color ?? "") + 0.05) < 4.5)).toEqual([]);
  });
});

/** WCAG's relative luminance. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
