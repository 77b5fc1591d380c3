// Watching a run that was started elsewhere: its requester cannot approve it because another person watches it later, and a run that cannot
// be looked up is not watched.

import { expect, test } from "vitest";
import { commandRefusal } from "#src/adapters/slack/blocks/command-refusal-words.ts";
import { escaped } from "#src/adapters/slack/blocks/rich.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { RUN_STOP } from "#src/adapters/slack/names.ts";
import { auditEntry } from "#src/audit/entry.ts";
import { RunId, TeamId, UNKNOWN_PERSON, UserId } from "#src/domain/ids.ts";
import { openingRenderKey } from "#src/domain/render-key.ts";
import { runId } from "#src/domain/run.ts";
import { OPENING } from "#src/domain/slot.ts";
import { PortError } from "#src/ports.ts";
import { textOf } from "../adapters/slack/blocks/oracle.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { changeRecord, opens } from "../make/changed-record.ts";
import { aSnapshot } from "../make/history.ts";
import { APPROVER, aRun, aRunId, aWatchedRun, CHANNEL, TEAM } from "../make/run.ts";
import { withFile } from "../make/spoilt-database.ts";

const BY = { team: TEAM, user: APPROVER, channel: CHANNEL };
const FRIEND = { ...BY, user: UserId("U0FRIEND") };
const OTHER = UserId("U0OTHER");

test("the first watcher of a run cannot approve it after it was forgotten and another person watched it", async () => {
  const bench = await createBench();
  const id = aRunId();
  bench.agents.pending.set(id, ["apr_1"]);
  expect((await bench.flow.adoptRun.adopt(BY, id)).ok).toBe(true);
  await bench.clock.pass(1_000);
  expect((await bench.flow.adoptRun.unwatch(BY, id)).ok).toBe(true);
  await bench.clock.pass(60_000);
  expect(await bench.store.forget(bench.clock.monotonic() + 1)).toBe(1);
  expect((await bench.flow.adoptRun.adopt(FRIEND, id)).ok).toBe(true);
  await bench.clock.pass(5_000);
  expect(await opens(bench, id, APPROVER)).toBe("requester");
  expect(await opens(bench, id, FRIEND.user)).toBe("requester");
  expect(await opens(bench, id, OTHER)).toBe("opened");
});

/** Lets a person watch the run until it is forgotten. */
async function watchedAndForgotten(
  bench: Bench,
  id: ReturnType<typeof aRunId>,
  by: typeof BY,
): Promise<void> {
  expect(await bench.flow.adoptRun.adopt(by, id)).toMatchObject({ ok: true });
  await bench.clock.pass(1_000);
  expect(await bench.flow.adoptRun.unwatch(by, id)).toMatchObject({ ok: true });
  await bench.clock.pass(60_000);
  expect(await bench.store.forget(bench.clock.monotonic() + 1)).toBe(1);
}

test("no earlier watcher of a run can approve it, although it was forgotten after each of them", async () => {
  const bench = await createBench();
  const id = aRunId();
  await watchedAndForgotten(bench, id, BY);
  await watchedAndForgotten(bench, id, { ...BY, user: OTHER });
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).mayHaveAsked).toEqual([APPROVER, OTHER]);
});

test("the requester of a run that was started here cannot approve it after it was forgotten and another person watched it", async () => {
  const bench = await createBench();
  const task = { input: "task", intention: "a", answerUrl: null };
  const started = await bench.flow.startRun.start(BY, task);
  await bench.clock.pass(5_000);
  const stored = started.ok ? await bench.store.load(started.value) : null;
  const id = stored === null ? null : runId(stored.run);
  if (id === null) throw new Error("the run did not start");
  expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({ ok: true });
  await bench.clock.pass(60_000);
  expect(await bench.store.forget(bench.clock.monotonic() + 1)).toBe(1);
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).mayHaveAsked).toEqual([APPROVER]);
});

