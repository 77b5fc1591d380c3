import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { Slack } from "#sandbox/slack/start-slack.ts";
import type { MessageDraft } from "#sandbox/slack/workspace.ts";

import { ana, button, clientOf, connect, opsAgents, random, startFull } from "./bolt-app.ts";

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

test("an answer is only for the person unless it is meant for the channel, even if the app is not a member", async () => {
  await slack.acts.command(ana, random, "/agent", "");
  expect(await answer({ text: "just you" })).toBe(200);
  expect(newest()).toMatchObject({ channel: random, text: "just you", ephemeralFor: ana });
  expect(await answer({ text: "everyone", response_type: "in_channel" })).toBe(200);
  expect(newest()).toMatchObject({ channel: random, text: "everyone", ephemeralFor: null });
});

test("five answers are accepted, and the sixth is refused", async () => {
  await slack.acts.command(ana, opsAgents, "/agent", "");
  const statuses = [];
  for (let count = 0; count < 6; count++) statuses.push(await answer({ text: "x" }));
  expect(statuses).toEqual([200, 200, 200, 200, 200, 404]);
});

test("an answer can fail before and after it takes effect", async () => {
  await slack.acts.command(ana, opsAgents, "/agent", "");
  slack.faults.next("response_url", { drop: "before" });
  slack.faults.next("response_url", { drop: "after" });
  for (const text of ["before", "after"]) await expect(answer({ text })).rejects.toThrow("fetch failed");
  expect(slack.workspace.messages.map(({ text }) => text)).toEqual(["after"]);
  const lines = slack.traffic.lines().filter(({ what }) => what === "response_url");
  expect(lines.map(({ lost }) => lost)).toEqual([true, true]);
});

test("after half an hour no answer is accepted", async () => {
  await slack.acts.command(ana, opsAgents, "/agent", "");
  time += 30 * 60_000 + 1;
  expect(await answer({ text: "x" })).toBe(404);
});

test("the answer to a click can replace or delete the original, and a deletion posts nothing", async () => {
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

describe("answers are checked strictly", () => {
  const refusedFor = async (body: object): Promise<unknown> => {
    expect(await answer(body)).toBe(400);
    return slack.traffic.lines().at(-1)?.refused;
  };

  test("fields: unknown ones, and those that the sandbox cannot show, are refused by name", async () => {
    await slack.acts.command(ana, opsAgents, "/agent", "");
    expect(await refusedFor({ text: "x", bogus: 1 })).toBe("invalid_arguments");
    expect(await refusedFor({ text: "x", attachments: [{ text: "y" }] })).toBe("invalid_arguments");
    expect(await refusedFor({ text: 7 })).toBe("invalid_arguments");
    expect(await refusedFor({ text: "x", blocks: "{not json" })).toBe("invalid_blocks_format");
    await slack.acts.command(ana, opsAgents, "/agent", "");
    expect(await refusedFor({ text: "x", replace_original: "maybe" })).toBe("invalid_arguments");
    expect(await refusedFor({ text: "x", response_type: 1 })).toBe("invalid_arguments");
    expect(slack.workspace.messages).toEqual([]);
  });

  test("bodies: only JSON is accepted, as in the documentation", async () => {
    await slack.acts.command(ana, opsAgents, "/agent", "");
    const send = async (type: string, body: string): Promise<number> =>
      (await fetch(url, { method: "POST", headers: { "content-type": type }, body })).status;
    expect(await send("application/x-www-form-urlencoded", "text=x")).toBe(400);
    expect(await send("text/plain", "text=x")).toBe(400);
    expect(await send("application/json", "{")).toBe(400);
    expect(await send("application/json", "[]")).toBe(400);
    expect(slack.workspace.messages).toEqual([]);
    expect(await send("application/json; charset=utf-8", '{"text":"x"}')).toBe(200);
  });

  test("an acknowledgment that answers a command is checked in the same way", async () => {
    await stop();
    const { stop: off } = await connect(slack, (app) =>
      app.command("/agent", (args) => args.ack({ text: "x", bogus: true } as never)),
    );
    stop = off;
    expect(await slack.acts.command(ana, opsAgents, "/agent", "")).toMatchObject({
      error: '/agent failed with the error "invalid_arguments"',
    });
  });
});

test("an answer to a click in a thread can be posted in that thread", async () => {
  const { app } = slack.workspace;
  const parent = slack.workspace.post({ channel: opsAgents, author: app.person, text: "parent" });
  const blocks = [button("approve")];
  const at = { channel: opsAgents, author: app.person, text: "card", blocks, thread: parent.ts };
  const card = slack.workspace.post(at);
  await slack.acts.click(ana, card, "buttons", "approve");
  expect(await answer({ text: "more", thread_ts: parent.ts, response_type: "in_channel" })).toBe(200);
  expect(newest()).toMatchObject({ text: "more", thread: parent.ts });
});

test("a message in a thread that is replaced keeps its ts and its place among the replies", async () => {
  const { app } = slack.workspace;
  const say = (text: string, more: Partial<MessageDraft> = {}) =>
    slack.workspace.post({ channel: opsAgents, author: app.person, text, ...more });
  const { ts: thread } = say("parent");
  say("before", { thread });
  const card = say("card", { thread, blocks: [button("approve")] });
  say("after", { thread });
  const places = async (): Promise<readonly unknown[]> => {
    const { messages } = await clientOf(slack).conversations.replies({ channel: opsAgents, ts: thread });
    return (messages ?? []).map(({ ts, text, thread_ts: parent }) => ({ ts, text, parent }));
  };
  const shown = await places();
  await slack.acts.click(ana, card, "buttons", "approve");
  expect(await answer({ text: "replaced", replace_original: true })).toBe(200);
  expect(shown).toHaveLength(4);
  expect(await places()).toEqual(shown.with(2, { ts: card.ts, text: "replaced", parent: thread }));
});
