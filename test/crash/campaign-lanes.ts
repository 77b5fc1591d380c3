// The lanes of the kill campaign: one process with a file, or several processes with their own PostgreSQL server, which may have a standby.
// Processes can be killed or suspended, the server can be killed, and both come back.

import { setTimeout as later } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { SHARED } from "#src/engine/lease-keeper.ts";
import type { Replica } from "#sandbox/bot/replicas.ts";
import { startPostgres } from "../make/postgres.ts";
import { type CrashingServer, startFailingOver } from "./failing-over.ts";
import { type Lane, startLane } from "./lane.ts";
import { startReplicaLane } from "./replica-lane.ts";

export type Victim = "process" | "database";

export type StruckLane = Pick<Lane, "world" | "up" | "audit" | "findings" | "quiet" | "stop"> & {
  /**
   * Kills a process with SIGKILL or, if there are others, suspends one with SIGSTOP; or crashes the database with SIGQUIT. Resolves to null
   * if no process was running.
   */
  strike(victim: Victim, random: () => number): Promise<Hit | null>;
};

export type Hit = { readonly how: "killed" | "suspended" | "crashed"; bringBack(): Promise<void> };

const POLICY_FILE = fileURLToPath(new URL("kill-campaign-policy.yaml", import.meta.url));
/** The share of process kills that hit the owner of the run. The others hit any process. */
const HOLDER_SHARE = 0.7;
/** The share of strikes at one of several processes that suspend it. The others kill it. */
const SUSPENDED_SHARE = 0.3;
/** Longer than a lease (ms). When the process wakes up, another owns its runs, and it must write and send nothing for them. */
const SUSPENDED_MS = SHARED.leaseMs + 2 * SHARED.renewEveryMs;

/** With one replica, the database is an SQLite file, which cannot be killed. */
export async function startStruckLane(replicas: number, hasStandby: boolean): Promise<StruckLane> {
  if (replicas > 1) return startReplicas(replicas, hasStandby ? await startFailingOver() : await startOne());
  const lane = await startLane({ POLICY_FILE });
  return {
    ...lane,
    strike: async () => {
      await lane.kill();
      return { how: "killed", bringBack: () => lane.restart() };
    },
  };
}

async function startReplicas(replicas: number, server: CrashingServer): Promise<StruckLane> {
  const lane = await startReplicaLane(server, { replicas, env: { POLICY_FILE } });
  return {
    ...lane,
    strike: async (victim, random) =>
      victim === "database"
        ? { how: "crashed", bringBack: await server.crash() }
        : strikeReplica(lane.bot.replicas, random),
    stop: async () => {
      await lane.stop();
      await server.stop();
    },
  };
}

/** Starts a server that comes back with its data after a crash. */
async function startOne(): Promise<CrashingServer> {
  const server = await startPostgres();
  return {
    ...server,
    async crash() {
      await server.kill();
      return () => server.start();
    },
  };
}

async function strikeReplica(replicas: readonly Replica[], random: () => number): Promise<Hit | null> {
  const [wantsHolder, place, suspends] = [random() < HOLDER_SHARE, random(), random() < SUSPENDED_SHARE];
  const running = replicas.filter(({ state }) => state() === "running");
  const struck =
    (wantsHolder ? await holderAmong(running) : null) ?? running[Math.floor(place * running.length)];
  if (struck === undefined) return null;
  if (suspends) return suspend(struck);
  await struck.stop("SIGKILL");
  return { how: "killed", bringBack: () => struck.start() };
}

function suspend(replica: Replica): Hit {
  replica.pause();
  const bringBack = async (): Promise<void> => {
    await later(SUSPENDED_MS);
    replica.resume();
  };
  return { how: "suspended", bringBack };
}

async function holderAmong(running: readonly Replica[]): Promise<Replica | null> {
  const watched = await Promise.all(running.map(({ metric }) => metric("countersign_runs_watched")));
  return running.find((_, nth) => (watched[nth] ?? 0) > 0) ?? null;
}
