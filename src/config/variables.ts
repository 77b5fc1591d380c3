// Every variable that Countersign reads, with what it means and what it is without being set.

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The contract's table (DESIGN.md); the README shows it. `default` is null where there is none. */
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
    "given without app token: HTTP mode on `PORT`, path `/slack/events`",
    null,
    "8f742231b10e8888abcd99yyyzzz85a5",
  ),
  variable("SLACK_APP_ID", "the app's id; without it, Slack is asked", null, "A0123456789"),
  variable(
    "SLACK_API_URL",
    "base of Slack's Web API, for sandboxes and proxies",
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
    "PLAIN_HTTP_HOSTS",
    "other machines that may be asked over `http://`, with commas between; keys and tokens travel to them in the open",
    null,
    "agents.internal,10.0.0.7",
  ),
  variable("DATABASE_URL", "`sqlite:PATH`", "sqlite:./data/countersign.db", "sqlite:./data/bot.db"),
  variable("POLICY_FILE", "the approval policy, YAML: `docs/policy.md`", null, "./policy.yaml"),
  variable(
    "AUDIT_KEY",
    "what signs the audit: an Ed25519 key, PEM or its 32 bytes in base64; without it, one is made beside the database",
    null,
    "what `openssl rand -base64 32` prints",
  ),
  variable(
    "AUDIT_CHANNEL",
    "the channel that hears the audit's head daily, and of disputed decisions; invite the app there",
    null,
    "C0123ABCD",
  ),
  variable(
    "ADMINS",
    "member ids, with commas between: they hear of disputed decisions, and may read the audit of a run",
    null,
    "U0123ABCD,U0456EFGH",
  ),
  variable("SLACK_COMMAND", "the slash command", "/agent", "/agent"),
  variable("HOST", "address of health, metrics and, in HTTP mode, Slack", "127.0.0.1", "127.0.0.1"),
  variable("PORT", "its port", "3000", "3000"),
  variable("POLL_MIN_MS", "fastest poll of one run (ms)", "1000", "1000"),
  variable("POLL_MAX_MS", "slowest poll of one run (ms)", "15000", "15000"),
  variable("LOG_LEVEL", `how much is logged: ${LOG_LEVELS.join(", ")}`, "info", "info"),
] as const;

function variable<Name extends string>(name: Name, meaning: string, initial: string | null, example: string) {
  return { name, meaning, default: initial, example };
}
