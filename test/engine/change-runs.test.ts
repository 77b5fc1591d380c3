// Changes of many runs, one of which cannot be changed, and a service that reuses the id of an earlier run.

import { describe, expect, test } from "vitest";
import { type RunId, type RunKey, UserId } from "#src/domain/ids.ts";
import { changeEach } from "#src/engine/change-runs.ts";
import type { Run } from "#src/domain/run.ts";
import { ROW_UNREADABLE } from "#src/ports/store.ts";
import { loaded } from "../make/bench-store.ts";
import { type Bench, clickOn, createBench, failure } from "../make/bot.ts";
import { aSnapshot } from "../make/history.ts";
import { aRun, aRunId, aWatchedRun, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: REQUESTER, channel: CHANNEL };

/** From now on, every run gets this id. */
function alwaysNamed(bench: Bench, id: RunId): void {
  bench.agents.create = (input) => {
    bench.agents.created.push(input);
    return Promise.resolve(aSnapshot(aWatchedRun(id), [], { askedAt: bench.clock.monotonic() }));
  };
}

async function started(bench: Bench, intention: string): Promise<RunKey> {
  const run = await bench.flow.startRun.start(BY, { input: intention, intention, answerUrl: null });
  if (!run.ok) throw new Error(run.error.type);
  await bench.clock.pass(5_000);
  return run.value;
}

describe("a change of many runs", () => {
  const runs = [aRun(), aRun(), aRun()];
  const [, bad] = runs;

  const eachRun = (visit: (run: Run) => void): Promise<void> => {
    for (const run of runs) visit(run);
    return Promise.resolve();
  };

  async function changed(
    fault: Error,
    isConcerned: (run: Run) => boolean = () => true,
  ): Promise<{ readonly keys: readonly RunKey[]; readonly logged: number }> {
    const keys: RunKey[] = [];
    let logged = 0;
    const log = { error: () => void (logged += 1) };
    const change = (key: RunKey): Promise<void> => {
      if (key === bad?.key) return Promise.reject(fault);
      keys.push(key);
      return Promise.resolve();
    };
    await changeEach({ log }, eachRun, isConcerned, change).catch(() => undefined);
    return { keys, logged };
  }

  test("reaches the runs after one that cannot be changed, which is logged", async () => {
    expect(await changed(new RangeError("too many"))).toEqual({
      keys: [runs[0]?.key, runs[2]?.key],
      logged: 1,
    });
  });

  test("reaches the others if a run cannot even be looked at", async () => {
    const isConcerned = ({ key }: Run): boolean => {
      if (key === bad?.key) throw new RangeError("too deep");
      return true;
    };
    expect(await changed(new RangeError("too many"), isConcerned)).toEqual({
      keys: [runs[0]?.key, runs[2]?.key],
      logged: 1,
    });
  });

  test("reaches the runs after one whose row cannot be read", async () => {
    expect(await changed(failure(ROW_UNREADABLE))).toEqual({ keys: [runs[0]?.key, runs[2]?.key], logged: 1 });
  });

  test("ends when the store fails, and leaves the other runs for the next attempt", async () => {
    expect(await changed(failure("store_down"))).toEqual({ keys: [runs[0]?.key], logged: 0 });
  });
});

