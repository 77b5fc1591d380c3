// Every variable that Countersign reads, with its meaning and its default. Below, how the audit records them, and the format of
// each.

import { createPrivateKey, type KeyObject } from "node:crypto";
import { z } from "zod";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The table in docs/reference.md shows these, and a test compares the two. `default` is null where there is none. */
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
    "8f742231b10e8888abcd99yyyzzz85a5",
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
    "HOST",
    "address for health, metrics and, in HTTP mode, Slack's requests",
    "127.0.0.1",
    "127.0.0.1",
  ),
  variable("PORT", "its port", "3000", "3000"),
  variable("POLL_MIN_MS", "shortest interval between two polls of a run (ms)", "1000", "1000"),
  variable("POLL_MAX_MS", "longest interval between two polls of a run (ms)", "15000", "15000"),
  variable("LOG_LEVEL", `how much Countersign logs: ${LOG_LEVELS.join(", ")}`, "info", "info"),
] as const;

function variable<Name extends string>(name: Name, meaning: string, initial: string | null, example: string) {
  return { name, meaning, default: initial, example };
}

// The configuration as the audit records it: every variable by its name, a secret only as set or not set.

export type RecordedConfig = { readonly [variable: string]: string | null };

/** A variable with one of these words in its name holds a secret. */
const SECRET = /TOKEN|SECRET|KEY|PASSWORD/;
/** The user name and password of an address, up to its last @, because a password may hold an @ that is not written as %40. */
const CREDENTIALS = /\/\/[^/\s]*@/g;

/** `given`: the set value, or the default. Null: not set. */
export function recordedConfig(given: { readonly [name: string]: string | undefined }): RecordedConfig {
  return Object.fromEntries(variables.map(({ name }) => [name, recordedValue(name, given[name])]));
}

function recordedValue(name: string, value: string | undefined): string | null {
  if (value === undefined) return null;
  return SECRET.test(name) ? "(set)" : value.replace(CREDENTIALS, "//(hidden)@");
}

// The formats of the environment's values. No message repeats a value, which may be a secret.

export const text = () => z.string("is not set");

export const token = (prefix: string) =>
  text().regex(new RegExp(`^${prefix}[\\x21-\\x7e]+$`), `is not a token that starts with ${prefix}`);

export const milliseconds = () =>
  text()
    .regex(/^\d{1,7}$/, "is not a whole number of milliseconds")
    .transform(Number)
    .refine((ms) => ms >= 10 && ms <= 3_600_000, "is not between 10 ms and one hour (3600000)");

export const url = () => text().transform(baseUrl);

/** An address of pages for people, with one `{run}`. Only this machine may be asked over plain HTTP. */
export const runUrl = () => text().transform(runPage);

/** Names or addresses of machines, separated by commas. */
export const hosts = () =>
  text().regex(
    /^[A-Za-z0-9.:_[\]-]+( *, *[A-Za-z0-9.:_[\]-]+)*$/,
    "is not a list of hosts separated by commas",
  );

