// The checks that every message and view of ours must pass, by the sandbox's rules and by a walk over everything in
// it.

import { expect } from "vitest";
import { isList, isRecord, type Json } from "#src/domain/json.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";
import { unseenRemoved, visible } from "#src/domain/text/text.ts";
import { acceptBlocks, acceptView } from "#sandbox/slack/rules-surface.ts";
import { APPROVER, CHANNEL, REQUESTER } from "../../../make/run.ts";
import { MARK } from "./hostile.ts";
import { CLEO } from "./page/example.ts";

type Item = { readonly [field: string]: Json };

/** docs.slack.dev, chat.update: longer texts are refused. */
const MAX_TEXT = 4_000;

/** Returns the plain data that goes over the wire. */
export const wire = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** Returns every object inside a value, itself included, in reading order. */
export function objectsIn(value: Json): Item[] {
  if (isList(value)) return value.flatMap(objectsIn);
  return isRecord(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

const LITERAL = new Set(["text", "plain_text"]);

/** Returns all text in a value that people read. */
export function textOf(value: unknown): string {
  return objectsIn(wire(value))
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}

export function expectMessage({ text, blocks }: Message, ownLinks: readonly string[] = []): void {
  acceptBlocks(wire(blocks));
  expect(text.trim()).not.toBe("");
  expect(text.length).toBeLessThanOrEqual(MAX_TEXT);
  expect(
    withoutRequester(text).replace(/&(amp|lt|gt);/g, ""),
    "the fallback text holds no markup",
  ).not.toMatch(/[<>&]/);
  expectSeen(text);
  expectInert(blocks, ownLinks);
}

/** Removes the only mention that a fallback text may have: the requester, at its end. Slack shows the name. */
const withoutRequester = (text: string): string =>
  text.endsWith(` by <@${REQUESTER}>`) ? text.slice(0, -` by <@${REQUESTER}>`.length) : text;

export function expectView(view: unknown): void {
  const data = wire(view);
  if (!isRecord(data)) throw new TypeError("a view is an object");
  acceptView(data, "modal");
  expectInert(view);
}

// One `expect` per element would slow down tests with thousands of elements, so these call it only for a fault.

/**
 * Checks that no one is mentioned, nothing leads anywhere, and strangers' words occur only where Slack reads no
 * markup.
 */
export function expectInert(value: unknown, ownLinks: readonly string[] = []): void {
  for (const item of objectsIn(wire(value))) {
    expectOwnElement(item, ownLinks);
    const type = typeof item["type"] === "string" ? item["type"] : "";
    for (const [field, held] of Object.entries(item)) {
      if (typeof held !== "string") continue;
      if (isLiteral(field, type)) expectSeen(held);
      else if (held.includes(MARK)) expect.fail(`strangers' words in ${type}.${field}: ${held}`);
    }
  }
}

/** Whether Slack reads no markup in the field. Screen readers read a button's label. */
const isLiteral = (field: string, type: string): boolean =>
  (field === "text" && LITERAL.has(type)) || field === "accessibility_label";

const OWN_PEOPLE: readonly string[] = [REQUESTER, APPROVER, CLEO];
const FOREIGN = ["usergroup", "broadcast", "emoji", "team", "image", "video", "markdown"];

function expectOwnElement(item: Item, ownLinks: readonly string[]): void {
  const { type, user_id: user, url } = item;
  const fail = (what: string): never => expect.fail(`${what}: ${JSON.stringify(item)}`);
  if (FOREIGN.some((each) => each === type)) fail("an element that we never use");
  if (type === "user" && !OWN_PEOPLE.some((each) => each === user)) fail("a stranger");
  if (type === "channel" && item["channel_id"] !== CHANNEL) fail("another channel");
  if (type === "link" && !ownLinks.some((each) => each === url)) fail("a link that is not ours");
  if (type === "mrkdwn" && item["verbatim"] !== true) fail("markup that Slack reads");
  if (drawsEmoji(item)) fail("strangers' words in which Slack draws emoji");
}

/** Slack draws an emoji for its name in a plain text, unless the text says otherwise. */
const drawsEmoji = ({ type, text, emoji }: Item): boolean =>
  type === "plain_text" && typeof text === "string" && text.includes(MARK) && emoji !== false;

/**
 * Returns the first thing that must not be on a surface, or null. Like `expectMessage`, but quick enough for very
 * many surfaces.
 */
export function faultIn({
  text,
  blocks,
}: {
  readonly text?: string;
  readonly blocks: unknown;
}): string | null {
  const bare = withoutRequester(text ?? "").replace(/&(amp|lt|gt);/g, " ");
  if (/[<>&]/.test(bare)) return `markup in the text: ${bare}`;
  if (/:[\w+'-]+:/.test(bare)) return `an emoji's name in the text: ${bare}`;
  if (unseenIn(bare) !== null) return `an invisible code point in the text: ${unseenIn(bare)}`;
  for (const item of objectsIn(wire(blocks))) {
    const fault = faultOf(item);
    if (fault !== null) return `${fault}: ${JSON.stringify(item)}`;
  }
  return null;
}

function faultOf(item: Item): string | null {
  const type = typeof item["type"] === "string" ? item["type"] : "";
  if (FOREIGN.includes(type)) return `a ${type}`;
  if (type === "user" && item["user_id"] !== REQUESTER && item["user_id"] !== APPROVER) return "a stranger";
  if (type === "channel" && item["channel_id"] !== CHANNEL) return "another channel";
  if (type === "link") return "a link";
  if (type === "mrkdwn" && item["verbatim"] !== true) return "markup that Slack reads";
  if (drawsEmoji(item)) return "strangers' words in which Slack draws emoji";
  for (const [field, held] of Object.entries(item)) {
    if (typeof held !== "string") continue;
    if (!isLiteral(field, type)) {
      if (held.includes(MARK)) return `strangers' words in ${field}`;
    } else if (unseenIn(held) !== null) return `an invisible code point, ${unseenIn(held)}`;
  }
  return null;
}

const DRESSED = String.raw`\p{Extended_Pictographic}(?:[\u{1F3FB}-\u{1F3FF}]|\u{FE0F})*`;
const PICTURES = new RegExp(`${DRESSED}(?:\\u{200D}${DRESSED})*(?:\\u{200D}(?=…|$))?`, "gu");
const KEYCAPS = /[0-9#*]\u{FE0F}\u{20E3}?/gu;
const UNSEEN =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]/u;

/** Checks that every code point is seen: invisible ones are written as ⟨U+XXXX⟩. */
export function expectSeen(text: string): void {
  const unseen = unseenIn(text);
  if (unseen !== null) expect.fail(`an invisible code point, ${unseen}`);
}

function unseenIn(text: string): string | null {
  if (!UNSEEN.test(text)) return null;
  // A long text is split into pieces, and an emoji of several code points may be at the seam.
  const found = UNSEEN.exec(
    text
      .replace(/^[\u{FE0F}\u{200D}]/u, "")
      .replace(PICTURES, "")
      .replace(KEYCAPS, ""),
  );
  const code = found?.[0].codePointAt(0)?.toString(16);
  return code === undefined ? null : `U+${code}`;
}

const REMARK = /^In all, ([\d,]+) characters are not shown here|… \(([\d,]+) more characters\)$/;
/** An emoji that the cut splits is written differently on its two sides (characters). */
const SEAM_CHARS = 16;

/** Checks that `whole` is shown in full, or its beginning and end are shown and the missing part is counted. */
export function expectWholeOrCounted(value: unknown, whole: string): void {
  const shown = textOf(value);
  if (shown.includes(visible(whole))) return;
  const remarks = objectsIn(wire(value)).flatMap(({ text }) => {
    const found = typeof text === "string" ? REMARK.exec(text) : null;
    return found === null ? [] : [Number((found[1] ?? found[2] ?? "").replaceAll(",", ""))];
  });
  const [missing = 0] = remarks;
  expect(missing, "characters said to be missing").toBeGreaterThan(0);
  expect(missing).toBeLessThanOrEqual(whole.length);
  const [letters, shownLetters] = [lettersOf(whole), lettersOf(shown)];
  const begin = most(letters.length, (count) => shownLetters.includes(letters.slice(0, count)));
  const end = most(letters.length - begin, (count) =>
    shownLetters.includes(letters.slice(letters.length - count)),
  );
  expect(begin + end, "cut by more than it says").toBeGreaterThanOrEqual(
    letters.length - missing - 2 * SEAM_CHARS,
  );
}

/** Removes invisible characters and our numbers for them, which depend on where a text is cut. */
export const lettersOf = (text: string): string =>
  unseenRemoved(text).replace(/⟨U\+[0-9A-F]{4,6}⟩|[\s\p{M}]/gu, "");

/** Returns the largest number for which `holds` is true. It must also be true for all smaller numbers. */
function most(limit: number, holds: (count: number) => boolean): number {
  let [low, high] = [0, limit];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
