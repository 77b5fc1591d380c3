// A real Bolt app on the sandbox's Slack, without any code of our own app.

import { App, SocketModeReceiver } from "@slack/bolt";
import type { Logger } from "@slack/bolt";
import { WebClient } from "@slack/web-api";

import { startSlack } from "#sandbox/slack/start-slack.ts";
import { SEED } from "#sandbox/world/seed.ts";
import type { Slack, SlackOptions } from "#sandbox/slack/start-slack.ts";

const fullManifest = new URL("manifest-full.yml", import.meta.url).pathname;

export const ana = "U0ANA";
export const ben = "U0BEN";
export const guest = "U0GIL";
export const outsider = "U0ODA";
export const opsAgents = "C0OPSAGENTS";
export const payments = "C0PAYMENTS";
export const random = "C0RANDOM";

export const silent = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => "error",
  setName: () => {},
} as unknown as Logger;

export const startFull = (options: Partial<SlackOptions> = {}): Promise<Slack> =>
  startSlack({ manifestPath: fullManifest, seed: SEED, rateLimits: false, ...options });

export const clientOf = (slack: Slack, token: string = slack.botToken): WebClient =>
  new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: silent,
  });

/** Returns the trigger id in the newest payload of this kind. */
export const lastTrigger = (slack: Slack, what: string): string => {
  const line = slack.traffic.lines().findLast((one) => one.what === what);
  const { payload } = (line ?? { detail: {} }).detail as { payload?: { body: { trigger_id: string } } };
  return payload?.body.trigger_id ?? "";
};

export const accepted = "none: the call was accepted";

/** Resolves to the code with which the call is refused, and everything else that Slack returns. */
export const refusal = async (call: Promise<unknown>): Promise<Record<string, unknown>> => {
  try {
    await call;
  } catch (error) {
    return (error as { data?: Record<string, unknown> }).data ?? { error: String(error) };
  }
  return { error: accepted };
};

export const connect = async (
  slack: Slack,
  listen: (app: App) => void,
): Promise<{ app: App; receiver: SocketModeReceiver; stop: () => Promise<void> }> => {
  const receiver = new SocketModeReceiver({
    appToken: slack.appToken,
    logger: silent,
    clientPingTimeout: 1000,
    installerOptions: { clientOptions: { slackApiUrl: slack.apiUrl } },
  });
  const app = new App({
    token: slack.botToken,
    receiver,
    logger: silent,
    clientOptions: { slackApiUrl: slack.apiUrl },
  });
  listen(app);
  await app.start();
  return { app, receiver, stop: async () => void (await app.stop()) };
};

export const plain = (text: string) => ({ type: "plain_text" as const, text });

export const button = (action_id: string, value = "nonce") => ({
  type: "actions" as const,
  block_id: "buttons",
  elements: [{ type: "button" as const, action_id, text: plain("Approve"), value }],
});

export const reasonModal = (more: Record<string, unknown> = {}) => ({
  type: "modal" as const,
  callback_id: "reason",
  title: plain("Reason"),
  submit: plain("Send"),
  blocks: [
    {
      type: "input" as const,
      block_id: "reason",
      label: plain("Reason"),
      element: { type: "plain_text_input" as const, action_id: "text", multiline: true },
    },
  ],
  ...more,
});
