// Faults of a set-up, each planted in a world of its own, and the doctor's finding for each. `doctor-faults.test.ts` runs them.

import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { DatabaseSync } from "node:sqlite";
import type { World } from "#sandbox/world/world.ts";
import { openStore } from "#src/adapters/store/open.ts";
import type { RefusedCertificate } from "../make/certificates.ts";
import { anAuditEntry, aRun } from "../make/run.ts";

export type Here = {
  readonly world: World;
  /** The path of the world's database, which does not exist yet. */
  readonly database: string;
  /** Writes a file, and returns its path. */
  readonly file: (name: string, content: string) => string;
  /** Starts a server, and returns its address. */
  readonly server: (listener: RequestListener) => Promise<string>;
  /** The same over TLS, with a certificate that is refused. */
  readonly refusedOverTls: (certificate: RefusedCertificate) => Promise<string>;
  /** Starts a Slack that forwards everything to the world's Slack, and changes the answers to one method. */
  readonly changedSlack: (
    method: string,
    change: (answer: Response, token: string) => Response | Promise<Response>,
  ) => Promise<string>;
};

export type Env = { readonly [name: string]: string };

/** Changes the world and returns what to change in the environment. */
export type Plant = (here: Here) => Env | void | Promise<Env | void>;

/** `what` is the finding's first word: a variable with exit code 2, otherwise the subject of a line. */
export type Planted = readonly [fault: string, plant: Plant, what: string, says: RegExp];

const RULES = "rules:\n  - name: all\n    approvers: anyone\n";
export const ok =
  (body: object): RequestListener =>
  (_, response) =>
    void response.end(JSON.stringify(body));

