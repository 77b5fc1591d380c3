// How runs are watched: how often, within which limits, and that a poll without news writes nothing.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type RunId, UserId } from "#src/domain/ids.ts";
import { createServiceBreaker, CircuitOpenError } from "#src/engine/service-breaker.ts";
import { createPoller } from "#src/engine/poller.ts";
import { createWatchdog } from "#src/engine/watchdog.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import { aSnapshot, contextAt, deliveredRun } from "../make/history.ts";
import { quietLog, quietMetrics } from "../make/quiet.ts";
import { createHandClock, type HandClock } from "../make/clock.ts";
import { type Bench, createBench, failure, LIMITS } from "../make/bot.ts";
import { APPROVER, aNonce, aRunId, CHANNEL, NOON, REQUESTER, TEAM } from "../make/run.ts";

const HOUR = 60 * 60_000;

// The breaker reads the machine's clock, so it is controlled by the test as well.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: NOON }));
afterEach(() => void vi.useRealTimers());

/** Advances both clocks, a quarter of a second at a time. */
async function pass(clock: HandClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 250) {
    await clock.pass(Math.min(left, 250));
    vi.setSystemTime(clock.now());
  }
}

async function watched(bench: Bench, count = 1): Promise<RunId[]> {
  const ids = Array.from({ length: count }, () => aRunId());
  for (const id of ids)
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
  await bench.clock.rest();
  bench.agents.looks.length = 0;
  return ids;
}

function gaps({ agents }: Bench): number[] {
  return agents.looks.slice(1).map(({ at }, index) => at - (agents.looks[index]?.at ?? 0));
}

const RUN = aRunId();

describe("a run that is quiet", () => {
  test("is polled ever less often, between the fastest and the slowest interval", async () => {
    const bench = await createBench();
    await watched(bench);
    await bench.clock.pass(HOUR);
    const waits = gaps(bench);
    expect(waits[0]).toBe(LIMITS.minMs);
    expect(waits.at(-1)).toBe(LIMITS.maxMs);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  });

  test.for([0, 0.999_999])(
    "is polled at most 15 %% early and never late, whatever the random number (%d)",
    async (random) => {
      const bench = await createBench({}, random);
      await watched(bench);
      await bench.clock.pass(HOUR);
      for (const wait of gaps(bench)) {
        expect(wait).toBeGreaterThanOrEqual(LIMITS.minMs * 0.85);
        expect(wait).toBeLessThanOrEqual(LIMITS.maxMs);
      }
    },
  );

  test.each([0.1, 0.5, 0.9])(
    "is polled after a restart at a random time of its usual wait, so that not all runs are polled at once (%d)",
    async (random) => {
      const bench = await createBench({}, random);
      await watched(bench);
      await bench.clock.pass(HOUR);
      await bench.restart();
      const from = bench.clock.monotonic();
      bench.agents.looks.length = 0;
      await bench.clock.pass(LIMITS.maxMs);
      const waitedMs = (bench.agents.looks[0]?.at ?? Infinity) - from;
      expect(Math.abs(waitedMs - random * LIMITS.maxMs)).toBeLessThan(0.15 * LIMITS.maxMs);
      expect(gaps(bench).every((gap) => gap > LIMITS.maxMs / 2)).toBe(true);
    },
  );

  test("is written once, however often it is polled", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    await bench.clock.pass(60_000);
    const before = await bench.revision(id);
    bench.agents.looks.length = 0;
    await bench.clock.pass(HOUR);
    expect(bench.agents.looks.length).toBeGreaterThan(200);
    expect(await bench.revision(id)).toBe(before);
  });

  test("is polled quickly again after news", async () => {
    const bench = await createBench();
    const [id] = await watched(bench);
    await bench.clock.pass(HOUR);
    if (id !== undefined) bench.agents.statuses.set(id, "thinking");
    await bench.clock.pass(LIMITS.maxMs);
    bench.agents.looks.length = 0;
    await bench.clock.pass(5_000);
    expect(bench.agents.looks.length).toBeGreaterThanOrEqual(4);
  });
});