/** Over `http://` to another machine a key could be read on its way. `allowed` names the hosts for which that is accepted. */
export function isOpenToOthers(address: string, allowed: string): boolean {
  const parsed = URL.parse(address);
  if (parsed?.protocol !== "http:") return false;
  const { hostname } = parsed;
  if (isLoopback(hostname)) return false;
  const named = allowed.split(",").map((each) => URL.parse(`http://${each.trim()}`)?.hostname);
  return !named.includes(hostname);
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  /^127(\.\d+){3}$/.test(hostname);

export const database = () => text().transform(databasePlace);

/** An Ed25519 key as PEM (newlines may be written as \n) or as its seed of 32 bytes in base64. The result is the seed. */
export const auditKey = () => text().transform(seedOf);

/** Slack's ids of people, separated by commas. */
export const people = () => text().transform(ids);

/** Slack's ids of people and user groups, separated by commas. */
export const peopleAndGroups = () => text().transform(principals);

export const channel = () =>
  text().regex(/^[CG][A-Z0-9]{1,30}$/, "is not the id of a channel, which is C or G and capitals and digits");

/** The URL without slashes at its end. A path prefix is kept. */
function baseUrl(value: string, issues: z.RefinementCtx): string {
  const parsed = URL.parse(value);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    return refuse(issues, "is not an address that starts with http:// or https://");
  if (parsed.username !== "" || parsed.password !== "")
    return refuse(issues, "holds a user name or password");
  if (/[?#]/.test(value)) return refuse(issues, "has a ? or # part, which the address of a service has not");
  return parsed.href.replace(/\/+$/, "");
}

function runPage(value: string, issues: z.RefinementCtx): string {
  const [before = "", ...after] = value.split("{run}");
  if (after.length !== 1) return refuse(issues, "does not hold {run} exactly once");
  const parsed = URL.parse(`${before}run${after[0] ?? ""}`);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || !/^https?:\/\/[^/?#]+[/?#]/.test(before))
    return refuse(issues, "is not an address that starts with https://, has a host, and then {run}");
  if (isOpenToOthers(value, "")) return refuse(issues, "is http:// to another machine: use https://");
  if (parsed.username !== "" || parsed.password !== "")
    return refuse(issues, "holds a user name or password");
  if (/[\s<>|"`\\^{}]/.test(before + (after[0] ?? "")))
    return refuse(issues, 'has spaces or one of < > | " ` \\ ^ { }, which an address must not have');
  return value;
}

/** Where the database is. */
export type DatabasePlace =
  | { readonly engine: "sqlite"; readonly path: string }
  | { readonly engine: "postgres"; readonly url: string };

function databasePlace(value: string, issues: z.RefinementCtx): DatabasePlace {
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(value)?.[1];
  if (path !== undefined) return { engine: "sqlite", path };
  if (!/^postgres(ql)?:\/\//.test(value))
    return refuse(issues, "is neither of the form sqlite:PATH nor postgres://USER:PASSWORD@HOST/NAME");
  const wrong = faultInServer(URL.parse(value));
  return wrong === null ? { engine: "postgres", url: new URL(value).href } : refuse(issues, wrong);
}

/** Other parameters could hold a password, or weaken what this program relies on. */
const SERVER_PARAMETERS = ["sslmode", "sslrootcert", "sslcert", "sslkey", "host", "options"];

function faultInServer(url: URL | null): string | null {
  if (url === null || url.hash !== "" || !isDecodable(url.href))
    return "is not an address: write the special characters of the password as %40 for @, %2F for / and so on";
  if (!/^\/[^/@:]+$/.test(url.pathname)) return "does not end in the name of a database";
  if (url.hostname === "" && !url.searchParams.has("host")) return "names no host";
  if (url.hostname.includes(",")) return "names several hosts; put a proxy or one name before them";
  const odd = [...url.searchParams.keys()].find((name) => !SERVER_PARAMETERS.includes(name));
  if (odd !== undefined) return `has a parameter other than ${SERVER_PARAMETERS.join(", ")}`;
  const mode = url.searchParams.get("sslmode");
  if (mode === null && !isThisMachine(url))
    return "does not say how the connection is protected: add sslmode=verify-full, or sslmode=disable on a private network";
  if (mode !== null && mode !== "verify-full" && mode !== "disable")
    return "has an sslmode other than verify-full and disable; the others do not check whose server answers";
  return null;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const isThisMachine = ({ hostname, searchParams }: URL): boolean =>
  (searchParams.get("host") ?? decodeURIComponent(hostname)).startsWith("/") || isLoopback(hostname);

const SEED_BYTES = 32;

function seedOf(value: string, issues: z.RefinementCtx): string {
  const wrong = "is neither an Ed25519 private key in PEM nor 32 bytes in base64";
  if (!value.startsWith("-----BEGIN")) {
    const bytes = Buffer.from(value, "base64");
    const whole = bytes.length === SEED_BYTES && bytes.toString("base64") === value;
    return whole ? value : refuse(issues, wrong);
  }
  const key = privateKey(value.replaceAll("\\n", "\n"));
  if (key?.asymmetricKeyType !== "ed25519") return refuse(issues, wrong);
  return Buffer.from(key.export({ format: "jwk" }).d ?? "", "base64url").toString("base64");
}

function privateKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null;
  }
}

function ids(value: string, issues: z.RefinementCtx): readonly string[] {
  const all = value.split(",").map((each) => each.trim());
  const good = all.every((each) => /^[UW][A-Z0-9]{1,30}$/.test(each));
  return good
    ? [...new Set(all)]
    : refuse(issues, "is not a list of member ids (U… or W…) separated by commas");
}

function principals(value: string, issues: z.RefinementCtx) {
  const all = [...new Set(value.split(",").map((each) => each.trim()))];
  if (!all.every((each) => /^[UWS][A-Z0-9]{1,30}$/.test(each)))
    return refuse(
      issues,
      "is not a list of ids of people (U… or W…) and user groups (S…) separated by commas",
    );
  return {
    users: all.filter((each) => !each.startsWith("S")),
    groups: all.filter((each) => each.startsWith("S")),
  };
}

function refuse(issues: z.RefinementCtx, message: string): never {
  issues.addIssue({ code: "custom", message });
  return z.NEVER;
}
