// The probes always query the sandbox, and a real workspace if tokens are given (docs/development/sandbox-coverage.md says how).

import { expect } from "vitest";

import { slackProbes } from "../../contract/slack-probes.ts";
import { startFull } from "./bolt-app.ts";

slackProbes("the sandbox", async () => {
  const slack = await startFull();
  const { apiUrl, botToken, appToken } = slack;
  const stop = async (): Promise<void> => {
    await slack.stop();
    expect(slack.workspace.messages, "the probes leave nothing behind").toEqual([]);
  };
  return { apiUrl, botToken, appToken, channel: "C0OPSAGENTS", stop };
});

const {
  PROBE_SLACK_BOT_TOKEN: botToken,
  PROBE_SLACK_APP_TOKEN: appToken,
  PROBE_SLACK_CHANNEL: channel,
} = process.env;

if (botToken && channel)
  slackProbes("a real workspace", async () => ({
    apiUrl: null,
    botToken,
    appToken: appToken || null,
    channel,
    stop: async () => {},
  }));
