// Values that have a valid length and are still wrong: addresses, dates, ids.

import { describe, expect, test } from "vitest";
import { Refused } from "#sandbox/slack/errors.ts";
import { acceptBlocks } from "#sandbox/slack/rules-surface.ts";
import { plain } from "./bolt-app.ts";

/** Returns the first place that a refusal points at, or "fine". */
const place = (accept: () => unknown): string => {
  try {
    accept();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { messages } = error.more["response_metadata"] as { messages: string[] };
    return /json-pointer:([^\]]*)/.exec(messages[0] ?? "")?.[1] ?? "nowhere";
  }
  return "fine";
};

const inActions = (type: string, more: object) =>
  place(() => acceptBlocks([{ type: "actions", elements: [{ type, ...more }] }])).replace(
    "/blocks/0/elements/0",
    "",
  );
const inText = (...elements: object[]) =>
  place(() =>
    acceptBlocks([{ type: "rich_text", elements: [{ type: "rich_text_section", elements }] }]),
  ).replace("/blocks/0/elements/0/elements/0", "");
const alone = (block: object) => place(() => acceptBlocks([block])).replace("/blocks/0", "");

const noAddress = [
  "notaurl",
  "javascript:alert(1)",
  "//x.example",
  "http://",
  "data:text/html,x",
  "file:///etc",
  " https://x.example",
  "",
];

describe("an address", () => {
  test.each(noAddress)('"%s" is invalid, wherever one is required', (url) => {
    expect(inActions("button", { text: plain("b"), url })).toBe("/url");
    const option = { text: plain("o"), value: "v", url };
    expect(inActions("overflow", { options: [option] })).toBe("/options/0/url");
    expect(inText({ type: "link", url })).toBe("/url");
    expect(inText({ type: "emoji", name: "eyes", url })).toBe("/url");
    expect(inText({ type: "date", timestamp: 1, format: "{date}", url })).toBe("/url");
    expect(alone({ type: "image", alt_text: "a", image_url: url })).toBe("/image_url");
    expect(alone({ type: "image", alt_text: "a", slack_file: { url } })).toBe("/slack_file/url");
  });

  test("may be http or https, and mailto in links for people", () => {
    for (const url of ["http://127.0.0.1:1/a?b=c#d", "https://x.example", "mailto:a@b.example"]) {
      expect(inActions("button", { text: plain("b"), url })).toBe("fine");
      expect(inText({ type: "link", url })).toBe("fine");
    }
    const image_url = "mailto:a@b.example";
    expect(alone({ type: "image", alt_text: "a", image_url })).toBe("/image_url");
    expect(inActions("button", { text: plain("b"), url: `https://x.example/${"x".repeat(3000)}` })).toBe(
      "/url",
    );
  });
});

test("a date must exist in the calendar", () => {
  const date = (initial_date: unknown) => inActions("datepicker", { initial_date });
  for (const wrong of ["2026-99-99", "2026-02-29", "2026-00-10", "2026-13-01", "2026-04-31", 20261121])
    expect(date(wrong)).toBe("/initial_date");
  for (const right of ["2026-11-21", "2028-02-29", "1999-12-31"]) expect(date(right)).toBe("fine");
});

test("an id has the shape of its kind", () => {
  expect(inActions("users_select", { initial_user: "NOPE" })).toBe("/initial_user");
  expect(inActions("users_select", { initial_user: "W0123" })).toBe("fine");
  expect(inActions("multi_users_select", { initial_users: ["U1", "C1"] })).toBe("/initial_users/1");
  expect(inActions("channels_select", { initial_channel: "ops" })).toBe("/initial_channel");
  expect(inActions("conversations_select", { initial_conversation: "D0123" })).toBe("fine");
  expect(inActions("conversations_select", { initial_conversation: "#ops" })).toBe("/initial_conversation");
  expect(inText({ type: "user", user_id: "ana" })).toBe("/user_id");
  expect(inText({ type: "channel", channel_id: "ops" })).toBe("/channel_id");
  expect(inText({ type: "usergroup", usergroup_id: "U1" })).toBe("/usergroup_id");
  expect(inText({ type: "user", user_id: "U0ANA" }, { type: "channel", channel_id: "C1" })).toBe("fine");
});
