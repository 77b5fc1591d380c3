// The names of people in Slack, beside their ids: in `npm run audit -- show` and in the CSV, with a token.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { RunId } from "#src/domain/ids.ts";
import { type Ended, runCommand } from "../make/run-command.ts";
import { anAuditEntry, aRun } from "../make/run.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "audit-names-"));
});
afterEach(() => rmSync(folder, { recursive: true }));
const url = (): string => `sqlite:${join(folder, "bot.db")}`;

async function write(): Promise<void> {
  const store = await openStore({ url: url(), owner: "test" });
  const run = aRun();
  await store.audit([1, 2].map(() => anAuditEntry(run, { runId: RunId("run_7") })));
  await store.close();
}

const auditWith = (more: { readonly [name: string]: string }, ...args: readonly string[]): Promise<Ended> =>
  runCommand("audit", args, { env: { DATABASE_URL: url(), ...more } });

let slack: Server;
let asked: string[] = [];
const names: { [user: string]: string } = { U0REQUESTER: 'Ana "approved" \u202E\nRuiz' };
beforeEach(async () => {
  asked = [];
  slack = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const user = new URLSearchParams(body).get("user") ?? "";
      asked.push(user);
      response.setHeader("content-type", "application/json");
      const real_name = names[user];
      response.end(JSON.stringify({ ok: true, user: { id: user, team_id: "T0ACME", real_name } }));
    });
  });
  await new Promise<void>((resolve) => void slack.listen(0, "127.0.0.1", resolve));
});
afterEach(() => slack.close());

const withToken = (...args: readonly string[]): Promise<Ended> => {
  const { port } = slack.address() as AddressInfo;
  const env = { SLACK_BOT_TOKEN: "xoxb-test", SLACK_API_URL: `http://127.0.0.1:${port}/api/` };
  return auditWith(env, ...args);
};

test("show prints Slack's current names on one line, in quotation marks that no name can close", async () => {
  await write();
  const { out } = await withToken("show", "run_7");
  expect(out).toContain(`T0ACME:U0REQUESTER "Ana 'approved'`);
  expect(out).not.toContain("\u202E\n");
  expect(out).toContain("They are no part of the entries.");
  expect(asked).toEqual(["U0REQUESTER"]);
  expect((await auditWith({}, "show", "run_7")).out).not.toContain("Ana");
});

test("the CSV has columns for names, and each person is looked up once", async () => {
  await write();
  names["U0REQUESTER"] = "=1+1";
  const { out } = await withToken("export", "--format", "csv");
  expect(out.split("\r\n")[0]).toMatch(/"link","who is called","requester is called",/);
  expect(out).toMatch(/"'=1\+1","'=1\+1",+\r\n/);
  expect(asked).toEqual(["U0REQUESTER"]);
});

test("the JSON lines have no names, because they are for verification", async () => {
  await write();
  expect((await withToken("export")).out).not.toContain("called");
  expect(asked).toEqual([]);
});

test.each([
  ["http://slack.example.com/api", "SLACK_API_URL is http:// to another machine"],
  ["no address", "SLACK_API_URL is not an address"],
])(
  "the token goes to no other machine over http://, and to no odd address: %s",
  async (SLACK_API_URL, says) => {
    await write();
    const seen = await auditWith({ SLACK_BOT_TOKEN: "xoxb-1", SLACK_API_URL }, "show", "run_7");
    expect(seen.code).toBe(2);
    expect(seen.err).toContain(says);
  },
);