test("the requester of another run does not hide who asked for a run, whatever a changed column says", async () => {
  const { bench, spoil } = await withFile();
  await watchedAndForgotten(bench, RunId("run_2"), { ...BY, user: OTHER });
  await watchedAndForgotten(bench, RunId("run_1"), BY);
  spoil("update audit set run_id = 'run_1' where run_id = 'run_2' and what = 'unwatched'");
  expect(await bench.flow.adoptRun.adopt(FRIEND, RunId("run_1"))).toMatchObject({ ok: true });
  expect((await bench.run(RunId("run_1"))).mayHaveAsked).toEqual([APPROVER]);
});

/** A start whose answer is lost. Resolves to our key of the run. */
async function lostStart(bench: Bench, by: typeof BY) {
  bench.agents.create = () => Promise.reject(failure("timeout", { applied: "maybe" }));
  const started = await bench.flow.startRun.start(by, { input: "task", intention: "a", answerUrl: null });
  if (!started.ok) throw new Error(started.error.type);
  await bench.clock.pass(5_000);
  return started.value;
}

/** Lets a friend watch a run that asks for an approval. */
async function watchedByFriend(bench: Bench) {
  const id = aRunId();
  bench.agents.pending.set(id, ["apr_1"]);
  expect((await bench.flow.adoptRun.adopt(FRIEND, id)).ok).toBe(true);
  await bench.clock.pass(5_000);
  return id;
}

test("a person whose start lost its answer cannot approve a run that another person watches, which may be theirs", async () => {
  const bench = await createBench();
  await lostStart(bench, BY);
  const id = await watchedByFriend(bench);
  expect(await opens(bench, id, APPROVER)).toBe("requester");
  expect(await opens(bench, id, OTHER)).toBe("opened");
  await bench.restart();
  expect(await opens(bench, id, APPROVER)).toBe("requester");
});

test("a person whose start lost its answer cannot approve a run that may be theirs, even after the record of the start is deleted", async () => {
  const bench = await createBench();
  const key = await lostStart(bench, BY);
  expect(await bench.flow.startRun.answerUnknownStart(BY, key, "left")).toMatchObject({ ok: true });
  await bench.clock.pass(60_000);
  expect(await bench.store.forget(bench.clock.monotonic() + 1)).toBe(1);
  const id = await watchedByFriend(bench);
  expect(await opens(bench, id, APPROVER)).toBe("requester");
  expect(await opens(bench, id, OTHER)).toBe("opened");
});

test("a person whose start got the id of a run that another person had begun to watch cannot approve it, even after both records are deleted", async () => {
  const bench = await createBench();
  const id = aRunId();
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.agents.create = async () => promise.then(() => aSnapshot(aWatchedRun(id), []));
  const started = await bench.flow.startRun.start(BY, { input: "task", intention: "a", answerUrl: null });
  await bench.clock.pass(1_000);
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
  resolve();
  await bench.clock.pass(5_000);
  const stored = started.ok ? await bench.store.load(started.value) : null;
  expect(stored?.run.creation.type).toBe("taken");
  expect(await bench.flow.adoptRun.unwatch(FRIEND, id)).toMatchObject({ ok: true });
  await bench.clock.pass(60_000);
  expect(await bench.store.forget(bench.clock.monotonic() + 1)).toBe(2);
  expect(await bench.flow.adoptRun.adopt({ ...FRIEND, user: OTHER }, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).mayHaveAsked).toEqual(expect.arrayContaining([APPROVER, FRIEND.user]));
});

test("a start without an answer that nobody deals with bars its requester for 90 days, too", async () => {
  const bench = await createBench();
  const key = await lostStart(bench, BY);
  const { run } = (await bench.store.load(key)) ?? { run: aRun() };
  expect(run.creation.type).toBe("unknown");
  const askedAt = run.askedAt - 91 * 24 * 60 * 60_000;
  await bench.store.insert({ ...run, key: aRun().key, requester: OTHER, askedAt }, {});
  const id = aRunId();
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).mayHaveAsked).toEqual([APPROVER]);
});

