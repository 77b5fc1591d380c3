// The configuration: the environment, read once into a frozen object. All faults are reported at once. None repeats a value, because it may
// be a secret.

import { z } from "zod";
import type { AuditConfig, Config } from "./config/config-shape.ts";
import {
  auditKey,
  auditSink,
  channel,
  database,
  days,
  deploymentName,
  hosts,
  isOpenToOthers,
  milliseconds,
  people,
  peopleAndGroups,
  runUrl,
  text,
  token,
  url,
} from "./config/value-formats.ts";
import {
  type Environment,
  fileVariable,
  type Given,
  readEnvironment,
  type Misspelled,
  describeMisspelled,
  readValue,
} from "./config/given.ts";
import {
  passwordsIn,
  proxiesOf,
  proxy,
  proxyExceptions,
  proxyPasswords,
  type Proxies,
} from "./config/proxies.ts";
import { LOG_LEVELS, recordedConfig, variables } from "./config/variables.ts";

export type ConfigFault = { readonly variable: string; readonly wrong: string; readonly example: string };

export type { Config } from "./config/config-shape.ts";
export { isInRange, type Proxies } from "./config/proxies.ts";
export { type Environment, readGiven } from "./config/given.ts";
export { findMisspelled, type Misspelled, describeMisspelled } from "./config/given.ts";
export { isLoopback } from "./config/value-formats.ts";
export { variables } from "./config/variables.ts";

/** Matches values that are no real secret. Slack's are 32 random hexadecimal digits; the last alternative is from its documentation. */
const PLACEHOLDER = /secret|change|example|placeholder|your|(.)\1{7}|^8f742231b10e8888abcd99yyyzzz85a5$/i;
const Formats = z.object({
  SLACK_BOT_TOKEN: token("xoxb-"),
  SLACK_APP_TOKEN: token("xapp-").optional(),
  SLACK_SIGNING_SECRET: text()
    .regex(/^[\x21-\x7e]{16,}$/, "is not a signing secret, which has at least 16 characters and no spaces")
    .refine((value) => !PLACEHOLDER.test(value), "is a placeholder or an example, which everyone knows")
    .optional(),
  SLACK_APP_ID: text()
    .regex(/^A[A-Z0-9]{1,30}$/, "is not an app id, which is an A followed by capital letters or digits")
    .optional(),
  SLACK_API_URL: url().optional(),
  AGENT_BASE_URL: url(),
  AGENT_API_KEY: text().regex(
    /^[\x21-\x7e]+$/,
    "contains spaces or characters that an HTTP header can't carry",
  ),
  AGENT_DENY_DECISION: text()
    .regex(/^[\x21-\x7e]{1,64}$/, "is not one word of at most 64 ASCII characters")
    .refine((word) => !/^approved?$/i.test(word), "says approve, so every denial would approve"),
  GATEWAY_URL: url().optional(),
  RUN_URL: runUrl().optional(),
  PLAIN_HTTP_HOSTS: hosts().optional(),
  DATABASE_URL: database(),
  POLICY_FILE: text().optional(),
  AUDIT_KEY: auditKey().optional(),
  AUDIT_CHANNEL: channel().optional(),
  AUDIT_SINK: auditSink().optional(),
  AUDIT_SINK_TOKEN: text()
    .regex(/^[\x21-\x7e]+$/, "contains spaces or characters that an HTTP header can't carry")
    .optional(),
  ADMINS: people().optional(),
  APPROVERS: peopleAndGroups().optional(),
  SLACK_COMMAND: text().regex(/^\/[a-z0-9_-]{1,31}$/, "is not a slash and up to 31 of a-z, 0-9, _ and -"),
  DEPLOYMENT_NAME: deploymentName().optional(),
  HTTPS_PROXY: proxy().optional(),
  HTTP_PROXY: proxy().optional(),
  NO_PROXY: proxyExceptions().optional(),
  HOST: text().regex(/^[A-Za-z0-9.:_-]+$/, "is not an address or host name"),
  PORT: text()
    .regex(/^\d{1,5}$/, "is not a port number")
    .transform(Number)
    .refine((port) => port <= 65_535, "is not a port number: the highest is 65535"),
  KEEP_FINISHED_DAYS: days(),
  POLL_MIN_MS: milliseconds(),
  POLL_MAX_MS: milliseconds(),
  LOG_LEVEL: z.enum(LOG_LEVELS, `is none of ${LOG_LEVELS.join(", ")}`),
} satisfies Record<(typeof variables)[number]["name"], z.ZodType>);

