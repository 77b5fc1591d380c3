// Checks that Countersign reports the version of package.json everywhere, and the common options of its programs.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { DatabaseSync } from "node:sqlite";
import { ana, aWorld, opsAgents } from "./make/world.ts";

const top = fileURLToPath(new URL("../", import.meta.url));
const { version } = JSON.parse(readFileSync(`${top}package.json`, "utf8")) as { version: string };
const programs = [
  "src/main.ts",
  ...readdirSync(`${top}src/cli`).flatMap((name) => (name.endsWith(".ts") ? [`src/cli/${name}`] : [])),
];

test.each(programs)("%s --version prints the version, without any configuration", async (program) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, "--version"], {
    cwd: top,
    env: {},
  });
  expect([stdout, stderr]).toEqual([`Countersign ${version}\n`, ""]);
});

test.each(programs)("%s --help prints the usage, without any configuration", async (program) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, "--help"], {
    cwd: top,
    env: {},
  });
  const usage = program === "src/main.ts" ? /^Usage:/ : /^Usage:[^]*\nExit code 0: .*1: .*2: /;
  expect([stdout, stderr]).toEqual([expect.stringMatching(usage) as unknown, ""]);
});

test.each([
  ["src/cli/audit.ts", "verify", "--help"],
  ["src/cli/policy.ts", "lint", "-h"],
])("%s %s %s prints the usage, without any configuration", async (program, command, help) => {
  const run = promisify(execFile)(process.execPath, [program, command, help], { cwd: top, env: {} });
  expect(await run).toEqual({ stdout: expect.stringMatching(/^Usage:/) as unknown, stderr: "" });
});

test("what comes after -- is no option", async () => {
  const args = ["src/cli/audit.ts", "show", "--", "--help"];
  const run = promisify(execFile)(process.execPath, args, {
    cwd: top,
    env: { DATABASE_URL: "sqlite:none.db" },
  });
  await expect(run).rejects.toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("none.db") as unknown,
  });
});

test.each(["src/main.ts", "src/cli/doctor.ts"])(
  "%s refuses an argument, because it would have no effect",
  async (program) => {
    const run = promisify(execFile)(process.execPath, [program, "--port=3000"], { cwd: top, env: {} });
    await expect(run).rejects.toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("--port=3000") as unknown,
    });
  },
);

test("the log, health, metrics and audit contain the version", async (context) => {
  const world = await aWorld(context);
  const get = async (path: string): Promise<string> => (await fetch(`${world.url()}${path}`)).text();
  const started = world.logged.find((line) => line.includes("Countersign is ready")) ?? "{}";
  expect(JSON.parse(started)).toMatchObject({ version });
  expect(JSON.parse(await get("/readyz"))).toMatchObject({ version });
  expect(await get("/metrics")).toContain(`countersign_build_info{version="${version}",`);
  await world.command(ana, opsAgents, "health");
  expect(await world.told(ana, "answer:health:ok")).toContain(`Countersign ${version}`);
  const path = (world.world.env["DATABASE_URL"] ?? "").replace("sqlite:", "");
  const audit = new DatabaseSync(path, { readOnly: true });
  const entry = audit.prepare("select entry from audit where what = 'program-started'").get();
  audit.close();
  expect(String(entry?.["entry"])).toContain(`Countersign ${version} on Node`);
});
