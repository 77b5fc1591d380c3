// The sandbox's own PostgreSQL server: only our user can connect, and it ends with the sandbox.

import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { programsFolder } from "#sandbox/bot/own-postgres.ts";

/** The source of a process that starts a server, prints its address and waits. */
const STARTER = `
  const { startPostgres } = await import(${JSON.stringify(new URL("../../sandbox/bot/own-postgres.ts", import.meta.url).href)});
  const { url, stop } = await startPostgres((words) => console.error(words));
  console.log(url);
  process.once("SIGTERM", () => void stop().then(() => process.exit(0)));
  setInterval(() => undefined, 60_000);
`;

async function started() {
  const folder = await mkdtemp(join(tmpdir(), "countersign-pg-"));
  // PostgreSQL runs as another user if we are root.
  await chmod(folder, 0o755);
  const child = spawn(process.execPath, ["--input-type=module", "--eval", STARTER], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await expect.poll(() => readdir(folder), { timeout: 20_000 }).toEqual([]);
    await rm(folder, { recursive: true, force: true });
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, url: line.toString("utf8").trim(), left: () => readdir(folder) };
}

async function ask(url: string): Promise<unknown> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query("select 1 + 1 as sum")).rows[0];
  } finally {
    await client.end();
  }
}

test("it answers only clients with the password", async () => {
  const { url } = await started();
  expect(await ask(url)).toEqual({ sum: 2 });
  const guessed = new URL(url);
  expect(guessed.hostname).toBe("127.0.0.1");
  expect(guessed.password).toMatch(/^[0-9a-f]{48}$/);
  guessed.password = "guessed";
  await expect(ask(guessed.href)).rejects.toThrow("password authentication failed");
});

test.for(["SIGTERM", "SIGKILL"] as const)(
  "after %s to the sandbox, neither the server nor its folder is left",
  async (signal) => {
    const { child, url, left } = await started();
    expect(await ask(url)).toEqual({ sum: 2 });
    expect(await left()).toHaveLength(1);
    child.kill(signal);
    await expect.poll(left, { timeout: 20_000 }).toEqual([]);
    await expect(ask(url)).rejects.toThrow("ECONNREFUSED");
  },
);

test("a machine without PostgreSQL is told what to install", () => {
  expect(() => programsFolder("/nowhere:/also-nowhere", "/no-such-folder")).toThrow(
    /PostgreSQL is not installed on this machine[^]*apt-get install postgresql[^]*leave out --postgres/,
  );
});
