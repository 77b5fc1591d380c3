import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { ChatPostMessageResponse, WebClient } from "@slack/web-api";

import type { Slack } from "#sandbox/slack/start-slack.ts";
import { startSlack } from "#sandbox/slack/start-slack.ts";

import { SEED } from "#sandbox/world/seed.ts";
import {
  accepted,
  ana,
  ben,
  clientOf,
  guest,
  lastTrigger,
  opsAgents,
  outsider,
  payments,
  random,
  reasonModal,
  refusal,
  startFull,
} from "./bolt-app.ts";

let slack: Slack;
let client: WebClient;
let time = 1_700_000_000_000;

beforeEach(async () => {
  time = 1_700_000_000_000;
  slack = await startFull({ now: () => time });
  client = clientOf(slack);
});

afterEach(() => slack.stop());

const call = (method: string, args: Record<string, unknown> = {}) => refusal(client.apiCall(method, args));

const post = (args: Record<string, unknown>) => call("chat.postMessage", { channel: opsAgents, ...args });

const own = (more: object = {}) =>
  slack.workspace.post({ channel: opsAgents, author: slack.workspace.app.person, text: "mine", ...more });

/** Returns a trigger, as a command by Ana would provide it. */
const trigger = async (): Promise<string> => {
  await slack.acts.command(ana, opsAgents, "/agent", "");
  return lastTrigger(slack, "slash_commands");
};

const opened = async (view: object = reasonModal()) => {
  await client.apiCall("views.open", { trigger_id: await trigger(), view });
  const [open] = slack.workspace.viewsOf(ana).slice(-1);
  if (!open) throw new Error("no view was opened");
  return open;
};

describe("callers", () => {
  test("an unknown method, and a missing, wrong or mistyped token are refused", async () => {
    expect(await call("chat.shout")).toMatchObject({ error: "unknown_method" });
    const bare = await fetch(`${slack.apiUrl}auth.test`, { method: "POST" });
    expect(await bare.json()).toMatchObject({ ok: false, error: "not_authed" });
    const other = clientOf(slack, "xoxb-other");
    expect(await refusal(other.auth.test())).toMatchObject({ error: "invalid_auth" });
    expect(await call("apps.connections.open")).toMatchObject({ error: "not_allowed_token_type" });
    const app = clientOf(slack, slack.appToken);
    expect(await refusal(app.apiCall("users.info", { user: ana }))).toMatchObject({
      error: "not_allowed_token_type",
    });
  });

  test("a scope that the manifest does not request is named as missing", async () => {
    const strict = await startSlack({
      seed: SEED,
      manifestPath: new URL("../../../manifest.yml", import.meta.url).pathname,
    });
    const refused = await refusal(clientOf(strict).conversations.open({ users: ana }));
    await strict.stop();
    expect(refused).toMatchObject({ error: "missing_scope", needed: "im:write" });
    expect(String(refused["provided"])).toContain("chat:write");
    slack.faults.revokeScope("users:read");
    expect(await call("users.info", { user: ana })).toMatchObject({
      error: "missing_scope",
      needed: "users:read",
    });
    const { id } = slack.workspace.dmOf(ana);
    expect(await call("conversations.history", { channel: id })).toMatchObject({ needed: "im:history" });
  });

  test("the held and the accepted scopes are in the headers", async () => {
    const answer = await client.users.info({ user: ana });
    expect(answer.response_metadata).toMatchObject({ acceptedScopes: ["users:read"] });
    expect(answer.response_metadata?.scopes).toContain("chat:write");
  });

  test("a foreign Host is answered with 421", async () => {
    const { request } = await import("node:http");
    const status = await new Promise((resolve) => {
      const headers = { host: "evil.example" };
      request(`${slack.apiUrl}auth.test`, { headers }, (res) => resolve(res.resume().statusCode)).end();
    });
    expect(status).toBe(421);
  });
});

describe("arguments", () => {
  test("that are unknown, missing or mistyped are refused with an explanation", async () => {
    const refused = await call("users.info", { usr: ana });
    expect(refused).toMatchObject({ error: "invalid_arguments" });
    expect(refused["response_metadata"]).toMatchObject({
      messages: ["[ERROR] unknown argument: usr", "[ERROR] missing required field: user"],
    });
    expect(await post({ text: "x", unfurl_links: "maybe" })).toMatchObject({ error: "invalid_arguments" });
    expect(await call("conversations.history", { channel: opsAgents, limit: 0 })).toMatchObject({
      error: "invalid_arguments",
    });
    expect(await post({ text: "x", blocks: "{not json" })).toMatchObject({ error: "invalid_blocks_format" });
    expect(await post({ text: "x", metadata: "[]" })).toMatchObject({ error: "invalid_metadata_format" });
    expect(await post({ text: "x", metadata: { event_type: "a" } })).toMatchObject({
      error: "invalid_metadata_schema",
    });
  });

  test("can also be sent as JSON", async () => {
    const headers = { authorization: `Bearer ${slack.botToken}`, "content-type": "application/json" };
    const body = JSON.stringify({ channel: opsAgents, text: "by JSON", unfurl_links: false });
    const answer = await fetch(`${slack.apiUrl}chat.postMessage`, { method: "POST", headers, body });
    expect(await answer.json()).toMatchObject({ ok: true, message: { text: "by JSON" } });
  });
});

