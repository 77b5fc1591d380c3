// An outcome that cannot be stored at once: how long it is retried, and what is stored in the end.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MessageTs, RunId } from "#src/domain/ids.ts";
import type { Effect } from "#src/domain/effect.ts";
import { OPENING } from "#src/domain/slot.ts";
import { AFTER_FAILURE_MS } from "#src/engine/effect-executor.ts";
import { failure } from "../make/bot.ts";
import { createEffectStage } from "../make/effect-stage.ts";
import { aSnapshot } from "../make/history.ts";
import { aRun, aWatchedRun } from "../make/run.ts";

const UP = { type: "up", ts: MessageTs("1.1"), shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;
const POST: Effect = { type: "post", slot: OPENING };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** Settles the outcome of a post while the saves fail with these errors, one after the other. */
async function settling(...fails: (Error | null)[]) {
  const stage = createEffectStage(aRun());
  const { perform } = stage;
  stage.perform = () => {
    stage.fails.push(...fails);
    return perform();
  };
  await stage.act(POST);
  const passes = async (): Promise<void> => {
    await vi.advanceTimersByTimeAsync(6_000);
    await stage.settle();
  };
  const lines = () => stage.told.filter((each) => !each.startsWith("queued"));
  return { stage, passes, lines };
}
const RETRIED = "error post opening not saved; retrying";
const RETRIED_AGAIN = "debug post opening not saved; retrying";
const CLAIMED = "debug post opening the run must be claimed again before its outcome is saved";
const LOST = "warn post opening the outcome is not saved, because this process no longer holds the run";
const AGAIN = [`again ${AFTER_FAILURE_MS}`, "idle"];
const GIVEN_UP = ["error post opening could not execute an effect", ...AGAIN];

test("the answer to a start is not reported as a taken id if the store failed for another reason", async () => {
  const stage = createEffectStage({ ...aRun(), posts: { [OPENING]: UP } });
  stage.other = aWatchedRun();
  stage.perform = () => {
    stage.fails.push(failure("database_locked"));
    return Promise.resolve({ type: "created", snapshot: aSnapshot(aWatchedRun(RunId("run_1"))) });
  };
  await stage.act({ type: "create-run" });
  expect(stage.run.creation.type).toBe("sending");
  await vi.advanceTimersByTimeAsync(6_000);
  await stage.settle();
  expect(stage.run.creation).toMatchObject({ type: "created", id: "run_1" });
});

test("an outcome is stored once the store accepts it", async () => {
  const { stage, passes, lines } = await settling(failure("database_locked"), failure("database_locked"));
  expect(stage.executor.isBusy(stage.run.key)).toBe(true);
  await passes();
  await passes();
  expect(lines()).toEqual([RETRIED, RETRIED_AGAIN, "idle"]);
  expect(stage.run.posts[OPENING]?.type).toBe("up");
});

test.each<[string, Error]>([
  ["for good", failure("disk_full", { retry: "never" })],
  ["because of a bug", new TypeError("a fault")],
])("an outcome that cannot be stored %s is settled by the next change of the run", async (_how, error) => {
  const { lines, passes } = await settling(error, failure("database_locked"));
  await passes();
  expect(lines()).toEqual([RETRIED, ...GIVEN_UP]);
});

test("an outcome that cannot be stored because of a bug is settled as unsure at once, if the store accepts that", async () => {
  const { stage, lines, passes } = await settling(new TypeError("a fault"));
  await passes();
  expect(lines()).toEqual([RETRIED, ...GIVEN_UP]);
  expect(stage.run.posts[OPENING]).toMatchObject({ type: "unsure" });
});

test.each<[string, Error | null, string[]]>([
  ["whose store fails", failure("database_locked"), [RETRIED, RETRIED_AGAIN]],
  ["whose run was passed on to another process", null, [CLAIMED, CLAIMED]],
])("an outcome is retried by a process that stops, %s", async (_why, error, tries) => {
  const { stage, lines, passes } = await settling(error);
  void stage.executor.stop(1_000);
  stage.fails.push(error);
  await passes();
  await passes();
  expect(lines()).toEqual([...tries, "idle"]);
  expect(stage.run.posts[OPENING]?.type).toBe("up");
});

test("an outcome is given up when the time of a process that stops is over", async () => {
  const { stage, lines, passes } = await settling(failure("database_locked"));
  void stage.executor.stop(1_000);
  await stage.clock.pass(1_000);
  stage.fails.push(failure("database_locked"), failure("database_locked"));
  await passes();
  expect(lines()).toEqual([RETRIED, RETRIED_AGAIN, ...GIVEN_UP]);
});

test("an outcome is tried once more, and not replaced by an unknown one, when that time is over", async () => {
  const { stage, passes } = await settling(failure("database_locked"));
  void stage.executor.stop(1_000);
  await stage.clock.pass(1_000);
  stage.fails.push(failure("database_locked"));
  await passes();
  expect(stage.run.posts[OPENING]?.type).toBe("up");
});

test("an outcome is left to the next holder of the run if the time of a process that stops ends without its lease", async () => {
  const { stage, lines, passes } = await settling(null);
  void stage.executor.stop(1_000);
  await stage.clock.pass(1_000);
  stage.fails.push(null);
  await passes();
  expect(lines()).toEqual([CLAIMED, CLAIMED, LOST, ...AGAIN]);
  expect(stage.run.posts[OPENING]?.type).toBe("sending");
});

test("an outcome waits ninety seconds for a lease that was lost, counted from its last loss", async () => {
  const { stage, lines, passes } = await settling(null, null, failure("database_locked"), null);
  await stage.clock.pass(89_999);
  await passes();
  // Another failure of the store does not count as a lost lease.
  await stage.clock.pass(100_000);
  await passes();
  await passes();
  expect(lines()).toEqual([CLAIMED, CLAIMED, RETRIED, CLAIMED]);
  stage.fails.push(null, null);
  await stage.clock.pass(90_000);
  await passes();
  expect(lines().slice(4)).toEqual([CLAIMED, LOST, ...AGAIN]);
  expect(stage.run.posts[OPENING]?.type).toBe("sending");
});
