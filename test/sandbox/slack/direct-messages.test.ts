// The direct messages between a person and the app.

import type { WebClient } from "@slack/web-api";
import { afterEach, expect, test } from "vitest";

import type { Slack, SlackOptions } from "#sandbox/slack/start-slack.ts";

import { ana, clientOf, refusal, startFull } from "./bolt-app.ts";

let slack: Slack;
let client: WebClient;

const start = async (options: Partial<SlackOptions> = {}): Promise<void> => {
  slack = await startFull(options);
  client = clientOf(slack);
};

afterEach(() => slack.stop());

const codeOf = async (method: string, args: Record<string, unknown>): Promise<unknown> =>
  (await refusal(client.apiCall(method, args)))["error"];

const dms = () => [...slack.workspace.channels.values()].filter(({ kind }) => kind === "dm");

test("bots have none with bots or with themselves, and only the person sees theirs", async () => {
  await start();
  for (const users of ["U0ROTA", slack.workspace.app.person, "USLACKBOT"])
    expect(await codeOf("conversations.open", { users })).toBe("cannot_dm_bot");
  expect(dms()).toEqual([]);
  await client.conversations.open({ users: ana });
  expect(dms().map(({ members }) => members)).toEqual([[ana, slack.workspace.app.person]]);
  expect(slack.workspace.dmOf("U0BEN").id).not.toBe(slack.workspace.dmOf(ana).id);
});

test("a Home tab can be published to people, not to bots", async () => {
  await start();
  const view = { type: "home", blocks: [] };
  for (const user_id of ["U0ROTA", slack.workspace.app.person])
    expect(await codeOf("views.publish", { user_id, view })).toBe("invalid_arguments");
  expect(slack.workspace.homes.size).toBe(0);
});

const ours = new URL("../../../manifest.yml", import.meta.url).pathname;
const off = { ok: false, error: "Sending messages to this app has been turned off." };

test("if the manifest makes them read-only, people cannot write there, but the app can", async () => {
  await start({ manifestPath: ours });
  const { id: channel } = slack.workspace.dmOf(ana);
  expect(await slack.acts.say(ana, channel, "hello")).toEqual(off);
  expect(await slack.acts.command(ana, channel, "/agent", "help")).toEqual(off);
  expect(slack.workspace.messages).toEqual([]);
  expect(await client.chat.postMessage({ channel: ana, text: "from the app" })).toMatchObject({ channel });
});

test("if the manifest turns the messages tab off, nobody can write there", async () => {
  await start({ manifestPath: new URL("manifest-quiet.yml", import.meta.url).pathname });
  expect(await slack.acts.say(ana, slack.workspace.dmOf(ana).id, "hello")).toEqual(off);
});

test("if the manifest does not mention it, people can write to the app", async () => {
  await start();
  expect(await slack.acts.say(ana, slack.workspace.dmOf(ana).id, "hello")).toEqual({ ok: true });
});
