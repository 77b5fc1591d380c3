import { afterEach, beforeEach, expect, test } from "vitest";

import type { Slack } from "#src/sandbox/slack/server.ts";

import { ana, button, connect, opsAgents, random, startFull } from "./bolt-app.ts";

let slack: Slack;
let time = 1_700_000_000_000;
let url = "";
let stop = async (): Promise<void> => {};

beforeEach(async () => {
  slack = await startFull({ now: () => time });
  const connected = await connect(slack, (app) => {
    app.command("/agent", async ({ ack, payload }) => {
      url = payload.response_url;
      await ack();
    });
    app.action("approve", async ({ ack, body }) => {
      url = "response_url" in body ? body.response_url : "";
      await ack();
    });
  });
  stop = connected.stop;
});

afterEach(async () => {
  await stop();
  await slack.stop();
});

const answer = async (body: object): Promise<number> => {
  const headers = { "content-type": "application/json" };
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).status;
};

const newest = () => slack.workspace.messages.at(-1);

test("an answer is for the person alone unless it is meant for the channel, also where the app is no member", async () => {
  await slack.acts.command(ana, random, "/agent", "");
  expect(await answer({ text: "just you" })).toBe(200);
  expect(newest()).toMatchObject({ channel: random, text: "just you", ephemeralFor: ana });
  expect(await answer({ text: "everybody", response_type: "in_channel" })).toBe(200);
  expect(newest()).toMatchObject({ channel: random, text: "everybody", ephemeralFor: null });
});

test("five answers are taken, the sixth is not", async () => {
  await slack.acts.command(ana, opsAgents, "/agent", "");
  const statuses = [];
  for (let count = 0; count < 6; count++) statuses.push(await answer({ text: "x" }));
  expect(statuses).toEqual([200, 200, 200, 200, 200, 404]);
});

test("after half an hour none is taken", async () => {
  await slack.acts.command(ana, opsAgents, "/agent", "");
  time += 30 * 60_000 + 1;
  expect(await answer({ text: "x" })).toBe(404);
});

test("a click's answer replaces or deletes the original, and says nothing else when it deletes", async () => {
  const { app } = slack.workspace;
  const blocks = [button("approve")];
  const card = slack.workspace.post({ channel: opsAgents, author: app.person, text: "card", blocks });
  await slack.acts.click(ana, card, "buttons", "approve");
  expect(await answer({ text: "replaced", replace_original: true })).toBe(200);
  expect(card).toMatchObject({ text: "replaced", blocks: [] });
  expect(await answer({ text: "and more", delete_original: true })).toBe(400);
  expect(await answer({ delete_original: true })).toBe(200);
  expect(slack.workspace.messages).not.toContain(card);
});

test("an answer that Slack would not show is refused", async () => {
  await slack.acts.command(ana, opsAgents, "/agent", "");
  expect(await answer({})).toBe(400);
  expect(await answer({ text: "x", blocks: [{ type: "nonsense" }] })).toBe(400);
  expect(slack.traffic.lines().at(-1)).toMatchObject({ what: "response_url", refused: "invalid_blocks" });
});
