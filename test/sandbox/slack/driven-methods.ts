// A call of each method in the table, using @slack/web-api's own functions.

import { WebClient } from "@slack/web-api";

import type { Judged } from "./judge.ts";

const [ana, ben, ops] = ["U0ANA", "U0BEN", "C0OPSAGENTS"];
const home = { type: "home" as const, blocks: [{ type: "divider" as const }] };
const modal = (title: string) => ({
  type: "modal" as const,
  title: { type: "plain_text" as const, text: title },
  blocks: [{ type: "divider" as const }],
});

const posted = async (client: WebClient, more: object = {}): Promise<string> => {
  const { ts = "" } = await client.chat.postMessage({ channel: ops, text: "hello", ...more });
  return ts;
};

const openedView = async (client: WebClient, trigger: string): Promise<string> => {
  const { view } = await client.views.open({ trigger_id: trigger, view: modal("First") });
  return view?.id ?? "";
};

type Drive = (client: WebClient) => Promise<object>;

/** Each function calls one method, and returns what the SDK made of the answer. `trigger` is a new trigger of Ana's. */
export const createDrives = (judged: Judged, trigger: string): Record<string, Drive> => ({
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
    client.views.update({ view_id: await openedView(client, trigger), view: modal("Changed") }),
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
});
