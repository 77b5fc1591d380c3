// Requests that none of our clients sends, byte for byte: the sandbox refuses them and keeps running.

import { once } from "node:events";
import { connect } from "node:net";

import { afterEach, beforeEach, expect, test } from "vitest";

import type { Slack } from "#sandbox/slack/start-slack.ts";

import { clientOf, startFull } from "./bolt-app.ts";

let slack: Slack;

beforeEach(async () => {
  slack = await startFull();
});

afterEach(() => slack.stop());

const own = (): string => new URL(slack.url).host;

const lines = (path: string, headers: Record<string, string>): string =>
  [
    `GET ${path} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    "",
  ].join("\r\n");

const dial = () => connect(Number(new URL(slack.url).port), "127.0.0.1");

/** Resolves to the status of the answer to these bytes. */
const status = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
  const socket = dial();
  socket.write(lines(path, { host: own(), ...headers }));
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return Number(first.toString("latin1").split(" ")[1]);
};

const upgrading = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
const upgrade = (path: string, headers: Record<string, string> = {}) =>
  status(path, { ...upgrading, ...headers });

const ticket = async (): Promise<string> => {
  const { url = "" } = await clientOf(slack, slack.appToken).apps.connections.open({});
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
};

test("an invalid address is a bad request, whether it requests an answer or a socket", async () => {
  for (const path of ["//", "http://", "//:/"]) {
    expect(await status(path)).toBe(400);
    expect(await upgrade(path)).toBe(400);
  }
  expect(await upgrade(await ticket())).toBe(101);
});

test("a foreign Host and a foreign page cannot open a socket, and the ticket stays valid", async () => {
  const path = await ticket();
  expect(await upgrade(path, { host: "evil.example" })).toBe(421);
  expect(await upgrade("//", { host: "evil.example" })).toBe(421);
  expect(await upgrade(path, { origin: "https://evil.example" })).toBe(403);
  expect(await upgrade(path, { origin: "null" })).toBe(403);
  expect(await upgrade(path, { origin: `http://${own()}` })).toBe(101);
});

test("a client that closes a refused upgrade does no harm, and leaves nothing open", async () => {
  const rude = dial();
  await once(rude, "connect");
  rude.write(lines("/nowhere", { host: own(), ...upgrading }));
  rude.resetAndDestroy();
  const lazy = dial();
  lazy.write(lines("/nowhere", { host: own(), ...upgrading }));
  await once(lazy.resume(), "end");
  expect(await upgrade(await ticket())).toBe(101);
});
