// Every method of the table, called as an app calls it: by @slack/web-api's own functions, with the SDK's own types.

import { WebClient } from "@slack/web-api";
import { afterEach, beforeEach, expect, test } from "vitest";

import { methods } from "#sandbox/slack/methods.ts";

import { startJudged } from "./judge.ts";
import type { Judged } from "./judge.ts";

const [ana, ben, ops] = ["U0ANA", "U0BEN", "C0OPSAGENTS"];
const home = { type: "home" as const, blocks: [{ type: "divider" as const }] };
const modal = (title: string) => ({
  type: "modal" as const,
  title: { type: "plain_text" as const, text: title },
  blocks: [{ type: "divider" as const }],
});

let judged: Judged;
let trigger = "";

beforeEach(async () => {
  judged = await startJudged("socket", (app) =>
    app.command("/agent", async ({ ack, body }) => {
      trigger = body.trigger_id;
      await ack();
    }),
  );
  await judged.slack.acts.command(ana, ops, "/agent", "");
});

afterEach(() => judged.stop());

const posted = async (client: WebClient, more: object = {}): Promise<string> => {
  const { ts = "" } = await client.chat.postMessage({ channel: ops, text: "hello", ...more });
  return ts;
};

const openedView = async (client: WebClient): Promise<string> => {
  const { view } = await client.views.open({ trigger_id: trigger, view: modal("First") });
  return view?.id ?? "";
};

/** Each drives one method and returns what the SDK made of the answer. */
const drives: Record<string, (client: WebClient) => Promise<object>> = {
  "auth.test": (client) => client.auth.test(),
  "bots.info": (client) => client.bots.info({ bot: "B0COUNTERSIGN" }),
  "apps.connections.open": ({ slackApiUrl }) =>
    new WebClient(judged.slack.appToken, { slackApiUrl }).apps.connections.open({}),
  "chat.postMessage": (client) => client.chat.postMessage({ channel: ops, text: "hello" }),
  "chat.postEphemeral": (client) => client.chat.postEphemeral({ channel: ops, user: ana, text: "psst" }),
  "chat.update": async (client) =>
    client.chat.update({ channel: ops, ts: await posted(client), text: "changed" }),
  "chat.delete": async (client) => client.chat.delete({ channel: ops, ts: await posted(client) }),
  "chat.getPermalink": async (client) =>
    client.chat.getPermalink({ channel: ops, message_ts: await posted(client) }),
  "views.open": (client) => client.views.open({ trigger_id: trigger, view: modal("First") }),
  "views.push": async (client) => {
    const pressed = Promise.withResolvers<string>();
    judged.app.action("more", async ({ ack, body }) => {
      await ack();
      pressed.resolve("trigger_id" in body ? body.trigger_id : "");
    });
    const text = { type: "plain_text" as const, text: "More" };
    const elements = [{ type: "button" as const, action_id: "more", text }];
    const first = { ...modal("First"), blocks: [{ type: "actions" as const, block_id: "b", elements }] };
    const { view } = await client.views.open({ trigger_id: trigger, view: first });
    await judged.slack.acts.click(ana, { view: view?.id ?? "" }, "b", "more");
    return client.views.push({ trigger_id: await pressed.promise, view: modal("Second") });
  },
  "views.update": async (client) =>
    client.views.update({ view_id: await openedView(client), view: modal("Changed") }),
  "views.publish": (client) => client.views.publish({ user_id: ana, view: home }),
  "conversations.info": (client) => client.conversations.info({ channel: ops, include_num_members: true }),
  "conversations.members": (client) => client.conversations.members({ channel: ops, limit: 2 }),
  "conversations.open": (client) => client.conversations.open({ users: ben, return_im: true }),
  "conversations.history": async (client) => {
    await posted(client);
    return client.conversations.history({ channel: ops, limit: 1 });
  },
  "conversations.replies": async (client) => {
    const ts = await posted(client);
    await posted(client, { thread_ts: ts });
    return client.conversations.replies({ channel: ops, ts });
  },
  "users.conversations": (client) => client.users.conversations({ types: "public_channel,private_channel" }),
  "users.info": (client) => client.users.info({ user: ana }),
  "users.list": (client) => client.users.list({ limit: 2 }),
  "usergroups.list": (client) => client.usergroups.list({ include_users: true, include_count: true }),
  "usergroups.users.list": (client) => client.usergroups.users.list({ usergroup: "S0APPROVERS" }),
  "reactions.add": async (client) =>
    client.reactions.add({ channel: ops, timestamp: await posted(client), name: "eyes" }),
  "reactions.remove": async (client) => {
    const at = { channel: ops, timestamp: await posted(client), name: "eyes" };
    await client.reactions.add(at);
    return client.reactions.remove(at);
  },
  "files.getUploadURLExternal": (client) =>
    client.files.getUploadURLExternal({ filename: "a.txt", length: 3 }),
  "files.completeUploadExternal": async (client) => {
    const { file_id: id = "", upload_url: url = "" } = await client.files.getUploadURLExternal({
      filename: "a.txt",
      length: 3,
    });
    await fetch(url, { method: "POST", body: "abc" });
    return client.files.completeUploadExternal({ files: [{ id, title: "A" }], channel_id: ops });
  },
};

