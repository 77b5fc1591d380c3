// Faults of disk, clock and machine under a running bot. strace fakes the kernel's answers to system calls, so the bot and SQLite see what
// they would see on a real machine.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as after } from "node:timers/promises";
import type { Environment, OneProcess } from "../crash/lane.ts";
import type { FaultCase, SetUpFault } from "./play-life.ts";

type Strike = { readonly clockFile: string; readonly onStrike: () => void };

/** Begins a fault, and calls `onStrike` once it took effect. Resolves to a function that ends it. */
type Fault = (lane: OneProcess, strike: Strike) => Promise<() => Promise<void>>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WRITES = "write,pwrite64,ftruncate";
const SYNCS = "fsync,fdatasync";

const FAULTS: { readonly [name: string]: Fault } = {
  "the disk is full for 5 s": answered(WRITES, "error=ENOSPC", 5_000),
  "the disk is full for 20 s": answered(WRITES, "error=ENOSPC", 20_000),
  "the disk is read-only for 5 s": answered(`${WRITES},${SYNCS}`, "error=EROFS", 5_000),
  "the disk fails to sync for 5 s": answered(SYNCS, "error=EIO", 5_000),
  "the disk fails to read and write for 5 s": answered(`read,pread64,${WRITES}`, "error=EIO", 5_000),
  "each sync takes 500 ms, for 10 s": answered(SYNCS, "delay_exit=500000", 10_000),
  "the last page is torn": torn,
  "another process holds the lock for 20 s": locked(20_000),
  "the clock jumps an hour ahead": jump(HOUR_MS),
  "the clock jumps an hour back": jump(-HOUR_MS),
  "the clock jumps a day ahead": jump(DAY_MS),
  "the clock jumps a day back": jump(-DAY_MS),
  "the process is suspended for 20 s": suspended(20_000),
};

type StorageCase = FaultCase & { readonly fault: Fault };

export const STORAGE_CASES: readonly StorageCase[] = Object.entries(FAULTS).flatMap(([what, fault]) =>
  (["command", "click", "submit"] as const).map((from) => ({
    name: `${what}, from the ${from} on`,
    from,
    fault,
  })),
);

const CLOCK = new URL("jumping-clock.ts", import.meta.url).href;

/** Makes the bot's wall clock follow this file, which must exist. */
export const withClock = (env: Environment, clockFile: string): Environment => ({
  ...env,
  NODE_OPTIONS: `--import=${CLOCK}`,
  CLOCK_FILE: clockFile,
});

export const setUpStorageFault =
  (lane: OneProcess, { fault }: StorageCase, clockFile: string): SetUpFault =>
  (onStrike) =>
    fault(lane, { clockFile, onStrike });

/**
 * For `ms`, makes the kernel answer these calls on the database's files in this way. `how` is in the syntax of strace's `inject`. The fault
 * took effect if strace noted a call that it answered so.
 */
function answered(calls: string, how: string, ms: number): Fault {
  return async (lane, { onStrike }) => {
    const { database } = lane;
    const notes = `${database}.strace`;
    const files = [database, `${database}-wal`, `${database}-shm`].flatMap((file) => ["-P", file]);
    const what = ["-e", `trace=${calls}`, "-e", `inject=${calls}:${how}`, "-o", notes];
    const strace = spawn("strace", ["-f", "-p", String(lane.bot().pid), ...files, ...what]);
    // strace reports on standard error that it is attached.
    await Promise.race([once(strace.stderr, "data"), once(strace, "exit").then(() => never())]);
    const over = endLater();
    return () => over;

    async function endLater(): Promise<void> {
      await after(ms);
      const gone = once(strace, "exit");
      if (strace.exitCode === null && strace.kill("SIGINT")) await gone;
      if (/\((?:INJECTED|DELAYED)\)/.test(readFileSync(notes, "utf8"))) onStrike();
    }
  };
}

function never(): never {
  throw new Error("strace could not attach to the bot: it needs the right to trace other processes");
}

/** The machine loses power in the middle of an unsynced write, which leaves half a page of random bytes. */
async function torn(lane: OneProcess, { onStrike }: Strike): Promise<() => Promise<void>> {
  await lane.kill();
  appendFileSync(`${lane.database}-wal`, randomBytes(2_100));
  await lane.restart();
  onStrike();
  return () => Promise.resolve();
}

function locked(ms: number): Fault {
  return ({ database }, { onStrike }) => {
    const other = new DatabaseSync(database);
    other.exec("pragma busy_timeout = 5000; begin immediate");
    onStrike();
    const over = releaseLater();
    return Promise.resolve(() => over);

    async function releaseLater(): Promise<void> {
      await after(ms);
      other.exec("rollback");
      other.close();
    }
  };
}

/** The wall clock jumps by `ms`, and back at the end of the life. */
function jump(ms: number): Fault {
  return (_lane, { clockFile, onStrike }) => {
    writeFileSync(clockFile, String(ms));
    onStrike();
    return Promise.resolve(() => {
      writeFileSync(clockFile, "0");
      return Promise.resolve();
    });
  };
}

function suspended(ms: number): Fault {
  return (lane, { onStrike }) => {
    const resume = lane.bot().pause();
    onStrike();
    const over = after(ms).then(resume);
    return Promise.resolve(() => over);
  };
}
