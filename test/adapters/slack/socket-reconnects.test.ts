// Whatever Slack answers while the socket reconnects, the app gets a socket once Slack gives one.

import type { App } from "@slack/bolt";
import { expect, onTestFinished, test } from "vitest";
import { createSocketConnection } from "#src/adapters/slack/socket-connection.ts";
import { createHandClock } from "../../make/clock.ts";
import { eventually } from "../../make/eventually.ts";
import { silent, startFull } from "../../sandbox/slack/bolt-app.ts";

const HOUR_MS = 3_600_000;

async function aSocket() {
  const slack = await startFull();
  onTestFinished(slack.stop);
  const clock = createHandClock();
  const logged: object[] = [];
  const note = (fields: object): void => void logged.push(fields);
  const { client, ...connection } = createSocketConnection({
    appToken: slack.appToken,
    apiUrl: slack.apiUrl,
    through: undefined,
    alone: true,
    clock,
    log: { debug: note, info: note, warn: note, error: note },
    logger: silent,
  });
  onTestFinished(() => connection.stop());
  connection.receiver.init({} as App);
  const asked = (): number =>
    slack.traffic.lines().filter(({ what }) => what === "apps.connections.open").length;
  const refuse = (error: string, times: number): void =>
    slack.faults.next("apps.connections.open", { error }, times);
  /** Shortens the two seconds that the SDK waits before it reconnects. */
  const drop = (): void => {
    Object.assign(client, { clientPingTimeoutMS: 1 });
    slack.sockets.drop();
  };
  return { slack, clock, client, connection, logged, asked, refuse, drop };
}

async function connected() {
  const socket = await aSocket();
  await socket.connection.start();
  expect(socket.slack.sockets.connections()).toBe(1);
  return socket;
}

test.each(["invalid_auth", "not_authed", "account_inactive", "user_removed_from_team", "team_disabled"])(
  "a socket that is lost while Slack answers %s once comes back, and is the only one",
  async (code) => {
    const { slack, clock, connection, logged, asked, refuse, drop } = await connected();
    refuse(code, 1);
    drop();
    await eventually(() => expect(clock.waiting()).toBe(1));
    expect([slack.sockets.connections(), connection.state()]).toEqual([0, "refused"]);
    expect(logged).toEqual([{ code }]);
    await clock.pass(1_000);
    await eventually(() => expect(connection.state()).toBe("connected"));
    expect([slack.sockets.connections(), asked(), clock.waiting()]).toEqual([1, 3, 0]);
  },
);

test("a refusal after another failure does not end the reconnecting, and the pauses grow to 30 s", async () => {
  const { clock, connection, asked, refuse, drop } = await connected();
  refuse("internal_error", 1);
  refuse("invalid_auth", 60);
  drop();
  await eventually(() => expect([clock.waiting(), connection.state()]).toEqual([1, "lost"]));
  const next = async (ms: number): Promise<void> => {
    const before = asked();
    await clock.pass(ms - 1);
    expect(asked()).toBe(before);
    await clock.pass(1);
    await eventually(() => expect([asked(), clock.waiting()]).toEqual([before + 1, 1]));
  };
  for (const ms of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]) await next(ms);
  expect(connection.state()).toBe("refused");
});

test("a stop during a pause ends the reconnecting", async () => {
  const { slack, clock, connection, asked, refuse, drop } = await connected();
  refuse("invalid_auth", 1);
  drop();
  await eventually(() => expect(clock.waiting()).toBe(1));
  await connection.stop();
  await clock.pass(HOUR_MS);
  expect([asked(), clock.waiting(), slack.sockets.connections()]).toEqual([2, 0, 0]);
});

test("a token that Slack has never accepted ends the start", async () => {
  const { slack, clock, connection, asked, refuse } = await aSocket();
  refuse("invalid_auth", 1);
  await expect(connection.start()).rejects.toThrow(/^Slack refuses SLACK_APP_TOKEN \(invalid_auth\)/);
  expect([asked(), clock.waiting(), slack.sockets.connections()]).toEqual([1, 0, 0]);
});
