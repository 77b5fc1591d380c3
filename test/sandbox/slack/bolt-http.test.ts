import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { App, HTTPReceiver } from "@slack/bolt";
import { afterEach, expect, test } from "vitest";

import { ana, button, opsAgents, silent, startFull } from "./bolt-app.ts";

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const start = async (listen: (app: App) => void) => {
  let port = 0;
  const slack = await startFull({
    delivery: { mode: "http", requestUrl: () => `http://127.0.0.1:${port}/slack/events` },
  });
  closers.push(slack.stop);
  const { signingSecret, botToken: token, apiUrl: slackApiUrl } = slack;
  const receiver = new HTTPReceiver({ signingSecret, logger: silent });
  const app = new App({ token, receiver, logger: silent, clientOptions: { slackApiUrl } });
  listen(app);
  const server = await receiver.start({ port: 0, host: "127.0.0.1" });
  port = (server.address() as AddressInfo).port;
  closers.push(() => receiver.stop());
  return slack;
};

test("a signed command and a signed click reach the app, and its acknowledgments are returned", async () => {
  let clicked: unknown;
  const slack = await start((app) => {
    app.command("/agent", ({ ack, payload }) => ack(`You said ${payload.text}`));
    app.action("approve", async ({ ack, payload }) => {
      clicked = payload;
      await ack();
    });
  });
  expect(await slack.acts.command(ana, opsAgents, "/agent", "hi & bye")).toEqual({ ok: true });
  expect(slack.workspace.messages.at(-1)).toMatchObject({ text: "You said hi &amp; bye", ephemeralFor: ana });
  const blocks = [button("approve", "v7")];
  const card = slack.workspace.post({ channel: opsAgents, author: slack.workspace.app.person, blocks });
  await slack.acts.click(ana, card, "buttons", "approve");
  expect(clicked).toMatchObject({ value: "v7" });
});

test("an event that was answered with an error is sent again, numbered and with a reason", async () => {
  const attempts: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const server = createServer((req, res) => {
    attempts.push([req.headers["x-slack-retry-num"], req.headers["x-slack-retry-reason"]]);
    res.writeHead(attempts.length < 3 ? 500 : 200).end();
    if (attempts.length === 3) resolve();
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  closers.push(async () => server.close());
  const requestUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const slack = await startFull({
    delivery: { mode: "http", requestUrl },
    timing: { retryDelaysMs: [0, 0, 0] },
  });
  closers.push(slack.stop);
  await slack.acts.say(ana, opsAgents, "hi");
  await promise;
  expect(attempts).toEqual([
    [undefined, undefined],
    ["1", "http_error"],
    ["2", "http_error"],
  ]);
});

test("an unreachable app is reported to the person", async () => {
  const slack = await startFull({ delivery: { mode: "http", requestUrl: "http://127.0.0.1:1/" } });
  closers.push(slack.stop);
  expect(await slack.acts.command(ana, opsAgents, "/agent", "")).toMatchObject({
    error: '/agent failed with the error "dispatch_failed"',
  });
});
