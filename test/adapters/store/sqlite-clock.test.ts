// The clock of a single process, which no other clock sets.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createMetrics } from "#src/adapters/http/metrics.ts";
import { createClock } from "#src/engine/clock.ts";
import type { Log } from "#src/log.ts";
import { openConfiguredStore } from "#src/open-ports.ts";
import { config, SOCKET } from "../../make/config.ts";

const MIN = 60_000;

test("setting the wall clock moves no wait, even after a lease that lapsed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "clock-"));
  const clock = createClock();
  let wallSetBy = 0;
  const set = { ...clock, now: () => clock.now() + wallSetBy };
  const quiet = () => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet } as unknown as Log;
  const metrics = createMetrics({ version: "0.0.0", node: process.versions.node, at: Date.now() });
  const settings = config({ ...SOCKET, DATABASE_URL: `sqlite:${join(folder, "countersign.db")}` });
  const store = await openConfiguredStore(settings, { clock: set, log, metrics });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const before = clock.monotonic();
  // At this time, the first lease has ended.
  await store.renew(clock.monotonic() + 2 * MIN, MIN);
  for (let nth = 0; nth < 3; nth += 1) {
    await store.extend(clock.monotonic() + 2 * MIN, MIN);
    wallSetBy += 40 * MIN;
    await store.extend(clock.monotonic() + 2 * MIN, MIN);
    await store.askTime();
  }
  expect(clock.monotonic() - before).toBeLessThan(MIN);
});
