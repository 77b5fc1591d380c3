import { expect, test } from "vitest";
import { variables } from "#src/config.ts";
import { config, SOCKET } from "../make/config.ts";

test("the list of variables has an entry for each one in the contract, and valid defaults", () => {
  expect(variables.map(({ name }) => name)).toEqual([
    "SLACK_BOT_TOKEN",
    "SLACK_APP_TOKEN",
    "SLACK_SIGNING_SECRET",
    "SLACK_APP_ID",
    "SLACK_API_URL",
    "AGENT_BASE_URL",
    "AGENT_API_KEY",
    "AGENT_DENY_DECISION",
    "GATEWAY_URL",
    "RUN_URL",
    "PLAIN_HTTP_HOSTS",
    "DATABASE_URL",
    "POLICY_FILE",
    "AUDIT_KEY",
    "AUDIT_CHANNEL",
    "AUDIT_SINK",
    "AUDIT_SINK_TOKEN",
    "ADMINS",
    "APPROVERS",
    "SLACK_COMMAND",
    "DEPLOYMENT_NAME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "HOST",
    "PORT",
    "KEEP_FINISHED_DAYS",
    "POLL_MIN_MS",
    "POLL_MAX_MS",
    "LOG_LEVEL",
  ]);
  const defaults = Object.fromEntries(
    variables.map(({ name, default: initial }) => [name, initial ?? undefined]),
  );
  expect(config({ ...defaults, ...SOCKET })).toEqual(config(SOCKET));
});
