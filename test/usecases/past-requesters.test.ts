// A person who asked for a run cannot approve it when another person watches it, even if someone else changes the database.

import { describe, expect, test } from "vitest";
import { auditOfChange } from "#src/audit/run-diff.ts";
import type { AuditEntry } from "#src/audit/entry.ts";
import { RunId, UserId } from "#src/domain/ids.ts";
import { adoptedRun, runId } from "#src/domain/run.ts";
import { ADMIN, type Bench, clickOn, createBench, failure } from "../make/bot.ts";
import { aSnapshot, contextAt } from "../make/history.ts";
import { decided } from "../make/receipts.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, aRun, aRunId, aWatchedRun, CHANNEL, NOON, TEAM } from "../make/run.ts";
import { rowThatIsNoEntry, withFile } from "../make/spoilt-database.ts";

const BY = { team: TEAM, user: APPROVER, channel: CHANNEL };
const FRIEND = { ...BY, user: UserId("U0FRIEND") };
const OTHER = UserId("U0OTHER");
const STARTS: readonly AuditEntry["what"][] = ["started", "start-confirmed", "start-unconfirmed", "watched"];

async function opens(bench: Bench, id: RunId, user: UserId): Promise<string> {
  const { click } = clickOn(await bench.run(id));
  const opened = await bench.flow.openForm.open({ ...click, user }, "approve");
  return opened.ok ? "opened" : opened.error.refusal.type;
}

/** A run that the approver starts. Resolves to our key and the service's id. */
async function startedRun(bench: Bench) {
  const started = await bench.flow.startRun.start(BY, { input: "task", intention: "a", answerUrl: null });
  await bench.clock.pass(5_000);
  const stored = started.ok ? await bench.store.load(started.value) : null;
  const id = stored === null ? null : runId(stored.run);
  if (stored === null || id === null) throw new Error("the run did not start");
  return { key: stored.run.key, id };
}

const startsIn = async ({ store }: Bench) =>
  (await store.auditAfter(0, STARTS, 100)).map(({ entry }) => entry);

describe("a start that the service confirms", () => {
  test("has one entry with our key, the service's id, the channel and the requester, and it is no person's act", async () => {
    const bench = await createBench();
    const { key, id } = await startedRun(bench);
    await bench.restart();
    await bench.clock.pass(60_000);
    const requester = { team: TEAM, user: APPROVER };
    const about = { run: key, channel: CHANNEL, requester };
    expect(await startsIn(bench)).toMatchObject([
      { ...about, what: "started", runId: null, by: requester },
      { ...about, what: "start-confirmed", runId: id, by: null, outcome: "the service started the run" },
    ]);
  });

  test.for([
    ["is deleted", "delete from runs"],
    [
      "is deleted, and the entry that asks for the start is changed",
      "delete from runs",
      "update audit set entry = replace(entry, 'U0APPROVER', 'U0OTHER') where what = 'started'",
    ],
  ])("bars its requester although its row %s before anyone acts on the run", async ([, ...changes]) => {
    const { bench, spoil } = await withFile();
    const { id } = await startedRun(bench);
    spoil(...changes);
    bench.agents.pending.set(id, ["apr_1"]);
    expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
    await bench.clock.pass(5_000);
    expect((await bench.run(id)).mayHaveAsked).toEqual([APPROVER]);
    expect(await opens(bench, id, APPROVER)).toBe("requester");
    expect(await opens(bench, id, OTHER)).toBe("opened");
  });

  test("has no entry if the run is watched again after its record was changed, because it is no start", () => {
    const { key, team, channel, requester } = aRun();
    const facts = { key, team, channel, requester, input: "", askedAt: NOON, answer: null };
    const watched = adoptedRun(RunId("run_1"), facts);
    const refused = { type: "refused", words: "its record was changed", at: NOON } as const;
    expect(auditOfChange({ ...watched, creation: refused }, watched, contextAt())).toEqual([]);
  });
});

test("a person whose start is answered with a run that another person watches cannot approve it from then on", async () => {
  const bench = await createBench();
  const id = aRunId();
  bench.agents.pending.set(id, ["apr_1"]);
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
  await bench.clock.pass(5_000);
  expect(await opens(bench, id, APPROVER)).toBe("opened");
  bench.agents.create = () => Promise.resolve(aSnapshot(aWatchedRun(id), ["apr_1"]));
  for (const intention of ["a", "b"]) {
    await bench.flow.startRun.start(BY, { input: "task", intention, answerUrl: null });
    await bench.clock.pass(5_000);
  }
  expect(await bench.run(id)).toMatchObject({ requester: FRIEND.user, mayHaveAsked: [APPROVER] });
  expect(await opens(bench, id, APPROVER)).toBe("requester");
  expect(await opens(bench, id, OTHER)).toBe("opened");
});

test("when the only approver of a waiting request may turn out to have asked for it, people are told that no one can approve it", async () => {
  const bench = await createBench();
  bench.policy = aPolicy({ approvers: these([APPROVER]) });
  const id = aRunId();
  bench.agents.pending.set(id, ["apr_1"]);
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
  await bench.clock.pass(5_000);
  expect(await bench.run(id)).toMatchObject({ approvals: [{ approverCount: { able: 1 } }] });
  bench.agents.create = () => Promise.resolve(aSnapshot(aWatchedRun(id), ["apr_1"]));
  await bench.flow.startRun.start(BY, { input: "task", intention: "a", answerUrl: null });
  await bench.clock.pass(5_000);
  expect(await bench.run(id)).toMatchObject({ approvals: [{ approverCount: { able: 0 } }] });
  const told = bench.chat.told.map(({ to, says }) => `${says.type} to ${to}`);
  expect(told).toContain(`nobody-can-approve to ${FRIEND.user}`);
});

test("a forged entry of an unconfirmed start is reported, does not keep a run from being watched, and does not lift the bar on a person whose own start had no answer", async () => {
  const { bench, spoil } = await withFile();
  await decided(bench);
  bench.agents.create = () => Promise.reject(failure("timeout", { applied: "maybe" }));
  await bench.flow.startRun.start(BY, { input: "task", intention: "a", answerUrl: null });
  await bench.clock.pass(5_000);
  spoil("delete from runs where service_run_id is null", ...rowThatIsNoEntry("start-unconfirmed"));
  expect((await bench.flow.queries.health(ADMIN)).audit.open).toEqual([]);
  const id = aRunId();
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).mayHaveAsked).toEqual([APPROVER]);
  expect((await bench.flow.queries.health(ADMIN)).audit.open).toHaveLength(1);
});

test("a person whose start cannot be read, as a newer release stored it, cannot approve a run that another person watches, which may be theirs", async () => {
  const { bench, spoil } = await withFile();
  bench.agents.create = () => new Promise(() => undefined);
  await bench.flow.startRun.start(BY, { input: "task", intention: "a", answerUrl: null });
  await bench.clock.rest();
  spoil("update runs set doc_version = 99 where service_run_id is null");
  const id = aRunId();
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).mayHaveAsked).toEqual([APPROVER]);
});
