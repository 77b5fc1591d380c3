// Every variable that Countersign reads, with its meaning and default, and how the audit records the configuration.

import { PROXY_VARIABLES } from "./proxies.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** All variables. The table in docs/reference.md shows them, and a test compares the two. `default` is null if there is none. */
export const variables = [
  variable("SLACK_BOT_TOKEN", "the bot's token, `xoxb-…`; required", null, "xoxb-1234-5678-abcdef"),
  variable(
    "SLACK_APP_TOKEN",
    "the app's token, `xapp-…`; when given, Socket Mode",
    null,
    "xapp-1-A123-456-abcdef",
  ),
  variable(
    "SLACK_SIGNING_SECRET",
    "given without an app token: HTTP mode on `PORT`, path `/slack/events`",
    null,
    "the *Signing Secret* of the page Basic Information, 32 hexadecimal digits",
  ),
  variable("SLACK_APP_ID", "the app's id; without it, Countersign asks Slack", null, "A0123456789"),
  variable(
    "SLACK_API_URL",
    "base address of Slack's Web API, for sandboxes and proxies",
    null,
    "http://127.0.0.1:4000/api",
  ),
  variable("AGENT_BASE_URL", "the agent-run service; required", null, "https://agents.example.com"),
  variable("AGENT_API_KEY", "its API key; required", null, "the key you were given, on one line"),
  variable("AGENT_DENY_DECISION", "the service's word for deny", "deny", "reject"),
  variable(
    "GATEWAY_URL",
    "the token gateway; without it, `AGENT_BASE_URL`",
    null,
    "https://gateway.example.com",
  ),
  variable(
    "RUN_URL",
    "the page of a run, with `{run}` for its id: makes the ids of runs links",
    null,
    "https://agents.example.com/runs/{run}",
  ),
  variable(
    "PLAIN_HTTP_HOSTS",
    "hosts that Countersign may call over `http://`, separated by commas; keys and tokens travel to them unencrypted",
    null,
    "agents.internal,10.0.0.7",
  ),
  variable(
    "DATABASE_URL",
    "`sqlite:PATH` for one process, or `postgres://USER:PASSWORD@HOST/NAME?sslmode=verify-full` for several",
    "sqlite:./data/countersign.db",
    "sqlite:./data/bot.db",
  ),
  variable("POLICY_FILE", "the approval policy, a YAML file: `docs/policy.md`", null, "./policy.yaml"),
  variable(
    "AUDIT_KEY",
    "the Ed25519 key that signs the audit, in PEM or as 32 bytes in base64; without it, Countersign makes one beside the database file; PostgreSQL needs it",
    null,
    "what `openssl rand -base64 32` prints",
  ),
  variable(
    "AUDIT_CHANNEL",
    "the channel that gets the daily audit head and the alerts; invite the app there",
    null,
    "C0123ABCD",
  ),
  variable(
    "AUDIT_SINK",
    "where each audit entry is sent, as one line of JSON: `stdout`, `file:PATH` or an `https://` address",
    null,
    "https://siem.example.com/countersign",
  ),
  variable(
    "AUDIT_SINK_TOKEN",
    "the bearer token for the address of `AUDIT_SINK`",
    null,
    "the token you were given, on one line",
  ),
  variable(
    "ADMINS",
    "member ids, separated by commas: they get the alerts, and may freeze and read the audit of a run",
    null,
    "U0123ABCD,U0456EFGH",
  ),
  variable(
    "APPROVERS",
    "without a policy: the people and user groups whom each card mentions, by id; this changes nothing about who may decide",
    null,
    "S0123ABCD,U0456EFGH",
  ),
  variable("SLACK_COMMAND", "the slash command", "/agent", "/agent"),
  variable(
    "DEPLOYMENT_NAME",
    "first words of each message and form, to tell deployments apart; may begin with an emoji",
    null,
    "🔴 PROD",
  ),
  variable(
    "HTTPS_PROXY",
    "the proxy for calls to `https://` addresses, Slack's socket included",
    null,
    "http://proxy.example.com:3128",
  ),
  variable(
    "HTTP_PROXY",
    "the proxy for calls to `http://` addresses, and to `https://` ones if `HTTPS_PROXY` is not set",
    null,
    "http://proxy.example.com:3128",
  ),
  variable(
    "NO_PROXY",
    "hosts that are called without a proxy, separated by commas: `agents.internal`, `.example.com`, `10.0.0.7:8080`, `10.0.0.0/8`, `*`; this machine always is",
    null,
    "agents.internal,.example.com",
  ),
  variable(
    "HOST",
    "address for health, metrics and, in HTTP mode, Slack's requests",
    "127.0.0.1",
    "127.0.0.1",
  ),
  variable("PORT", "its port", "3000", "3000"),
  variable(
    "KEEP_FINISHED_DAYS",
    "how long a finished run without an open dispute is kept, with its task and requests (days); the audit stays",
    "30",
    "30",
  ),
  variable(
    "POLL_MIN_MS",
    "shortest interval between two polls of a run (ms), before up to 15% is taken off at random",
    "1000",
    "1000",
  ),
  variable(
    "POLL_MAX_MS",
    "longest interval between two polls of a run, unless it is missing or its polls fail (ms)",
    "15000",
    "15000",
  ),
  variable("LOG_LEVEL", `how much Countersign logs: ${LOG_LEVELS.join(", ")}`, "info", "info"),
] as const;

function variable<Name extends string>(name: Name, meaning: string, initial: string | null, example: string) {
  return { name, meaning, default: initial, example };
}

// The configuration as the audit records it: every variable by its name, but secrets only as set or not set.

export type RecordedConfig = { readonly [variable: string]: string | null };

/** A variable with one of these words in its name holds a secret. */
const SECRET = /TOKEN|SECRET|KEY|PASSWORD/;
/** The user name and password of a URL, up to its last @, because a password may contain white space, or an @ not written as %40. */
const CREDENTIALS = /\/\/[^/]*@/g;

/** Some collectors of AUDIT_SINK take their token there. */
const QUERY_OF_ADDRESS = /^(https?:[^?]*)\?.*$/s;

/** `given`: the set values, or the defaults. A variable that is not set becomes null. */
export function recordedConfig(given: { readonly [name: string]: string | undefined }): RecordedConfig {
  return Object.fromEntries(variables.map(({ name }) => [name, recordedValue(name, given[name])]));
}

function recordedValue(name: string, value: string | undefined): string | null {
  if (value === undefined) return null;
  // The address of a proxy may leave out its protocol.
  if (PROXY_VARIABLES.includes(name)) return value.replace(/^(.*\/\/)?.*@/s, "$1(hidden)@");
  if (SECRET.test(name)) return "(set)";
  const shown = name === "AUDIT_SINK" ? value.replace(QUERY_OF_ADDRESS, "$1?(hidden)") : value;
  return shown.replace(CREDENTIALS, "//(hidden)@");
}