test("a person whose start lost its answer 90 days ago, whenever they answered for it, or in another workspace, can approve a run that another person watches", async () => {
  const bench = await createBench();
  const now = bench.clock.now();
  const lost = (at: number, team = TEAM, user = APPROVER, by: typeof BY | null = null) =>
    auditEntry({ ...aRun(), team, requester: user }, { at, what: "start-unconfirmed", outcome: "", by });
  const ninetyDays = 90 * 24 * 60 * 60_000;
  const elsewhere = TeamId("T0ELSEWHERE");
  await bench.store.audit([
    lost(now - ninetyDays - 1),
    lost(now, TEAM, APPROVER, BY),
    lost(now, elsewhere),
    lost(now - ninetyDays + 60_000, TEAM, OTHER),
  ]);
  const id = aRunId();
  bench.agents.pending.set(id, ["apr_1"]);
  await bench.flow.adoptRun.adopt(FRIEND, id);
  await bench.clock.pass(5_000);
  expect(await opens(bench, id, APPROVER)).toBe("opened");
  expect(await opens(bench, id, OTHER)).toBe("requester");
});

test("starts that the service refused do not hide a start that lost its answer", async () => {
  const bench = await createBench();
  const sending = { type: "sending", at: 1, tries: 1 } as const;
  const refused = { type: "refused", words: "no", at: 1 } as const;
  await bench.store.insert({ ...aRun({ requester: APPROVER }), creation: sending }, {});
  await bench.clock.pass(1_000);
  for (let count = 0; count < 1_001; count += 1)
    await bench.store.insert({ ...aRun(), creation: refused }, {});
  const id = aRunId();
  expect(await bench.flow.adoptRun.adopt(FRIEND, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).mayHaveAsked).toContain(APPROVER);
});

/** Lets the record be changed by someone else, and watches the run again. */
async function tamperAndWatch(bench: Bench, id: ReturnType<typeof aRunId>, by: typeof BY): Promise<void> {
  await changeRecord(bench, id, ({ mayHaveAsked: _asked, stop: _stop, ...left }) => left);
  expect(await bench.flow.adoptRun.adopt(by, id)).toMatchObject({ ok: true });
  await bench.clock.pass(5_000);
}

test("a run whose record was changed and that is watched again bars all who may have asked for it", async () => {
  const bench = await createBench();
  const id = aRunId();
  bench.agents.pending.set(id, ["apr_1"]);
  await bench.flow.adoptRun.adopt(BY, id);
  await bench.clock.pass(1_000);
  await bench.flow.adoptRun.unwatch(BY, id);
  await bench.clock.pass(60_000);
  await bench.store.forget(bench.clock.monotonic() + 1);
  await bench.flow.adoptRun.adopt(FRIEND, id);
  await bench.clock.pass(1_000);
  await tamperAndWatch(bench, id, { ...BY, user: OTHER });
  expect(await opens(bench, id, APPROVER)).toBe("requester");
  expect(await opens(bench, id, FRIEND.user)).toBe("requester");
});

test("a run whose record was changed and that is watched again is still stopped, unless the stop was lifted", async () => {
  const bench = await createBench();
  const id = aRunId();
  await bench.flow.adoptRun.adopt(BY, id);
  await bench.clock.pass(1_000);
  const { key } = await bench.run(id);
  const press = { ...BY, user: OTHER, run: key, shown: null };
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: true });
  await bench.clock.pass(1_000);
  await tamperAndWatch(bench, id, FRIEND);
  const { stop } = await bench.run(id);
  expect(stop).toMatchObject({ by: OTHER });
  expect(await bench.flow.stopRun.lift({ ...press, shown: stop?.at ?? null })).toMatchObject({ ok: true });
  await bench.clock.pass(1_000);
  await tamperAndWatch(bench, id, FRIEND);
  expect((await bench.run(id)).stop).toBeUndefined();
});

