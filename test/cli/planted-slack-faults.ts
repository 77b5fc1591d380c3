// Faults between the configuration and Slack, for `doctor-faults.test.ts`.

import type { World } from "#sandbox/world/world.ts";
import { ok, type Planted } from "./planted-faults.ts";

const archived = (world: World, channel: string): void => world.slack.faults.archive(channel);

export const SLACK: readonly Planted[] = [
  [
    "the bot token was revoked",
    () => ({ SLACK_BOT_TOKEN: "xoxb-revoked" }),
    "Slack bot token",
    /invalid_auth/,
  ],
  [
    "a scope is missing",
    ({ world }) => void world.slack.faults.revokeScope("files:write"),
    "Slack scopes",
    /missing: files:write/,
  ],
  [
    "scopes are hidden by a proxy",
    async ({ changedSlack }) => ({
      SLACK_API_URL: await changedSlack("auth.test", async (answer) => new Response(await answer.text())),
    }),
    "Slack scopes",
    /are missing from Slack's answer/,
  ],
  [
    "SLACK_APP_ID is another app's",
    () => ({ SLACK_APP_ID: "A0OTHER" }),
    "Slack app",
    /A0COUNTERSIGN.*A0OTHER/,
  ],
  [
    "the tokens are of two apps",
    async ({ changedSlack, world }) => ({
      SLACK_API_URL: await changedSlack("auth.test", (answer, token) =>
        token === world.slack.appToken ? Response.json({ ok: true, app_id: "A0OTHER" }) : answer,
      ),
    }),
    "Slack app",
    /SLACK_APP_TOKEN to A0OTHER/,
  ],
  [
    "Slack does not name the app",
    ({ world }) => world.slack.faults.next("bots.info", { error: "bot_not_found" }),
    "Slack app",
    /does not say which app/,
  ],
  [
    "Slack is down when it is asked for the app",
    ({ world }) => world.slack.faults.next("bots.info", { http: 503 }),
    "Slack app",
    /HTTP 503.*\n.*can reach Slack/,
  ],
  [
    "the app token was revoked",
    () => ({ SLACK_APP_TOKEN: "xapp-revoked" }),
    "Slack app token",
    /invalid_auth/,
  ],
  [
    "Socket Mode is off",
    ({ world }) => world.slack.faults.next("apps.connections.open", { error: "socket_mode_not_enabled" }),
    "Slack app token",
    /socket_mode_not_enabled/,
  ],
  [
    "Slack asks to slow down",
    ({ world }) => world.slack.faults.next("auth.test", { retryAfter: 42 }, 3),
    "Slack bot token",
    /slow down.*\n.*42 s/,
  ],
  [
    "Slack cannot be reached",
    () => ({ SLACK_API_URL: "http://127.0.0.1:9/api/" }),
    "Slack bot token",
    /did not answer.*\n.*can reach Slack/,
  ],
  [
    "Slack is down",
    ({ world }) => world.slack.faults.next("auth.test", { http: 503 }, 3),
    "Slack bot token",
    /HTTP 503/,
  ],
  [
    "something else answers for Slack",
    async ({ server }) => ({ SLACK_API_URL: `${await server(ok({ hello: "world" }))}/api/` }),
    "Slack bot token",
    /cannot be read/,
  ],
  [
    "Slack's certificate is of a private authority",
    async ({ refusedOverTls }) => ({ SLACK_API_URL: `${await refusedOverTls("self-signed")}/api/` }),
    "Slack bot token",
    /NODE_EXTRA_CA_CERTS/,
  ],
  [
    "Slack's certificate has expired, or the clock is ahead",
    async ({ refusedOverTls }) => ({ SLACK_API_URL: `${await refusedOverTls("expired")}/api/` }),
    "Slack bot token",
    /CERT_HAS_EXPIRED.*\n.*clock first/,
  ],
  [
    "Slack's certificate is not valid yet, because the clock is behind",
    async ({ refusedOverTls }) => ({ SLACK_API_URL: `${await refusedOverTls("early")}/api/` }),
    "Slack app token",
    /CERT_NOT_YET_VALID.*\n.*clock first/,
  ],
  [
    "a rule excepts the members of a channel that the app can't see",
    ({ world, file }) => {
      const channel = [...world.slack.workspace.channels.values()].find(({ kind }) => kind === "private");
      world.slack.faults.removeFromChannel(channel?.id ?? "", "U0COUNTERSIGN");
      const approvers = `{ anyone: true, except: { channels: [${channel?.id}] } }`;
      return { POLICY_FILE: file("p.yaml", `rules:\n  - name: all\n    approvers: ${approvers}\n`) };
    },
    "Policy",
    /can't see.*it is excepted by "all".*\n.*Invite the app to that channel/,
  ],
  ["the audit channel is unknown", () => ({ AUDIT_CHANNEL: "C0NOWHERE" }), "Audit channel", /C0NOWHERE/],
  [
    "the app is not in the audit channel",
    () => ({ AUDIT_CHANNEL: "C0RANDOM" }),
    "Audit channel",
    /is not in C0RANDOM/,
  ],
  [
    "the audit channel is archived",
    ({ world }) => (archived(world, "C0RELEASES"), { AUDIT_CHANNEL: "C0RELEASES" }),
    "Audit channel",
    /is archived/,
  ],
  ["an admin is unknown", () => ({ ADMINS: "U0ANA,U0NOBODY" }), "Admins", /U0NOBODY/],
  ["an admin has left", () => ({ ADMINS: "U0DEE" }), "Admins", /U0DEE is deactivated/],
  ["a group of approvers is unknown", () => ({ APPROVERS: "S0NOWHERE" }), "Approvers", /S0NOWHERE/],
];
