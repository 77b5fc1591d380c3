// While the database fails, each due run is tried again: at first every second, and then ever more rarely.

import { expect, onTestFinished, test } from "vitest";
import type { Run } from "#src/domain/run.ts";
import { createRunEngine } from "#src/engine/run-engine.ts";
import { SHARDS } from "#src/domain/ids.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { failure } from "../make/bot.ts";
import { createHandClock } from "../make/clock.ts";
import { NOON } from "../make/run.ts";
import { done, under } from "../make/voting.ts";

const HOLD_MS = 20_000;
const MINUTE = 60_000;
const { at, submit, run } = under({ holdMs: HOLD_MS });

/** A run with a decision that is held until 20 s after noon, and a database that fails while `isDown`. */
async function held(random = (): number => 0) {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  onTestFinished(() => store.close());
  const state = { isDown: true, retry: "later" as "later" | "never" };
  const [tries, sent]: [number[], number[]] = [[], []];
  const sinceHold = (): number => clock.monotonic() - NOON - HOLD_MS;
  const engine = createRunEngine({
    store: {
      ...store,
      load(key) {
        tries.push(sinceHold());
        return state.isDown ? Promise.reject(failure("store_busy", { retry: state.retry })) : store.load(key);
      },
    },
    clock,
    random,
    context: () => at(clock.monotonic() - NOON),
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    executor: {
      start({ key }, { type }, { reconcileAfter }) {
        if (type === "send-decision") sent.push(sinceHold());
        reconcileAfter(key, 5_000);
      },
      isUnderWay: () => false,
      isBusy: () => false,
      shardsSending: () => new Set<number>(),
      stop: () => Promise.resolve(),
    },
    logEffect: () => {},
    time: { isCounted: () => true, makeUp: () => Promise.resolve() },
  });
  engine.setHeldShards(new Set(Array.from({ length: SHARDS }, (_, shard) => shard)));
  const decided: Run = done(submit(run, {}, 0));
  await store.insert(decided, {});
  await engine.resume({ run: decided, revision: 1 });
  await clock.pass(HOLD_MS);
  return { clock, state, tries, sent };
}

const waits = (tries: readonly number[]): number[] =>
  tries.slice(1).map((time, n) => Math.round((time - (tries[n] ?? 0)) / 100) / 10);

test.each(["later", "never"] as const)(
  "a run that cannot be loaded is tried ten times at once a second, and then at longer and longer waits (%s)",
  async (retry) => {
    const { clock, state, tries } = await held();
    state.retry = retry;
    await clock.pass(2 * MINUTE);
    expect(waits(tries)).toEqual([...Array.from({ length: 10 }, () => 1), 2, 4, 8, 15, 15, 15, 15, 15, 15]);
  },
);

test.each([
  [1_500, 500],
  [9_900, 100],
  [30_000, 9_000],
  [10 * MINUTE, 15_000],
])(
  "after an outage of %i ms, a decision whose hold is over leaves at most %i ms later",
  async (outageMs, lateMs) => {
    const { clock, state, sent } = await held();
    await clock.pass(outageMs);
    state.isDown = false;
    await clock.pass(MINUTE);
    expect(sent[0]).toBeGreaterThanOrEqual(outageMs);
    expect(sent[0]).toBeLessThanOrEqual(outageMs + lateMs);
  },
);

test("runs that fail together are not tried together for long, and none waits longer than without chance", async () => {
  const [one, other] = await Promise.all([held(() => 0), held(() => 0.9)]);
  for (const { clock } of [one, other]) await clock.pass(5 * MINUTE);
  const together = one.tries.filter((time) => other.tries.includes(time));
  expect(together.length).toBeLessThan(one.tries.length / 4);
  expect(Math.max(...waits(other.tries))).toBeLessThan(15);
  expect(Math.min(...waits(other.tries))).toBeGreaterThan(0.7);
});

test("the next outage begins with quick tries again", async () => {
  const { clock, state, tries } = await held();
  await clock.pass(5 * MINUTE);
  state.isDown = false;
  await clock.pass(15_000);
  state.isDown = true;
  tries.length = 0;
  await clock.pass(MINUTE);
  expect(waits(tries).slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 1));
});
