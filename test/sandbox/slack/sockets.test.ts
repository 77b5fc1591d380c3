import { SocketModeClient } from "@slack/socket-mode";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";

import type { Slack, SlackOptions } from "#sandbox/slack/start-slack.ts";

import { ana, clientOf, opsAgents, silent, startFull } from "./bolt-app.ts";

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const start = async (options: Partial<SlackOptions> = {}): Promise<Slack> => {
  const slack = await startFull(options);
  closers.push(slack.stop);
  return slack;
};

type Frame = Record<string, unknown> & { type: string; envelope_id?: string };

/** A bare socket that records what it receives, and acknowledges only on request. */
const bareSocket = async (slack: Slack, acknowledge: (frame: Frame) => boolean = () => true) => {
  const { url } = await clientOf(slack, slack.appToken).apps.connections.open({});
  const socket = new WebSocket(url ?? "");
  const frames: Frame[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Frame;
    frames.push(frame);
    if (frame.envelope_id !== undefined && acknowledge(frame))
      socket.send(JSON.stringify({ envelope_id: frame.envelope_id, payload: {} }));
    for (const one of waiting) if (frames.length >= one.count) one.resolve();
  });
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => (frames.length >= count ? resolve() : waiting.push({ count, resolve })));
  await until(1);
  return { socket, frames, until, url: url ?? "" };
};

test("a socket gets a greeting, and its ticket works only once", async () => {
  const slack = await start();
  const { frames, url } = await bareSocket(slack);
  expect(frames[0]).toMatchObject({
    type: "hello",
    num_connections: 1,
    debug_info: { approximate_connection_time: 3600 },
  });
  const second = new WebSocket(url);
  const refused = await new Promise((resolve) => second.on("error", resolve));
  expect(String(refused)).toContain("403");
});

test("each payload goes to exactly one of several sockets, in turn", async () => {
  const slack = await start();
  const first = await bareSocket(slack);
  const second = await bareSocket(slack);
  expect(second.frames[0]).toMatchObject({ num_connections: 2 });
  for (let count = 0; count < 4; count++) await slack.acts.command(ana, opsAgents, "/agent", String(count));
  const got = ({ frames }: { frames: Frame[] }) => frames.filter(({ type }) => type === "slash_commands");
  expect([got(first).length, got(second).length]).toEqual([2, 2]);
});

test("an event that is not acknowledged is sent again, with its number and the reason", async () => {
  const slack = await start({ timing: { ackMs: 10, retryDelaysMs: [0, 0, 0] } });
  const { frames, until } = await bareSocket(slack, (frame) => frame["retry_attempt"] === 2);
  await slack.acts.say(ana, opsAgents, "hello");
  await until(4);
  expect(frames.slice(1).map((frame) => [frame["retry_attempt"], frame["retry_reason"]])).toEqual([
    [undefined, undefined],
    [1, "http_timeout"],
    [2, "http_timeout"],
  ]);
  const ids = frames.slice(1).map((frame) => (frame["payload"] as Frame)["event_id"]);
  expect(new Set(ids).size).toBe(1);
});

test("commands and clicks that are not acknowledged are not sent again", async () => {
  const slack = await start({ timing: { ackMs: 10, retryDelaysMs: [0] } });
  const { frames } = await bareSocket(slack, () => false);
  await slack.acts.command(ana, opsAgents, "/agent", "");
  expect(frames.filter(({ type }) => type === "slash_commands")).toHaveLength(1);
});

test("a retiring socket gets no more payloads and is closed after the notice, and the SDK reconnects", async () => {
  const slack = await start({ timing: { disconnectNoticeMs: 5 } });
  const client = new SocketModeClient({
    appToken: slack.appToken,
    logger: silent,
    clientPingTimeout: 50,
    clientOptions: { slackApiUrl: slack.apiUrl },
  });
  client.on("slash_commands", ({ ack }: { ack: () => Promise<void> }) => void ack());
  await client.start();
  closers.push(() => client.disconnect());
  const back = new Promise((resolve) => client.once("connected", resolve));
  slack.sockets.disconnect("warning");
  expect(slack.sockets.connections()).toBe(0);
  expect(await slack.acts.command(ana, opsAgents, "/agent", "")).toMatchObject({ ok: false });
  await back;
  expect(await slack.acts.command(ana, opsAgents, "/agent", "")).toEqual({ ok: true });
});

test("a socket at Slack's age limit is warned, and closed after the notice", async () => {
  const slack = await start({ timing: { connectionMs: 20, disconnectNoticeMs: 5 } });
  const gone = new Promise<void>((resolve) => {
    slack.traffic.onLine(({ what }) => what === "socket closed" && resolve());
  });
  const { frames, until } = await bareSocket(slack);
  await until(2);
  expect(frames[1]).toMatchObject({ type: "disconnect", reason: "warning" });
  await gone;
  expect(slack.traffic.lines().map(({ from, what }) => `${from}: ${what}`)).toEqual([
    "app: apps.connections.open",
    "app: socket connected",
    "slack: disconnect: warning",
    "app: socket closed",
  ]);
});

test("the eleventh socket is refused", async () => {
  const slack = await start();
  for (let count = 0; count < 10; count++) await bareSocket(slack);
  const { frames } = await bareSocket(slack);
  expect(frames[0]).toMatchObject({ type: "disconnect", reason: "too_many_websockets" });
});

test("the app sees a dropped network as a closed socket", async () => {
  const slack = await start();
  const { socket } = await bareSocket(slack);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  slack.sockets.drop();
  expect(await closed).toBe(1006);
});
