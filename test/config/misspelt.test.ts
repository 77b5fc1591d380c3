import { describe, expect, test } from "vitest";
import { findMisspelled, variables } from "#src/config.ts";

const found = (...names: string[]): Record<string, readonly string[]> =>
  Object.fromEntries(
    findMisspelled(Object.fromEntries(names.map((name) => [name, "x"]))).map(({ variable, meant }) => [
      variable,
      meant,
    ]),
  );

describe("a misspelled variable", () => {
  test.each([
    ["POLICY_FIL", "POLICY_FILE"],
    ["POLCIY_FILE", "POLICY_FILE"],
    ["policy_file", "POLICY_FILE"],
    ["POLICY_FLIE", "POLICY_FILE"],
    ["POLICY_PATH", "POLICY_FILE"],
    ["COUNTERSIGN_POLICY_FILE", "POLICY_FILE"],
    ["COUNTERSIGN_PORT", "PORT"],
    ["SLACK_BOTTOKEN", "SLACK_BOT_TOKEN"],
    ["SLACK_BOT_TOKEN_FIEL", "SLACK_BOT_TOKEN_FILE"],
    ["AGENT_KEY", "AGENT_API_KEY"],
    ["AGENT_URL", "AGENT_BASE_URL"],
    ["AUDIT_CHANEL", "AUDIT_CHANNEL"],
    ["ADMIN", "ADMINS"],
    ["POLL_MAXMS", "POLL_MAX_MS"],
    ["DATABSE_URL", "DATABASE_URL"],
    ["LOGLEVEL", "LOG_LEVEL"],
  ])("%s is reported with the likely variable: %s", (name, meant) => {
    expect(found(name)[name]).toContain(meant);
  });

  test("SLACK_TOKEN may be either token", () => {
    expect(found("SLACK_TOKEN")).toEqual({ SLACK_TOKEN: ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"] });
  });

  test("with our own prefix is reported even if no known name is close", () => {
    expect(found("COUNTERSIGN_THEME")).toEqual({ COUNTERSIGN_THEME: [] });
  });
});

describe("a variable is not called misspelled", () => {
  test.each(variables.map(({ name }) => name))("if it is %s or its file", (name) => {
    expect(found(name)).toEqual({});
    expect(found(`${name}_FILE`)).toEqual({});
  });

  test("if other programs and platforms set it", () => {
    const foreign =
      "PATH HOME HOSTNAME USER PWD TERM PORTAGE_TMPDIR NODE_ENV NODE_OPTIONS SSH_AGENT_PID HTTP_PROXY FTP_PROXY https_proxy no_proxy " +
      "SLACK_WEBHOOK_URL SLACK_CLIENT_ID SLACK_CLIENT_SECRET SLACK_CHANNEL SLACK_TEAM_ID SLACK_USERNAME SLACK_DEBUG " +
      "AGENT_NAME AGENT_ID AGENT_OS AGENT_WORKFOLDER AGENT_TEMPDIRECTORY AGENT_HOMEDIRECTORY POSTGRES_PASSWORD REPLICAS " +
      "COMPOSE_PROFILES KUBERNETES_PORT KUBERNETES_SERVICE_HOST npm_config_port LOGNAME DATABASE PGHOST RUNNER_OS";
    expect(found(...foreign.split(" "))).toEqual({});
  });

  test("if Kubernetes sets it for services with arbitrary names", () => {
    const links = (service: string): string[] => [
      `${service}_SERVICE_HOST`,
      `${service}_SERVICE_PORT`,
      `${service}_SERVICE_PORT_HTTP`,
      `${service}_PORT`,
      `${service}_PORT_80_TCP`,
      `${service}_PORT_80_TCP_ADDR`,
    ];
    expect(found(...links("COUNTERSIGN"), ...links("POLICY"), ...links("AGENT"), ...links("AUDIT"))).toEqual(
      {},
    );
  });

  test("if it is empty, or resembles a variable that is set", () => {
    expect(findMisspelled({ POLICY_FIL: "" })).toEqual([]);
    expect(found("SLACK_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")).toEqual({});
    expect(found("POLICY_FIL", "POLICY_FILE")).toEqual({});
  });
});