export type ReadConfig<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: ConfigFault[] };

/** Reads all variables, and the files that `NAME_FILE` variables name. Does not read the policy; load-config.ts does. */
export function readConfig(env: Environment): ReadConfig<Config> {
  const given = readEnvironment(env);
  const { values, files } = given;
  const parsed = Formats.safeParse(values);
  const faults = faultsOf(given, parsed, faultsBetween(values));
  if (!parsed.success || faults.length > 0) return { ok: false, error: faults };
  const config = { ...configOf(parsed.data, files), recorded: recordedConfig(values) };
  for (const part of Object.values(config)) Object.freeze(part);
  return { ok: true, value: Object.freeze(config) };
}

/**
 * Reads only the variables that are needed to read the audit, because an auditor has no tokens. `database` is the path of a file, or a
 * PostgreSQL URL.
 */
export function readAuditConfig(
  env: Environment,
): ReadConfig<{ readonly database: string; readonly key: string | null }> {
  const wanted = Object.entries(env).filter(([name]) => /^(DATABASE_URL|AUDIT_KEY)(_FILE)?$/.test(name));
  const given = readEnvironment(Object.fromEntries(wanted));
  const parsed = Formats.pick({ DATABASE_URL: true, AUDIT_KEY: true }).safeParse(given.values);
  const faults = faultsOf(given, parsed, []);
  if (!parsed.success || faults.length > 0) return { ok: false, error: faults };
  const { DATABASE_URL: place, AUDIT_KEY: key = null } = parsed.data;
  return { ok: true, value: { database: place.engine === "sqlite" ? place.path : place.url, key } };
}

/** Reads only the proxies, for a command that needs little else. */
export function readProxies(env: Environment): ReadConfig<Proxies | null> {
  const given = readEnvironment(env);
  const shape = Formats.pick({ HTTPS_PROXY: true, HTTP_PROXY: true, NO_PROXY: true });
  const parsed = shape.safeParse(given.values);
  if (!parsed.success) return { ok: false, error: faultsOf(given, parsed, []) };
  return { ok: true, value: proxiesOf(parsed.data) };
}

export type SlackAccess = {
  readonly botToken: string;
  /** Null for Slack itself. */
  readonly apiUrl: string | null;
  readonly proxies: Proxies | null;
};

/** Reads how to reach Slack, for commands that can do without it. The value is null if no token is set. */
export function readSlackAccess(env: Environment): ReadConfig<SlackAccess | null> {
  const given = readEnvironment(env);
  const { values } = given;
  if (values["SLACK_BOT_TOKEN"] === undefined) return { ok: true, value: null };
  const names = { SLACK_BOT_TOKEN: true, SLACK_API_URL: true, PLAIN_HTTP_HOSTS: true } as const;
  const shape = Formats.pick({ ...names, HTTPS_PROXY: true, HTTP_PROXY: true, NO_PROXY: true });
  const parsed = shape.safeParse(values);
  const open = isOpenToOthers(values["SLACK_API_URL"] ?? "", values["PLAIN_HTTP_HOSTS"] ?? "");
  const wanted = new Set(Object.keys(shape.shape));
  const faults = given.faults.filter(({ variable }) => wanted.has(variable.replace(/_FILE$/, "")));
  const between = open ? [fault("SLACK_API_URL", OPEN_TO_OTHERS)] : [];
  const all = faultsOf({ ...given, values: only(values, wanted), faults }, parsed, between);
  if (!parsed.success || all.length > 0) return { ok: false, error: all };
  const { SLACK_BOT_TOKEN: botToken, SLACK_API_URL: apiUrl = null } = parsed.data;
  return { ok: true, value: { botToken, apiUrl, proxies: proxiesOf(parsed.data) } };
}

