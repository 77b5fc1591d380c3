// Only the process that holds a run changes it, unless the caller does not require that.

import { expect, onTestFinished, test } from "vitest";
import { pauseClocks } from "#src/domain/pause.ts";
import { REFUSED_TRIES } from "#src/domain/posted-message.ts";
import type { Run } from "#src/domain/run.ts";
import { OPENING } from "#src/domain/slot.ts";
import { createRunEngine } from "#src/engine/run-engine.ts";
import { SHARDS } from "#src/domain/ids.ts";
import { openStore } from "#src/adapters/store/open.ts";
import type { Store, StoredRun } from "#src/ports/store.ts";
import { createHandClock } from "../make/clock.ts";
import { contextAt } from "../make/history.ts";
import { aRun, aWatchedRun, NOON } from "../make/run.ts";
import { done, under } from "../make/voting.ts";

const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const EVERY_SHARD = new Set(Array.from({ length: SHARDS }, (_, shard) => shard));
const IDLE = {
  start: () => {},
  isUnderWay: () => false,
  isBusy: () => false,
  shardsSending: () => new Set<number>(),
  stop: () => Promise.resolve(),
};

type Parts = Parameters<typeof createRunEngine>[0];
const anEngine = (parts: Pick<Parts, "store" | "clock"> & Partial<Parts>) =>
  createRunEngine({
    context: () => contextAt(),
    log: QUIET,
    executor: IDLE,
    logEffect: () => {},
    random: () => 0,
    time: { isCounted: () => true, makeUp: () => Promise.resolve() },
    ...parts,
  });

test("a run whose lease another process has is left as it is, unless holding is not required", async () => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  const engine = anEngine({ store, clock });
  engine.setHeldShards(EVERY_SHARD);
  const run = aWatchedRun();
  await store.insert(run, {});
  const rename = (input: string) => (before: Run) => ({ ...before, input });

  expect(await engine.change(run.key, rename("held"))).toMatchObject({ input: "held" });
  await store.release();
  expect(await engine.change(run.key, rename("not held"))).toBeNull();
  expect((await store.load(run.key))?.run.input).toBe("held");
  expect(await engine.changeAnywhere(run.key, rename("asked for"))).toMatchObject({
    input: "asked for",
  });
  await store.close();
});

test("a run that another process has saved is claimed in its newest state, also while an effect is under way", async () => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  const executor = { ...IDLE, isBusy: () => true };
  const engine = anEngine({ store, clock, executor });
  engine.setHeldShards(EVERY_SHARD);
  const steps: string[] = [];
  engine.onPlan(({ input }) => void steps.push(input));
  const run = aWatchedRun();
  await store.insert(run, {});
  await engine.resume({ run, revision: 1 });
  await engine.change(run.key, (before) => ({ ...before, input: "ours" }));

  const stored = await store.load(run.key);
  if (stored === null) throw new Error("the run is gone");
  await store.save(stored, { ...stored.run, input: "theirs" });
  await engine.resume({ ...stored, run: { ...stored.run, input: "theirs" } });
  expect(steps.at(-1)).toBe("theirs");
  expect(await engine.change(run.key, (newest) => newest)).toMatchObject({ input: "theirs" });
  await store.close();
});

test("a finished run is reconciled a last time and then no longer held, until it is reopened", async () => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  onTestFinished(() => store.close());
  const engine = anEngine({ store, clock });
  engine.setHeldShards(EVERY_SHARD);
  const steps: string[] = [];
  engine.onPlan(({ creation }) => void steps.push(creation.type === "unknown" ? creation.again : ""));
  engine.onDrop(() => void steps.push("dropped"));
  const posts = { [OPENING]: { type: "refused", words: "", retryAt: 0, tries: REFUSED_TRIES } } as const;
  const answered = (again: "asked" | "left"): Run => ({
    ...run,
    creation: { type: "unknown", words: "no answer", at: clock.now(), again },
  });
  const run = { ...aRun(), posts };
  await store.insert(answered("asked"), {});
  await engine.resume({ run: answered("asked"), revision: 1 });
  for (const again of ["left", "asked"] as const) await engine.changeAnywhere(run.key, () => answered(again));
  engine.setHeldShards(new Set());
  expect(steps).toEqual(["asked", "left", "dropped", "asked", "dropped"]);
});

test("a stop waits for a run that is being reconciled, because the store is closed next", async () => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const slow: typeof store = {
    ...store,
    load: async (key) => {
      asked.resolve();
      await gate.promise;
      return store.load(key);
    },
  };
  const executor: Parameters<typeof createRunEngine>[0]["executor"] = {
    ...IDLE,
    start: ({ key }, _effect, { reconcileAfter }) => reconcileAfter(key, 1_000),
  };
  const errors: unknown[] = [];
  const log = { ...QUIET, error: (...told: unknown[]) => void errors.push(told) };
  const engine = anEngine({ store: slow, clock, log, executor });
  engine.setHeldShards(EVERY_SHARD);
  const run = aWatchedRun();
  await store.insert(run, {});
  await engine.resume({ run, revision: 1 });
  await clock.pass(1_000);
  await asked.promise;

  const closed = engine.stop(5_000).then(() => store.close());
  await clock.rest();
  gate.resolve();
  await closed;
  await clock.rest();
  expect(errors).toEqual([]);
});

