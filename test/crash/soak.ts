// `npm run soak -- [--minutes 30] [--runs 5000] [--kill-every 120]`: one process on a file watches many runs while requests are decided,
// and is killed now and then in the first third. The last process lives for the other two thirds. Its memory, open files and sockets must
// not grow, nor may the database. docs/reliability.md has a result.

import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { openStore } from "#src/adapters/store/open.ts";
import { RunId } from "#src/domain/ids.ts";
import { aQuietRun } from "../../bench/runs.ts";
import { readCommandLine, wholeNumber } from "../make/command-line.ts";
import { grownIn, type Sample } from "./growth.ts";
import { type OneProcess, startLane } from "./lane.ts";
import { live, newLife } from "./life.ts";
import { watch } from "./verdict.ts";

const { minutes, runs, killEvery } = readArgs();

const MINUTE_MS = 60_000;
/** The pace of production, not the fast polls of the other campaigns. */
const PACE = { POLL_MIN_MS: "1000", POLL_MAX_MS: "15000" };
/** How long the runs have been quiet at the start (ms), so that most are polled at the slowest pace. */
const QUIET_MS = 30 * MINUTE_MS;
const WHOLE_MS = minutes * MINUTE_MS;
/** Kills come until then. A leak needs a process that lives long. */
const KILLS_MS = WHOLE_MS / 3;
/** A sample each minute, and more often if the whole is so short that the last process would have fewer than twelve. */
const SAMPLE_MS = Math.min(MINUTE_MS, (WHOLE_MS - KILLS_MS) / 12);
/** What an approval adds to the database: its audit entries, and its run until that is deleted (docs/deploy.md). */
const BYTES_FOR_EACH = 20_000;
/** Room for what was written since the last checkpoint. */
const WAL_BYTES = 16 * 2 ** 20;

const lane = await startLane(PACE);
await watchQuietRuns(lane);
const began = Date.now();
const firstBytes = sizeOf(lane.database);
/** Those of the current process. */
let samples: Sample[] = [];
const broken: string[] = [];
const counts = { lives: 0, kills: 0 };

for (const end = began + KILLS_MS; Date.now() < end;) {
  await liveUntil(Math.min(Date.now() + killEvery * 1_000, end));
  await lane.kill();
  await lane.restart();
  counts.kills += 1;
}
await liveUntil(began + WHOLE_MS);

const audit = await lane.audit();
if (!audit.ok) broken.push(`the audit is torn at entry ${audit.seq}: ${audit.fault}`);
const bytesForEach = Math.round((sizeOf(lane.database) - firstBytes) / counts.lives);
const grown = [...grownIn(samples), ...largeDatabase()];
await lane.stop();
for (const each of [...broken, ...grown]) console.error(each);
console.log(
  `${runs} runs watched, ${counts.lives} lives, ${counts.kills} kills, ${minute()} min: ${broken.length} violations, ${bytesForEach} bytes of the database for each decision, ${grown.length === 0 ? "nothing else grew" : "something grew"}`,
);
process.exit(broken.length + grown.length === 0 ? 0 : 1);

async function watchQuietRuns(on: OneProcess): Promise<void> {
  const { world, database } = on;
  await on.kill();
  const store = await openStore({ url: `sqlite:${database}`, owner: "soak" });
  for (let index = 0; index < runs; index += 1) {
    const { id } = world.service.control.createRun("rotate the certificates forever");
    await store.insert(aQuietRun(RunId(id), index, QUIET_MS), {});
  }
  await store.release();
  await store.close();
  await on.restart();
}

/** Plays lives, and samples the process, whose first samples these are. */
async function liveUntil(end: number): Promise<void> {
  samples = [];
  for (let sampleAt = Date.now() + SAMPLE_MS; Date.now() < end;) {
    await oneLife();
    if (Date.now() < sampleAt) continue;
    const sample = measured(lane.bot().pid ?? 0);
    samples.push(sample);
    const databaseBytes = sizeOf(lane.database);
    console.log(JSON.stringify({ minute: minute(), process: counts.kills + 1, ...sample, databaseBytes }));
    sampleAt = Date.now() + SAMPLE_MS;
  }
}

async function oneLife(): Promise<void> {
  const { world } = lane;
  // Thousands of recorded polls would slow the service down.
  world.service.requests.clear();
  const life = newLife(world, `life ${counts.lives}`, "deploy billing", { verdict: "approve" });
  const witness = watch(world, life);
  await live(lane, life, () => Promise.resolve()).catch((error: unknown) => broken.push(String(error)));
  broken.push(...witness.verdict().broken);
  witness.stop();
  counts.lives += 1;
}

function measured(pid: number): Sample {
  const files = readdirSync(`/proc/${pid}/fd`);
  const leadsTo = (file: string): string => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${file}`);
    } catch {
      return "";
    }
  };
  const kb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  const sockets = files.filter((each) => leadsTo(each).startsWith("socket:")).length;
  return { rssMb: Math.round(kb / 1_024), files: files.length, sockets };
}

/** Returns what is wrong with the size of the database, which is compared over the whole time. */
function largeDatabase(): readonly string[] {
  return [
    ...(bytesForEach <= BYTES_FOR_EACH
      ? []
      : [`the database grew by ${bytesForEach} bytes for each decision`]),
    ...(statSync(`${lane.database}-wal`).size <= WAL_BYTES ? [] : ["the database's log is too long"]),
  ];
}

/** Returns the size of the database without its write-ahead log (bytes). */
function sizeOf(database: string): number {
  return statSync(database).size;
}

function minute(): number {
  return Math.round((Date.now() - began) / MINUTE_MS);
}

function readArgs() {
  const options = {
    minutes: { type: "string", default: "30" },
    runs: { type: "string", default: "5000" },
    "kill-every": { type: "string", default: "120" },
  } as const;
  const usage = `npm run soak -- [--minutes 30] [--runs 5000] [--kill-every 120]
In the first third of the time, the process is killed every N seconds (--kill-every), and at its end. The last process lives for the other
two thirds, and must not grow. Needs Linux, for its /proc.`;
  return readCommandLine(usage, options, (given) => ({
    minutes: wholeNumber("--minutes", given.minutes),
    runs: wholeNumber("--runs", given.runs),
    killEvery: wholeNumber("--kill-every", given["kill-every"]),
  }));
}
