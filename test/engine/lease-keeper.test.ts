import { expect, test } from "vitest";
import { createWatchdog } from "#src/engine/watchdog.ts";
import { ALONE, createLeaseKeeper, type LeaseTimes, SHARED } from "#src/engine/lease-keeper.ts";
import type { Run } from "#src/domain/run.ts";
import { PortError } from "#src/ports.ts";
import { createHandClock, type HandClock } from "../make/clock.ts";
import { aRun } from "../make/run.ts";

const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const metrics = { leaseLapsed: quiet };

test("claims no run once it has stopped: runs that were handed back stay handed back", async () => {
  const clock = createHandClock();
  const stored = { run: aRun(), revision: 1 };
  const { promise, resolve } = Promise.withResolvers<readonly (typeof stored)[]>();
  let claims = 0;
  const store = {
    renew: () => Promise.resolve({ shards: [], surplus: 0, replicas: 1, nextEndMs: null }),
    extend: () => Promise.resolve(true),
    giveBack: () => Promise.resolve(),
    claimAgain: () => Promise.resolve(),
    claim: () => {
      claims += 1;
      if (claims === 1) return Promise.resolve([]);
      return claims === 2 ? promise : Promise.resolve([stored]);
    },
  };
  const engine = {
    resume: () => Promise.resolve(),
    setHeldShards: quiet,
    shardsSending: () => new Set<number>(),
  };
  const keeper = createLeaseKeeper(
    { store, engine, clock, log, metrics, watchdog: createWatchdog(clock), onReplicas: quiet },
    ALONE,
  );
  await keeper.start();
  await clock.pass(ALONE.leaseMs / 4);
  let stopped = false;
  const stopping = keeper.stop().then(() => (stopped = true));
  await clock.pass(1_000);
  expect([claims, stopped]).toEqual([2, false]);
  resolve([stored]);
  await stopping;
  await clock.pass(ALONE.leaseMs);
  expect(claims).toBe(2);
  await keeper.release();
});

async function startedWith(clock: HandClock, times: LeaseTimes) {
  const store = slowStore(clock);
  const keeper = createLeaseKeeper(
    { store, engine: idle, clock, log, metrics, watchdog: createWatchdog(clock), onReplicas: quiet },
    times,
  );
  const started = keeper.start();
  await clock.pass(10_000);
  await started;
  return { store, keeper };
}

test("a replica that stops keeps its lease until it releases it, so that no other replica takes a call on its way for lost", async () => {
  const clock = createHandClock();
  const { store, keeper } = await startedWith(clock, SHARED);
  const stopping = keeper.stop();
  await clock.pass(3 * SHARED.leaseMs);
  await stopping;
  expect([keeper.holdsLease(), store.endsAt() > clock.monotonic()]).toEqual([true, true]);
  const releasing = keeper.release();
  await clock.pass(2 * SHARED.leaseMs);
  await releasing;
  expect([keeper.holdsLease(), store.endsAt() > clock.monotonic(), clock.waiting()]).toEqual([
    false,
    false,
    0,
  ]);
});

test("a run that arrived before its shard was held is claimed again", async () => {
  const clock = createHandClock();
  const renewals = [
    { shards: [1, 2], surplus: 0, replicas: 1, nextEndMs: null },
    { shards: [1, 2], surplus: 1, replicas: 2, nextEndMs: null },
    { shards: [1, 2, 3], surplus: 0, replicas: 2, nextEndMs: null },
  ];
  const steps: string[] = [];
  const store = {
    renew: () =>
      Promise.resolve(renewals.shift() ?? { shards: [1, 2, 3], surplus: 0, replicas: 2, nextEndMs: null }),
    extend: () => Promise.resolve(true),
    giveBack: () => Promise.resolve(),
    claimAgain: (shards: readonly number[]) => Promise.resolve(void steps.push(`again ${shards.join(" ")}`)),
    claim: () => Promise.resolve([]),
  };
  const engine = {
    resume: () => Promise.resolve(),
    setHeldShards: (shards: ReadonlySet<number>) => void steps.push(`hold ${[...shards].join(" ")}`),
    shardsSending: () => new Set<number>(),
  };
  const keeper = createLeaseKeeper(
    { store, engine, clock, log, metrics, watchdog: createWatchdog(clock), onReplicas: quiet },
    ALONE,
  );
  await keeper.start();
  await clock.pass(3 * ALONE.renewEveryMs);
  await keeper.stop();
  expect(steps).toEqual(["hold 1 2", "again 1 2", "hold 1", "hold 1 2 3", "again 2 3", "hold 1 2 3"]);
});