/** These faults refuse the start with exit code 2. */
export const CONFIGURATION: readonly Planted[] = [
  ["a required variable is missing", () => ({ AGENT_BASE_URL: "" }), "AGENT_BASE_URL", /is not set/],
  ["the token is a person's", () => ({ SLACK_BOT_TOKEN: "xoxp-1" }), "SLACK_BOT_TOKEN", /starts with xoxb-/],
  ["the tokens are swapped", () => ({ SLACK_APP_TOKEN: "xoxb-1" }), "SLACK_APP_TOKEN", /starts with xapp-/],
  [
    "no entrance for Slack is configured",
    () => ({ SLACK_APP_TOKEN: "" }),
    "SLACK_APP_TOKEN",
    /nor is SLACK_SIGNING_SECRET/,
  ],
  ["a value is quoted", () => ({ AGENT_API_KEY: '"key"' }), "AGENT_API_KEY", /begins with a quotation mark/],
  [
    "the signing secret is an example",
    () => ({ SLACK_SIGNING_SECRET: "your-signing-secret" }),
    "SLACK_SIGNING_SECRET",
    /example/,
  ],
  ["the port is not a number", () => ({ PORT: "http" }), "PORT", /is not a port number/],
  [
    "polls are slower than they may be",
    () => ({ POLL_MIN_MS: "5000", POLL_MAX_MS: "1000" }),
    "POLL_MIN_MS",
    /greater/,
  ],
  [
    "the key would travel unencrypted",
    () => ({ AGENT_BASE_URL: "http://agents.example.com" }),
    "AGENT_BASE_URL",
    /use https/,
  ],
  [
    "the database is in memory",
    () => ({ DATABASE_URL: "sqlite::memory:" }),
    "DATABASE_URL",
    /lose every decision/,
  ],
  [
    "PostgreSQL has no audit key",
    () => ({ DATABASE_URL: "postgres://localhost/x" }),
    "AUDIT_KEY",
    /PostgreSQL needs it/,
  ],
  [
    "a file of a secret is gone",
    () => ({ AUDIT_KEY_FILE: "/nowhere/key" }),
    "AUDIT_KEY_FILE",
    /no such file/,
  ],
  [
    "a secret is given twice",
    ({ file }) => ({ AGENT_API_KEY_FILE: file("key", "key") }),
    "AGENT_API_KEY_FILE",
    /leave one/,
  ],
  ["the policy is gone", () => ({ POLICY_FILE: "/nowhere/policy.yaml" }), "POLICY_FILE", /can't be read/],
  [
    "the policy is broken",
    ({ file }) => ({ POLICY_FILE: file("p.yaml", "rules: none\n") }),
    "POLICY_FILE",
    /p\.yaml:1/,
  ],
  [
    "mentions are given twice",
    ({ file }) => ({ POLICY_FILE: file("p.yaml", RULES), APPROVERS: "U0ANA" }),
    "APPROVERS",
    /leave one/,
  ],
];

export const PROGRAM: readonly Planted[] = [
  [
    "a variable is misspelled",
    () => ({ POLICY_FIL: "/etc/policy.yaml" }),
    "Configuration",
    /POLICY_FIL .*POLICY_FILE may be meant/,
  ],
  [
    "certificates are not checked",
    () => ({ NODE_TLS_REJECT_UNAUTHORIZED: "0" }),
    "Certificates",
    /not checked/,
  ],
  [
    "the private authority's file is gone",
    () => ({ NODE_EXTRA_CA_CERTS: "/nowhere.pem" }),
    "Certificates",
    /no readable certificate/,
  ],
];

const written = async (database: string, auditKey: string | null = null): Promise<void> => {
  const store = await openStore({ url: `sqlite:${database}`, owner: "test", auditKey });
  await store.audit([anAuditEntry(aRun())]);
  await store.close();
};
const inDatabase = (database: string, sql: string): void => {
  const raw = new DatabaseSync(database);
  raw.exec(sql);
  raw.close();
};
const KEY = Buffer.alloc(32, 9).toString("base64");

export const MACHINE: readonly Planted[] = [
  [
    "the database is a text file",
    ({ database }) => writeFileSync(database, "text ".repeat(999)),
    "Database",
    /not a database/,
  ],
  [
    "the database is another program's",
    ({ database }) => inDatabase(database, "create table songs (title text)"),
    "Database",
    /another program/,
  ],
  [
    "a newer version has migrated the database",
    async ({ database }) => {
      await written(database);
      inDatabase(database, "update schema_version set version = 99");
    },
    "Database",
    /newer Countersign.*\n.*copy from before the upgrade/,
  ],
  [
    "the database has no folder",
    () => ({ DATABASE_URL: "sqlite:/dev/null/bot.db" }),
    "Database",
    /not a folder/,
  ],
  ["the database is a folder", ({ database }) => mkdir(database), "Database", /it is a folder/],
  [
    "the audit's key is gone",
    ({ database }) => written(database, KEY),
    "Audit key",
    /is gone.*\n.*from a copy/,
  ],
  [
    "AUDIT_KEY is another key",
    async ({ database }) => {
      await written(database);
      return { AUDIT_KEY: KEY };
    },
    "Audit key",
    /AUDIT_KEY holds .*\n.*rotate-key/,
  ],
  [
    "the audit's key is damaged",
    async ({ database, file }) => {
      await written(database);
      file("bot.db.audit-key", "xyz");
    },
    "Audit key",
    /audit's key .* does not hold 32 bytes/,
  ],
  [
    "another program has the port",
    async ({ server }) => ({ PORT: new URL(await server((_, response) => response.end("hi"))).port }),
    "Port",
    /another program uses this port, or a bot that does not answer\n.*silent for two minutes.*restart the bot.*or set PORT to another number/,
  ],
  ["HOST is another machine's", () => ({ HOST: "192.0.2.1" }), "Port", /does not have that address/],
  [
    "the running bot is not well",
    async ({ server }) => {
      const url = await server(
        ok({ status: "not ready", checks: { store: "the disk is full", slack: "ok" } }),
      );
      return { PORT: new URL(url).port };
    },
    "Port",
    /reports: store: the disk is full/,
  ],
];

export const SERVICE: readonly Planted[] = [
  [
    "the service is down",
    ({ world }) => world.service.control.down(),
    "Agent service",
    /refused the connection/,
  ],
  [
    "the key was rotated",
    ({ world }) => void world.service.control.rotateKey(),
    "Agent service key",
    /401.*\n.*Set AGENT_API_KEY/,
  ],
  [
    "the address is the gateway's",
    ({ world }) => ({ AGENT_BASE_URL: world.gateway.url }),
    "Agent service",
    /404/,
  ],
  [
    "the service accepts any key",
    async ({ server }) => ({
      AGENT_BASE_URL: await server((request, response) => {
        response.writeHead(request.url === "/v1/health" ? 200 : 404, { "content-type": "application/json" });
        response.end('{"status":"ok"}');
      }),
    }),
    "Agent service key",
    /same answer .*\n.*accepts any key/,
  ],
  [
    "the service redirects",
    async ({ server }) => ({
      AGENT_BASE_URL: await server(
        (_, response) => void response.writeHead(302, { location: "/login" }).end(),
      ),
    }),
    "Agent service",
    /redirect/,
  ],
  [
    "the service says that it is unwell",
    async ({ server }) => ({ AGENT_BASE_URL: await server(ok({ status: "degraded" })) }),
    "Agent service",
    /degraded/,
  ],
  [
    "the service's certificate is of a private authority",
    async ({ refusedOverTls }) => ({ AGENT_BASE_URL: await refusedOverTls("self-signed") }),
    "Agent service",
    /NODE_EXTRA_CA_CERTS/,
  ],
  [
    "the service's certificate has expired, or the clock is ahead",
    async ({ refusedOverTls }) => ({ AGENT_BASE_URL: await refusedOverTls("expired") }),
    "Agent service",
    /CERT_HAS_EXPIRED.*\n.*clock first/,
  ],
  [
    "the service does not say whether it accepts the key, because the clock is behind",
    async ({ refusedOverTls }) => ({ AGENT_BASE_URL: await refusedOverTls("early") }),
    "Agent service key",
    /CERT_NOT_YET_VALID.*\n.*clock first/,
  ],
  [
    "the service's host does not exist",
    () => ({ AGENT_BASE_URL: "https://agents.invalid" }),
    "Agent service",
    /unknown host name/,
  ],
  [
    "the folder of the audit's copy is not there",
    ({ database }) => ({ AUDIT_SINK: `file:${database}-copies/audit.jsonl` }),
    "Audit sink",
    /cannot be written: ENOENT/,
  ],
  [
    "the place of the audit's copy refuses the token",
    async ({ server }) => ({
      AUDIT_SINK: await server((_, response) => void response.writeHead(403).end()),
      AUDIT_SINK_TOKEN: "outdated",
    }),
    "Audit sink",
    /refuses the token \(HTTP 403\)/,
  ],
  [
    "the place of the audit's copy is down",
    () => ({ AUDIT_SINK: "http://127.0.0.1:9/" }),
    "Audit sink",
    /ECONNREFUSED|refused/,
  ],
  [
    "the certificate of the place of the audit's copy is of a private authority",
    async ({ refusedOverTls }) => ({ AUDIT_SINK: await refusedOverTls("self-signed") }),
    "Audit sink",
    /NODE_EXTRA_CA_CERTS/,
  ],
  [
    "the certificate of the place of the audit's copy has expired, or the clock is ahead",
    async ({ refusedOverTls }) => ({ AUDIT_SINK: await refusedOverTls("expired") }),
    "Audit sink",
    /CERT_HAS_EXPIRED.*\n.*clock first/,
  ],
  ["the gateway is down", ({ world }) => world.gateway.stop(), "Token gateway", /refused the connection/],
];

/** Countersign starts despite these faults, and the doctor notes them. */
export const NOTES: readonly Planted[] = [
  [
    "a rule of the policy is never reached",
    ({ file }) => ({ POLICY_FILE: file("p.yaml", `${RULES}  - name: dead\n    approvers: anyone\n`) }),
    "Policy",
    /dead/,
  ],
  [
    "the policy names a group that Slack does not know",
    ({ file }) => ({ POLICY_FILE: file("p.yaml", RULES.replace("anyone", "{ groups: [S0NOWHERE] }")) }),
    "Policy",
    /S0NOWHERE/,
  ],
  [
    "the token holds scopes that nothing uses",
    async ({ changedSlack }) => ({
      SLACK_API_URL: await changedSlack("auth.test", (answer) => {
        const scopes = `${answer.headers.get("x-oauth-scopes")},chat:write.public`;
        return new Response(answer.body, {
          headers: { "content-type": "application/json", "x-oauth-scopes": scopes },
        });
      }),
    }),
    "Slack scopes",
    /not needed: chat:write\.public/,
  ],
  [
    "the app is in no channel",
    ({ world }) => {
      for (const id of world.slack.workspace.channels.keys())
        world.slack.faults.removeFromChannel(id, "U0COUNTERSIGN");
    },
    "Channels",
    /in no channel.*\n.*\/invite/,
  ],
];

/** Faults that cannot be detected from here, and where they appear instead. */
export const UNKNOWABLE: readonly (readonly [fault: string, plant: Plant, shows: RegExp])[] = [
  [
    "the signing secret is another app's",
    () => ({ SLACK_APP_TOKEN: "", SLACK_SIGNING_SECRET: "0123456789abcdef0123456789abcdef" }),
    /Slack signing secret +is set; to check that it is right, type \/agent in Slack/,
  ],
  [
    "a second bot uses the app",
    () => undefined,
    /cannot see whether a second bot uses this app; a running bot logs it/,
  ],
  [
    "the app has another command",
    () => ({ SLACK_COMMAND: "/robot" }),
    /Slack command +is \/robot; it must be in the app's manifest too/,
  ],
  [
    "the service has another word for deny",
    () => ({ AGENT_DENY_DECISION: "veto" }),
    /Word for deny +is "veto"; the first denial shows/,
  ],
];
