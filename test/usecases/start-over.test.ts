// A run whose record was changed from outside and that is watched again: it stays in its channel, under that channel's rules.

import { expect, test } from "vitest";
import { ChannelId, type RunId, UserId } from "#src/domain/ids.ts";
import { type Bench, createBench } from "../make/bot.ts";
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

test("moves to the channel of the command if no proven entry names its channel, and the person who moves it cannot approve it", async () => {
  const { bench, spoil } = await withFile();
  const id = await watched(bench, BY);
  expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({ ok: true });
  await bench.clock.pass(60_000);
  expect(await bench.store.forget(bench.clock.monotonic() + 1)).toBe(1);
  await watched(bench, FRIEND, id);
  spoil("update audit set entry = replace(entry, 'U0FRIEND', 'U0OTHER') where what = 'watched'");
  bench.people.channels = new Set([ELSEWHERE]);
  for (const _time of [1, 2]) {
    await tampered(bench, id);
    expect(await bench.flow.adoptRun.adopt(STRANGER, id)).toMatchObject({ ok: true });
    await bench.clock.pass(5_000);
    expect(await bench.run(id)).toMatchObject({ channel: ELSEWHERE, watch: { type: "on" } });
    expect(await opens(bench, id, STRANGER.user)).toBe("requester");
    expect(await opens(bench, id, APPROVER)).toBe("requester");
  }
});