/** A run that a person stops. Resolves to the press that would lift the stop. */
async function stopped(bench: Bench, id: ReturnType<typeof aRunId>) {
  bench.agents.pending.set(id, ["apr_1"]);
  await bench.flow.adoptRun.adopt(BY, id);
  await bench.clock.pass(1_000);
  const press = { ...BY, user: OTHER, run: (await bench.run(id)).key, shown: null };
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: true });
  await bench.clock.pass(5_000);
  return press;
}

async function forgetAndWatch(bench: Bench, id: ReturnType<typeof aRunId>): Promise<void> {
  expect((await bench.flow.adoptRun.unwatch(BY, id)).ok).toBe(true);
  await bench.clock.pass(60_000);
  expect(await bench.store.forget(bench.clock.monotonic() + 1)).toBe(1);
  expect((await bench.flow.adoptRun.adopt(BY, id)).ok).toBe(true);
  await bench.clock.pass(5_000);
}

test("a stopped run that is forgotten and watched again gets no approval until the stop is lifted", async () => {
  const bench = await createBench();
  const id = aRunId();
  await stopped(bench, id);
  bench.agents.pending.set(id, ["apr_2"]);
  await forgetAndWatch(bench, id);
  const { key, stop } = await bench.run(id);
  expect(stop).toMatchObject({ by: OTHER });
  expect(await opens(bench, id, FRIEND.user)).toBe("stopped");
  const lift = { ...BY, run: key, shown: stop?.at ?? null };
  expect(await bench.flow.stopRun.lift(lift)).toMatchObject({ ok: false });
  expect(await bench.flow.stopRun.lift({ ...lift, user: FRIEND.user })).toMatchObject({ ok: true });
  bench.agents.pending.set(id, ["apr_3"]);
  await bench.clock.pass(5_000);
  bench.agents.pending.delete(id);
  await bench.clock.pass(5_000);
  await forgetAndWatch(bench, id);
  expect((await bench.run(id)).stop).toBeUndefined();
});

test("the stop of a forgotten run denies nothing that a later run with its id asks for, until a person presses Stop", async () => {
  const bench = await createBench();
  const id = aRunId();
  await stopped(bench, id);
  bench.agents.pending.set(id, ["apr_2"]);
  await forgetAndWatch(bench, id);
  const before = await bench.run(id);
  expect(before.approvals).toMatchObject([{ id: "apr_2", state: { type: "pending" } }]);
  const opening = JSON.stringify(messageIn(before, OPENING));
  expect(opening).toContain("nothing it asks for is approved");
  expect(opening).toContain(RUN_STOP);
  const press = { ...BY, user: FRIEND.user, run: before.key, shown: before.stop?.at ?? null };
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: true });
  const after = await bench.run(id);
  expect(openingRenderKey(after)).not.toBe(openingRenderKey(before));
  expect(after.stop).toEqual({ by: FRIEND.user, at: bench.clock.now() });
  expect(after.approvals).toMatchObject([
    { state: { type: "decided", decision: { verdict: "deny", stoppedBy: FRIEND.user } } },
  ]);
});

test("the stop of a run whose record was changed denies nothing after the run is watched again, until a person presses Stop", async () => {
  const bench = await createBench();
  const id = aRunId();
  const press = await stopped(bench, id);
  bench.agents.pending.set(id, ["apr_2"]);
  await tamperAndWatch(bench, id, FRIEND);
  const { stop, approvals } = await bench.run(id);
  expect(stop).toMatchObject({ by: OTHER, ofEarlierRecord: true });
  expect(approvals).toMatchObject([{ id: "apr_2", state: { type: "pending" } }]);
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: false });
  expect((await bench.run(id)).approvals).toEqual(approvals);
  expect(await bench.flow.stopRun.stop({ ...press, shown: stop?.at ?? null })).toMatchObject({ ok: true });
  expect((await bench.run(id)).approvals).toMatchObject([{ state: { decision: { verdict: "deny" } } }]);
});

