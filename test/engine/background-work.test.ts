import { describe, expect, test } from "vitest";
import { createBackgroundLoop, createDueWork, type LoopOptions } from "#src/engine/background-work.ts";
import { createAlarm, endedWithin } from "#src/engine/clock.ts";
import { createHandClock } from "../make/clock.ts";

/** A loop that counts its passes, and whose passes end when the test says so. */
function createTried(options: Partial<LoopOptions> = {}) {
  const clock = createHandClock();
  const began = clock.monotonic();
  const passes: number[] = [];
  const errors: string[] = [];
  const infos: object[] = [];
  const log = {
    error: (_fields: object, message: string) => void errors.push(message),
    info: (fields: object) => void infos.push(fields),
    debug: () => undefined,
  };
  const state = { work: () => Promise.resolve(), stopping: [] as boolean[] };
  const loop = createBackgroundLoop(
    { clock, log },
    {
      pass: async (stopping) => {
        passes.push(clock.monotonic() - began);
        await state.work();
        state.stopping.push(stopping());
      },
      everyMs: 1_000,
      retryMs: [500, 3_000],
      failure: "it failed",
      ...options,
    },
  );
  /** Makes the following passes last until the returned function is called. */
  function hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    state.work = () => promise;
    return resolve;
  }
  return { clock, loop, passes, errors, infos, state, hold };
}

