// What survives a process: runs are taken up again, and an outage is announced once per channel.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ChannelId, type RunId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { createOutageAnnouncer, LONG_OUTAGE_MS } from "#src/engine/outage.ts";
import { ALONE } from "#src/engine/lease-keeper.ts";
import type { RunStore } from "#src/ports/store.ts";
import { createHandClock, type HandClock } from "../make/clock.ts";
import { ADMIN, type Bench, createBench, failure } from "../make/bot.ts";
import { quietLog, quietMetrics } from "../make/quiet.ts";
import { aRunId, aWatchedRun, CHANNEL, NOON, REQUESTER, TEAM } from "../make/run.ts";

const OTHER = ChannelId("C0OTHER");

// The breaker reads the machine's clock, so it is controlled by the test as well.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: NOON }));
afterEach(() => void vi.useRealTimers());

/** Advances both clocks, half a second at a time. */
async function pass(clock: HandClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    await clock.pass(Math.min(left, 500));
    vi.setSystemTime(clock.now());
  }
}

async function adopt(bench: Bench, channel: ChannelId): Promise<RunId> {
  const id = aRunId();
  const adopted = await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel }, id);
  if (!adopted.ok) throw new Error(adopted.error.type);
  await pass(bench.clock, 1_000);
  return id;
}

const away = (bench: Bench): void => {
  bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
};
const back = (bench: Bench): void => {
  bench.agents.beforeLook = () => Promise.resolve();
};

const health = async ({ flow }: Bench): Promise<string> =>
  (await flow.queries.health(ADMIN)).poller.service.type;

/** Returns the notices of a channel, in order, without the times that they name. */
function notices({ chat }: Bench, channel: ChannelId): string[] {
  return chat.posts.flatMap(({ slot, channel: where }) =>
    where === channel && slot.startsWith("service-") ? [slot.replace(/ .*/, "")] : [],
  );
}

