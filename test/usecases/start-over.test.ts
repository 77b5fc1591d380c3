// A run whose record was changed from outside and that is watched again: it stays in its channel, under that channel's rules.

import { expect, test } from "vitest";
import { ChannelId, type RunId, UserId } from "#src/domain/ids.ts";
import { ADMIN, type Bench, createBench } from "../make/bot.ts";
import { changeRecord, opens } from "../make/changed-record.ts";
import { APPROVER, aRunId, CHANNEL, TEAM } from "../make/run.ts";
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

test("stays closed if no proven entry names its channel, so no one decides it in Slack, and a finding says why", async () => {
  const { bench, spoil } = await withFile();
  const id = await watched(bench, BY);
  spoil("update audit set entry = replace(entry, 'U0APPROVER', 'U0OTHER') where what = 'watched'");
  await tampered(bench, id);
  const { key } = await bench.run(id);
  for (const by of [STRANGER, FRIEND]) {
    expect(await bench.flow.adoptRun.adopt(by, id)).toMatchObject({ ok: false, error: { type: "tampered" } });
    expect(await bench.run(id)).toMatchObject({ watch: { type: "tampered" } });
  }
  expect((await bench.flow.queries.health(ADMIN)).audit.open).toContainEqual({
    id: `${key} channel`,
    words: expect.stringContaining("no one can decide its requests in Slack") as string,
    run: key,
  });
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
  expect(await bench.flow.adoptRun.adopt(STRANGER, id)).toMatchObject({ ok: false });
  expect((await bench.store.load(otherKey))?.run.watch).toMatchObject({ type: "tampered" });
});
