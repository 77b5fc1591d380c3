// The environment, read once into a frozen object. All faults are told at once, and none repeats a value: it may be a secret.

import { z } from "zod";

export type Config = {
  readonly slack: SlackConfig;
  readonly agents: { readonly baseUrl: string; readonly apiKey: string; readonly denyWord: string };
  readonly gatewayUrl: string;
  readonly database: { readonly engine: "sqlite"; readonly path: string };
  readonly http: { readonly host: string; readonly port: number };
  readonly poll: { readonly minMs: number; readonly maxMs: number };
  /** Null: no policy file, so the built-in policy. */
  readonly policyFile: string | null;
  readonly logLevel: LogLevel;
};

type SlackConfig = {
  readonly botToken: string;
  /** Null: Slack is asked. */
  readonly appId: string | null;
  /** Null: Slack itself. */
  readonly apiUrl: string | null;
  readonly command: string;
} & (
  | { readonly mode: "socket"; readonly appToken: string }
  | { readonly mode: "http"; readonly signingSecret: string }
);

export type ConfigFault = { readonly variable: string; readonly wrong: string; readonly example: string };

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

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
  variable("DATABASE_URL", "`sqlite:PATH`", "sqlite:./data/countersign.db", "sqlite:./data/bot.db"),
  variable("POLICY_FILE", "the approval policy, YAML: `docs/policy.md`", null, "./policy.yaml"),
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

const text = () => z.string("is not set");
const token = (prefix: string) =>
  text().regex(new RegExp(`^${prefix}[\\x21-\\x7e]+$`), `is not a token that starts with ${prefix}`);
const milliseconds = () =>
  text()
    .regex(/^\d{1,7}$/, "is not a whole number of milliseconds")
    .transform(Number)
    .refine((ms) => ms >= 10 && ms <= 3_600_000, "is not between 10 ms and one hour (3600000)");
const url = () => text().transform(baseUrl);

/** Slack's are 32 hexadecimal digits at random; the last is its documentation's. */
const PLACEHOLDER = /secret|change|example|placeholder|your|(.)\1{7}|^8f742231b10e8888abcd99yyyzzz85a5$/i;
const Environment = z.object({
  SLACK_BOT_TOKEN: token("xoxb-"),
  SLACK_APP_TOKEN: token("xapp-").optional(),
  SLACK_SIGNING_SECRET: text()
    .regex(/^[\x21-\x7e]{16,}$/, "is not a signing secret: they have 16 characters or more, without spaces")
    .refine((value) => !PLACEHOLDER.test(value), "is a placeholder or an example, which everybody knows")
    .optional(),
  SLACK_APP_ID: text()
    .regex(/^A[A-Z0-9]{1,30}$/, "is not an app's id, which is A and capitals or digits")
    .optional(),
  SLACK_API_URL: url().optional(),
  AGENT_BASE_URL: url(),
  AGENT_API_KEY: text().regex(/^[\x21-\x7e]+$/, "has spaces or characters that no HTTP header takes"),
  AGENT_DENY_DECISION: text()
    .regex(/^[\x21-\x7e]{1,64}$/, "is not one word of at most 64 ASCII characters")
    .refine((word) => !/^approved?$/i.test(word), "says approve, so every denial would approve"),
  GATEWAY_URL: url().optional(),
  DATABASE_URL: text().transform(databasePath),
  POLICY_FILE: text().optional(),
  SLACK_COMMAND: text().regex(/^\/[a-z0-9_-]{1,31}$/, "is not a slash and up to 31 of a-z, 0-9, _ and -"),
  HOST: text().regex(/^[A-Za-z0-9.:_-]+$/, "is not an address or host name"),
  PORT: text()
    .regex(/^\d{1,5}$/, "is not a port number")
    .transform(Number)
    .refine((port) => port <= 65_535, "is not a port number: the highest is 65535"),
  POLL_MIN_MS: milliseconds(),
  POLL_MAX_MS: milliseconds(),
  LOG_LEVEL: z.enum(LOG_LEVELS, `is none of ${LOG_LEVELS.join(", ")}`),
} satisfies Record<(typeof variables)[number]["name"], z.ZodType>);

