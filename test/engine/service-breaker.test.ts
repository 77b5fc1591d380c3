// What is known about the service from the answers to all polls.

import { expect, test } from "vitest";
import { RunId } from "#src/domain/ids.ts";
import { createServiceBreaker } from "#src/engine/service-breaker.ts";
import { createBench, failure } from "../make/bot.ts";
import { createHandClock } from "../make/clock.ts";
import { aRunId } from "../make/run.ts";

const MAX_MS = 5_000;
const RUN = aRunId();

test("a service counts as away once it has answered nothing but 429 for a minute, since the first of them", async () => {
  const clock = createHandClock();
  const breaker = createServiceBreaker(clock, MAX_MS);
  const changes: string[] = [];
  breaker.onChange(() => void changes.push(breaker.state().type));
  const says = (code: string | null): Promise<unknown> =>
    breaker
      .through(RUN, () => (code === null ? Promise.resolve() : Promise.reject(failure(code))))
      .catch(() => null);
  await says(null);
  const since = clock.monotonic();
  await says("http_429");
  await clock.pass(40_000);
  await says(null);
  await says("http_429");
  await clock.pass(59_999);
  await says("http_429");
  expect(breaker.state()).toEqual({ type: "answers" });
  await clock.pass(1);
  expect(breaker.state()).toMatchObject({ type: "away", since: since + 40_000, code: "http_429" });
  expect(breaker.isOpen()).toBe(false);
  await says("http_503");
  expect(breaker.state()).toMatchObject({ type: "away", since: since + 40_000, code: "http_503" });
  await says("http_429");
  expect(breaker.state()).toMatchObject({ type: "away", code: "http_503" });
  await says(null);
  expect(breaker.state()).toEqual({ type: "answers" });
  expect(changes).toEqual(["answers", "answers"]);
});

test.each(["http_429", "http_503"])(
  "a service is not known to be away once no run is polled: %s",
  async (code) => {
    const clock = createHandClock();
    const breaker = createServiceBreaker(clock, MAX_MS);
    const other = aRunId();
    for (const run of [RUN, other])
      await breaker.through(run, () => Promise.reject(failure(code))).catch(() => null);
    await clock.pass(2 * 60_000);
    breaker.forget(RUN);
    expect(breaker.state().type).toBe("away");
    breaker.forget(other);
    expect(breaker.state()).toEqual({ type: "unknown" });
  },
);

test.each([null, "garbled", "http_429", "http_503"])(
  "an answer that arrives after its run is no longer polled says nothing: %s",
  async (code) => {
    const clock = createHandClock();
    const breaker = createServiceBreaker(clock, MAX_MS);
    const late = Promise.withResolvers<null>();
    const call = breaker.through(RUN, () => late.promise).catch(() => null);
    breaker.forget(RUN);
    if (code === null) late.resolve(null);
    else late.reject(failure(code));
    await call;
    await clock.pass(2 * 60_000);
    expect(breaker.state()).toEqual({ type: "unknown" });
  },
);

test("late answers about runs that are no longer polled do not hide that the answers about most runs are useless", async () => {
  const breaker = createServiceBreaker(createHandClock(), MAX_MS);
  await breaker.through(RUN, () => Promise.resolve(null));
  for (let ended = 0; ended < 3; ended += 1) {
    const late = Promise.withResolvers<null>();
    const run = RunId(`ended-${ended}`);
    const call = breaker.through(run, () => late.promise);
    breaker.forget(run);
    late.resolve(null);
    await call;
  }
  await breaker.through(RUN, () => Promise.reject(failure("garbled"))).catch(() => null);
  expect(breaker.state()).toMatchObject({ type: "useless", runs: 1 });
});

test("a service that answers only 429 is reported in its channel and to the monitoring", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  bench.agents.beforeLook = () => Promise.reject(failure("http_429", { retryAfterMs: 60 * 60_000 }));
  await bench.clock.pass(80_000);
  expect((await bench.run(id)).outage).toMatchObject({ until: null });
  expect(bench.outages.at(-1)).toBe(true);
});