describe("a watched run", () => {
  test("that is over is no longer polled", async () => {
    const bench = await createBench();
    const [id] = await watched(bench);
    if (id !== undefined) bench.agents.statuses.set(id, "succeeded");
    await bench.clock.pass(5_000);
    bench.agents.looks.length = 0;
    await bench.clock.pass(HOUR);
    expect(bench.agents.looks).toEqual([]);
  });

  test("that the service no longer knows is polled ever less often, down to once a minute", async () => {
    const bench = await createBench();
    const [id] = await watched(bench);
    if (id !== undefined) bench.agents.statuses.set(id, "missing");
    await bench.clock.pass(60_000);
    expect(bench.agents.looks.length).toBeGreaterThan(10);
    await bench.clock.pass(10 * 60_000);
    bench.agents.looks.length = 0;
    await bench.clock.pass(10 * 60_000);
    expect(bench.agents.looks.length).toBeGreaterThanOrEqual(9);
    expect(bench.agents.looks.length).toBeLessThanOrEqual(11);
  });

  test("has one look under way at a time, and all runs together no more than the cap", async () => {
    const bench = await createBench({ maxInFlight: 3 });
    const asking: RunId[] = [];
    let most = 0;
    await watched(bench, 8);
    bench.agents.beforeLook = async (id) => {
      expect(asking).not.toContain(id);
      asking.push(id);
      most = Math.max(most, asking.length);
      await new Promise<void>((resolve) => void bench.clock.after(2_500, resolve));
      asking.splice(asking.indexOf(id), 1);
    };
    await bench.clock.pass(60_000);
    expect(most).toBe(3);
    expect(new Set(bench.agents.looks.map(({ id }) => id)).size).toBe(8);
  });

  test("opens an approval again that a look took for gone, when polls list it as before", async () => {
    const bench = await createBench();
    const { id, click } = await bench.withCard();
    await bench.clock.pass(5_000);
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error("no modal");
    bench.agents.pending.set(id, []);
    await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "");
    await bench.clock.pass(20_000);
    expect((await bench.run(id)).approvals[0]?.state.type).toBe("closed");
    bench.agents.pending.set(id, ["apr_1"]);
    await bench.clock.pass(60_000);
    expect((await bench.run(id)).approvals[0]?.state.type).toBe("pending");
  });

  test("with a refused decision whose approval is gone is polled no more often than others", async () => {
    const bench = await createBench();
    const { id, click } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error("no modal");
    bench.agents.answer = () => {
      bench.agents.pending.set(id, []);
      return Promise.resolve({ type: "refused", words: "409" });
    };
    await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "");
    await bench.clock.pass(HOUR);
    bench.agents.looks.length = 0;
    await bench.clock.pass(10 * LIMITS.maxMs);
    expect(bench.agents.looks.length).toBeLessThanOrEqual(11);
  });
});

describe("an approval that every poll lists", () => {
  const BY = { team: TEAM, user: APPROVER };
  const listed = async (bench: Bench, id: RunId) => (await bench.run(id)).approvals.map((each) => each.id);

  /** Leaves a poll hanging. The returned function lets it be answered with what the service then says. */
  async function hangingPoll(bench: Bench): Promise<() => void> {
    const held: { release: (() => void) | null } = { release: null };
    bench.agents.beforeLook = (_id, timeoutMs) =>
      timeoutMs === undefined && held.release === null
        ? new Promise((resolve) => void (held.release = resolve))
        : Promise.resolve();
    for (let waits = 0; held.release === null && waits < 40; waits += 1) await bench.clock.pass(500);
    if (held.release === null) throw new Error("no poll has begun");
    return held.release;
  }

  test("gets its card even if a slow answer that listed it first was overtaken by a newer look", async () => {
    const bench = await createBench();
    const { id, click } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "deny");
    if (!opened.ok) throw new Error("no modal");
    await bench.clock.pass(60_000);
    const release = await hangingPoll(bench);
    await bench.clock.pass(4_000);
    bench.agents.pending.set(id, ["apr_1", "apr_2"]);
    // A denial without a reason is refused, but its look is taken in all the same.
    await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "");
    expect(await listed(bench, id)).toEqual(["apr_1", "apr_2"]);
    await bench.clock.pass(4_500);
    bench.agents.pending.set(id, ["apr_1", "apr_2", "apr_3"]);
    release();
    await bench.clock.pass(LIMITS.maxMs + 1_000);
    expect(await listed(bench, id)).toEqual(["apr_1", "apr_2", "apr_3"]);
    expect(bench.chat.posts.map(({ slot }) => slot)).toContain("card apr_3");
  });
});

