import { copyFile, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startService } from "#sandbox/service/start-service.ts";
import type { Service, ServiceOptions } from "#sandbox/service/start-service.ts";
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

test("after a restart a run still waits, and its approval can be decided", async () => {
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

test("everything that was answered is on the disk, even if the service is never stopped", async () => {
  const before = await start();
  const { id, approvals } = await asking(before);
  await decide(before, id, approvals[0], { decision: "deny", reason: "no" });
  const found = join(directory, "found.json");
  await copyFile(statePath, found);
  const after = await start({ statePath: found });
  expect((await decide(after, id, approvals[0], { decision: "approve" })).status).toBe(409);
});

test("a run that was working continues after the restart", async () => {
  const before = await start({ tempo: 0.01 });
  const id = await create(before, "Please fail");
  await before.stop();
  expect(await ended(await start(), id)).toMatchObject({ phase: "failed" });
});

test("a stopped service does not touch the file of the next one, whatever it still does", async () => {
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

test("an Idempotency-Key is honored across a restart", async () => {
  const profile = { honoursIdempotencyKey: true };
  const init = { body: '{"input":"Work forever"}', headers: { "idempotency-key": '"one"' } };
  const before = await start({ profile });
  const first = await send(before, "POST", "/v1/agent/runs", init);
  await before.stop();
  expect(await send(await start({ profile }), "POST", "/v1/agent/runs", init)).toEqual(first);
});

test("the state is one file that only its owner can read", async () => {
  await asking(await start(), "Be hostile");
  await started[0]?.stop();
  expect(await readdir(directory)).toEqual(["state.json"]);
  expect((await stat(statePath)).mode & 0o777).toBe(0o600);
});

test("a changed profile is kept, unless the start overrides it", async () => {
  const before = await start({ profile: { denyWord: "reject", createStatus: 202 } });
  before.control.profile({ denyWord: "veto", staleReads: 2 });
  await before.stop();
  const after = await start({ profile: { staleReads: 0 } });
  expect(after.control.profile()).toMatchObject({ denyWord: "veto", createStatus: 202, staleReads: 0 });
});

test("a generated key stays valid after a restart, and so does a rotated key", async () => {
  const before = await start();
  const minted = before.apiKey;
  await before.stop();
  const between = await start();
  expect(between.apiKey).toBe(minted);
  const rotated = between.control.rotateKey();
  await between.stop();
  expect((await start()).apiKey).toBe(rotated);
});

test("a rotated key stays valid as long as the configured key is unchanged, and is replaced by a new one", async () => {
  const before = await start({ apiKey: "first-key" });
  const rotated = before.control.rotateKey();
  await before.stop();
  const between = await start({ apiKey: "first-key" });
  expect(between.apiKey).toBe(rotated);
  await between.stop();
  expect((await start({ apiKey: "second-key" })).apiKey).toBe("second-key");
});

test("a vanished run stays hidden, and reappears on request", async () => {
  const before = await start();
  const { id } = before.control.createRun("Work forever");
  before.control.vanish(id);
  await before.stop();
  const after = await start();
  expect((await read(after, id)).status).toBe(404);
  expect(after.control.vanished()).toEqual([id]);
  after.control.reappear(id);
  expect((await read(after, id)).status).toBe(200);
});

test("remaining stale reads are still stale after the restart", async () => {
  const before = await start({ profile: { staleReads: 3 } });
  const { id, approvals } = await asking(before);
  await decide(before, id, approvals[0], { decision: "approve" });
  await ended(before, id);
  expect((await read(before, id)).json["status"]).toBe("awaiting_approval");
  await before.stop();
  const after = await start();
  const seen = [await read(after, id), await read(after, id), await read(after, id)];
  expect(seen.map(({ json }) => json["status"])).toEqual([
    "awaiting_approval",
    "awaiting_approval",
    "succeeded",
  ]);
});

test("a state of the first version is migrated with its runs and keys", async () => {
  const before = await start();
  const { id, approvals } = await asking(before);
  const { runs } = await stateNow(before);
  await writeFile(statePath, JSON.stringify({ version: 1, runs, keys: [['"one"', id]] }));
  const after = await start({ profile: { honoursIdempotencyKey: true } });
  expect((await read(after, id)).json).toMatchObject({ pending_approvals: [{ id: approvals[0] }] });
  const again = { body: '{"input":"Deploy the billing service"}', headers: { "idempotency-key": '"one"' } };
  expect((await send(after, "POST", "/v1/agent/runs", again)).json["id"]).toBe(id);
  expect(await stateNow(after)).toMatchObject({ version: 2, vanished: [], stale: [] });
});

test.for([
  ["text that is not JSON", "{", "it is not JSON"],
  ["an empty record", "null", "not a state file of this service"],
  ["another thing's JSON", "[]", "not a state file of this service"],
  ["a newer version", '{"version":3,"runs":[]}', "version 3, but this service supports versions up to 2"],
  ["a run that lacks something", '{"version":1,"keys":[],"runs":[{"id":"run_1"}]}', '"runs.0.input"'],
  ["nothing at all", "", "it is not JSON"],
] as const)("%s prevents the start with an explanation, and is not changed", async ([, content, words]) => {
  await writeFile(statePath, content);
  const starting = start();
  await expect(starting).rejects.toThrow(words);
  await expect(starting).rejects.toThrow(statePath);
  expect(await readFile(statePath, "utf8")).toBe(content);
  expect(await readdir(directory)).toEqual(["state.json"]);
});

test("a file that cannot be written prevents the start", async () => {
  const starting = start({ statePath: join(directory, "none", "state.json") });
  await expect(starting).rejects.toThrow(/none.state\.json cannot be written: ENOENT/);
});

/** Resolves to the content of the file after the service has stopped. */
async function stateNow(service: Service) {
  await service.stop();
  return JSON.parse(await readFile(statePath, "utf8")) as Record<string, unknown>;
}
