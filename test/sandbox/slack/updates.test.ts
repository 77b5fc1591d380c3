// What chat.update keeps of a message, and what it returns.

import type { ChatPostMessageResponse, ChatUpdateResponse, WebClient } from "@slack/web-api";
import { afterEach, beforeEach, expect, test } from "vitest";

import type { Slack } from "#sandbox/slack/start-slack.ts";

import { accepted, ana, button, clientOf, opsAgents, refusal, startFull } from "./bolt-app.ts";

let slack: Slack;
let client: WebClient;
let time = 1_700_000_000_000;

beforeEach(async () => {
  time = 1_700_000_000_000;
  slack = await startFull({ now: () => time });
  client = clientOf(slack);
});

afterEach(() => slack.stop());

const metadata = { event_type: "card", event_payload: {} };
const blocks = [button("approve")];

const posted = async (args: object = { text: "x", blocks, metadata }): Promise<string> => {
  const call = client.apiCall("chat.postMessage", { channel: opsAgents, ...args });
  const { ts = "" }: ChatPostMessageResponse = await call;
  return ts;
};

const update = (ts: string, args: object): Promise<ChatUpdateResponse> =>
  client.apiCall("chat.update", { channel: opsAgents, ts, ...args });
const codeOf = async (call: Promise<unknown>): Promise<unknown> => (await refusal(call))["error"];
const at = (ts: string) => slack.workspace.messageAt(opsAgents, ts);

test("an update with only text removes the blocks and keeps the metadata", async () => {
  const ts = await posted();
  const answer = await update(ts, { text: "y" });
  expect(answer.message).not.toHaveProperty("blocks");
  expect(at(ts)).toMatchObject({ text: "y", blocks: [], metadata });
});

test("an update with only blocks keeps the text, and one with an empty list removes the blocks", async () => {
  const ts = await posted();
  await update(ts, { blocks: [button("deny")] });
  expect(at(ts)).toMatchObject({ text: "x", blocks: [{ elements: [{ action_id: "deny" }] }] });
  await update(ts, { text: "z", blocks: [] });
  expect(at(ts)).toMatchObject({ text: "z", blocks: [] });
});

test("an update without content is refused, and does not change the message", async () => {
  const ts = await posted();
  for (const args of [{}, { metadata }, { text: "" }, { text: " \n" }, { text: " ", blocks: [] }])
    expect(await codeOf(update(ts, args))).toBe("no_text");
  expect(at(ts)).toMatchObject({ text: "x", blocks: [{ type: "actions" }], edited: null });
});

test("an update can clear the metadata, and blank text is allowed with blocks", async () => {
  const ts = await posted();
  await update(ts, { text: " ", blocks, metadata: {} });
  expect(at(ts)).toMatchObject({ text: " ", metadata: null });
});

test("a post of only white space is refused as empty", async () => {
  const post = (args: object) => codeOf(client.apiCall("chat.postMessage", { channel: opsAgents, ...args }));
  expect(await post({ text: "   " })).toBe("no_text");
  expect(await post({ markdown_text: "\n\t" })).toBe("no_text");
  expect(await post({ text: " ", blocks })).toBe(accepted);
});

test("a changed message names its bot and the second of the change", async () => {
  const ts = await posted({ text: "x" });
  expect(at(ts)?.edited).toBeNull();
  time += 61_500;
  const answer = await update(ts, { text: "y" });
  expect(answer.message).toMatchObject({ edited: { user: "B0COUNTERSIGN", ts: "1700000061.000000" } });
});

test("bare & < > are returned as entities, and Slack's own markup as it was sent", async () => {
  const read = async (text: string): Promise<unknown> => at(await posted({ text }))?.text;
  expect(await read("a & b <c> &amp; &lt;d&gt; 1 > 0 && <")).toBe(
    "a &amp; b &lt;c&gt; &amp; &lt;d&gt; 1 &gt; 0 &amp;&amp; &lt;",
  );
  const marks = `<@${ana}> <#${opsAgents}|ops> <!here> <!subteam^S1|@a> <https://x.example/?a=1&amp;b|l> <mailto:a@b.example>`;
  expect(await read(marks)).toBe(marks);
  const ts = await posted({ text: "x" });
  await update(ts, { text: "a && b" });
  expect(at(ts)?.text).toBe("a &amp;&amp; b");
});
