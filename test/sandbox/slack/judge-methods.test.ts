// Every method of the table, called like an app calls it: with @slack/web-api's own functions and types.

import { afterEach, beforeEach, expect, test } from "vitest";

import { methods } from "#sandbox/slack/methods.ts";

import { createDrives } from "./driven-methods.ts";
import { startJudged } from "./judge.ts";
import type { Judged } from "./judge.ts";

const [ana, ben, ops] = ["U0ANA", "U0BEN", "C0OPSAGENTS"];
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

/** The required parts of each answer. */
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

test("every method of the table is called, and no other", () => {
  expect(Object.keys(createDrives(judged, trigger)).sort()).toEqual([...methods.keys()].sort());
  expect(Object.keys(shapes).sort()).toEqual([...methods.keys()].sort());
});

test.each([...methods.keys()])("the SDK understands the answer of %s", async (name) => {
  const answer = (await createDrives(judged, trigger)[name]?.(judged.app.client)) ?? {};
  expect(answer).toMatchObject({ ok: true, ...matching(shapes[name] ?? {}) });
});

/** Regular expressions in the shapes become matchers here. */
const matching = (shape: object): object =>
  Object.fromEntries(
    Object.entries(shape).map(([field, value]: [string, unknown]) => {
      if (value instanceof RegExp) return [field, expect.stringMatching(value)];
      const plain = typeof value === "object" && value?.constructor === Object;
      return [field, plain ? matching(value) : value];
    }),
  );