describe("an outage of the service", () => {
  test("is over in the metric as soon as the service answers", async () => {
    const bench = await createBench();
    await adopt(bench, CHANNEL);
    away(bench);
    await pass(bench.clock, LONG_OUTAGE_MS + 15_000);
    expect(bench.outages.at(-1)).toBe(true);
    back(bench);
    for (let left = 120; left > 0 && (await health(bench)) !== "answers"; left -= 1)
      await pass(bench.clock, 500);
    expect([await health(bench), bench.outages.at(-1)]).toEqual(["answers", false]);
  });

  test("of less than a minute is not announced", async () => {
    const bench = await createBench();
    await adopt(bench, CHANNEL);
    away(bench);
    await pass(bench.clock, LONG_OUTAGE_MS - 15_000);
    back(bench);
    await pass(bench.clock, 60_000);
    expect(notices(bench, CHANNEL)).toEqual([]);
  });

  test("is announced once per channel after a minute, whatever the number of runs, and its end once", async () => {
    const bench = await createBench();
    for (const channel of [CHANNEL, CHANNEL, CHANNEL, OTHER]) await adopt(bench, channel);
    away(bench);
    await pass(bench.clock, 5 * 60_000);
    expect(notices(bench, CHANNEL)).toEqual(["service-down"]);
    expect(notices(bench, OTHER)).toEqual(["service-down"]);
    back(bench);
    await pass(bench.clock, 5 * 60_000);
    expect(notices(bench, CHANNEL)).toEqual(["service-down", "service-back"]);
    expect(notices(bench, OTHER)).toEqual(["service-down", "service-back"]);
  });

  test("is announced again when it returns", async () => {
    const bench = await createBench();
    await adopt(bench, CHANNEL);
    for (let time = 0; time < 2; time += 1) {
      away(bench);
      await pass(bench.clock, 2 * 60_000);
      back(bench);
      await pass(bench.clock, 60_000);
    }
    expect(notices(bench, CHANNEL)).toEqual(["service-down", "service-back", "service-down", "service-back"]);
  });

  test.each(["garbled", "too_large", "http_400", "http_403", "http_422"])(
    "also counts when every look fails with %s: the service answers, but is unusable",
    async (code) => {
      const bench = await createBench();
      for (const channel of [CHANNEL, CHANNEL, OTHER]) await adopt(bench, channel);
      bench.agents.beforeLook = () => Promise.reject(failure(code, { retry: "never" }));
      await pass(bench.clock, 45_000);
      expect(notices(bench, CHANNEL)).toEqual([]);
      expect((await bench.flow.queries.health(ADMIN)).poller.service).toMatchObject({
        type: "useless",
        why: code,
      });
      await pass(bench.clock, 60_000);
      expect(notices(bench, CHANNEL)).toEqual(["service-down"]);
      expect(notices(bench, OTHER)).toEqual(["service-down"]);
      back(bench);
      await pass(bench.clock, 60_000);
      expect(notices(bench, CHANNEL)).toEqual(["service-down", "service-back"]);
      expect((await bench.flow.queries.health(ADMIN)).poller.service.type).toBe("answers");
    },
  );

  test("does not count when only one run of several gets such answers", async () => {
    const bench = await createBench();
    const ids: RunId[] = [];
    for (const channel of [CHANNEL, CHANNEL, CHANNEL]) ids.push(await adopt(bench, channel));
    bench.agents.beforeLook = (id) =>
      id === ids[0] ? Promise.reject(failure("http_400")) : Promise.resolve();
    await pass(bench.clock, 3 * 60_000);
    expect(notices(bench, CHANNEL)).toEqual([]);
  });

  test("is announced once even if the process restarts, and its end is announced by the new process", async () => {
    const bench = await createBench();
    await adopt(bench, CHANNEL);
    away(bench);
    await pass(bench.clock, 2 * 60_000);
    await bench.restart();
    await pass(bench.clock, 3 * 60_000);
    expect(notices(bench, CHANNEL)).toEqual(["service-down"]);
    back(bench);
    await bench.restart();
    await pass(bench.clock, 60_000);
    expect(notices(bench, CHANNEL)).toEqual(["service-down", "service-back"]);
  });

  test.each(["in the same process", "after a restart"])(
    "ends as unchecked, %s, when the last watched run is no longer watched",
    async (where) => {
      const bench = await createBench();
      const id = await adopt(bench, CHANNEL);
      away(bench);
      await pass(bench.clock, 2 * 60_000);
      const by = { team: TEAM, user: REQUESTER, channel: CHANNEL };
      expect((await bench.flow.adoptRun.unwatch(by, id)).ok).toBe(true);
      if (where === "after a restart") await bench.restart();
      await pass(bench.clock, 30_000);
      expect(notices(bench, CHANNEL)).toEqual(["service-down", "service-back"]);
      expect((await bench.run(id)).outage).toMatchObject({ unchecked: true });
    },
  );

  test("does not end while a process that has just started has asked about no run yet", async () => {
    const bench = await createBench();
    const id = await adopt(bench, CHANNEL);
    away(bench);
    await pass(bench.clock, 2 * 60_000);
    bench.agents.beforeLook = () => new Promise(() => undefined);
    await bench.restart();
    await pass(bench.clock, 20_000);
    expect((await bench.run(id)).outage).toMatchObject({ until: null });
  });

  test("is not over for people while the service answers, but knows no run", async () => {
    const bench = await createBench();
    const ids = [await adopt(bench, CHANNEL), await adopt(bench, CHANNEL)];
    away(bench);
    await pass(bench.clock, LONG_OUTAGE_MS + 15_000);
    for (const id of ids) bench.agents.statuses.set(id, "missing");
    back(bench);
    await pass(bench.clock, 60_000);
    expect(notices(bench, CHANNEL)).toEqual(["service-down"]);
    expect(bench.warnings.filter((each) => each.includes("knows none of the runs"))).toHaveLength(1);
    for (const id of ids) bench.agents.statuses.delete(id);
    await pass(bench.clock, 75_000);
    expect(notices(bench, CHANNEL)).toEqual(["service-down", "service-back"]);
  });

  test("is over for people although the service does not know a run that it did not know before", async () => {
    const bench = await createBench();
    const id = await adopt(bench, CHANNEL);
    bench.agents.statuses.set(id, "missing");
    await pass(bench.clock, 60_000);
    away(bench);
    await pass(bench.clock, LONG_OUTAGE_MS + 15_000);
    back(bench);
    await pass(bench.clock, 75_000);
    expect(notices(bench, CHANNEL)).toEqual(["service-down", "service-back"]);
  });

  test("that another replica announced ends here, once this process follows its channel", async () => {
    const clock = createHandClock();
    const announced = aWatchedRun(aRunId());
    let run: Run = { ...announced, outage: { since: NOON, why: "away", until: null } };
    let isOurs = false;
    const eachRun: RunStore["eachRun"] = (_, visit) => Promise.resolve(visit(run));
    const outage = createOutageAnnouncer(
      {
        store: { eachRun },
        engine: {
          holdsShard: () => isOurs,
          change: (_key, next) => {
            const changed = next(run);
            run = "sideWrites" in changed ? changed.run : changed;
            return Promise.resolve(run);
          },
        },
        breaker: { state: () => ({ type: "answers" }), onChange: () => undefined },
        clock,
        log: quietLog([], []),
        metrics: quietMetrics([], []),
      },
      1_000,
    );
    outage.start();
    await clock.pass(5_000);
    expect(run.outage?.until).toBeNull();
    isOurs = true;
    await clock.pass(5_000);
    expect(run.outage?.until).not.toBeNull();
    await outage.stop();
  });

  test("is not checked after a stop, not even by a check that was under way", async () => {
    const clock = createHandClock();
    const answer: { release: () => void } = { release: () => undefined };
    let checks = 0;
    const eachRun = (): Promise<void> => {
      checks += 1;
      return new Promise((resolve) => (answer.release = resolve));
    };
    const nothing = (): void => undefined;
    const [log, metrics] = [quietLog([], []), quietMetrics([], [])];
    const breaker = {
      state: () =>
        ({ type: "away", at: NOON, since: NOON - LONG_OUTAGE_MS, why: "", publicWhy: "" }) as const,
      onChange: nothing,
    };
    const engine = { holdsShard: () => true, change: () => Promise.resolve(null) };
    const outage = createOutageAnnouncer({ store: { eachRun }, engine, breaker, clock, log, metrics }, 1_000);
    outage.start();
    await clock.pass(1_000);
    const stopped = outage.stop();
    answer.release();
    await stopped;
    await clock.pass(10_000);
    expect(checks).toBe(1);
    expect(clock.waiting()).toBe(0);
  });
});

