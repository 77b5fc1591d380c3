import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { ChatPostMessageResponse, WebClient } from "@slack/web-api";

import type { Slack } from "#sandbox/slack/start-slack.ts";

import { ana, clientOf, opsAgents, outsider, payments, startFull } from "./bolt-app.ts";

let slack: Slack;
let client: WebClient;

beforeEach(async () => {
  slack = await startFull();
  client = clientOf(slack);
});

afterEach(() => slack.stop());

const post = async (args: Record<string, unknown>): Promise<string> => {
  const answer: ChatPostMessageResponse = await client.apiCall("chat.postMessage", {
    channel: opsAgents,
    ...args,
  });
  return answer.ts ?? "";
};

const textsOf = (messages: { text?: string }[] = []) => messages.map(({ text }) => text);

describe("data that the app reads back", () => {
  test("has metadata only if requested", async () => {
    const metadata = { event_type: "card", event_payload: { id: "7" } };
    const ts = await post({ text: "x", metadata });
    const args = { channel: opsAgents, oldest: ts, inclusive: true, limit: 1 };
    expect((await client.conversations.history(args)).messages?.[0]).not.toHaveProperty("metadata");
    const asked = await client.conversations.history({ ...args, include_all_metadata: true });
    expect(asked.messages?.[0]).toMatchObject({ ts, metadata, bot_id: slack.workspace.app.botId });
  });

  test("is listed in pages: a channel from the newest message, a thread from its beginning", async () => {
    const root = await post({ text: "root" });
    for (const text of ["a", "b", "c"]) await post({ text, thread_ts: root });
    await post({ text: "later" });
    slack.workspace.post({ channel: opsAgents, author: ana, text: "whisper", ephemeralFor: ana });
    expect(textsOf((await client.conversations.history({ channel: opsAgents })).messages)).toEqual([
      "later",
      "root",
    ]);
    const first = await client.conversations.replies({ channel: opsAgents, ts: root, limit: 3 });
    expect(textsOf(first.messages)).toEqual(["root", "a", "b"]);
    expect(first.has_more).toBe(true);
    const cursor = first.response_metadata?.next_cursor ?? "";
    const second = await client.conversations.replies({ channel: opsAgents, ts: root, limit: 3, cursor });
    expect([textsOf(second.messages), second.has_more]).toEqual([["c"], false]);
    expect(first.messages?.[0]).toMatchObject({ reply_count: 3, reply_users_count: 1 });
  });

  test("has a broadcast reply as one message in thread and channel, updated in both", async () => {
    const root = await post({ text: "root" });
    const ts = await post({ text: "both", thread_ts: root, reply_broadcast: true });
    await client.chat.update({ channel: opsAgents, ts, text: "changed" });
    const channel = await client.conversations.history({ channel: opsAgents });
    const thread = await client.conversations.replies({ channel: opsAgents, ts: root });
    expect(channel.messages?.[0]).toMatchObject({ ts, text: "changed", subtype: "thread_broadcast" });
    expect(thread.messages?.[1]).toMatchObject({ ts, text: "changed", thread_ts: root });
  });

  test("includes a channel's members, and whether it is shared with strangers", async () => {
    expect((await client.conversations.members({ channel: opsAgents })).members).toContain(outsider);
    const shared = await client.conversations.info({ channel: opsAgents });
    expect(shared.channel).toMatchObject({ is_ext_shared: true, connected_team_ids: ["T0PARTNER"] });
    const closed = await client.conversations.info({ channel: payments });
    expect(closed.channel).toMatchObject({ is_ext_shared: false, is_private: true, is_member: true });
  });
});

test("a person's id as a channel means their direct messages with the app", async () => {
  const ts = await post({ channel: ana, text: "hello" });
  const { id: channel } = slack.workspace.dmOf(ana);
  expect(slack.workspace.messageAt(channel, ts)).toMatchObject({ text: "hello" });
  const link = await client.chat.getPermalink({ channel, message_ts: ts });
  expect(link.permalink).toBe(`${slack.url}archives/${channel}/p${ts.replace(".", "")}`);
});

test("waiting for a state that does not occur times out with an explanation", async () => {
  const waiting = slack.workspace.until(() => false, { timeoutMs: 5, what: "a miracle" });
  await expect(waiting).rejects.toThrow("the workspace did not reach a miracle within 5 ms");
});
