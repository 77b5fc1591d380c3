import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { explainFaults, readConfig, variables } from "#src/config.ts";
import { config, SOCKET } from "./make/config.ts";

const SEED = Buffer.alloc(32, 7).toString("base64");
const { SLACK_APP_TOKEN: _without, ...BARE } = SOCKET;
const HTTP = { ...BARE, SLACK_SIGNING_SECRET: "0123456789abcdef" };

function faults(env: Record<string, string | undefined>): string[] {
  const read = readConfig(env);
  return read.ok ? [] : read.error.map(({ variable, wrong }) => `${variable} ${wrong}`);
}

describe("the configuration", () => {
  test("has the documented defaults", () => {
    expect(config(SOCKET)).toEqual({
      slack: {
        mode: "socket",
        appId: null,
        botToken: "xoxb-1-abc",
        appToken: "xapp-1-abc",
        apiUrl: null,
        command: "/agent",
        deployment: "",
      },
      agents: { baseUrl: "http://127.0.0.1:4010", apiKey: "key", apiKeyFile: null, denyWord: "deny" },
      gatewayUrl: "http://127.0.0.1:4010",
      runUrl: null,
      database: { engine: "sqlite", path: "./data/countersign.db" },
      audit: { key: null, channel: null, admins: [], sink: null },
      proxies: null,
      http: { host: "127.0.0.1", port: 3000 },
      keepFinishedMs: 30 * 86_400_000,
      poll: { minMs: 1_000, maxMs: 15_000 },
      policyFile: null,
      approvers: { users: [], groups: [] },
      logLevel: "info",
      recorded: expect.objectContaining({ POLL_MIN_MS: "1000", AUDIT_KEY: null }) as unknown,
    });
  });

  test("is printed without its secrets", () => {
    const secrets = {
      ...HTTP,
      SLACK_BOT_TOKEN: "xoxb-canary",
      SLACK_SIGNING_SECRET: "canary0123456789",
      AGENT_API_KEY: "canary",
      AUDIT_KEY: SEED,
    };
    const { recorded } = config({ ...secrets, ADMINS: "U0ANN" });
    expect(Object.keys(recorded)).toEqual(variables.map(({ name }) => name));
    expect(JSON.stringify(recorded)).not.toMatch(new RegExp(`canary|${SEED}`));
    const set = Object.entries(recorded).filter(([, value]) => value === "(set)");
    expect(set.map(([name]) => name)).toEqual([
      "SLACK_BOT_TOKEN",
      "SLACK_SIGNING_SECRET",
      "AGENT_API_KEY",
      "AUDIT_KEY",
    ]);
    expect(recorded).toMatchObject({
      ADMINS: "U0ANN",
      SLACK_APP_TOKEN: null,
      AGENT_BASE_URL: "http://127.0.0.1:4010",
    });
  });

  test("accepts every documented variable", () => {
    const env = {
      ...HTTP,
      SLACK_API_URL: "http://127.0.0.1:4000/api/",
      AGENT_BASE_URL: "https://agents.example.com/team/a/",
      AGENT_DENY_DECISION: "reject",
      GATEWAY_URL: "http://gateway.example.com:8080",
      RUN_URL: "https://agents.example.com/runs?id={run}&tab=log",
      PLAIN_HTTP_HOSTS: "GATEWAY.example.com, 10.0.0.7",
      DATABASE_URL: "sqlite:/var/lib/countersign.db",
      AUDIT_KEY: SEED,
      AUDIT_CHANNEL: "C0AUDIT",
      AUDIT_SINK: "https://siem.example.com/in",
      AUDIT_SINK_TOKEN: "siem-token",
      ADMINS: "U0ANN, W0BEN,U0ANN",
      SLACK_COMMAND: "/robot-2",
      DEPLOYMENT_NAME: "🔴 PROD EU-1",
      HTTPS_PROXY: "http://bot:pa%24s@proxy.example.com:3128",
      HTTP_PROXY: "10.0.0.2:8080",
      NO_PROXY: "agents.internal, .example.com",
      HOST: "::1",
      PORT: "0",
      KEEP_FINISHED_DAYS: "7",
      POLL_MIN_MS: "50",
      POLL_MAX_MS: "50",
      POLICY_FILE: "./policy.yaml",
      LOG_LEVEL: "silent",
    };
    expect(config(env)).toEqual({
      slack: {
        mode: "http",
        botToken: "xoxb-1-abc",
        signingSecret: "0123456789abcdef",
        appId: null,
        apiUrl: "http://127.0.0.1:4000/api",
        command: "/robot-2",
        deployment: "🔴 PROD EU-1",
      },
      agents: {
        baseUrl: "https://agents.example.com/team/a",
        apiKey: "key",
        apiKeyFile: null,
        denyWord: "reject",
      },
      gatewayUrl: "http://gateway.example.com:8080",
      runUrl: "https://agents.example.com/runs?id={run}&tab=log",
      database: { engine: "sqlite", path: "/var/lib/countersign.db" },
      audit: {
        key: SEED,
        channel: "C0AUDIT",
        admins: ["U0ANN", "W0BEN"],
        sink: { type: "http", url: "https://siem.example.com/in", token: "siem-token" },
      },
      proxies: {
        https: "http://bot:pa%24s@proxy.example.com:3128/",
        http: "http://10.0.0.2:8080/",
        except: "agents.internal, .example.com",
      },
      http: { host: "::1", port: 0 },
      keepFinishedMs: 7 * 86_400_000,
      poll: { minMs: 50, maxMs: 50 },
      policyFile: "./policy.yaml",
      approvers: { users: [], groups: [] },
      logLevel: "silent",
      recorded: expect.objectContaining({ SLACK_COMMAND: "/robot-2", AUDIT_KEY: "(set)" }) as unknown,
    });
  });

  test("uses Socket Mode if both an app token and a signing secret are set", () => {
    expect(config({ ...SOCKET, ...HTTP }).slack).toEqual(config(SOCKET).slack);
  });

  test("treats an empty variable as unset, and trims white space around a value", () => {
    const env = { ...SOCKET, POLICY_FILE: "", SLACK_SIGNING_SECRET: " ", PORT: "", AGENT_API_KEY: " key\n" };
    expect(config(env)).toEqual(config(SOCKET));
  });

  test("accepts the audit key as PEM too, with newlines or with \\n in their place", () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    const seed = Buffer.from(privateKey.export({ format: "jwk" }).d ?? "", "base64url").toString("base64");
    expect(config({ ...SOCKET, AUDIT_KEY: pem }).audit.key).toBe(seed);
    expect(config({ ...SOCKET, AUDIT_KEY: pem.replaceAll("\n", "\\n") }).audit.key).toBe(seed);
  });

  test("accepts people and user groups for cards to mention, but not together with a policy file", () => {
    const APPROVERS = "S0ONCALL, U0ANN,W0BEN,U0ANN";
    expect(config({ ...SOCKET, APPROVERS }).approvers).toEqual({
      users: ["U0ANN", "W0BEN"],
      groups: ["S0ONCALL"],
    });
    expect(faults({ ...SOCKET, APPROVERS, POLICY_FILE: "./policy.yaml" })).toEqual([
      expect.stringMatching(/^APPROVERS is set beside POLICY_FILE/),
    ]);
  });

  test("is frozen, including its parts", () => {
    const read = config(SOCKET);
    for (const part of [read, read.slack, read.agents, read.database, read.http, read.poll])
      expect(Object.isFrozen(part)).toBe(true);
  });
});

