import { SocketModeClient } from "@slack/socket-mode";
import { expect, onTestFinished, test, vi } from "vitest";
import { waitForPongs } from "#src/adapters/slack/socket-connection.ts";
import { ana, opsAgents, silent, startFull } from "../../sandbox/slack/bolt-app.ts";

/** How often the client sends pings (ms): three times within its wait for a pong. */
const PING_MS = 10_000 / 3;

test("a process that pauses for six seconds keeps its socket, and gives up a dead connection", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const slack = await startFull();
  onTestFinished(slack.stop);
  const client = new SocketModeClient({
    appToken: slack.appToken,
    logger: silent,
    clientPingTimeout: 2_000,
    clientOptions: { slackApiUrl: slack.apiUrl },
  });
  waitForPongs(client);
  client.on("slash_commands", ({ ack }: { ack: () => Promise<void> }) => void ack());
  await client.start();
  onTestFinished(() => client.disconnect());
  const command = (): Promise<unknown> => slack.acts.command(ana, opsAgents, "/agent", "");

  vi.advanceTimersByTime(PING_MS);
  // The pong comes before this answer on the wire.
  expect(await command()).toEqual({ ok: true });
  vi.setSystemTime(Date.now() + 6_000);
  vi.advanceTimersByTime(PING_MS);
  expect(await command()).toEqual({ ok: true });

  const closed = new Promise((resolve) => client.once("close", resolve));
  vi.setSystemTime(Date.now() + 12_000);
  vi.advanceTimersByTime(PING_MS);
  await closed;
});
