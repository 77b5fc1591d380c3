// What appears between messages: days, and headings at a change of author.
import { expect, test } from "vitest";
import { lists } from "#sandbox/page/document.ts";
import { createViewStates } from "#sandbox/page/base/view-state.ts";
import type { PageParts } from "#sandbox/page/base/parts.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { seedWorkspace } from "#sandbox/slack/seed-workspace.ts";
import { SEED } from "#sandbox/world/seed.ts";
import { createStage, OPS } from "./stage.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** 12 Nov 2026, 12:38:00 UTC, a Thursday. */
const NOON = 1_794_487_080_000;
const APP = "U0COUNTERSIGN";

function newPage(timeZone = "UTC") {
  const clock = { at: NOON };
  const workspace = seedWorkspace({ now: () => clock.at, seed: SEED });
  const parts: PageParts = { ...createStage().parts, workspace, timeZone };
  const viewState = createViewStates(workspace)();
  const place = { person: "U0ANA", where: OPS, thread: null as string | null, panel: null };
  const drawn = (list: "messages" | "replies"): string[] =>
    (lists(parts, place, viewState)[list] ?? []).map(({ inner }) => inner.toString());
  const post = (more: Partial<Message> = {}): Message =>
    workspace.post({ channel: OPS, author: APP, text: "words", ...more });
  return {
    clock,
    place,
    workspace,
    post,
    days: (list: "messages" | "replies" = "messages") =>
      drawn(list).map((one) => /<h3 data-day><span>(.*?)<\/span>/.exec(one)?.[1] ?? null),
    headings: (list: "messages" | "replies" = "messages") =>
      drawn(list).map((one) => one.includes("data-heading")),
  };
}

test("a day is shown above its first message, with the name that a reader would use today", () => {
  const { clock, post, days } = newPage();
  post();
  post();
  expect(days()).toEqual(["Today", null]);
  clock.at += DAY_MS;
  expect(days()).toEqual(["Yesterday", null]);
  post();
  expect(days()).toEqual(["Yesterday", null, "Today"]);
  clock.at += DAY_MS;
  post();
  expect(days()).toEqual(["Thursday, 12 November 2026", null, "Yesterday", "Today"]);
});

test.for([
  ["UTC", ["Today", null]],
  ["Asia/Kathmandu", ["Yesterday", "Today"]],
] as const)("a day begins at the reader's midnight in %s", ([zone, expected]) => {
  const { clock, post, days } = newPage(zone);
  // 18:15 UTC is midnight in Kathmandu.
  clock.at = Date.UTC(2026, 10, 12, 18, 14);
  post();
  clock.at += 2 * MINUTE_MS;
  post();
  expect(days()).toEqual(expected);
});

test("in a thread, a day is shown where the date changes, and not above its beginning", () => {
  const { clock, place, post, days } = newPage();
  const first = post();
  place.thread = first.ts;
  post({ thread: first.ts });
  clock.at += DAY_MS;
  post({ thread: first.ts });
  expect(days("replies")).toEqual([null, null, "Today"]);
  expect(days()).toEqual(["Yesterday"]);
});

test("an author who continues within five minutes gets no new heading, in the channel and in a thread", () => {
  const { clock, place, post, headings } = newPage();
  post();
  clock.at += 5 * MINUTE_MS;
  post();
  post({ author: "U0BEN" });
  const parent = post();
  clock.at += 5 * MINUTE_MS + 1;
  post();
  expect(headings()).toEqual([true, false, true, true, true]);
  place.thread = parent.ts;
  for (const broadcast of [false, false, true, false]) post({ thread: parent.ts, broadcast });
  expect(headings("replies")).toEqual([true, true, false, true, true]);
});

test("a private message, and the first message of a day, have their own heading", () => {
  const { clock, post, headings } = newPage();
  clock.at = Date.UTC(2026, 10, 12, 23, 59);
  post();
  post({ ephemeralFor: "U0ANA" });
  post();
  clock.at += 2 * MINUTE_MS;
  post();
  expect(headings()).toEqual([true, true, true, true]);
});

test("a message gets a heading when the message before it disappears", () => {
  const { workspace, post, headings, days } = newPage();
  const first = post();
  post();
  expect(headings()).toEqual([true, false]);
  workspace.remove(first);
  expect(headings()).toEqual([true]);
  expect(days()).toEqual(["Today"]);
});
