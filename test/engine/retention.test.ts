// Finished runs are deleted after the time that the operator chose.

import { expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { createRetention } from "#src/engine/retention.ts";
import { createHandClock } from "../make/clock.ts";
import { aWatchedRun } from "../make/run.ts";

const DAY_MS = 24 * 60 * 60_000;
const nothing = (): void => undefined;
const LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing };

test.each([2, 5])("a run that ended is kept for %i days and deleted after that", async (days) => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  const run = aWatchedRun();
  await store.insert(run, {});
  await store.save({ run, revision: 1 }, run, { finished: true });
  const retention = createRetention(store, clock, LOG, days * DAY_MS);
  retention.start();
  await clock.pass((days - 1) * DAY_MS);
  expect(await store.load(run.key)).not.toBeNull();
  await clock.pass(2 * DAY_MS);
  expect(await store.load(run.key)).toBeNull();
  await retention.stop();
  await store.close();
});

test("a run stays if the clock is ahead of the wall clock, as after the start of a replica whose database had a wrong time", async () => {
  const clock = createHandClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: clock.monotonic });
  const run = aWatchedRun();
  await store.insert(run, {});
  await store.save({ run, revision: 1 }, run, { finished: true });
  clock.continueAfter(clock.monotonic() + 400 * DAY_MS);
  const retention = createRetention(store, clock, LOG, 2 * DAY_MS);
  retention.start();
  await clock.pass(DAY_MS);
  expect(await store.load(run.key)).not.toBeNull();
  await retention.stop();
  await store.close();
});