test("a run is claimed again when the answer to its claim was lost", async () => {
  const clock = createHandClock();
  const stored = { run: aRun(), revision: 1 };
  // The claim is written, and the connection breaks before its answer.
  let claimed = false;
  let lost = false;
  const store = {
    renew: () => Promise.resolve({ shards: [1, 2], surplus: 0, replicas: 1, nextEndMs: null }),
    extend: () => Promise.resolve(true),
    giveBack: () => Promise.resolve(),
    claimAgain: () => Promise.resolve(void (claimed = false)),
    claim: () => {
      const found = claimed ? [] : [stored];
      claimed = true;
      if (lost) return Promise.resolve(found);
      lost = true;
      return Promise.reject(new PortError("", { applied: "maybe", retry: "later", code: "store_down" }));
    },
  };
  const resumed: string[] = [];
  const engine = {
    resume: ({ run }: { run: Run }) => Promise.resolve(void resumed.push(run.key)),
    setHeldShards: quiet,
    shardsSending: () => new Set<number>(),
  };
  const keeper = createLeaseKeeper(
    { store, engine, clock, log, metrics, watchdog: createWatchdog(clock), onReplicas: quiet },
    SHARED,
  );
  await expect(keeper.start()).rejects.toThrow(PortError);
  await keeper.start();
  await keeper.stop();
  expect(resumed).toEqual([stored.run.key]);
});

/** A store each of whose statements takes 500 ms, on a database with one lease. */
function slowStore(clock: HandClock) {
  let endsAt = 0;
  let lapses = 0;
  const statements = async (count: number): Promise<void> => {
    for (let nth = 0; nth < count; nth += 1) await new Promise<void>((done) => clock.after(500, done));
  };
  const extend = async (_now: number, leaseMs: number): Promise<boolean> => {
    await statements(1);
    const isValid = clock.monotonic() < endsAt;
    if (isValid) endsAt = clock.monotonic() + leaseMs;
    return isValid;
  };
  return {
    lapses: () => lapses,
    endsAt: () => endsAt,
    extend,
    renew: async (now: number, leaseMs: number, onLapsed = quiet) => {
      if (!(await extend(now, leaseMs))) {
        lapses += 1;
        onLapsed();
        endsAt = clock.monotonic() + leaseMs;
      }
      await statements(5);
      return { shards: [1], surplus: 0, replicas: 2, nextEndMs: null };
    },
    giveBack: () => statements(3),
    claimAgain: () => statements(3),
    claim: async () => (await statements(3), []),
  };
}

const idle = {
  resume: () => Promise.resolve(),
  setHeldShards: quiet,
  shardsSending: () => new Set<number>(),
};

test("a replica keeps its lease while every statement of the database takes 500 ms", async () => {
  const clock = createHandClock();
  const { store, keeper } = await startedWith(clock, SHARED);
  for (let seconds = 0; seconds < 60; seconds += 1) {
    await clock.pass(1_000);
    expect(keeper.holdsLease()).toBe(true);
  }
  expect(store.lapses()).toBe(1);
});

test("a replica gives up its lease before it ends in the database, and is not misled by a late answer", async () => {
  const clock = createHandClock();
  const store = slowStore(clock);
  const answers: (() => void)[] = [];
  const keeper = createLeaseKeeper(
    { store, engine: idle, clock, log, metrics, watchdog: createWatchdog(clock), onReplicas: quiet },
    SHARED,
  );
  const started = keeper.start();
  await clock.pass(10_000);
  await started;
  const { extend } = store;
  store.extend = async (now, leaseMs) => {
    const extended = await extend(now, leaseMs);
    await new Promise<void>((done) => void answers.push(done));
    return extended;
  };
  store.renew = () => new Promise<never>(() => undefined);
  await clock.pass(2 * SHARED.renewEveryMs + SHARED.leaseMs);
  expect(keeper.holdsLease()).toBe(false);
  for (const answer of answers) answer();
  await clock.rest();
  expect(keeper.holdsLease()).toBe(false);
});

test("a replica whose machine was suspended holds no lease until the next extension, although its monotonic clock stood still", async () => {
  const clock = createHandClock();
  const { store, keeper } = await startedWith(clock, SHARED);
  expect([keeper.holdsLease(), keeper.mayBeBehind()]).toEqual([true, false]);
  clock.step(SHARED.leaseMs);
  expect([keeper.holdsLease(), keeper.mayBeBehind()]).toEqual([false, true]);
  await clock.pass(2 * SHARED.renewEveryMs);
  expect([keeper.holdsLease(), keeper.mayBeBehind(), store.lapses()]).toEqual([true, false, 1]);
});

test("a wall clock that is set back neither shortens nor prolongs the lease", async () => {
  const clock = createHandClock();
  const { store, keeper } = await startedWith(clock, SHARED);
  store.extend = () => new Promise<never>(() => undefined);
  store.renew = () => new Promise<never>(() => undefined);
  clock.step(-60_000);
  expect([keeper.holdsLease(), keeper.mayBeBehind()]).toEqual([true, false]);
  await clock.pass(SHARED.leaseMs + 2 * SHARED.renewEveryMs);
  expect(keeper.holdsLease()).toBe(false);
});

test("a process that has the database to itself keeps its lease however the wall clock is set", async () => {
  const clock = createHandClock();
  const { keeper } = await startedWith(clock, ALONE);
  clock.step(2 * ALONE.leaseMs);
  expect([keeper.holdsLease(), keeper.mayBeBehind()]).toEqual([true, false]);
});