test("a run that a bug keeps from being reconciled is tried again, and does not hold up other runs", async () => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  const errors: unknown[] = [];
  const log = { ...QUIET, error: (facts: object) => void errors.push(facts) };
  const engine = anEngine({ store, clock, log });
  engine.setHeldShards(EVERY_SHARD);
  const [faulty, other] = [aWatchedRun(), aWatchedRun()];
  const steps: string[] = [];
  engine.onPlan(({ key }) => {
    if (key === faulty.key && errors.length < 2) throw new Error("a fault");
    steps.push(key);
  });
  for (const run of [faulty, other]) {
    await store.insert(run, {});
    await engine.resume({ run, revision: 1 });
  }
  expect(steps).toEqual([other.key]);
  // A change that was stored is not reported as a failure.
  const renamed = await engine.change(faulty.key, (run) => ({ ...run, input: "stored" }));
  expect(renamed).toMatchObject({ input: "stored" });
  expect(errors).toMatchObject([{ run: faulty.key }, { run: faulty.key }]);
  await clock.pass(1_000);
  expect(steps).toEqual([other.key, faulty.key]);
  await store.close();
});

test("an answer to a save that comes after the run was claimed anew does not bring back the older version", async () => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  onTestFinished(() => store.close());
  const executor = { ...IDLE, isBusy: () => true };
  const answered = Promise.withResolvers<void>();
  const slow: Store = {
    ...store,
    async save(stored, next, facts = {}) {
      if (next.input !== "ours") return store.save(stored, next, facts);
      const written: StoredRun[] = [];
      const saved = await store.save(stored, next, { ...facts, onSaved: (each) => void written.push(each) });
      await answered.promise;
      for (const each of written) facts.onSaved?.(each);
      return saved;
    },
  };
  const engine = anEngine({ store: slow, clock, executor });
  const plans: string[] = [];
  engine.onPlan(({ input }) => void plans.push(input));
  const run = aWatchedRun();
  await store.insert(run, {});
  await engine.resume({ run, revision: 1 });
  const saving = engine.change(run.key, (before) => ({ ...before, input: "ours" }));
  await clock.rest();
  engine.setHeldShards(new Set());
  const stored = await store.load(run.key);
  if (stored === null) throw new Error("no run");
  await store.save(stored, { ...stored.run, input: "theirs" });
  engine.setHeldShards(EVERY_SHARD);
  const newest = await store.load(run.key);
  if (newest === null) throw new Error("no run");
  await engine.resume(newest);
  answered.resolve();
  await saving;
  await clock.rest();
  expect(plans.at(-1)).toBe("theirs");
  expect((await engine.change(run.key, (before) => before))?.input).toBe("theirs");
});

test("an approval whose hold seems to be over is not sent before the clocks are set back", async () => {
  const clock = createHandClock();
  clock.continueAfter(NOON + 25_000);
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  const { at, submit, run } = under({ holdMs: 20_000 });
  const held = done(submit(run, {}, 0));
  await store.insert(held, {});
  const sent: string[] = [];
  const executor: Parts["executor"] = { ...IDLE, start: (_run, { type }) => void sent.push(type) };
  let counted = false;
  const away = { why: "stopped", from: NOON + 5_000, until: NOON + 25_000 } as const;
  const time = {
    isCounted: () => counted,
    makeUp: async () => {
      if (!counted) await engine.change(held.key, (before) => pauseClocks(before, away));
      counted = true;
    },
  };
  const engine = anEngine({ store, clock, executor, time, context: () => at(clock.monotonic() - NOON) });
  engine.setHeldShards(EVERY_SHARD);
  await engine.resume({ run: held, revision: 1 });
  await clock.pass(14_000);
  expect(sent).not.toContain("send-decision");
  await clock.pass(2_000);
  expect(sent).toContain("send-decision");
  await engine.stop(0);
  await store.close();
});

test("a change whose intention another run has is refused at the first try", async () => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  onTestFinished(() => store.close());
  const run = aWatchedRun();
  await store.insert(run, {});
  await store.insert(aRun(), { intention: "taken" });
  const engine = anEngine({ store, clock });
  let tries = 0;
  const renamed = await engine.changeAnywhere(run.key, (before) => {
    tries += 1;
    return { run: { ...before, input: "ours" }, sideWrites: { intention: "taken" } };
  });
  expect([renamed, tries]).toEqual([null, 1]);
  expect((await store.load(run.key))?.run.input).toBe(run.input);
});