describe("messages", () => {
  test("can only be posted where the app is, and where anyone may write", async () => {
    expect(await post({ channel: "C0NOWHERE", text: "x" })).toMatchObject({ error: "channel_not_found" });
    expect(await post({ channel: random, text: "x" })).toMatchObject({ error: "not_in_channel" });
    slack.faults.removeFromChannel(payments, slack.workspace.app.person);
    expect(await post({ channel: payments, text: "x" })).toMatchObject({ error: "channel_not_found" });
    const mine = own();
    slack.faults.archive(opsAgents);
    expect(await post({ text: "x" })).toMatchObject({ error: "is_archived" });
    const { channel, ts } = mine;
    expect(await call("chat.update", { channel, ts, text: "y" })).toMatchObject({ error: "is_inactive" });
  });

  test("need content, an existing thread, and a recipient who is in the channel", async () => {
    expect(await post({})).toMatchObject({ error: "no_text" });
    const reply = own({ thread: own().ts });
    expect(await post({ text: "x", thread_ts: reply.ts })).toMatchObject({
      error: "cannot_reply_to_message",
    });
    expect(await post({ text: "x", markdown_text: "y" })).toMatchObject({ error: "markdown_text_conflict" });
    const whisper = { channel: payments, user: guest, text: "x" };
    expect(await call("chat.postEphemeral", whisper)).toMatchObject({ error: "user_not_in_channel" });
  });

  test("are cut at 40,000 characters when posted, and refused beyond 4,000 when updated", async () => {
    const text = "x".repeat(40_001);
    const long: ChatPostMessageResponse = await client.apiCall("chat.postMessage", {
      channel: opsAgents,
      text,
    });
    expect(long.message?.text).toHaveLength(40_000);
    expect(long.response_metadata).toMatchObject({ warnings: ["message_truncated"] });
    const at = { channel: opsAgents, ts: long.ts ?? "" };
    expect(await call("chat.update", { ...at, text: "x".repeat(4001) })).toMatchObject({
      error: "msg_too_long",
    });
    expect(await call("chat.update", { ...at, text: "x".repeat(4000) })).toMatchObject({
      error: accepted,
    });
  });

  test("of other authors, and deleted ones, cannot be changed", async () => {
    const { ts } = own({ author: ana });
    const at = { channel: opsAgents, ts };
    expect(await call("chat.update", { ...at, text: "x" })).toMatchObject({ error: "cant_update_message" });
    expect(await call("chat.delete", at)).toMatchObject({ error: "cant_delete_message" });
    const gone = { channel: opsAgents, ts: "1.000001" };
    expect(await call("chat.update", { ...gone, text: "x" })).toMatchObject({ error: "message_not_found" });
    const whispered = own({ ephemeralFor: ana });
    const whisper = { channel: opsAgents, ts: whispered.ts, text: "x" };
    expect(await call("chat.update", whisper)).toMatchObject({ error: "message_not_found" });
    expect(await call("chat.getPermalink", { channel: opsAgents, message_ts: "1.000001" })).toMatchObject({
      error: "message_not_found",
    });
  });
});

describe("views", () => {
  test("need a new trigger, which works once", async () => {
    const view = reasonModal();
    const open = (trigger_id: string) => call("views.open", { trigger_id, view });
    expect(await open("1.2.made-up")).toMatchObject({ error: "invalid_trigger_id" });
    const used = await trigger();
    await open(used);
    expect(await open(used)).toMatchObject({ error: "exchanged_trigger_id" });
    const late = await trigger();
    time += 3001;
    expect(await open(late)).toMatchObject({ error: "expired_trigger_id" });
  });

  test("can be stacked three high, and only on a modal", async () => {
    const view = reasonModal();
    expect(await call("views.push", { trigger_id: await trigger(), view })).toMatchObject({
      error: "not_found",
    });
    await opened();
    for (const expected of [accepted, accepted, "push_limit_reached"]) {
      const top = slack.workspace.viewsOf(ana).at(-1)?.id ?? "";
      await slack.acts.submit(ana, top, { reason: { text: "x" } });
      const trigger_id = lastTrigger(slack, "view_submission");
      expect(await call("views.push", { trigger_id, view })).toMatchObject({ error: expected });
    }
  });

  test("can be updated only while they are open and unchanged", async () => {
    const open = await opened();
    const view = reasonModal();
    const stale = open.hash;
    await client.apiCall("views.update", { view_id: open.id, hash: stale, view });
    expect(await call("views.update", { view_id: open.id, hash: stale, view })).toMatchObject({
      error: "hash_conflict",
    });
    await slack.acts.close(ana, open.id);
    expect(await call("views.update", { view_id: open.id, view })).toMatchObject({ error: "not_found" });
  });

  test("keep the typed text when they are updated", async () => {
    const open = await opened();
    await slack.acts.submit(ana, open.id, { reason: { text: "half a" } });
    const view = reasonModal({ private_metadata: "2" });
    const answer = await client.apiCall("views.update", { view_id: open.id, view });
    expect(answer).toMatchObject({ view: { state: { values: { reason: { text: { value: "half a" } } } } } });
  });

  test("that are too large, have a title that is too long, or lack a submit button are refused", async () => {
    const open = async (view: object) => call("views.open", { trigger_id: await trigger(), view });
    const options = Array.from({ length: 100 }, (_, index) => ({
      text: { type: "plain_text", text: "x".repeat(75) },
      value: `${index}`.padEnd(75, "v"),
    }));
    const large = Array.from({ length: 13 }, (_, index) => ({
      type: "input",
      block_id: `b${index}`,
      label: { type: "plain_text", text: "L" },
      element: { type: "static_select", action_id: "a", options },
    }));
    expect(await open(reasonModal({ blocks: large }))).toMatchObject({ error: "view_too_large" });
    const refused = await open(
      reasonModal({ submit: undefined, title: { type: "plain_text", text: "x".repeat(25) } }),
    );
    expect(refused).toMatchObject({
      error: "invalid_arguments",
      response_metadata: {
        messages: [
          "[ERROR] must be less than 25 characters [json-pointer:/view/title/text]",
          "[ERROR] missing required field: submit [json-pointer:/view]",
        ],
      },
    });
    const view = reasonModal({ external_id: "one" });
    await opened(view);
    await client.apiCall("views.publish", {
      user_id: ben,
      view: { type: "home", external_id: "two", blocks: [] },
    });
    expect(await open(reasonModal({ external_id: "two" }))).toMatchObject({ error: "duplicate_external_id" });
  });
});