describe("work that is due", () => {
  test("is done once for each time that it is asked for, at most", async () => {
    const due = createDueWork();
    let done = 0;
    const work = () => Promise.resolve(void (done += 1));
    await due.doIfDue(work);
    expect(done).toBe(0);
    due.ask();
    due.ask();
    await due.doIfDue(work);
    await due.doIfDue(work);
    expect(done).toBe(1);
  });

  test("is due again if it failed, or if it was asked for meanwhile", async () => {
    const due = createDueWork();
    due.ask();
    await expect(due.doIfDue(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    let done = 0;
    await due.doIfDue(() => {
      done += 1;
      due.ask();
      return Promise.resolve();
    });
    await due.doIfDue(() => Promise.resolve(void (done += 1)));
    expect(done).toBe(2);
  });
});

describe("a background loop", () => {
  test("begins its first pass when told to, and each further one an interval after the end of the last", async () => {
    const { clock, loop, passes, hold } = createTried();
    loop.start(300);
    await clock.pass(299);
    expect(passes).toEqual([]);
    const release = hold();
    await clock.pass(5_000);
    expect(passes).toEqual([300]);
    release();
    await clock.pass(1_000);
    expect(passes).toEqual([300, 6_299]);
  });

  test("stops only when the current pass has ended, tells that pass to stop, and begins no other", async () => {
    const { clock, loop, passes, hold, state } = createTried();
    loop.start(0);
    const release = hold();
    await clock.pass(10);
    let stopped = false;
    const stopping = loop.stop().then(() => (stopped = true));
    await clock.pass(10_000);
    expect(stopped).toBe(false);
    release();
    await stopping;
    loop.wake(0);
    await clock.pass(10_000);
    expect([passes, state.stopping, clock.waiting()]).toEqual([[0], [true], 0]);
  });

  test("stops even if the current pass fails", async () => {
    const { clock, loop, state, errors } = createTried();
    const { promise, reject } = Promise.withResolvers<void>();
    state.work = () => promise;
    loop.start(0);
    await clock.pass(1);
    const stopped = loop.stop();
    reject(new Error("no"));
    await stopped;
    await clock.rest();
    expect([errors, clock.waiting()]).toEqual([["it failed"], 0]);
  });

  test("goes on after a failed pass: the waits double up to the longest, and start over after a success", async () => {
    const { clock, loop, passes, state } = createTried();
    state.work = () => Promise.reject(new Error("no"));
    loop.start(0);
    await clock.pass(10_500);
    expect(passes).toEqual([0, 500, 1_500, 3_500, 6_500, 9_500]);
    state.work = () => Promise.resolve();
    await clock.pass(3_000);
    state.work = () => Promise.reject(new Error("no"));
    await clock.pass(1_500);
    expect(passes.slice(6)).toEqual([12_500, 13_500, 14_500, 15_000]);
  });

  test("survives a pass that throws before it awaits anything", async () => {
    const { clock, loop, passes, errors, state } = createTried();
    state.work = () => {
      throw new Error("at once");
    };
    loop.start(0);
    await clock.pass(500);
    expect([passes, errors]).toEqual([[0, 500], ["it failed"]]);
  });

  test("logs each cause of failure once a minute, and the next success", async () => {
    const { clock, loop, errors, infos, state } = createTried();
    let cause = "the server cannot be reached";
    state.work = () => Promise.reject(new Error(cause));
    loop.start(0);
    await clock.pass(30_000);
    expect(errors).toHaveLength(1);
    cause = "the disk is full";
    await clock.pass(3_000);
    expect(errors).toHaveLength(2);
    await clock.pass(60_000);
    expect(errors).toHaveLength(3);
    expect(infos).toEqual([]);
    state.work = () => Promise.resolve();
    await clock.pass(6_000);
    expect(infos).toEqual([{ failures: expect.any(Number) as unknown, was: "it failed" }]);
  });

  test("does not lose a wake during a pass: the next one follows it", async () => {
    const { clock, loop, passes, hold } = createTried({ everyMs: null });
    loop.wake(0);
    const release = hold();
    await clock.pass(100);
    loop.wake(400);
    loop.wake(50);
    await clock.pass(1_000);
    expect(passes).toEqual([0]);
    release();
    await clock.pass(10_000);
    expect(passes).toEqual([0, 1_100]);
  });

  test("begins earlier when it is woken, never later", async () => {
    const { clock, loop, passes } = createTried();
    loop.start(1_000);
    loop.wake(5_000);
    loop.wake(200);
    await clock.pass(1_200);
    expect(passes).toEqual([200, 1_200]);
  });

  test("without an interval runs only when it is woken", async () => {
    const { clock, loop, passes } = createTried({ everyMs: null });
    await clock.pass(60_000);
    expect(passes).toEqual([]);
    loop.wake(500);
    loop.wake(500);
    await clock.pass(60_000);
    expect(passes).toEqual([60_500]);
  });

  test("waits as long after a failure as without a wake", async () => {
    const { clock, loop, passes, state } = createTried({ everyMs: null });
    state.work = () => Promise.reject(new Error("no"));
    loop.wake(0);
    await clock.pass(1);
    loop.wake(0);
    await clock.pass(498);
    expect(passes).toEqual([0]);
    await clock.pass(1);
    expect(passes).toEqual([0, 500]);
  });

  test("tries a failed pass again without a further wake", async () => {
    const { clock, loop, passes, state } = createTried({ everyMs: null });
    state.work = () => Promise.reject(new Error("no"));
    loop.wake(0);
    await clock.pass(1);
    state.work = () => Promise.resolve();
    await clock.pass(60_000);
    expect(passes).toEqual([0, 500]);
  });

  test("keeps its interval when someone sets the wall clock", async () => {
    const { clock, loop, passes } = createTried();
    loop.start(0);
    await clock.pass(1);
    clock.step(-3_600_000);
    await clock.pass(2_000);
    expect(passes).toEqual([0, 1_000, 2_000]);
  });
});

describe("an alarm", () => {
  test("rings once, at the earliest time it was set for", async () => {
    const clock = createHandClock();
    const rung: number[] = [];
    const start = clock.monotonic();
    const alarm = createAlarm(clock, () => void rung.push(clock.monotonic() - start));
    for (const at of [500, 200, 900, Infinity]) alarm.setBy(start + at);
    await clock.pass(5_000);
    alarm.setBy(start);
    await clock.pass(1);
    alarm.setBy(start + 9_000);
    alarm.cancel();
    await clock.pass(10_000);
    expect(rung).toEqual([200, 5_000]);
  });
});

describe("waiting for work to end", () => {
  test("ends with the work, successful or not, and leaves no timer behind", async () => {
    const clock = createHandClock();
    await endedWithin(clock, 1_000, [Promise.resolve(), Promise.reject(new Error("no"))]);
    expect(clock.waiting()).toBe(0);
  });

  test("ends in time even if the work does not", async () => {
    const clock = createHandClock();
    const ended = endedWithin(clock, 1_000, [new Promise(() => undefined)]);
    await clock.pass(1_000);
    await ended;
  });
});