const only = (values: Given["values"], names: ReadonlySet<string>): Given["values"] =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));

/** Reads the agent service's key from its file now. `wrong` never repeats the value. */
export function readApiKey(file: string): { readonly value: string } | { readonly wrong: string } {
  const read = readValue(file);
  if ("wrong" in read) return { wrong: `names the file ${file}, ${read.wrong}` };
  if (isQuoted(read.value)) return { wrong: QUOTED };
  const { success, error } = Formats.shape.AGENT_API_KEY.safeParse(read.value);
  return success ? read : { wrong: error.issues[0]?.message ?? "cannot be used" };
}

/** Writes one line per fault, for the terminal. */
export function explainFaults(faults: readonly ConfigFault[], misspelt: readonly Misspelled[] = []): string {
  const lines = faults.map(({ variable, wrong, example }) =>
    example === "" ? `  ${variable} ${wrong}` : `  ${variable} ${wrong}. Example: ${example}`,
  );
  const doubts = misspelt.map((each) => `  ${describeMisspelled(each)}.`);
  return ["Countersign cannot start with this configuration:", ...lines, ...doubts].join("\n");
}

/** Returns all faults. For a value that is missing or begins with a quotation mark, no other fault is reported. */
function faultsOf(
  { values, faults, spelled }: Given,
  { error }: { readonly error?: z.ZodError | undefined },
  between: readonly ConfigFault[],
): ConfigFault[] {
  const unread = faults.map(({ variable, wrong }) => fault(variable, wrong));
  const quoted = variables.flatMap(({ name }) => (isQuoted(values[name] ?? "") ? [fault(name, QUOTED)] : []));
  const told = new Set([...unread, ...quoted].map(({ variable }) => variable.replace(/_FILE$/, "")));
  const formats = (error?.issues ?? []).map(({ path, message }) => fault(String(path[0]), message));
  const others = [...formats, ...between].filter(({ variable }) => !told.has(variable));
  const all = [...unread, ...quoted, ...others];
  return all.map((each) => ({ ...each, variable: spelled[each.variable] ?? each.variable }));
}

