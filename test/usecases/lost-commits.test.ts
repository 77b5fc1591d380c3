// Requests of people that the database stored, although the answer to the commit was lost.

import { expect, test } from "vitest";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { APPROVER, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: REQUESTER, channel: CHANNEL };
const TASK = { input: "rotate", intention: "a", answerUrl: null };
const LOST = failure("store_down", { applied: "maybe" });
const DOWN = failure("store_down", { applied: "no" });

test("a run that was stored is started, and its requester is told so", async () => {
  const bench = await createBench();
  losesInsert(bench);
  const started = await bench.flow.startRun.start(BY, TASK);
  expect(started.ok).toBe(true);
  await bench.clock.pass(5_000);
  expect(bench.agents.created).toEqual(["rotate"]);
});

test("a run that was stored is started when its command is repeated", async () => {
  const bench = await createBench();
  const before = { ...bench.store };
  let tries = 0;
  bench.store.insert = async (...given) => {
    tries += 1;
    if (tries === 1) await before.insert(...given);
    throw LOST;
  };
  await expect(bench.flow.startRun.start(BY, TASK)).rejects.toBe(LOST);
  bench.store.insert = (...given) => before.insert(...given);
  const started = await bench.flow.startRun.start(BY, TASK);
  expect(started.ok).toBe(true);
  await bench.clock.pass(5_000);
  expect(bench.agents.created).toEqual(["rotate"]);
});

test("a run that was stored is started, though its requester was told nothing certain", async () => {
  const bench = await createBench();
  losesInsert(bench, () => Promise.reject(DOWN));
  await expect(bench.flow.startRun.start(BY, TASK)).rejects.toBe(DOWN);
  failsToLoad(bench);
  await bench.clock.pass(10_000);
  expect(bench.agents.created).toEqual(["rotate"]);
});

test("a run that is stored only after its time limit is started, though its requester was told nothing certain", async () => {
  const bench = await createBench();
  const { store } = bench;
  const usual = { ...store };
  let commit = (): Promise<unknown> => Promise.reject(new Error("nothing was written"));
  store.insert = (...given) => {
    commit = () => usual.insert(...given);
    return Promise.reject(LOST);
  };
  await expect(bench.flow.startRun.start(BY, TASK)).rejects.toBe(LOST);
  await bench.clock.pass(20_000);
  expect(bench.agents.created).toEqual([]);
  await commit();
  await bench.clock.pass(60_000);
  expect(bench.agents.created).toEqual(["rotate"]);
});

test("a second start that was stored is recorded as such, though the process died before that and its requester then pressed Leave", async () => {
  const bench = await createBench();
  const create = bench.agents.create.bind(bench.agents);
  bench.agents.create = async (input, key) => {
    await create(input, key);
    throw failure("timeout", { applied: "maybe" });
  };
  const started = await bench.flow.startRun.start(BY, TASK);
  if (!started.ok) throw new Error(started.error.type);
  await bench.clock.pass(60_000);
  bench.agents.create = create;
  const usual = { ...bench.store };
  bench.store.save = () => Promise.reject(DOWN);
  await expect(bench.flow.startRun.answerUnknownStart(BY, started.value, "started")).rejects.toBe(DOWN);
  bench.store.save = (...given) => usual.save(...given);
  await bench.restart();
  const left = await bench.flow.startRun.answerUnknownStart(BY, started.value, "left");
  expect(left).toMatchObject({ error: { type: "answered" } });
  const first = (await bench.store.load(started.value))?.run;
  expect(first?.creation).toMatchObject({ type: "unknown", again: "started" });
  await bench.clock.pass(5_000);
  expect(bench.agents.created).toHaveLength(2);
});

test("a decision that is stored only after its time limit is sent", async () => {
  const bench = await createBench();
  const { click } = await bench.withCard();
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error("refused");
  const commit = savesLate(bench);
  const by = { team: TEAM, user: APPROVER };
  await expect(bench.flow.submitDecision(by, opened.value.ticket.nonce, "it is time")).rejects.toBe(LOST);
  await bench.clock.pass(25_000);
  expect(await commit()).toBe("saved");
  await bench.clock.pass(60_000);
  expect(bench.agents.resolved).toHaveLength(1);
});

