// Compares the polls per second of our whole path (due queue, breaker, client, time limits, validation, comparison) with those of undici's
// `request` and JSON.parse alone, with the same GETs, server and number of connections. The two are measured one after the other.

import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Agent, request } from "undici";
import { createAgentService } from "#src/adapters/agents/agent-service.ts";
import { RunId } from "#src/domain/ids.ts";
import { createClock } from "#src/engine/clock.ts";
import { createRunEngine } from "#src/engine/run-engine.ts";
import { createServiceBreaker } from "#src/engine/service-breaker.ts";
import { createUnreadableRuns } from "#src/engine/unreadable-runs.ts";
import { createPoller } from "#src/engine/poller.ts";
import { createWatchdog } from "#src/engine/watchdog.ts";
import { createMetrics } from "#src/adapters/http/metrics.ts";
import { createLog } from "#src/log.ts";
import { MAX_POLLS_IN_FLIGHT } from "#src/open-ports.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { aQuietRun, context } from "./runs.ts";

export type PollRates = { readonly ours: number; readonly plain: number; readonly ratio: number };

/** Every run is always due. */
const PACE = { minMs: 10, maxMs: 10, maxInFlight: MAX_POLLS_IN_FLIGHT };
const KEY = "bench-key";
/** How long a busy machine may take to answer its first call (ms). */
const SILENCE_MS = 20_000;

const idOf = (index: number): RunId => RunId(`run_${String(index).padStart(6, "0")}`);

export async function pollRatio(size: { runs: number; engine: number; roundMs: number }): Promise<PollRates> {
  const responder = fork(fileURLToPath(new URL("responder.ts", import.meta.url)));
  const [port] = (await once(responder, "message")) as [number];
  const baseUrl = `http://127.0.0.1:${port}`;
  const ours = await startOurs(baseUrl, size.runs);
  const plain = startPlain(baseUrl, size.runs);
  // The first poll of each run is compared with the store. Later polls are the common case.
  await ours.rate(size.roundMs);
  while (ours.counted() < size.runs * 2) await ours.rate(200);
  await plain.rate(size.roundMs);
  const pairs: { ours: number; plain: number }[] = [];
  for (let round = 0; round < size.engine; round += 1)
    pairs.push({ ours: await ours.rate(size.roundMs), plain: await plain.rate(size.roundMs) });
  await Promise.all([ours.stop(), plain.stop()]);
  responder.disconnect();
  return {
    ours: median(pairs.map((pair) => pair.ours)),
    plain: median(pairs.map((pair) => pair.plain)),
    ratio: median(pairs.map((pair) => pair.ours / pair.plain)),
  };
}

/** Polls only while its rate is measured. */
type Poller = { rate(ms: number): Promise<number>; counted(): number; stop(): Promise<void> };

async function startOurs(baseUrl: string, runs: number): Promise<Poller> {
  const valve = createValve();
  const log = createLog({ level: "warn", pretty: false });
  const clock = createClock();
  const store = await openStore({ url: "sqlite::memory:", owner: "bench" });
  const options = {
    baseUrl,
    apiKey: () => KEY,
    denyWord: "deny",
    ...clock,
    connections: MAX_POLLS_IN_FLIGHT,
  };
  const agents = createAgentService(options);
  const counter = createMetrics({ version: "bench", node: process.versions.node, at: Date.now() });
  const metrics = {
    ...counter,
    poll: (outcome: string, seconds: number) => {
      counter.poll(outcome, seconds);
      valve.count();
    },
  };
  const nothingToDo = (): never => {
    throw new Error("a quiet run asks for an effect");
  };
  const executor = {
    start: nothingToDo,
    isUnderWay: () => false,
    isBusy: () => false,
    shardsSending: () => new Set<number>(),
    stop: () => Promise.resolve(),
  };
  const time = { isCounted: () => true, makeUp: () => Promise.resolve() };
  const { random } = Math;
  const engine = createRunEngine({
    store,
    context,
    clock,
    log,
    executor,
    time,
    random,
    logEffect: nothingToDo,
  });
  const gated = { fetchRun: (id: RunId) => valve.through(() => agents.fetchRun(id)) };
  const breaker = createServiceBreaker(clock, PACE.maxMs);
  const unreadable = createUnreadableRuns({ engine, clock, log, metrics });
  const watchdog = createWatchdog(clock);
  const poller = createPoller(
    {
      agents: gated,
      engine,
      breaker,
      unreadable,
      context,
      clock,
      random,
      log,
      metrics,
      watchdog,
    },
    PACE,
  );
  for (let index = 0; index < runs; index += 1) await store.insert(aQuietRun(idOf(index), index, 60_000), {});
  await store.release();
  const { shards } = await store.renew(Date.now(), 3_600_000);
  engine.setHeldShards(new Set(shards));
  for (const stored of await store.claim(runs)) await engine.resume(stored);
  return {
    rate: valve.rate,
    counted: valve.counted,
    stop: async () => {
      poller.stop();
      await engine.stop(0);
      await agents.close();
      await store.close();
    },
  };
}

function startPlain(baseUrl: string, runs: number): Poller {
  const valve = createValve();
  const dispatcher = new Agent({ connections: MAX_POLLS_IN_FLIGHT, pipelining: 1 });
  const headers = { authorization: `Bearer ${KEY}` };
  let next = 0;
  const stopping = new AbortController();
  const ask = async (): Promise<void> => {
    next = (next + 1) % runs;
    const { body } = await request(`${baseUrl}/v1/agent/runs/${idOf(next)}`, { headers, dispatcher });
    JSON.parse(await body.text());
    valve.count();
  };
  const loops = Array.from({ length: MAX_POLLS_IN_FLIGHT }, async () => {
    while (!stopping.signal.aborted) await valve.through(ask);
  });
  return {
    rate: valve.rate,
    counted: valve.counted,
    stop: async () => {
      stopping.abort();
      valve.open();
      await Promise.all(loops);
      await dispatcher.close();
    },
  };
}

/** Lets calls through while a rate is measured, and counts the answered ones. `rate` rejects if there are none for `SILENCE_MS`. */
function createValve() {
  let gate = Promise.withResolvers<void>();
  let opened = false;
  let count = 0;
  const open = (): void => {
    opened = true;
    gate.resolve();
  };
  const rate = async (ms: number): Promise<number> => {
    open();
    const [from, counted] = [performance.now(), count];
    const isSilent = (): boolean => count === counted;
    await pause(ms);
    while (isSilent() && performance.now() - from < SILENCE_MS) await pause(ms);
    if (isSilent()) throw new Error("no run is polled, so there is nothing to measure");
    const perSecond = ((count - counted) * 1_000) / (performance.now() - from);
    gate = Promise.withResolvers();
    opened = false;
    return perSecond;
  };
  return {
    count: () => void (count += 1),
    counted: () => count,
    open,
    rate,
    through: <T>(call: () => Promise<T>): Promise<T> => (opened ? call() : gate.promise.then(call)),
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = 0, high = 0] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
}