describe("a service that fails", () => {
  test("is not asked anything, for any run, before the time in its Retry-After", async () => {
    const bench = await createBench();
    await watched(bench, 3);
    bench.agents.beforeLook = () => Promise.reject(failure("http_429", { retryAfterMs: 60_000 }));
    await pass(bench.clock, 2_000);
    const until = (bench.agents.looks[0]?.at ?? 0) + 60_000;
    bench.agents.beforeLook = () => Promise.resolve();
    bench.agents.looks.length = 0;
    await pass(bench.clock, 120_000);
    expect(bench.agents.looks.length).toBeGreaterThan(3);
    for (const { at } of bench.agents.looks) expect(at).toBeGreaterThanOrEqual(until);
  });

  test("is left alone after five failures, probed within the slowest interval, and found again", async () => {
    const bench = await createBench();
    await watched(bench, 8);
    bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
    await pass(bench.clock, 60_000);
    bench.agents.looks.length = 0;
    await pass(bench.clock, 60_000);
    expect(bench.agents.looks.length).toBeGreaterThanOrEqual(60_000 / LIMITS.maxMs - 2);
    expect(bench.agents.looks.length).toBeLessThanOrEqual(30);
    bench.agents.beforeLook = () => Promise.resolve();
    bench.agents.looks.length = 0;
    await pass(bench.clock, 60_000);
    expect(new Set(bench.agents.looks.map(({ id }) => id)).size).toBe(8);
  });

  test("does not count as away because one run's answers are garbled or refused", async () => {
    const breaker = createServiceBreaker(createHandClock(), LIMITS.maxMs);
    await breaker.through(aRunId(), () => Promise.resolve());
    for (const code of ["garbled", "too_large", "http_404", "http_400", "http_429", "bad_id"]) {
      for (let time = 0; time < 9; time += 1)
        await expect(breaker.through(RUN, () => Promise.reject(failure(code)))).rejects.toThrow(code);
    }
    expect(breaker.state().type).toBe("answers");
    expect(breaker.pausedMs()).toBe(0);
  });

  test("counts as unusable while most runs get such answers, whatever else fails meanwhile", async () => {
    const clock = createHandClock();
    const breaker = createServiceBreaker(clock, LIMITS.maxMs);
    const [one, two, three] = [aRunId(), aRunId(), aRunId()];
    const says = (run: RunId, code: string | null): Promise<unknown> =>
      breaker
        .through(run, () => (code === null ? Promise.resolve() : Promise.reject(failure(code))))
        .catch(() => null);
    for (const run of [one, two, three]) await says(run, null);
    await says(one, "garbled");
    expect(breaker.state().type).toBe("answers");
    await says(two, "http_400");
    const since = clock.monotonic();
    expect(breaker.state()).toMatchObject({ type: "useless", since, runs: 2, why: "http_400" });
    await clock.pass(1_000);
    await says(three, "http_503");
    expect(breaker.state()).toMatchObject({ type: "away", since });
    await says(three, null);
    expect(breaker.state()).toMatchObject({ type: "useless", since });
    breaker.forget(one);
    expect(breaker.state().type).toBe("answers");
  });

  test("that refuses our key five times in a row counts as away since the first refusal", async () => {
    const clock = createHandClock();
    const breaker = createServiceBreaker(clock, LIMITS.maxMs);
    expect(breaker.state()).toEqual({ type: "unknown" });
    for (let time = 0; time < 5; time += 1) {
      await clock.pass(time === 0 ? 0 : 1_000);
      await expect(breaker.through(RUN, () => Promise.reject(failure("http_401")))).rejects.toThrow(
        "http_401",
      );
    }
    await expect(breaker.through(RUN, () => Promise.resolve())).rejects.toThrow(CircuitOpenError);
    expect(breaker.state()).toMatchObject({ type: "away", at: NOON, why: "http_401" });
  });
});

test("an answer that takes effect in two steps takes the second one even if the service only repeats it", async () => {
  const clock = createHandClock();
  const asked = { id: "apr_1", content: { action: "delete the rest" } };
  let run = deliveredRun({ type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "no answer" });
  let reconciled = (): void => undefined;
  const poller = createPoller(
    {
      agents: {
        fetchRun: () => {
          const snapshot = aSnapshot(run, [asked], { askedAt: clock.monotonic() });
          return Promise.resolve({ type: "snapshot", snapshot });
        },
      },
      // Nothing else reconciles the run.
      engine: {
        change: (_, apply) => {
          const changed = apply(run);
          run = "sideWrites" in changed ? changed.run : changed;
          reconciled();
          return Promise.resolve(run);
        },
        onPlan: (listener) => void (reconciled = () => listener(run, reconcile(run, clock.monotonic()))),
        onDrop: () => undefined,
      },
      breaker: createServiceBreaker(clock, LIMITS.maxMs),
      unreadable: { noteFetch: () => Promise.resolve() },
      context: () => ({ ...contextAt(), now: clock.now(), monotonic: clock.monotonic(), nonce: aNonce }),
      clock,
      random: () => 0,
      log: quietLog([], []),
      metrics: quietMetrics([], []),
      watchdog: createWatchdog(clock),
    },
    LIMITS,
  );
  reconciled();
  await clock.pass(60_000);
  poller.stop();
  expect(run.approvals.map(({ id, state }) => [id, state.type])).toEqual([
    ["apr_1", "decided"],
    ["apr_1 (2)", "pending"],
  ]);
});

test("a stopped watch asks for nothing, and drops late answers", async () => {
  const bench = await createBench();
  const [id] = await watched(bench);
  const release: (() => void)[] = [];
  bench.agents.beforeLook = () => new Promise((resolve) => void release.push(resolve));
  await bench.clock.pass(2_000);
  expect(release).toHaveLength(1);
  if (id === undefined) throw new Error("nothing watched");
  const before = await bench.revision(id);
  await bench.flow.stop(0);
  bench.agents.statuses.set(id, "succeeded");
  for (const answer of release) answer();
  await bench.clock.pass(HOUR);
  expect(await bench.revision(id)).toBe(before);
  expect(bench.agents.looks).toHaveLength(1);
});

test("a person who asks too often changes nothing", async () => {
  const bench = await createBench();
  const [id] = await watched(bench);
  if (id === undefined) throw new Error("nothing watched");
  const before = await bench.revision(id);
  const by = { team: TEAM, user: UserId("U0SECOND"), channel: CHANNEL };
  for (let time = 0; time < 5; time += 1) {
    const again = await bench.flow.adoptRun.adopt(by, id);
    expect(again).toMatchObject({ ok: false, error: { type: "already-watched" } });
  }
  expect(await bench.revision(id)).toBe(before);
});