type Read =
  { readonly ok: true; readonly value: Config } | { readonly ok: false; readonly error: ConfigFault[] };

export function readConfig(env: { readonly [name: string]: string | undefined }): Read {
  const given = Object.fromEntries(
    variables.map(({ name, default: initial }) => [name, env[name]?.trim() || (initial ?? undefined)]),
  );
  const parsed = Environment.safeParse(given);
  const issues = parsed.success ? [] : parsed.error.issues;
  const wrong = issues.map(({ path, message }) => fault(String(path[0]), message));
  const faults = [...wrong, ...faultsBetween(given)];
  if (!parsed.success || faults.length > 0) return { ok: false, error: faults };
  const config = configOf(parsed.data);
  for (const part of Object.values(config)) Object.freeze(part);
  return { ok: true, value: Object.freeze(config) };
}

/** One line per fault, for the terminal. */
export function explainFaults(faults: readonly ConfigFault[]): string {
  const lines = faults.map((each) => `  ${each.variable} ${each.wrong}. Example: ${each.example}`);
  return ["Countersign cannot start with this configuration:", ...lines].join("\n");
}

function fault(name: string, wrong: string): ConfigFault {
  return { variable: name, wrong, example: variables.find((each) => each.name === name)?.example ?? "" };
}

function faultsBetween(given: { readonly [name: string]: string | undefined }): ConfigFault[] {
  const faults: ConfigFault[] = [];
  if (given["SLACK_APP_TOKEN"] === undefined && given["SLACK_SIGNING_SECRET"] === undefined)
    faults.push(fault("SLACK_APP_TOKEN", "is not set, nor is SLACK_SIGNING_SECRET: one of them is needed"));
  if (Number(given["POLL_MIN_MS"]) > Number(given["POLL_MAX_MS"]))
    faults.push(fault("POLL_MIN_MS", "is greater than POLL_MAX_MS"));
  return faults;
}

function configOf(env: z.output<typeof Environment>): Config {
  const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret } = env;
  const { SLACK_BOT_TOKEN: botToken, SLACK_APP_ID: appId = null, SLACK_API_URL: apiUrl = null } = env;
  const slack = { botToken, appId, apiUrl, command: env.SLACK_COMMAND };
  return {
    slack:
      appToken === undefined
        ? { ...slack, mode: "http", signingSecret: signingSecret ?? "" }
        : { ...slack, mode: "socket", appToken },
    agents: { baseUrl: env.AGENT_BASE_URL, apiKey: env.AGENT_API_KEY, denyWord: env.AGENT_DENY_DECISION },
    gatewayUrl: env.GATEWAY_URL ?? env.AGENT_BASE_URL,
    database: { engine: "sqlite", path: env.DATABASE_URL },
    http: { host: env.HOST, port: env.PORT },
    poll: { minMs: env.POLL_MIN_MS, maxMs: env.POLL_MAX_MS },
    policyFile: env.POLICY_FILE ?? null,
    logLevel: env.LOG_LEVEL,
  };
}

/** Without the slashes at its end. A path in front of the service's own is kept. */
function baseUrl(value: string, issues: z.RefinementCtx): string {
  const parsed = URL.parse(value);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    return refuse(issues, "is not an address that starts with http:// or https://");
  if (parsed.username !== "" || parsed.password !== "")
    return refuse(issues, "holds a user name or password");
  if (/[?#]/.test(value)) return refuse(issues, "has a ? or # part, which the address of a service has not");
  return parsed.href.replace(/\/+$/, "");
}

function databasePath(value: string, issues: z.RefinementCtx): string {
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(value)?.[1];
  if (path !== undefined) return path;
  const postgres = /^postgres(ql)?:/.test(value);
  return refuse(
    issues,
    postgres ? "names PostgreSQL, which is not built yet" : "is not of the form sqlite:PATH",
  );
}

function refuse(issues: z.RefinementCtx, message: string): never {
  issues.addIssue({ code: "custom", message });
  return z.NEVER;
}
