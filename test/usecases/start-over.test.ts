// A run whose record was changed from outside and that is watched again: it stays in its channel, under that channel's rules.

import { expect, test } from "vitest";
import { ChannelId, type RunId, UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { ADMIN, type Bench, createBench } from "../make/bot.ts";
import { changeRecord, opens } from "../make/changed-record.ts";
import { anAuditEntry, APPROVER, aRunId, aWatchedRun, CHANNEL, NOON, TEAM } from "../make/run.ts";
import { withFile } from "../make/spoilt-database.ts";

const BY = { team: TEAM, user: APPROVER, channel: CHANNEL };
const FRIEND = { ...BY, user: UserId("U0FRIEND") };
const ELSEWHERE = ChannelId("C0ELSEWHERE");
const STRANGER = { ...BY, user: UserId("U0STRANGER"), channel: ELSEWHERE };

async function watched(bench: Bench, by: typeof BY, id = aRunId()) {
  bench.agents.pending.set(id, ["apr_1"]);
  expect(await bench.flow.adoptRun.adopt(by, id)).toMatchObject({ ok: true });
  await bench.clock.pass(5_000);
  return id;
}

const tampered = (bench: Bench, id: RunId): Promise<void> =>
  changeRecord(bench, id, (run) => ({ ...run, channel: ELSEWHERE }));

const CLOSED = { ok: false, error: { type: "channel-unproven" } };

const findings = async (bench: Bench) => (await bench.flow.queries.health(ADMIN)).audit.open;

test("is unknown to a person who is not in the channel that the audit names", async () => {
  const bench = await createBench();
  const id = await watched(bench, BY);
  await tampered(bench, id);
  bench.people.channels = new Set([ELSEWHERE]);
  const refused = { ok: false, error: { type: "unknown-run" } };
  expect(await bench.flow.adoptRun.adopt(STRANGER, id)).toMatchObject(refused);
  expect(await bench.run(id)).toMatchObject({ watch: { type: "tampered" } });
});

test("stays in the channel that the audit names, whichever channel the command comes from", async () => {
  const bench = await createBench();
  const id = await watched(bench, BY);
  await tampered(bench, id);
  bench.people.channels = new Set([CHANNEL, ELSEWHERE]);
  expect(await bench.flow.adoptRun.adopt(STRANGER, id)).toMatchObject({ ok: true });
  await bench.clock.pass(5_000);
  expect(await bench.run(id)).toMatchObject({ channel: CHANNEL, requester: APPROVER, watch: { type: "on" } });
  expect(await opens(bench, id, APPROVER)).toBe("requester");
  expect(await opens(bench, id, STRANGER.user)).toBe("opened");
});

test("stays closed if no proven entry names its channel, and the only finding is the forged entry", async () => {
  const { bench, spoil } = await withFile();
  const id = await watched(bench, BY);
  spoil("update audit set entry = replace(entry, 'U0APPROVER', 'U0OTHER') where what = 'watched'");
  await changeRecord(bench, id);
  for (const by of [STRANGER, FRIEND, FRIEND]) {
    expect(await bench.flow.adoptRun.adopt(by, id)).toMatchObject(CLOSED);
    expect(await bench.run(id)).toMatchObject({ watch: { type: "tampered" } });
  }
  const [{ seq } = { seq: 0 }] = await bench.store.auditAfter(0, ["watched"], 1);
  const found = await findings(bench);
  expect(found).toHaveLength(1);
  expect(found[0]?.words).toContain(`entry ${seq}`);
});

test("that stays closed is unknown outside its channel, and a command from there finds nothing", async () => {
  const { bench, spoil } = await withFile();
  const id = await watched(bench, BY);
  spoil("update audit set entry = replace(entry, 'U0APPROVER', 'U0OTHER') where what = 'watched'");
  await changeRecord(bench, id);
  bench.people.channels = new Set([ELSEWHERE]);
  expect(await bench.flow.adoptRun.adopt(STRANGER, id)).toMatchObject({ error: { type: "unknown-run" } });
  expect(await findings(bench)).toEqual([]);
});

test("stays closed if only its start is in the audit, because that entry has no id of the service", async () => {
  const bench = await createBench();
  bench.people.channels = new Set([CHANNEL, ELSEWHERE]);
  const id = aRunId();
  const run: Run = { ...aWatchedRun(id), watch: { type: "tampered", at: NOON } };
  const audit = [anAuditEntry(run, { what: "started", channel: CHANNEL, runId: null })];
  expect(await bench.store.insert({ ...run, channel: ELSEWHERE }, { audit })).toBe("stored");
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject(CLOSED);
  expect(await findings(bench)).toEqual([]);
});

test("stays closed if its record has the key of another run, whose channel it would get", async () => {
  const { bench, spoil } = await withFile();
  const id = await watched(bench, BY);
  const other = await watched(bench, STRANGER);
  const [{ key }, { key: otherKey }] = [await bench.run(id), await bench.run(other)];
  spoil(
    "pragma foreign_keys = off",
    `delete from runs where key = '${otherKey}'`,
    `update runs set key = '${otherKey}', doc = replace(doc, '${key}', '${otherKey}') where key = '${key}'`,
  );
  bench.people.channels = new Set([CHANNEL, ELSEWHERE]);
  // The refusal of the first attempt is an entry with both ids, taken from the changed record.
  for (const _time of [1, 2]) expect(await bench.flow.adoptRun.adopt(STRANGER, id)).toMatchObject(CLOSED);
  expect((await bench.store.load(otherKey))?.run.watch).toMatchObject({ type: "tampered" });
});