test("a replica releases everything before it begins a new lease", async () => {
  const clock = createHandClock();
  const steps: string[] = [];
  const store = {
    ...slowStore(clock),
    extend: () => Promise.resolve(true),
    renew: (_now: number, _leaseMs: number, onLapsed = quiet) => {
      onLapsed();
      steps.push("new lease");
      return Promise.resolve({ shards: [1], surplus: 0, replicas: 2, nextEndMs: null });
    },
    claimAgain: (shards: readonly number[]) => Promise.resolve(void steps.push(`again ${shards.join(" ")}`)),
    claim: () => Promise.resolve([]),
  };
  const engine = {
    ...idle,
    setHeldShards: (shards: ReadonlySet<number>) => void steps.push(`hold ${[...shards].join(" ")}`),
  };
  const keeper = createLeaseKeeper(
    { store, engine, clock, log, metrics, watchdog: createWatchdog(clock), onReplicas: quiet },
    SHARED,
  );
  await keeper.start();
  const first = steps.splice(0);
  await clock.pass(SHARED.renewEveryMs);
  await keeper.stop();
  expect(first).toEqual(["hold ", "new lease", "hold 1", "again 1"]);
  expect(steps).toEqual(first);
});

test("a lease that lapses is counted and logged once, however long it takes to get a new one; a first lease has not lapsed", async () => {
  const clock = createHandClock();
  const warnings: unknown[] = [];
  let lapses = 0;
  const isAway = [false, false, true, true, false];
  const hasLapsed = [true, false, true, true, true];
  const store = {
    ...slowStore(clock),
    extend: () => Promise.resolve(true),
    renew: (_now: number, _leaseMs: number, onLapsed = quiet) => {
      if (hasLapsed.shift() === true) onLapsed();
      if (isAway.shift() === true) return Promise.reject(new Error("the database is away"));
      return Promise.resolve({ shards: [1, 2], surplus: 0, replicas: 2, nextEndMs: null });
    },
    claimAgain: () => Promise.resolve(),
    claim: () => Promise.resolve([]),
  };
  const keeper = createLeaseKeeper(
    {
      store,
      engine: idle,
      clock,
      log: { ...log, warn: (fields) => void warnings.push(fields) },
      metrics: { leaseLapsed: () => void (lapses += 1) },
      watchdog: createWatchdog(clock),
      onReplicas: quiet,
    },
    SHARED,
  );
  await keeper.start();
  await clock.pass(SHARED.renewEveryMs);
  expect([lapses, warnings]).toEqual([0, []]);
  await clock.pass(4 * SHARED.renewEveryMs);
  await keeper.stop();
  expect([isAway, lapses, warnings]).toEqual([[], 1, [{ shards: 2 }]]);
});

test("runs of a shard that could not be handed back are claimed again if the shard stays", async () => {
  const clock = createHandClock();
  const renewals = [
    { shards: [1, 2], surplus: 0, replicas: 1, nextEndMs: null },
    { shards: [1, 2], surplus: 1, replicas: 2, nextEndMs: null },
  ];
  const again: (readonly number[])[] = [];
  const store = {
    ...slowStore(clock),
    extend: () => Promise.resolve(true),
    renew: () =>
      Promise.resolve(renewals.shift() ?? { shards: [1, 2], surplus: 0, replicas: 1, nextEndMs: null }),
    giveBack: () => Promise.reject(new Error("the database is away")),
    claimAgain: (shards: readonly number[]) => Promise.resolve(void again.push(shards)),
    claim: () => Promise.resolve([]),
  };
  const keeper = createLeaseKeeper(
    { store, engine: idle, clock, log, metrics, watchdog: createWatchdog(clock), onReplicas: quiet },
    SHARED,
  );
  await keeper.start();
  await clock.pass(3 * SHARED.renewEveryMs);
  await keeper.stop();
  expect(again).toEqual([[1, 2], [2]]);
});

test("a replica looks for free shards as soon as the lease of another ends", async () => {
  const clock = createHandClock();
  const looked: number[] = [];
  const begun = clock.monotonic();
  const ends = [null, 400, 3_000, null];
  const store = {
    ...slowStore(clock),
    extend: () => Promise.resolve(true),
    renew: () => {
      looked.push(clock.monotonic() - begun);
      return Promise.resolve({ shards: [1], surplus: 0, replicas: 2, nextEndMs: ends.shift() ?? null });
    },
    claimAgain: () => Promise.resolve(),
    claim: () => Promise.resolve([]),
  };
  const keeper = createLeaseKeeper(
    { store, engine: idle, clock, log, metrics, watchdog: createWatchdog(clock), onReplicas: quiet },
    SHARED,
  );
  await keeper.start();
  await clock.pass(2_000);
  await keeper.stop();
  expect(looked).toEqual([0, 750, 1_150, 1_900]);
});
