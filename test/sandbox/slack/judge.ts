// Bolt as the judge: a sandbox, and a Bolt app that knows nothing about it, in Socket Mode or over HTTP.

import type { AddressInfo } from "node:net";

import { App, HTTPReceiver, LogLevel, SocketModeReceiver } from "@slack/bolt";
import type { Logger } from "@slack/bolt";

import { startSlack } from "#sandbox/slack/start-slack.ts";
import { SEED } from "#sandbox/world/seed.ts";
import type { Slack, SlackOptions } from "#sandbox/slack/start-slack.ts";

export type Mode = "socket" | "http";

export type Judged = { readonly slack: Slack; readonly app: App; readonly stop: () => Promise<void> };

const manifestPath = new URL("manifest-full.yml", import.meta.url).pathname;

export const startJudged = async (
  mode: Mode,
  listen: (app: App) => void,
  options: Partial<SlackOptions> = {},
): Promise<Judged> => (mode === "socket" ? overSocket(listen, options) : overHttp(listen, options));

const quiet = (): void => {};

/** The app's faults are visible in its behavior. Its log would flood the output of the tests. */
const logger: Logger = {
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: quiet,
  setLevel: quiet,
  getLevel: () => LogLevel.ERROR,
  setName: quiet,
};

const both = (first: () => Promise<unknown>, second: () => Promise<void>) => async (): Promise<void> => {
  await first();
  await second();
};

const overSocket = async (listen: (app: App) => void, options: Partial<SlackOptions>): Promise<Judged> => {
  const slack = await startSlack({ manifestPath, seed: SEED, rateLimits: false, ...options });
  const clientOptions = { slackApiUrl: slack.apiUrl };
  const receiver = new SocketModeReceiver({
    appToken: slack.appToken,
    logger,
    clientPingTimeout: 1000,
    installerOptions: { clientOptions: { ...clientOptions } },
  });
  const app = new App({ token: slack.botToken, receiver, clientOptions, logger });
  listen(app);
  await app.start();
  return { slack, app, stop: both(() => app.stop(), slack.stop) };
};

const overHttp = async (listen: (app: App) => void, options: Partial<SlackOptions>): Promise<Judged> => {
  let port = 0;
  const requestUrl = () => `http://127.0.0.1:${port}/slack/events`;
  const delivery = { mode: "http", requestUrl } as const;
  const slack = await startSlack({ manifestPath, seed: SEED, rateLimits: false, delivery, ...options });
  const receiver = new HTTPReceiver({ signingSecret: slack.signingSecret, logger });
  const clientOptions = { slackApiUrl: slack.apiUrl };
  const app = new App({ token: slack.botToken, receiver, clientOptions, logger });
  listen(app);
  const server = await receiver.start({ port: 0, host: "127.0.0.1" });
  port = (server.address() as AddressInfo).port;
  return { slack, app, stop: both(() => receiver.stop(), slack.stop) };
};