test("a finished run that is watched again is followed, though its person was told nothing certain", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  expect((await bench.flow.adoptRun.unwatch(BY, id)).ok).toBe(true);
  await bench.clock.pass(60_000);
  await bench.restart();
  losesSave(bench);
  await expect(bench.flow.adoptRun.adopt(BY, id)).rejects.toBe(LOST);
  bench.agents.pending.set(id, ["apr_new"]);
  await bench.clock.pass(30_000);
  expect((await bench.run(id)).approvals.map((approval) => approval.id)).toContain("apr_new");
});

test("a finished run that is watched again is followed, though that is stored only after its time limit", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  expect((await bench.flow.adoptRun.unwatch(BY, id)).ok).toBe(true);
  await bench.clock.pass(60_000);
  const commit = savesLate(bench);
  await expect(bench.flow.adoptRun.adopt(BY, id)).rejects.toBe(LOST);
  await bench.clock.pass(25_000);
  expect(await commit()).toBe("saved");
  bench.agents.pending.set(id, ["apr_new"]);
  await bench.clock.pass(60_000);
  expect((await bench.run(id)).approvals.map((approval) => approval.id)).toContain("apr_new");
});

test("a run that was stored is started, and its requester is told so, though it cannot be read at once", async () => {
  const bench = await createBench();
  losesInsert(bench);
  failsToLoad(bench);
  const started = await bench.flow.startRun.start(BY, TASK);
  expect(started.ok).toBe(true);
  await bench.clock.pass(10_000);
  expect(bench.agents.created).toEqual(["rotate"]);
});

test("a message whose mark was stored is posted, though the failure could not be stored", async () => {
  const bench = await createBench();
  losesSave(bench, () => failsToLoad(bench));
  const started = await bench.flow.startRun.start(BY, TASK);
  expect(started.ok).toBe(true);
  await bench.clock.pass(60_000);
  expect(bench.chat.posts.map(({ slot }) => slot)).toContain("opening");
  expect(bench.agents.created).toEqual(["rotate"]);
});

test("a decision that was stored is sent, though its approver was not told so", async () => {
  const bench = await createBench();
  const { click } = await bench.withCard();
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error("refused");
  losesSave(bench);
  const by = { team: TEAM, user: APPROVER };
  const { nonce } = opened.value.ticket;
  await expect(bench.flow.submitDecision(by, nonce, "it is time")).rejects.toBe(LOST);
  await bench.clock.pass(30_000);
  expect(bench.agents.resolved).toHaveLength(1);
});

/** The next insert is stored, but its answer is lost. `then` replaces the inserts after it. */
function losesInsert({ store }: Bench, then?: Bench["store"]["insert"]): void {
  const usual = { ...store };
  store.insert = async (...given) => {
    store.insert = then ?? ((...given) => usual.insert(...given));
    await usual.insert(...given);
    throw LOST;
  };
}

/** The next save is stored, but its answer is lost. `meanwhile` runs in between. */
function losesSave({ store }: Bench, meanwhile = (): void => undefined): void {
  const usual = { ...store };
  store.save = async (stored, next, { onSaved: _unheard, ...facts } = {}) => {
    store.save = (...given) => usual.save(...given);
    meanwhile();
    await usual.save(stored, next, facts);
    throw LOST;
  };
}

/** The next save gets no answer. It is stored when the returned function is called. */
function savesLate({ store }: Bench): () => Promise<unknown> {
  const usual = { ...store };
  let commit = (): Promise<unknown> => Promise.reject(new Error("nothing was written"));
  store.save = (stored, next, facts) => {
    store.save = (...given) => usual.save(...given);
    commit = () => usual.save(stored, next, { ...facts, onSaved: () => undefined });
    return Promise.reject(LOST);
  };
  return () => commit();
}

/** The next load fails. */
function failsToLoad({ store }: Bench): void {
  const usual = { ...store };
  store.load = () => {
    store.load = (...given) => usual.load(...given);
    return Promise.reject(DOWN);
  };
}
