// Payloads that Slack has delivered are acknowledged before the socket is closed.

import type { App, ReceiverEvent } from "@slack/bolt";
import { expect, onTestFinished, test } from "vitest";
import { createSocketConnection } from "#src/adapters/slack/socket-connection.ts";
import { createClock } from "#src/engine/clock.ts";
import { ana, opsAgents, silent, startFull } from "../../sandbox/slack/bolt-app.ts";

const nothing = (): void => undefined;
const QUIET = { debug: nothing, info: nothing, warn: nothing, error: nothing };

async function connected() {
  const slack = await startFull();
  onTestFinished(slack.stop);
  const { appToken, apiUrl } = slack;
  const { client, ...connection } = createSocketConnection({
    appToken,
    apiUrl,
    through: undefined,
    alone: true,
    log: QUIET,
    clock: createClock(),
    logger: silent,
  });
  const { promise, resolve: came } = Promise.withResolvers<ReceiverEvent>();
  const bolt = { processEvent: (event: ReceiverEvent) => Promise.resolve(came(event)) };
  connection.receiver.init(bolt as unknown as App);
  await connection.start();
  onTestFinished(() => connection.stop());
  return { slack, connection, client, event: promise };
}

test("a payload is unacknowledged from its arrival to its acknowledgment, whatever Bolt does in between", async () => {
  const { slack, connection, event } = await connected();
  expect(connection.hasUnacknowledged()).toBe(false);
  const answered = slack.acts.command(ana, opsAgents, "/agent", "help");
  const { ack } = await event;
  expect(connection.hasUnacknowledged()).toBe(true);
  let isOver = false;
  const acknowledged = connection.acknowledged().then(() => (isOver = true));
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  await ack();
  await acknowledged;
  await connection.stop();
  expect(await answered).toEqual({ ok: true });
});

test("a payload is acknowledged even if Slack asks for another socket meanwhile, and then the socket is replaced", async () => {
  const { slack, client, event } = await connected();
  const answered = slack.acts.command(ana, opsAgents, "/agent", "help");
  const { ack } = await event;
  const changed = new Promise((resolve) => client.once("close", resolve));
  const asked = new Promise((resolve) => client.once("ws_message", resolve));
  slack.sockets.disconnect("warning");
  await asked;
  await ack();
  expect(await answered).toEqual({ ok: true });
  await changed;
});
