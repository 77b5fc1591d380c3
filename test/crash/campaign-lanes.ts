// The lanes of the kill campaign: one process with a file, or several processes with their own PostgreSQL server, which may have a standby.
// Processes and server can be killed, and come back.

import { fileURLToPath } from "node:url";
import type { Replica } from "#sandbox/bot/replicas.ts";
import { startPostgres } from "../make/postgres.ts";
import { type CrashingServer, startFailingOver } from "./failing-over.ts";
import { type Lane, startLane } from "./lane.ts";
import { startReplicaLane } from "./replica-lane.ts";

export type Victim = "process" | "database";

export type StruckLane = Pick<Lane, "world" | "up" | "audit" | "findings" | "quiet" | "stop"> & {
  /** Kills a process with SIGKILL, or crashes the database with SIGQUIT. Resolves to a function that brings it back. */
  strike(victim: Victim, random: () => number): Promise<() => Promise<void>>;
};

const POLICY_FILE = fileURLToPath(new URL("kill-campaign-policy.yaml", import.meta.url));
/** The share of process kills that hit the owner of the run. The others hit any process. */
const HOLDER_SHARE = 0.7;

/** With one replica, the database is an SQLite file, which cannot be killed. */
export async function startStruckLane(replicas: number, hasStandby: boolean): Promise<StruckLane> {
  if (replicas > 1) return startReplicas(replicas, hasStandby ? await startFailingOver() : await startOne());
  const lane = await startLane({ POLICY_FILE });
  return {
    ...lane,
    strike: async () => {
      await lane.kill();
      return () => lane.restart();
    },
  };
}

async function startReplicas(replicas: number, server: CrashingServer): Promise<StruckLane> {
  const lane = await startReplicaLane(server, { replicas, env: { POLICY_FILE } });
  return {
    ...lane,
    strike: (victim, random) =>
      victim === "database" ? server.crash() : killReplica(lane.bot.replicas, random),
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

async function killReplica(replicas: readonly Replica[], random: () => number): Promise<() => Promise<void>> {
  const [wantsHolder, place] = [random() < HOLDER_SHARE, random()];
  const running = replicas.filter(({ state }) => state() === "running");
  const struck =
    (wantsHolder ? await holderAmong(running) : null) ?? running[Math.floor(place * running.length)];
  if (struck === undefined) return () => Promise.resolve();
  await struck.stop("SIGKILL");
  return () => struck.start();
}

async function holderAmong(running: readonly Replica[]): Promise<Replica | null> {
  const watched = await Promise.all(running.map(({ metric }) => metric("countersign_runs_watched")));
  return running.find((_, nth) => (watched[nth] ?? 0) > 0) ?? null;
}