const isQuoted = (value: string): boolean => /^["']/.test(value);
const QUOTED =
  "begins with a quotation mark. A shell removes the marks, but `docker run --env-file` and `--from-file` keep them: leave them out";

const EXAMPLES = new Map<string, string>(
  variables.flatMap(({ name, example }) => [
    [name, example],
    [fileVariable(name), `/run/secrets/${name.toLowerCase()}`],
  ]),
);

function fault(name: string, wrong: string): ConfigFault {
  return { variable: name, wrong, example: EXAMPLES.get(name) ?? "" };
}

const OPEN_TO_OTHERS =
  "is http:// to another machine, so keys could be read on their way: use https://, or name the host in PLAIN_HTTP_HOSTS";

const MENTIONS_BY_POLICY =
  "is set beside POLICY_FILE, where the mention of each rule says whom its cards mention: leave one of them out";

const NEEDS_KEY =
  "is not set, and PostgreSQL needs it: the key must not lie in the database that it protects, and all replicas need the same one";

function faultsBetween(given: { readonly [name: string]: string | undefined }): ConfigFault[] {
  const faults: ConfigFault[] = [];
  if (given["SLACK_APP_TOKEN"] === undefined && given["SLACK_SIGNING_SECRET"] === undefined)
    faults.push(fault("SLACK_APP_TOKEN", "is not set, nor is SLACK_SIGNING_SECRET: one of them is needed"));
  for (const name of ["SLACK_API_URL", "AGENT_BASE_URL", "GATEWAY_URL", "AUDIT_SINK"])
    if (isOpenToOthers(given[name] ?? "", given["PLAIN_HTTP_HOSTS"] ?? ""))
      faults.push(fault(name, OPEN_TO_OTHERS));
  if (given["DATABASE_URL"]?.startsWith("postgres") === true && given["AUDIT_KEY"] === undefined)
    faults.push(fault("AUDIT_KEY", NEEDS_KEY));
  if (given["APPROVERS"] !== undefined && given["POLICY_FILE"] !== undefined)
    faults.push(fault("APPROVERS", MENTIONS_BY_POLICY));
  if (given["AUDIT_SINK_TOKEN"] !== undefined && !/^https?:/.test(given["AUDIT_SINK"] ?? ""))
    faults.push(fault("AUDIT_SINK_TOKEN", "is set, but AUDIT_SINK is not an https:// address to send it to"));
  if (Number(given["POLL_MIN_MS"]) > Number(given["POLL_MAX_MS"]))
    faults.push(fault("POLL_MIN_MS", "is greater than POLL_MAX_MS"));
  return faults;
}

const DAY_MS = 24 * 60 * 60_000;

function configOf(env: z.output<typeof Formats>, files: Given["files"]): Omit<Config, "recorded"> {
  const { SLACK_APP_TOKEN: appToken, SLACK_SIGNING_SECRET: signingSecret } = env;
  const { SLACK_BOT_TOKEN: botToken, SLACK_APP_ID: appId = null, SLACK_API_URL: apiUrl = null } = env;
  const deployment = env.DEPLOYMENT_NAME ?? "";
  const slack = { botToken, appId, apiUrl, command: env.SLACK_COMMAND, deployment };
  return {
    slack:
      appToken === undefined
        ? { ...slack, mode: "http", signingSecret: signingSecret ?? "" }
        : { ...slack, mode: "socket", appToken },
    agents: {
      baseUrl: env.AGENT_BASE_URL,
      apiKey: env.AGENT_API_KEY,
      apiKeyFile: files["AGENT_API_KEY"] ?? null,
      denyWord: env.AGENT_DENY_DECISION,
    },
    gatewayUrl: env.GATEWAY_URL ?? env.AGENT_BASE_URL,
    runUrl: env.RUN_URL ?? null,
    database: env.DATABASE_URL,
    audit: auditOf(env),
    proxies: proxiesOf(env),
    http: { host: env.HOST, port: env.PORT },
    keepFinishedMs: env.KEEP_FINISHED_DAYS * DAY_MS,
    poll: { minMs: env.POLL_MIN_MS, maxMs: env.POLL_MAX_MS },
    policyFile: env.POLICY_FILE ?? null,
    approvers: env.APPROVERS ?? { users: [], groups: [] },
    logLevel: env.LOG_LEVEL,
  };
}

function auditOf(env: z.output<typeof Formats>): AuditConfig {
  const { AUDIT_SINK: place = null, AUDIT_SINK_TOKEN: token = null } = env;
  const sink = place?.type === "http" ? { ...place, token } : place;
  return {
    key: env.AUDIT_KEY ?? null,
    channel: env.AUDIT_CHANNEL ?? null,
    admins: env.ADMINS ?? [],
    sink,
  };
}

/** Returns the values that must not appear in any output. */
export function secretsOf({ slack, agents, audit, database, proxies }: Config): string[] {
  return [
    ...proxyPasswords(proxies),
    ...(database.engine === "postgres" ? passwordsIn(database.url) : []),
    slack.botToken,
    agents.apiKey,
    audit.key ?? "",
    audit.sink?.type === "http" ? (audit.sink.token ?? "") : "",
    slack.mode === "socket" ? slack.appToken : slack.signingSecret,
  ];
}
