// What a replica still does for its calls while it stops.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { SHARED } from "#src/engine/lease-keeper.ts";
import type { DecisionAnswer } from "#src/ports.ts";
import { createBench } from "../make/bot.ts";
import { decided } from "../make/receipts.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** As a save by another replica does. */
function passOnRuns(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("update runs set holder = null");
  database.close();
}

test("the answer to a decision is stored although another replica has saved the run since this one began to stop", async () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-stopping-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "bot.db");
  const bench = await createBench({}, 0, file, SHARED);
  const { promise, resolve } = Promise.withResolvers<DecisionAnswer>();
  bench.agents.answer = () => promise;
  const { id } = await decided(bench);
  await bench.clock.pass(2_000);
  expect(bench.agents.resolved).toHaveLength(1);

  const stopped = bench.flow.stop(5_000);
  passOnRuns(file);
  resolve({ type: "confirmed" });
  await bench.clock.pass(1_000);
  await vi.advanceTimersByTimeAsync(2_000);
  await bench.clock.pass(5_000);
  await stopped;
  expect((await bench.run(id)).approvals[0]).toMatchObject({ state: { delivery: { type: "confirmed" } } });
});