describe("after a restart", () => {
  test("every unfinished run is watched again, without a command", async () => {
    const bench = await createBench();
    const ids = [await adopt(bench, CHANNEL), await adopt(bench, OTHER)];
    await bench.restart();
    bench.agents.looks.length = 0;
    await pass(bench.clock, 20_000);
    expect(new Set(bench.agents.looks.map(({ id }) => id))).toEqual(new Set(ids));
  });

  test("a finished run is left alone", async () => {
    const bench = await createBench();
    const id = await adopt(bench, CHANNEL);
    bench.agents.statuses.set(id, "succeeded");
    await pass(bench.clock, 30_000);
    await bench.restart();
    const before = await bench.revision(id);
    bench.agents.looks.length = 0;
    await pass(bench.clock, 60_000);
    expect(bench.agents.looks).toEqual([]);
    expect(await bench.revision(id)).toBe(before);
  });

  test("a message that was being posted is looked for, and exists once", async () => {
    const bench = await createBench();
    const post = bench.chat.post.bind(bench.chat);
    bench.chat.post = async (run, slot) => {
      await post(run, slot);
      return new Promise(() => undefined);
    };
    const id = aRunId();
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    await bench.clock.rest();
    bench.chat.post = post;
    await bench.restart();
    await pass(bench.clock, 60_000);
    expect(bench.chat.posts.map(({ slot }) => slot)).toEqual(["opening"]);
    expect((await bench.run(id)).posts["opening"]).toMatchObject({ type: "up" });
  });

  test("runs are taken up again after the lease has lapsed while the process slept", async () => {
    const bench = await createBench();
    const id = await adopt(bench, CHANNEL);
    const renew = bench.store.renew.bind(bench.store);
    bench.store.renew = () => Promise.reject(failure("database_locked"));
    await pass(bench.clock, 3 * ALONE.leaseMs);
    bench.store.renew = renew;
    bench.agents.statuses.set(id, "thinking");
    await pass(bench.clock, ALONE.leaseMs);
    expect((await bench.run(id)).seen?.status).toBe("thinking");
  });
});