describe("people, files and reactions", () => {
  test("unknown people and groups, and deactivated people, are reported as such", async () => {
    expect(await call("users.info", { user: "U0NOBODY" })).toMatchObject({ error: "user_not_found" });
    expect(await call("conversations.open", { users: "U0DEE" })).toMatchObject({ error: "user_disabled" });
    expect(await call("usergroups.users.list", { usergroup: "S0" })).toMatchObject({
      error: "no_such_subteam",
    });
    const { user } = await client.users.info({ user: outsider });
    expect(user).toMatchObject({ team_id: "T0PARTNER", is_stranger: false, is_restricted: false });
    expect((await client.users.info({ user: guest })).user).toMatchObject({ is_restricted: true });
  });

  test("files must be announced, uploaded in full and posted where the app is", async () => {
    const announce = (length: number) => client.files.getUploadURLExternal({ filename: "a.txt", length });
    expect(await refusal(announce(0))).toMatchObject({ error: "missing_argument" });
    const { upload_url: url = "", file_id: id = "" } = await announce(3);
    const complete = (more: object = {}) =>
      call("files.completeUploadExternal", { files: [{ id }], ...more });
    expect(await complete()).toMatchObject({ error: "file_not_found" });
    expect((await fetch(url, { method: "POST", body: "four" })).status).toBe(400);
    expect((await fetch(url, { method: "POST", body: "abc" })).status).toBe(200);
    expect((await fetch(url, { method: "POST", body: "abc" })).status).toBe(404);
    expect(await complete({ channel_id: random })).toMatchObject({ error: "not_in_channel" });
    expect(await complete({ channel_id: opsAgents })).toMatchObject({ error: accepted });
    expect(await complete({ channel_id: opsAgents })).toMatchObject({ error: "file_not_found" });
  });

  test("a reaction counts once", async () => {
    const at = { channel: opsAgents, timestamp: own().ts, name: "eyes" };
    await client.apiCall("reactions.add", at);
    expect(await call("reactions.add", at)).toMatchObject({ error: "already_reacted" });
    await client.apiCall("reactions.remove", at);
    expect(await call("reactions.remove", at)).toMatchObject({ error: "no_reaction" });
  });
});

describe("rate limits", () => {
  test("a channel accepts a short burst, and then one message a second", async () => {
    slack.rateLimits.enforce(true);
    for (let count = 0; count < 5; count++)
      expect(await post({ text: "x" })).toMatchObject({ error: accepted });
    expect(await post({ text: "x" })).toMatchObject({ error: expect.stringContaining("rate") as string });
    expect(await post({ channel: payments, text: "x" })).toMatchObject({ error: accepted });
    time += 1000;
    expect(await post({ text: "x" })).toMatchObject({ error: accepted });
  });

  test("the fifty-first call of a tier 3 method in a minute is refused, with the seconds to wait", async () => {
    slack.rateLimits.enforce(true);
    const info = () =>
      fetch(`${slack.apiUrl}conversations.info`, {
        method: "POST",
        headers: { authorization: `Bearer ${slack.botToken}` },
        body: new URLSearchParams({ channel: opsAgents }),
      });
    for (let count = 0; count < 50; count++) expect((await info()).status).toBe(200);
    time += 20_000;
    const refused = await info();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "40"]);
    time += 40_000;
    expect((await info()).status).toBe(200);
  });
});
