import { expect, test } from "vitest";
import { ALONE, createLeaseKeeper } from "#src/engine/lease-keeper.ts";
import { createHandClock } from "../make/clock.ts";
import { aRun } from "../make/run.ts";

const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

test("claims no run any more once it has stopped: what is handed back stays handed back", async () => {
  const clock = createHandClock();
  const stored = { run: aRun(), revision: 1 };
  const { promise, resolve } = Promise.withResolvers<readonly (typeof stored)[]>();
  let claims = 0;
  const store = {
    renew: () => Promise.resolve({ shards: [], surplus: 0, replicas: 1 }),
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
    lookAfter: quiet,
    shardsSending: () => new Set<number>(),
  };
  const keeper = createLeaseKeeper({ store, engine, clock, log, onReplicas: quiet }, ALONE);
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
});

test("a run that came before its shard was looked after is claimed again", async () => {
  const clock = createHandClock();
  const renewals = [
    { shards: [1, 2], surplus: 0, replicas: 1 },
    { shards: [1, 2], surplus: 1, replicas: 2 },
    { shards: [1, 2, 3], surplus: 0, replicas: 2 },
  ];
  const steps: string[] = [];
  const store = {
    renew: () => Promise.resolve(renewals.shift() ?? { shards: [1, 2, 3], surplus: 0, replicas: 2 }),
    giveBack: () => Promise.resolve(),
    claimAgain: (shards: readonly number[]) => Promise.resolve(void steps.push(`again ${shards.join(" ")}`)),
    claim: () => Promise.resolve([]),
  };
  const engine = {
    resume: () => Promise.resolve(),
    lookAfter: (shards: ReadonlySet<number>) => void steps.push(`look after ${[...shards].join(" ")}`),
    shardsSending: () => new Set<number>(),
  };
  const keeper = createLeaseKeeper({ store, engine, clock, log, onReplicas: quiet }, ALONE);
  await keeper.start();
  await clock.pass(3 * ALONE.renewEveryMs);
  await keeper.stop();
  expect(steps).toEqual([
    "look after 1 2",
    "again 1 2",
    "look after 1",
    "look after 1 2 3",
    "again 2 3",
    "look after 1 2 3",
  ]);
});
