// A change that concerns all runs also reaches those that it missed: the store failed, another change came meanwhile, or a run moved here.

import { expect, test } from "vitest";
import { UserId } from "#src/domain/ids.ts";
import { isPausedBy, pauseClocks } from "#src/domain/pause.ts";
import type { Run } from "#src/domain/run.ts";
import type { Change } from "#src/engine/transact.ts";
import { createPauseClocks } from "#src/engine/pause-clocks.ts";
import { createFreezes } from "#src/engine/freezes.ts";
import { createSharedNews } from "#src/engine/shared-news.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { createHandClock } from "../make/clock.ts";
import { ADMIN, createBench, failure } from "../make/bot.ts";
import { contextAt, listedRun } from "../make/history.ts";
import { aPolicy } from "../make/policy.ts";
import { holdingEngine } from "../make/holding-engine.ts";
import { quietLog } from "../make/quiet.ts";
import { CHANNEL, TEAM } from "../make/run.ts";

const MIN = 60_000;
const OTHER_ADMIN = UserId("U0OTHERADMIN");

/** A change that keeps the run in `held.run`. */
const changeOf =
  (held: { run: Run }): Change =>
  (_key, apply) => {
    const applied = apply(held.run);
    held.run = "sideWrites" in applied ? applied.run : applied;
    return Promise.resolve(held.run);
  };

test("a new policy that a failing store kept from the open cards reaches them with the next poll", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  await bench.clock.pass(5 * MIN);
  const { store } = bench;
  const eachRun = store.eachRun.bind(store);
  store.eachRun = () => Promise.reject(failure("store_busy"));
  bench.policy = aPolicy({ expiry: { afterMs: 10 * MIN, outcome: "deny" } });
  await expect(bench.flow.policyChanged()).rejects.toThrow("store_busy");
  store.eachRun = eachRun;
  await bench.clock.pass(MIN);
  const [approval] = (await bench.run(id)).approvals;
  expect(approval?.appliedRule.version).toBe(bench.policy.version);
});

test("the end of a freeze that a failing store kept from the cards reaches them with the next poll", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  bench.policy = { ...bench.policy, freezers: { users: [OTHER_ADMIN], groups: [], channels: [] } };
  await bench.flow.freeze.freeze({ team: TEAM, user: ADMIN, channel: CHANNEL }, CHANNEL, "look first");
  await bench.clock.pass(MIN);
  expect((await bench.run(id)).frozen).toBeDefined();
  const { store } = bench;
  const eachRun = store.eachRun.bind(store);
  store.eachRun = () => Promise.reject(failure("store_busy"));
  await bench.flow.freeze.lift({ team: TEAM, user: OTHER_ADMIN, channel: CHANNEL }, null, "it is fine");
  await bench.clock.pass(10);
  store.eachRun = eachRun;
  await bench.clock.pass(MIN);
  expect((await bench.run(id)).frozen).toBeUndefined();
});

test("a policy that is adopted while an earlier one is being applied is applied, too", async () => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test" });
  const held = { run: listedRun("apr_1") };
  const news = [true];
  let inForce = aPolicy({ expiry: { afterMs: 10 * MIN, outcome: "deny" } });
  const applied: (string | null | undefined)[] = [];
  const shared = createSharedNews({
    freezes: createFreezes(store, quietLog([], [])),
    integrity: {
      catchUp: () => Promise.resolve(),
      found: () => undefined,
      state: () => ({ code: null }) as never,
    },
    followPolicy: () => Promise.resolve(news.shift() ?? false),
    engine: () => ({
      holdsShard: () => true,
      async change(...args) {
        const run = await changeOf(held)(...args);
        applied.push(run?.approvals[0]?.appliedRule.version);
        if (applied.length > 1) return run;
        // A decision that is about to leave adopts the next policy.
        inForce = aPolicy({ expiry: { afterMs: 20 * MIN, outcome: "deny" } });
        news.push(true);
        await shared.catchUp();
        return run;
      },
    }),
    store: { eachRun: (_only, visit) => Promise.resolve(visit(held.run)) },
    context: () => ({ ...contextAt(), policy: inForce }),
    clock,
    log: quietLog([], []),
  });
  shared.start();
  await clock.pass(MIN);
  await shared.stop();
  await store.close();
  expect(applied).toHaveLength(2);
  expect(applied.at(-1)).toBe(inForce.version);
});

test("a paused run that arrives while the pauses are being ended is resumed, too", async () => {
  const bench = await createBench();
  bench.policy = aPolicy({ expiry: { afterMs: 60 * MIN, outcome: "deny" } });
  const { id } = await bench.withCard();
  const clock = createHandClock();
  const paused = pauseClocks(await bench.run(id), { why: "slack", from: clock.monotonic(), until: null });
  expect(isPausedBy(paused, "slack")).toBe(true);
  const held = { run: paused };
  let visits = 0;
  const engine = holdingEngine();
  const pauses = createPauseClocks({
    store: {
      document: () => Promise.resolve(null),
      putDocument: () => Promise.resolve(),
      // The first visit ends the pauses of the runs that are known. The run arrives after its batch.
      eachRun: (_only, visit) => {
        visits += 1;
        if (visits === 1) engine.reconciled(held.run);
        else visit(held.run);
        return Promise.resolve();
      },
    },
    engine: { ...engine, change: changeOf(held), changeAnywhere: changeOf(held) },
    breaker: { state: () => ({ type: "answers" }) },
    slackHealth: { connection: () => "connected", tokenRefusal: () => null, unanswered: () => null },
    isAlone: () => true,
    clock,
    log: quietLog([], []),
  });
  // Another run, which is known already.
  engine.reconciled(paused);
  pauses.start();
  await clock.pass(MIN);
  await pauses.stop();
  expect(visits).toBeGreaterThan(1);
  expect(isPausedBy(held.run, "slack")).toBe(false);
});
