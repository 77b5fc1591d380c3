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

test("a profile that was changed stays as it is, unless the start says otherwise", async () => {
  const before = await start({ profile: { denyWord: "reject", createStatus: 202 } });
  before.control.profile({ denyWord: "veto", staleReads: 2 });
  await before.stop();
  const after = await start({ profile: { staleReads: 0 } });
  expect(after.control.profile()).toMatchObject({ denyWord: "veto", createStatus: 202, staleReads: 0 });
});

test("a key that was minted is right again, and so is one that was rotated", async () => {
  const before = await start();
  const minted = before.apiKey;
  await before.stop();
  const between = await start();
  expect(between.apiKey).toBe(minted);
  const rotated = between.control.rotateKey();
  await between.stop();
  expect((await start()).apiKey).toBe(rotated);
});

test("a rotated key stays right while the same one is given, and gives way to another", async () => {
  const before = await start({ apiKey: "first-key" });
  const rotated = before.control.rotateKey();
  await before.stop();
  const between = await start({ apiKey: "first-key" });
  expect(between.apiKey).toBe(rotated);
  await between.stop();
  expect((await start({ apiKey: "second-key" })).apiKey).toBe("second-key");
});

test("a run that vanished stays away, and reappears when it is told to", async () => {
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

test("reads that are still to be stale are so after the restart", async () => {
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

test("a state of the first version is taken over with its runs and keys", async () => {
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
] as const)("%s refuses the start, in words, and is left as it is", async ([, content, words]) => {
  await writeFile(statePath, content);
  const starting = start();
  await expect(starting).rejects.toThrow(words);
  await expect(starting).rejects.toThrow(statePath);
  expect(await readFile(statePath, "utf8")).toBe(content);
  expect(await readdir(directory)).toEqual(["state.json"]);
});

test("a place that cannot be written to refuses the start", async () => {
  const starting = start({ statePath: join(directory, "none", "state.json") });
  await expect(starting).rejects.toThrow(/none.state\.json cannot be written: ENOENT/);
});

/** What the file has once the service let go of it. */
async function stateNow(service: Service) {
  await service.stop();
  return JSON.parse(await readFile(statePath, "utf8")) as Record<string, unknown>;
}
