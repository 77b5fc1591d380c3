// Values that look right by their length and are wrong all the same: addresses, dates, numbers, ids.

import { describe, expect, test } from "vitest";
import { Refused } from "#sandbox/slack/errors.ts";
import { acceptBlocks, acceptView } from "#sandbox/slack/rules-surface.ts";
import { plain } from "./bolt-app.ts";

/** The first place a refusal points at, or "fine". */
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
const inModal = (type: string, more: object) => {
  const input = { type: "input", label: plain("L"), element: { type, ...more } };
  const view = { type: "modal", title: plain("M"), submit: plain("S"), blocks: [input] };
  return place(() => acceptView(view, "modal")).replace("/view/blocks/0/element", "");
};
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
  test.each(noAddress)('"%s" is none, wherever one is due', (url) => {
    expect(inActions("button", { text: plain("b"), url })).toBe("/url");
    const option = { text: plain("o"), value: "v", url };
    expect(inActions("overflow", { options: [option] })).toBe("/options/0/url");
    expect(inText({ type: "link", url })).toBe("/url");
    expect(inText({ type: "emoji", name: "eyes", url })).toBe("/url");
    expect(inText({ type: "date", timestamp: 1, format: "{date}", url })).toBe("/url");
    expect(alone({ type: "image", alt_text: "a", image_url: url })).toBe("/image_url");
    expect(alone({ type: "image", alt_text: "a", slack_file: { url } })).toBe("/slack_file/url");
    const task = { type: "task_card", task_id: "1", title: "T", sources: [{ type: "url", url, text: "t" }] };
    expect(alone(task)).toBe("/sources/0/url");
    const workflow = { trigger: { url } };
    expect(inActions("workflow_button", { text: plain("w"), workflow })).toBe("/workflow/trigger/url");
    const film = { type: "video", alt_text: "a", title: plain("V"), video_url: "https://x.example/v" };
    expect(alone({ ...film, thumbnail_url: url })).toBe("/thumbnail_url");
  });

  test("may be http or https, and mailto where a person follows it", () => {
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

  test("of a video is an HTTPS one", () => {
    const film = { type: "video", alt_text: "a", title: plain("V"), thumbnail_url: "https://x.example/t" };
    for (const video_url of ["http://x.example/v", "https://", "https://a b"])
      expect(alone({ ...film, video_url })).toBe("/video_url");
  });
});

test("a date is one of the calendar, and a zone one of the world", () => {
  const date = (initial_date: unknown) => inActions("datepicker", { initial_date });
  for (const wrong of ["2026-99-99", "2026-02-29", "2026-00-10", "2026-13-01", "2026-04-31", 20261121])
    expect(date(wrong)).toBe("/initial_date");
  for (const right of ["2026-11-21", "2028-02-29", "1999-12-31"]) expect(date(right)).toBe("fine");
  const zone = (timezone: string) => inActions("timepicker", { timezone });
  expect([zone("Europe/Oslo"), zone("UTC"), zone("Moon/Base"), zone("")]).toEqual([
    "fine",
    "fine",
    "/timezone",
    "/timezone",
  ]);
});

test("a number is whole where decimals are not allowed", () => {
  const number = (is_decimal_allowed: boolean, more: object) =>
    inModal("number_input", { is_decimal_allowed, ...more });
  for (const field of ["initial_value", "min_value", "max_value"]) {
    expect(number(false, { [field]: "1.5" })).toBe(`/${field}`);
    expect(number(true, { [field]: "1.5" })).toBe("fine");
    expect(number(false, { [field]: "-3" })).toBe("fine");
    for (const wrong of ["NaN", "Infinity", "0x10", "1e3", " 1", "one", ""])
      expect(number(true, { [field]: wrong })).toBe(`/${field}`);
  }
});

test("an id has the shape of its kind", () => {
  expect(inActions("users_select", { initial_user: "NOPE" })).toBe("/initial_user");
  expect(inActions("users_select", { initial_user: "W0123" })).toBe("fine");
  expect(inActions("multi_users_select", { initial_users: ["U1", "C1"] })).toBe("/initial_users/1");
  expect(inActions("channels_select", { initial_channel: "ops" })).toBe("/initial_channel");
  expect(inActions("multi_channels_select", { initial_channels: ["U1"] })).toBe("/initial_channels/0");
  expect(inActions("conversations_select", { initial_conversation: "D0123" })).toBe("fine");
  expect(inActions("conversations_select", { initial_conversation: "#ops" })).toBe("/initial_conversation");
  expect(inText({ type: "user", user_id: "ana" })).toBe("/user_id");
  expect(inText({ type: "channel", channel_id: "ops" })).toBe("/channel_id");
  expect(inText({ type: "usergroup", usergroup_id: "U1" })).toBe("/usergroup_id");
  expect(inText({ type: "user", user_id: "U0ANA" }, { type: "channel", channel_id: "C1" })).toBe("fine");
});