/** What must stand in the answer. */
const shapes: Record<string, object> = {
  "auth.test": { team: "Sandbox", user_id: "U0COUNTERSIGN", bot_id: "B0COUNTERSIGN" },
  "bots.info": { bot: { id: "B0COUNTERSIGN", app_id: "A0COUNTERSIGN", user_id: "U0COUNTERSIGN" } },
  "apps.connections.open": { url: expect.stringMatching(/^ws:/) as string },
  "chat.postMessage": { channel: ops, message: { text: "hello", bot_id: "B0COUNTERSIGN" } },
  "chat.postEphemeral": { message_ts: expect.stringMatching(/^\d+\.\d{6}$/) as string },
  "chat.update": { channel: ops, text: "changed", message: { edited: { user: "B0COUNTERSIGN" } } },
  "chat.delete": { channel: ops },
  "chat.getPermalink": { permalink: expect.stringContaining(`/archives/${ops}/p`) as string },
  "views.open": { view: { type: "modal", previous_view_id: null, state: { values: {} } } },
  "views.push": {
    view: { title: { text: "Second" }, previous_view_id: expect.stringMatching(/^V/) as string },
  },
  "views.update": { view: { title: { text: "Changed" } } },
  "views.publish": { view: { type: "home" } },
  "conversations.info": { channel: { name: "ops-agents", is_ext_shared: true, num_members: 7 } },
  "conversations.members": { members: ["U0ANA", "U0BEN"], response_metadata: { next_cursor: /.+/ } },
  "conversations.open": { channel: { is_im: true, user: ben } },
  "conversations.history": { messages: [{ text: "hello" }], has_more: false },
  "conversations.replies": { messages: [{ reply_count: 1 }, { parent_user_id: "U0COUNTERSIGN" }] },
  "users.conversations": {
    channels: [{ name: "ops-agents" }, { name: "releases" }, { name: "payments-ops", is_private: true }],
  },
  "users.info": { user: { name: "ana", deleted: false, is_bot: false } },
  "users.list": { members: [{ id: ana }, { id: ben }], response_metadata: { next_cursor: /.+/ } },
  "usergroups.list": { usergroups: [{ handle: "approvers", users: [ben, "U0CAT"], user_count: 2 }] },
  "usergroups.users.list": { users: [ben, "U0CAT"] },
  "reactions.add": {},
  "reactions.remove": {},
  "files.getUploadURLExternal": { upload_url: expect.stringContaining("/upload/") as string },
  "files.completeUploadExternal": { files: [{ title: "A", size: 3 }] },
};

test("every method of the table is driven, and none that is not there", () => {
  expect(Object.keys(drives).sort()).toEqual([...methods.keys()].sort());
  expect(Object.keys(shapes).sort()).toEqual([...methods.keys()].sort());
});

test.each(Object.keys(drives))("the SDK understands the answer of %s", async (name) => {
  const answer = (await drives[name]?.(judged.app.client)) ?? {};
  expect(answer).toMatchObject({ ok: true, ...matching(shapes[name] ?? {}) });
});

/** Patterns stand in the shapes as regular expressions; here they become matchers. */
const matching = (shape: object): object =>
  Object.fromEntries(
    Object.entries(shape).map(([field, value]: [string, unknown]) => {
      if (value instanceof RegExp) return [field, expect.stringMatching(value)];
      const plain = typeof value === "object" && value?.constructor === Object;
      return [field, plain ? matching(value) : value];
    }),
  );
