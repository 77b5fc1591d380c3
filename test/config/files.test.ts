// A variable from a file, as Docker and Kubernetes provide secrets.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readApiKey, readAuditConfig, readConfig, variables } from "#src/config.ts";

const ENV = {
  SLACK_BOT_TOKEN: "xoxb-1-abc",
  SLACK_APP_TOKEN: "xapp-1-abc",
  AGENT_BASE_URL: "http://127.0.0.1:4010",
  AGENT_API_KEY: "key",
};
const SEED = Buffer.alloc(32, 7).toString("base64");
let folder: string;
const at = (name: string): string => join(folder, name);

function file(name: string, content: string): string {
  writeFileSync(at(name), content);
  return at(name);
}

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "countersign-given-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const faults = (env: Record<string, string | undefined>): string[] => {
  const read = readConfig(env);
  return read.ok ? [] : read.error.map(({ variable, wrong }) => `${variable} ${wrong}`);
};

test("every variable may come from a file, without the newline at its end", () => {
  const values: Record<string, string> = {
    ...Object.fromEntries(variables.map(({ name, example, default: initial }) => [name, initial ?? example])),
    ...ENV,
    SLACK_SIGNING_SECRET: "0123456789abcdef",
    AUDIT_KEY: SEED,
    RUN_URL: "https://agents.example.com/{run}",
    AUDIT_SINK: "https://siem.example.com/in",
    AUDIT_SINK_TOKEN: "siem-token",
  };
  delete values["APPROVERS"];
  const fromFiles = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${name}_FILE`, file(name, `${value}\n`)]),
  );
  const [inEnv, inFiles] = [readConfig(values), readConfig(fromFiles)];
  if (!inEnv.ok || !inFiles.ok) throw new Error("refused");
  expect(inFiles.value).toEqual({
    ...inEnv.value,
    agents: { ...inEnv.value.agents, apiKeyFile: at("AGENT_API_KEY") },
  });
});

test("a variable that is given twice is a fault, whichever value is right", () => {
  const twice = { ...ENV, AGENT_API_KEY_FILE: file("key", "key") };
  expect(faults(twice)).toEqual(["AGENT_API_KEY_FILE is set beside AGENT_API_KEY: leave one of them out"]);
  expect(faults({ ...twice, AGENT_API_KEY: " " })).toEqual([]);
});

test("a file that cannot be read is one fault, with its name and the name of the variable", () => {
  mkdirSync(at("folder"), { recursive: true });
  const env = { ...ENV, AGENT_API_KEY: "", SLACK_APP_TOKEN: "" };
  const found = faults({
    ...env,
    AGENT_API_KEY_FILE: at("nowhere"),
    SLACK_SIGNING_SECRET_FILE: at("folder"),
    ADMINS_FILE: file("empty", " \n"),
    PORT_FILE: file("large", "1".repeat(70_000)),
  });
  expect(found.toSorted()).toEqual([
    `ADMINS_FILE names the file ${at("empty")}, which is empty`,
    `AGENT_API_KEY_FILE names the file ${at("nowhere")}, which cannot be read: there is no such file`,
    `PORT_FILE names the file ${at("large")}, which is larger than 64 KiB`,
    `SLACK_SIGNING_SECRET_FILE names the file ${at("folder")}, which cannot be read: it is a folder`,
  ]);
});

test("a byte order mark and Windows line ends are not part of a value", () => {
  const key = file("bom", "\uFEFFa-key\r\n");
  const read = readConfig({ ...ENV, AGENT_API_KEY: "", AGENT_API_KEY_FILE: key });
  expect(read.ok && read.value.agents.apiKey).toBe("a-key");
});

test.each([
  ["Latin-1", Buffer.from("sqlite:/data/b\u00FCro.db", "latin1")],
  ["UTF-16", Buffer.from("\uFEFFsqlite:/data/bot.db", "utf16le")],
  ["UTF-16 without a mark", Buffer.from("sqlite:/data/bot.db", "utf16le")],
])("a file in %s is a fault, not a value with other characters", (_what, bytes) => {
  writeFileSync(at("encoded"), bytes);
  expect(faults({ ...ENV, DATABASE_URL_FILE: at("encoded") })).toEqual([
    `DATABASE_URL_FILE names the file ${at("encoded")}, which is not text in UTF-8`,
  ]);
});

test.each(['"key"', "'key'", "a key", "key\u00e9", " \n", "key"])(
  "the service's key %j is judged alike at the start and when its file is read again",
  (content) => {
    const path = file("rotated", content);
    const isRefused = faults({ ...ENV, AGENT_API_KEY: "", AGENT_API_KEY_FILE: path }).length > 0;
    expect(isRefused).toBe(content !== "key");
    expect("wrong" in readApiKey(path)).toBe(isRefused);
  },
);

test("a path that leads through a file is a fault", () => {
  const path = join(file("denied", "key"), "below");
  expect(faults({ ...ENV, AGENT_API_KEY: "", AGENT_API_KEY_FILE: path })[0]).toMatch(/is not a folder$/);
});

test("a wrong value in a file is reported like one in the environment, and never repeated", () => {
  const found = faults({ ...ENV, SLACK_BOT_TOKEN: "", SLACK_BOT_TOKEN_FILE: file("token", "canary") });
  expect(found).toEqual(["SLACK_BOT_TOKEN is not a token that starts with xoxb-"]);
});

test("a secret given as a path is not repeated", () => {
  const found = faults({ ...ENV, SLACK_BOT_TOKEN: "", SLACK_BOT_TOKEN_FILE: "xoxb-canary" });
  expect(found).toEqual([
    "SLACK_BOT_TOKEN_FILE names a file by a path that does not begin with / or ./, which cannot be read: there is no such file",
  ]);
});

test("the audit's commands also take the database and the key from files, and read no other file", () => {
  const read = readAuditConfig({
    DATABASE_URL_FILE: file("url", "sqlite:/x.db\n"),
    AUDIT_KEY_FILE: file("seed", `${SEED}\n`),
    AGENT_API_KEY_FILE: at("nowhere"),
  });
  expect(read).toEqual({ ok: true, value: { database: "/x.db", key: SEED } });
});
