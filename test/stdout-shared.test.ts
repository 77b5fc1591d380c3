// With AUDIT_SINK=stdout, the log and the audit's entries share standard output, as real processes write to it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { inheritedEnv } from "./make/child-env.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const BATCHES = 20;
const IN_BATCH = 200;

/** Writes batches that are larger than the buffer of a pipe or socket, and log lines at the same time. */
const WRITER = `
import { createLog } from "./src/log.ts";
import { openSink } from "./src/adapters/audit-sink/open-sink.ts";
const log = createLog({ level: "info", pretty: false, sharesOutput: true });
const sink = openSink({ type: "stdout" });
const line = JSON.stringify({ audit: "a".repeat(4_000) }) + "\\n";
const say = () => { for (let each = 0; each < 20; each += 1) log.info({ note: each }, "l".repeat(300)); };
for (let batch = 0; batch < ${BATCHES}; batch += 1) {
  const written = sink.write(Array.from({ length: ${IN_BATCH} }, () => line));
  say();
  setImmediate(say);
  await written;
}
`;

/** Lets the pipe fill up between two reads. */
async function readSlowly(from: Readable): Promise<string> {
  let all = "";
  from.setEncoding("utf8");
  for await (const part of from) {
    all += String(part);
    for (let turn = 0; turn < 200; turn += 1) await setImmediate();
  }
  return all;
}

test("no log line cuts a line of the audit in two, although the reader is slower than the writer", async () => {
  const writer = spawn(process.execPath, ["--input-type=module", "--eval", WRITER], {
    cwd: ROOT,
    env: inheritedEnv(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(writer, "exit");
  const lines = (await readSlowly(writer.stdout)).split("\n").filter((line) => line !== "");
  expect(await ended).toEqual([0, null]);
  const read = lines.map((line): unknown => JSON.parse(line));
  expect(read.filter((line) => Object.hasOwn(line as object, "audit"))).toHaveLength(BATCHES * IN_BATCH);
});

/** Resolves to what the bot printed by ways other than process.stdout, until its start is refused. */
async function printedPastStdout(more: { readonly [name: string]: string }): Promise<string> {
  const silent = "data:text/javascript,process.stdout.write=()=>true";
  const bot = spawn(process.execPath, ["--import", silent, "src/main.ts"], {
    cwd: ROOT,
    env: {
      ...inheritedEnv(),
      SLACK_BOT_TOKEN: "xoxb-1",
      SLACK_APP_TOKEN: "xapp-1",
      AGENT_BASE_URL: "http://127.0.0.1:9",
      AGENT_API_KEY: "a-key",
      DATABASE_URL: "sqlite:/dev/null/bot.db",
      // A misspelled name, which the log warns of.
      AUDIT_CHANEL: "C0AUDIT",
      ...more,
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return text(bot.stdout);
}

test("the bot's log goes through process.stdout if, and only if, the audit's entries do", async () => {
  expect(await printedPastStdout({})).toContain("AUDIT_CHANEL");
  expect(await printedPastStdout({ AUDIT_SINK: "stdout" })).toBe("");
});
