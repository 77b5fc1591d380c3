// Compares the polls per second of three replicas with three times those of one, on one PostgreSQL database. The service answers slowly,
// and a replica has a bounded number of polls in flight. So this bound is the limit, not the processor; otherwise a machine with two cores
// could not show what three machines do. The service counts the polls.

import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "#sandbox/bot/free-port.ts";
import { startPostgres } from "#sandbox/bot/own-postgres.ts";
import { createBot, type Replica } from "#sandbox/bot/replicas.ts";
import { startWorld } from "#sandbox/world/world.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { ChannelId, RunId } from "#src/domain/ids.ts";
import { pause, range } from "./deciding.ts";
import { aQuietRun } from "./runs.ts";

export type Scaling = {
  /** Polls per second. */
  readonly one: number;
  readonly three: number;
  /** 1 if each of the three polls as fast as one alone. */
  readonly scaling: number;
};

export const ANSWER_MS = 200;
const REPLICAS = 3;
/** Each run has its own channel, so that they spread over the shards. Twice what three replicas have in flight. */
const RUNS = 900;
/** Every run is always due. */
const POLL_MS = "10";
const QUIET_MS = 60_000;
/** Only a bug makes this take longer (ms). */
const SHARED_MS = 60_000;
/** By which share of the runs the replicas may differ: they have equally many shards, but the shards differ in runs. */
const EVEN = 0.3;
const ASK_EVERY_MS = 100;

export async function replicaScaling(roundMs: number): Promise<Scaling> {
  const postgres = await startPostgres((words) => console.error(words));
  const auditKey = randomBytes(32).toString("base64");
  await storeRuns(postgres.url, auditKey);
  const service = fork(fileURLToPath(new URL("responder.ts", import.meta.url)), [String(ANSWER_MS)]);
  const [port] = (await once(service, "message")) as [number];
  const world = await startWorld({ databaseUrl: postgres.url });
  const env = {
    ...world.env,
    AUDIT_KEY: auditKey,
    AGENT_BASE_URL: `http://127.0.0.1:${port}`,
    LOG_LEVEL: "warn",
    POLL_MIN_MS: POLL_MS,
    POLL_MAX_MS: POLL_MS,
  };
  const ports = await Promise.all(range(REPLICAS).map(freePort));
  const { replicas, stop } = createBot({ ports, env: (own) => ({ ...env, PORT: String(own) }) });
  try {
    const [one, three] = [await rateOf(replicas.slice(0, 1)), await rateOf(replicas)];
    return { one, three, scaling: three / (REPLICAS * one) };
  } finally {
    await stop();
    service.disconnect();
    await world.stop();
    await postgres.stop();
  }

  async function rateOf(some: readonly Replica[]): Promise<number> {
    await Promise.all(some.map((each) => each.start()));
    await workIsShared(some);
    // The first poll of each run is compared with the store. Later polls are the common case.
    for (const until = (await answered(service)) + 2 * RUNS; (await answered(service)) < until;)
      await pause(ASK_EVERY_MS);
    const [before, from] = [await answered(service), performance.now()];
    await pause(roundMs);
    return (((await answered(service)) - before) * 1_000) / (performance.now() - from);
  }
}

async function storeRuns(url: string, auditKey: string): Promise<void> {
  const store = await openStore({ url, owner: "bench", auditKey });
  for (const nth of range(RUNS)) {
    const run = aQuietRun(RunId(`run_${String(nth).padStart(6, "0")}`), nth, QUIET_MS);
    await store.insert({ ...run, channel: ChannelId(`C0BENCH${nth}`) }, {});
  }
  await store.release();
  await store.close();
}

async function answered(service: ChildProcess): Promise<number> {
  const told = once(service, "message");
  service.send("how many?");
  return ((await told) as [number])[0];
}

/** Resolves when each run belongs to a replica and all have about the same number. */
async function workIsShared(replicas: readonly Replica[]): Promise<void> {
  const fair = RUNS / replicas.length;
  for (const end = performance.now() + SHARED_MS; performance.now() < end; await pause(ASK_EVERY_MS)) {
    const watched = await Promise.all(replicas.map(({ metric }) => metric("countersign_runs_watched")));
    const all = watched.reduce((sum: number, runs) => sum + (runs ?? 0), 0);
    if (all === RUNS && watched.every((runs) => Math.abs((runs ?? 0) - fair) <= EVEN * fair)) return;
  }
  throw new Error("the replicas did not share the runs");
}