describe("a fault of the configuration", () => {
  test("is reported together with all others, each with its variable and an example", () => {
    const read = readConfig({ PORT: "http", POLL_MIN_MS: "5000", POLL_MAX_MS: "1000", LOG_LEVEL: "loud" });
    if (read.ok) throw new Error("there is no fault");
    expect(explainFaults(read.error).split("\n")).toEqual([
      "Countersign cannot start with this configuration:",
      "  SLACK_BOT_TOKEN is not set. Example: xoxb-1234-5678-abcdef",
      "  AGENT_BASE_URL is not set. Example: https://agents.example.com",
      "  AGENT_API_KEY is not set. Example: the key you were given, on one line",
      "  PORT is not a port number. Example: 3000",
      "  LOG_LEVEL is none of trace, debug, info, warn, error, fatal, silent. Example: info",
      "  SLACK_APP_TOKEN is not set, nor is SLACK_SIGNING_SECRET: one of them is needed. Example: xapp-1-A123-456-abcdef",
      "  POLL_MIN_MS is greater than POLL_MAX_MS. Example: 1000",
    ]);
  });

  test.each([
    "http://127.0.0.1:1",
    "http://127.9.9.9/",
    "http://[::1]:1",
    "http://localhost:1",
    "http://a.localhost",
  ])("is not that %s has no TLS: it is this machine", (url) =>
    expect(faults({ ...SOCKET, AGENT_BASE_URL: url, SLACK_API_URL: url })).toEqual([]),
  );

  test("is http:// to a machine other than the allowed ones", () => {
    const far = "http://agents.internal:8080";
    const env = {
      ...SOCKET,
      AGENT_BASE_URL: far,
      GATEWAY_URL: "http://10.0.0.7",
      SLACK_API_URL: "HTTP://[fd00::1]/api",
    };
    const all = ["SLACK_API_URL", "AGENT_BASE_URL", "GATEWAY_URL"];
    expect(faults(env).map((each) => each.split(" ")[0])).toEqual(all);
    expect(faults(env)[0]).toContain("or name the host in PLAIN_HTTP_HOSTS");
    const named = { ...env, PLAIN_HTTP_HOSTS: "agents.internal, [fd00::1]" };
    expect(faults(named).map((each) => each.split(" ")[0])).toEqual(["GATEWAY_URL"]);
    expect(faults({ ...env, PLAIN_HTTP_HOSTS: "internal" })).toHaveLength(3);
    expect(faults({ ...env, AGENT_BASE_URL: "http://127.0.0.1.evil.example" })).toHaveLength(3);
  });

  test.each(["https://a.example/{run}", "http://127.0.0.1:8080/#/runs/{run}/log", "http://localhost/{run}"])(
    "does not include %s as the page of a run",
    (url) => expect(faults({ ...SOCKET, RUN_URL: url })).toEqual([]),
  );

  test.each([
    ["SLACK_BOT_TOKEN", "xapp-1"],
    ["SLACK_BOT_TOKEN", "xoxb-"],
    ["SLACK_BOT_TOKEN", "xoxb-a b"],
    ["SLACK_APP_TOKEN", "xoxb-1"],
    ["SLACK_SIGNING_SECRET", "short"],
    ["SLACK_SIGNING_SECRET", "sixteen characters"],
    ["SLACK_SIGNING_SECRET", "your-signing-secret"],
    ["SLACK_SIGNING_SECRET", "xxxxxxxxxxxxxxxxxxxxxxxx"],
    ["SLACK_SIGNING_SECRET", "8f742231b10e8888abcd99yyyzzz85a5"],
    ["SLACK_APP_ID", "B0123456"],
    ["SLACK_APP_ID", "A01 23456"],
    ["SLACK_APP_ID", "a0123456"],
    ["SLACK_API_URL", "slack.com/api"],
    ["APPROVERS", "C0OPS"],
    ["APPROVERS", "@oncall"],
    ["APPROVERS", "U0ANN,,S0ONCALL"],
    ["RUN_URL", "https://agents.example.com/runs/"],
    ["RUN_URL", "https://agents.example.com/{run}/{run}"],
    ["RUN_URL", "https://{run}.example.com/"],
    ["RUN_URL", "https://example.com{run}"],
    ["RUN_URL", "https://example.com:80{run}/"],
    ["RUN_URL", "https://who:what@example.com/{run}"],
    ["RUN_URL", "http://agents.example.com/{run}"],
    ["RUN_URL", "javascript:alert({run})"],
    ["RUN_URL", "https://example.com/a b/{run}"],
    ["RUN_URL", "https://example.com/|x>/{run}"],
    ["AGENT_BASE_URL", "ftp://agents.example.com"],
    ["AGENT_BASE_URL", "not an address"],
    ["AGENT_BASE_URL", "https://user:pass@agents.example.com"],
    ["AGENT_BASE_URL", "https://agents.example.com?"],
    ["AGENT_BASE_URL", "https://agents.example.com/?key=1"],
    ["AGENT_BASE_URL", "https://agents.example.com/#top"],
    ["GATEWAY_URL", "file:///etc/passwd"],
    ["PLAIN_HTTP_HOSTS", "http://agents.internal"],
    ["PLAIN_HTTP_HOSTS", "a b"],
    ["AGENT_API_KEY", "two words"],
    ["AGENT_API_KEY", "käy"],
    ["AGENT_DENY_DECISION", "Approve"],
    ["AGENT_DENY_DECISION", "approved"],
    ["AGENT_DENY_DECISION", "no way"],
    ["DATABASE_URL", "mysql://localhost/x"],
    ["DATABASE_URL", "sqlite:"],
    ["DATABASE_URL", "sqlite::memory:"],
    ["DATABASE_URL", "sqlite://data/x.db"],
    ["DATABASE_URL", "./data/x.db"],
    ["DATABASE_URL", "postgres:name"],
    ["DATABASE_URL", "postgres://ann:pass/word@localhost/name"],
    ["DATABASE_URL", "postgres://ann:100%@localhost/name"],
    ["DATABASE_URL", "postgres://localhost"],
    ["DATABASE_URL", "postgres:///name"],
    ["DATABASE_URL", "postgres://one,two/name?sslmode=disable"],
    ["DATABASE_URL", "postgres://db.example.com/name"],
    ["DATABASE_URL", "postgres://localhost/name?host=db.example.com"],
    ["DATABASE_URL", "postgres://localhost/name?host=%31%30.0.0.7"],
    ["DATABASE_URL", "postgres://%2Frun/name?host=db.example.com"],
    ["DATABASE_URL", "postgres://localhost/name?host=/run&host=db.example.com"],
    ["DATABASE_URL", "postgres://localhost/name?sslmode=disable&sslmode=verify-full"],
    ["DATABASE_URL", "postgres://localhost/name?host=one,two&sslmode=verify-full"],
    ["DATABASE_URL", "postgres://localhost/name?host=/run,db.example.com"],
    ["DATABASE_URL", "postgres://localhost/name?host="],
    ["DATABASE_URL", "postgres://localhost%2Cdb.example.com/name?sslmode=disable"],
    ["DATABASE_URL", "postgres://localhost/name?hostaddr=10.0.0.7"],
    ["DATABASE_URL", "postgres://localhost/name?port=5433"],
    ["DATABASE_URL", "postgres://localhost/name?sslmode=require"],
    ["DATABASE_URL", "postgres://localhost/name?sslmode=no-verify"],
    ["DATABASE_URL", "postgres://localhost/name?password=canary"],
    ["AUDIT_CHANNEL", "#audit"],
    ["AUDIT_CHANNEL", "U0123ABCD"],
    ["AUDIT_SINK", "syslog"],
    ["AUDIT_SINK", "file:"],
    ["AUDIT_SINK", "file:///var/log/audit"],
    ["AUDIT_SINK", "https://token@siem.example.com"],
    ["AUDIT_SINK", "https://siem.example.com/#top"],
    ["AUDIT_SINK", "http://siem.example.com/in"],
    ["AUDIT_SINK_TOKEN", "no-sink"],
    ["ADMINS", "ann"],
    ["ADMINS", "U0ANN,"],
    ["AUDIT_KEY", "a passphrase"],
    ["AUDIT_KEY", Buffer.alloc(31).toString("base64")],
    ["AUDIT_KEY", "-----BEGIN PRIVATE KEY-----"],
    ["SLACK_COMMAND", "agent"],
    ["SLACK_COMMAND", "/Agent"],
    ["SLACK_COMMAND", "/a b"],
    ["DEPLOYMENT_NAME", "*PROD*"],
    ["DEPLOYMENT_NAME", "🔴"],
    ["DEPLOYMENT_NAME", "🔴🔴 PROD"],
    ["DEPLOYMENT_NAME", "P".repeat(21)],
    ["SLACK_COMMAND", `/${"a".repeat(32)}`],
    ["HOST", "local host"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "3e3"],
    ["KEEP_FINISHED_DAYS", "0"],
    ["KEEP_FINISHED_DAYS", "1.5"],
    ["KEEP_FINISHED_DAYS", "3651"],
    ["POLL_MIN_MS", "9"],
    ["POLL_MIN_MS", "1.5"],
    ["POLL_MAX_MS", "3600001"],
    ["LOG_LEVEL", "INFO"],
  ])("is found in %s=%s, once", (name, value) => {
    const found = faults({ ...HTTP, ...SOCKET, AUDIT_KEY: SEED, [name]: value });
    expect(found).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
  });

  test.each(variables)("is not in the example of a variable: $name", ({ name, example }) => {
    // An example with spaces is a description.
    const value = example.includes(" ") && name !== "DEPLOYMENT_NAME" ? undefined : example;
    const { POLICY_FILE: _alone, ...env } = {
      ...HTTP,
      ...SOCKET,
      AUDIT_KEY: SEED,
      POLICY_FILE: "",
      [name]: value,
    };
    const optional = value !== undefined || !(name in SOCKET);
    expect(faults(optional ? env : { ...env, ...SOCKET })).toEqual([]);
  });

  test.each(["SLACK_BOT_TOKEN", "AGENT_API_KEY", "POLICY_FILE", "PORT"])(
    "is a quotation mark at the beginning of %s, which a shell would have removed",
    (name) => {
      for (const mark of ['"', "'"]) {
        const found = faults({ ...SOCKET, [name]: `${mark}xoxb-1-abc${mark}` });
        expect(found).toEqual([expect.stringMatching(new RegExp(`^${name} begins with a quotation mark`))]);
      }
    },
  );

  test("is reported without the value, which may be a secret", () => {
    const canary = { SLACK_BOT_TOKEN: "canary", SLACK_APP_TOKEN: "canary", SLACK_SIGNING_SECRET: "canary" };
    const env = {
      ...canary,
      AGENT_API_KEY: "canary canary",
      AGENT_BASE_URL: "canary",
      DATABASE_URL: "canary",
    };
    const found = faults(env);
    expect(found).toHaveLength(6);
    expect(found.join()).not.toContain("canary");
  });
});
