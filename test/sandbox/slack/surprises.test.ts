// Calls that Slack accepts but handles differently than a bot would expect. None is refused, so a bot must check.

import type { WebClient } from "@slack/web-api";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { Slack } from "#sandbox/slack/start-slack.ts";

import {
  accepted,
  ana,
  clientOf,
  guest,
  opsAgents,
  outsider,
  payments,
  refusal,
  startFull,
} from "./bolt-app.ts";

let slack: Slack;
let client: WebClient;

beforeEach(async () => {
  slack = await startFull();
  client = clientOf(slack);
});

afterEach(() => slack.stop());

const own = (text = "mine") =>
  slack.workspace.post({ channel: opsAgents, author: slack.workspace.app.person, text });

describe("a reply", () => {
  test("to a deleted message is posted in the channel, and only the missing thread_ts shows it", async () => {
    const parent = own();
    slack.workspace.remove(parent);
    const answer = await client.chat.postMessage({ channel: opsAgents, text: "reply", thread_ts: parent.ts });
    expect(answer.message).not.toHaveProperty("thread_ts");
    expect(slack.workspace.messages.at(-1)).toMatchObject({ text: "reply", thread: null });
  });

  test("that is ephemeral is not shown in a thread without replies", async () => {
    const parent = own();
    const whisper = { channel: opsAgents, user: ana, text: "psst", thread_ts: parent.ts };
    expect((await client.chat.postEphemeral(whisper)).message_ts).toMatch(/^\d+\.\d{6}$/);
    expect(slack.workspace.messages.some(({ text }) => text === "psst")).toBe(false);
    expect(slack.traffic.lines().map(({ what }) => what)).toContain("ephemeral message not shown");
    await client.chat.postMessage({ channel: opsAgents, text: "answer", thread_ts: parent.ts });
    await client.chat.postEphemeral(whisper);
    expect(slack.workspace.messages.at(-1)).toMatchObject({ text: "psst", ephemeralFor: ana });
  });
});

describe("an argument", () => {
  test("that the sandbox cannot show is refused by name, so that it does not seem to work", async () => {
    const refused = await refusal(
      client.chat.postMessage({ channel: opsAgents, text: "x", attachments: [] }),
    );
    expect(refused).toMatchObject({
      error: "invalid_arguments",
      response_metadata: { messages: ["[ERROR] the sandbox does not imitate the argument: attachments"] },
    });
  });

  test("that has no effect for bots is accepted", async () => {
    const { ts } = own();
    expect(
      await refusal(client.apiCall("chat.delete", { channel: opsAgents, ts, as_user: true })),
    ).toMatchObject({ error: accepted });
  });

  test("with the name of a property of every object is unknown, too", async () => {
    expect(await refusal(client.apiCall("users.info", { user: ana, constructor: "x" }))).toMatchObject({
      error: "invalid_arguments",
    });
  });
});

describe("people", () => {
  const person = async (user: string) => (await client.users.info({ user })).user;

  test("guests, outsiders, bots and deactivated people are distinguished, and Slackbot is not a bot", async () => {
    expect(await person(ana)).toMatchObject({ is_restricted: false, is_bot: false, deleted: false });
    expect(await person(guest)).toMatchObject({ is_restricted: true });
    expect(await person(outsider)).toMatchObject({ team_id: "T0PARTNER", is_stranger: false });
    expect(await person("U0ROTA")).toMatchObject({ is_bot: true });
    expect(await person("U0DEE")).toMatchObject({ deleted: true });
    expect(await person("USLACKBOT")).toMatchObject({ is_bot: false });
  });

  test("are all listed, including deactivated ones, and in pages if a limit is given", async () => {
    const all = await client.users.list({});
    expect(all.members).toHaveLength(slack.workspace.people.size);
    expect(all.members?.some(({ deleted }) => deleted)).toBe(true);
    const first = await client.users.list({ limit: 4 });
    const cursor = first.response_metadata?.next_cursor ?? "";
    const second = await client.users.list({ limit: 4, cursor });
    const ids = [first, second].flatMap(({ members = [] }) => members.map(({ id }) => id));
    expect(new Set(ids).size).toBe(8);
  });

  test("in a user group are listed on request, and those in a disabled group only if requested", async () => {
    const plain = await client.usergroups.list({});
    expect(plain.usergroups).toMatchObject([{ id: "S0APPROVERS", handle: "approvers" }]);
    expect(plain.usergroups?.[0]).not.toHaveProperty("users");
    const all = await client.usergroups.list({ include_disabled: true });
    expect(all.usergroups?.map(({ id }) => id)).toEqual(["S0APPROVERS", "S0OLDCREW"]);
  });
});

describe("direct messages", () => {
  test("are opened once and resumed after that", async () => {
    expect(await client.conversations.open({ users: ana })).not.toHaveProperty("already_open");
    const again = await client.conversations.open({ users: ana });
    expect(again).toMatchObject({ already_open: true, no_op: true });
    const channel = again.channel?.id ?? "";
    expect(await client.conversations.open({ channel })).toMatchObject({ channel: { id: channel } });
  });

  test("are not created by checking whether they exist", async () => {
    const looked = client.conversations.open({ users: ana, prevent_creation: true });
    expect(await refusal(looked)).toMatchObject({ error: "channel_not_found" });
    expect([...slack.workspace.channels.values()].some(({ kind }) => kind === "dm")).toBe(false);
  });
});

test("an app gets the events of a private channel only with the scope to read it", async () => {
  const eventsAfterMention = async (): Promise<number> => {
    await slack.acts.say(ana, payments, "@countersign hello");
    return slack.traffic.lines().filter(({ what }) => what === "events_api").length;
  };
  expect(await eventsAfterMention()).toBe(1);
  slack.faults.revokeScope("app_mentions:read");
  expect(await eventsAfterMention()).toBe(1);
});

test("two views cannot have the same external_id, and a view can be found by it", async () => {
  const home = (external_id: string) => ({ type: "home" as const, external_id, blocks: [] });
  await client.views.publish({ user_id: ana, view: home("mine") });
  const other = client.views.publish({ user_id: guest, view: home("mine") });
  expect(await refusal(other)).toMatchObject({ error: "duplicate_external_id" });
  const updated = await client.views.update({ external_id: "mine", view: home("mine") });
  expect(updated.view).toMatchObject({ id: slack.workspace.homes.get(ana)?.id });
  const stale = client.views.publish({ user_id: ana, hash: "0.stale", view: home("mine") });
  expect(await refusal(stale)).toMatchObject({ error: "hash_conflict" });
});

describe("an answer", () => {
  test("contains Slack's time, even if it is a refusal", async () => {
    await slack.stop();
    const at = Date.UTC(2030, 0, 2, 3, 4, 5);
    slack = await startFull({ now: () => at });
    for (const token of [slack.botToken, "nobody's"]) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(new URL("auth.test", slack.apiUrl), { method: "POST", headers });
      expect(answer.headers.get("date")).toBe(new Date(at).toUTCString());
    }
  });
});
