import { copyFile, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startService } from "#src/sandbox/service/start-service.ts";
import type { Service, ServiceOptions } from "#src/sandbox/service/start-service.ts";
import { asking, create, decide, ended, read, send } from "./client.ts";

let directory: string;
let statePath: string;
const started: Service[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "service-"));
  statePath = join(directory, "state.json");
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((service) => service.stop()));
  await rm(directory, { recursive: true });
});

async function start(options: ServiceOptions = {}) {
  const service = await startService({ tempo: 0, statePath, ...options });
  started.push(service);
  return service;
}

test("after a restart a run still asks, and its approval can be decided", async () => {
  const before = await start();
  const { id, approvals } = await asking(before);
  await before.stop();
  const after = await start();
  expect((await read(after, id)).json).toMatchObject({ pending_approvals: [{ id: approvals[0] }] });
  expect((await decide(after, id, approvals[0], { decision: "approve", reason: "still fine" })).status).toBe(
    200,
  );
  expect(await ended(after, id)).toMatchObject({ phase: "succeeded" });
});

test("what was answered is on the disk, even if the service never gets to stop", async () => {
  const before = await start();
  const { id, approvals } = await asking(before);
  await decide(before, id, approvals[0], { decision: "deny", reason: "no" });
  const found = join(directory, "found.json");
  await copyFile(statePath, found);
  const after = await start({ statePath: found });
  expect((await decide(after, id, approvals[0], { decision: "approve" })).status).toBe(409);
});

test("a run that was working goes on after the restart", async () => {
  const before = await start({ tempo: 0.01 });
  const id = await create(before, "Please fail");
  await before.stop();
  expect(await ended(await start(), id)).toMatchObject({ phase: "failed" });
});

test("a service that was stopped leaves the file to the next one, whatever it does still", async () => {
  const before = await start();
  const { id, approvals } = await asking(before);
  await before.stop();
  const after = await start();
  await decide(after, id, approvals[0], { decision: "approve" });
  before.control.cancel(id, "too late");
  await before.stop();
  await after.stop();
  expect(await ended(await start(), id)).toMatchObject({ phase: "succeeded" });
});

test("a key given once is honoured over a restart", async () => {
  const profile = { honoursIdempotencyKey: true };
  const init = { body: '{"input":"Work forever"}', headers: { "idempotency-key": '"one"' } };
  const before = await start({ profile });
  const first = await send(before, "POST", "/v1/agent/runs", init);
  await before.stop();
  expect(await send(await start({ profile }), "POST", "/v1/agent/runs", init)).toEqual(first);
});

test("the state is one file for its owner only", async () => {
  await asking(await start(), "Be hostile");
  await started[0]?.stop();
  expect(await readdir(directory)).toEqual(["state.json"]);
  expect((await stat(statePath)).mode & 0o777).toBe(0o600);
});

test("a state that cannot be read or written refuses the start", async () => {
  await expect(start({ statePath: join(directory, "none", "state.json") })).rejects.toThrow("ENOENT");
  await writeFile(statePath, "{");
  await expect(start()).rejects.toThrow("cannot be read");
  await writeFile(statePath, "[]");
  await expect(start()).rejects.toThrow("not one of this service");
});