describe("a run that gets the id of an earlier run from the service", () => {
  test("that is over is followed in a thread of its own, and its approvals are shown", async () => {
    const bench = await createBench();
    const id = aRunId();
    alwaysNamed(bench, id);
    const first = await started(bench, "first");
    bench.agents.statuses.set(id, "succeeded");
    await bench.clock.pass(20_000);
    bench.agents.statuses.delete(id);
    bench.agents.pending.set(id, ["apr_1"]);
    const second = await started(bench, "second");
    await bench.clock.pass(20_000);
    expect(await loaded(bench, second)).toMatchObject({
      creation: { type: "created", id },
      watch: { type: "on" },
      approvals: [{ id: "apr_1", state: { type: "pending" } }],
    });
    expect(await bench.store.byRunId(id)).toBe(second);
    expect(await loaded(bench, first)).toMatchObject({ watch: { type: "over" }, approvals: [] });
    expect(bench.chat.posts.map(({ slot }) => slot)).toEqual(["opening", "outcome", "opening", "card apr_1"]);
  });

  test("that the service had forgotten is followed, and the earlier one is given up", async () => {
    const bench = await createBench();
    const id = aRunId();
    alwaysNamed(bench, id);
    bench.agents.pending.set(id, ["apr_1"]);
    const first = await started(bench, "first");
    bench.agents.statuses.set(id, "missing");
    await bench.clock.pass(4_000);
    bench.agents.statuses.delete(id);
    const second = await started(bench, "second");
    await bench.clock.pass(20_000);
    expect(await bench.store.byRunId(id)).toBe(second);
    expect(await loaded(bench, first)).toMatchObject({
      watch: { type: "given-up" },
      approvals: [{ state: { type: "closed", cause: "run-missing" } }],
    });
    expect((await loaded(bench, second)).approvals).toMatchObject([{ state: { type: "pending" } }]);
  });

  test("that is still followed is reported as such, and nothing of the earlier one changes", async () => {
    const bench = await createBench();
    const id = aRunId();
    alwaysNamed(bench, id);
    const first = await started(bench, "first");
    const second = await started(bench, "second");
    expect((await loaded(bench, second)).creation).toMatchObject({ type: "taken", id });
    expect(await bench.store.byRunId(id)).toBe(first);
    expect((await loaded(bench, first)).watch.type).toBe("on");
    expect(bench.chat.posts.map(({ slot }) => slot)).toEqual(["opening", "opening", "outcome"]);
    await bench.restart();
    expect((await loaded(bench, second)).creation.type).toBe("taken");
  });
});

describe("a start that is stopped before the service answers with the id of a run that is followed", () => {
  test("stops that run as well, which denies nothing, because it may be another run", async () => {
    const bench = await createBench();
    const id = aRunId();
    bench.agents.pending.set(id, ["apr_1"]);
    await bench.flow.adoptRun.adopt({ ...BY, user: UserId("U0FRIEND") }, id);
    await bench.clock.pass(5_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.agents.create = () => promise.then(() => aSnapshot(aWatchedRun(id), ["apr_1"]));
    const key = await started(bench, "stopped");
    expect(await bench.flow.stopRun.stop({ ...BY, run: key, shown: null })).toMatchObject({ ok: true });
    resolve();
    await bench.clock.pass(5_000);
    expect(await loaded(bench, key)).toMatchObject({ creation: { type: "taken", id } });
    expect(await bench.run(id)).toMatchObject({
      stop: { by: REQUESTER, ofEarlierRecord: true },
      mayHaveAsked: [REQUESTER],
      approvals: [{ state: { type: "pending" } }],
    });
    const { click } = clickOn(await bench.run(id));
    const opened = await bench.flow.openForm.open({ ...click, user: UserId("U0OTHER") }, "approve");
    expect(opened).toMatchObject({ ok: false, error: { refusal: { type: "stopped" } } });
  });
});

describe("a run that has ended", () => {
  async function ended(bench: Bench): Promise<RunId> {
    const id = aRunId();
    await bench.flow.adoptRun.adopt(BY, id);
    bench.agents.statuses.set(id, "succeeded");
    await bench.clock.pass(20_000);
    bench.agents.statuses.delete(id);
    return id;
  }

  test("is not watched again when the service reports another under its id, and the person who asks is told so", async () => {
    const bench = await createBench();
    const id = await ended(bench);
    await bench.clock.pass(60_000);
    const again = await bench.flow.adoptRun.adopt(BY, id);
    expect(again).toMatchObject({ ok: false, error: { type: "id-used-again" } });
  });

  test("is reported as already watched while a replica may still call it unfinished", async () => {
    const bench = await createBench();
    const again = await bench.flow.adoptRun.adopt(BY, await ended(bench));
    expect(again).toMatchObject({ ok: false, error: { type: "already-watched" } });
  });
});