test("a stop whose entry was changed still counts, but does not name the person in it", async () => {
  const { bench, spoil } = await withFile();
  const id = aRunId();
  await stopped(bench, id);
  spoil("update audit set entry = replace(entry, 'U0OTHER', 'U0FRIEND') where what = 'stopped'");
  await tamperAndWatch(bench, id, FRIEND);
  expect((await bench.run(id)).stop).toMatchObject({ by: UNKNOWN_PERSON });
});

test.each([
  ["was changed", "run_1", "entry = replace(entry, 'U0FRIEND', 'U0OTHER') where what = 'stop-lifted'"],
  ["is about another run", "run_2", "run_id = 'run_1' where what = 'watched'"],
])("an entry that says that the stop is lifted, but %s, does not end it", async (_what, lifted, change) => {
  const { bench, spoil } = await withFile();
  const id = RunId("run_1");
  await stopped(bench, id);
  await stopped(bench, RunId("run_2"));
  const { key: run, stop: shown } = await bench.run(RunId(lifted));
  const lift = { ...BY, user: FRIEND.user, run, shown: shown?.at ?? null };
  expect(await bench.flow.stopRun.lift(lift)).toMatchObject({ ok: true });
  await bench.clock.pass(5_000);
  spoil(`update audit set ${change}`);
  await tamperAndWatch(bench, id, FRIEND);
  const { stop } = await bench.run(id);
  expect(stop).toMatchObject({ by: OTHER });
  expect(stop?.lifted).toBeUndefined();
});

test("a found run that changes while it is watched again is not trusted, and neither is its requester", async () => {
  const bench = await createBench();
  const id = aRunId();
  bench.agents.pending.set(id, ["apr_1"]);
  expect((await bench.flow.adoptRun.adopt(BY, id)).ok).toBe(true);
  await bench.clock.pass(1_000);
  expect((await bench.flow.adoptRun.unwatch(BY, id)).ok).toBe(true);
  await bench.clock.pass(1_000);
  let looks = 0;
  // The first look-up asks who the person is, the second whether they may see the run, which is read in between.
  bench.people.before = async () => {
    looks += 1;
    const stored = looks === 2 ? await bench.store.load((await bench.run(id)).key) : null;
    if (stored === null) return;
    const watch = { type: "tampered", at: bench.clock.now() } as const;
    await bench.store.save(stored, { ...stored.run, requester: OTHER, watch }, { finished: false });
  };
  expect((await bench.flow.adoptRun.adopt(FRIEND, id)).ok).toBe(true);
  expect(looks).toBeGreaterThan(1);
  await bench.clock.pass(5_000);
  expect((await bench.run(id)).requester).toBe(APPROVER);
  expect(await opens(bench, id, APPROVER)).toBe("requester");
});

test.for([
  ["http_403", "The agent service answered HTTP 403 (forbidden): this key may not read <run_7>"],
  ["garbled", "The agent service sent an answer that cannot be used: it is not JSON."],
  ["bad_id", "This id cannot be part of an address, so the agent service cannot be asked about it."],
  ["timeout", "The agent service did not answer within 10 s."],
] as const)(
  "a run that cannot be looked up is not watched, and the answer says why: %s",
  async ([code, words]) => {
    const bench = await createBench();
    const id = aRunId();
    const facts = { applied: "no", retry: "never", code } as const;
    bench.agents.beforeLook = () => Promise.reject(new PortError(words, facts));
    const refused = await bench.flow.adoptRun.adopt(BY, id);
    if (refused.ok) throw new Error("the run is watched");
    const { text, blocks } = commandRefusal(refused.error, "/agent");
    expect(textOf(blocks)).toContain(words);
    expect(text).toContain(escaped(words));
    const ours = textOf(blocks).replace(words, "");
    expect(ours).toContain("Nothing was done");
    expect(ours).not.toContain("did not answer");
    expect(await bench.store.byRunId(id)).toBeNull();
  },
);
