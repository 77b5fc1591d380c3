// `npm run soak -- [--minutes 30] [--runs 5000] [--kill-every 120]`: one process on a file watches many runs while requests are decided,
// and is killed now and then. Memory, open files, sockets and the database must not grow. docs/reliability.md has a result.

import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { openStore } from "#src/adapters/store/open.ts";
import { RunId } from "#src/domain/ids.ts";
import { aQuietRun } from "../../bench/runs.ts";
import { readCommandLine, wholeNumber } from "../make/command-line.ts";
import { type OneProcess, startLane } from "./lane.ts";
import { live, newLife } from "./life.ts";
import { watch } from "./verdict.ts";

const { minutes, runs, killEvery } = readArgs();

const MINUTE_MS = 60_000;
/** The pace of production, not the fast polls of the other campaigns. */
const PACE = { POLL_MIN_MS: "1000", POLL_MAX_MS: "15000" };
/** How long the runs have been quiet at the start (ms), so that most are polled at the slowest pace. */
const QUIET_MS = 30 * MINUTE_MS;
/** A process is measured at the end of its life, because a young one still loads and compiles. */
type Sample = { readonly rssMb: number; readonly files: number; readonly sockets: number };
/** How much the last third may exceed the first: a factor, and numbers. Connections to the service come and go with the load. */
const MAY_GROW = { rss: 1.1, files: 20, sockets: 20 };
/** What an approval adds to the database: its audit entries, and its run until that is deleted (docs/deploy.md). */
const BYTES_FOR_EACH = 20_000;
/** Room for what was written since the last checkpoint. */
const WAL_BYTES = 16 * 2 ** 20;

const began = Date.now();
const lane = await startLane(PACE);
await watchQuietRuns(lane);
const firstBytes = sizeOf(lane.database);
const samples: Sample[] = [];
const broken: string[] = [];
const counts = { lives: 0, kills: 0 };
let killAt = Date.now() + killEvery * 1_000;

while (Date.now() - began < minutes * MINUTE_MS) {
  await oneLife();
  if (Date.now() < killAt) continue;
  samples.push(measured(lane.bot().pid ?? 0));
  console.log(JSON.stringify({ minute: minute(), ...samples.at(-1), databaseBytes: sizeOf(lane.database) }));
  await lane.kill();
  await lane.restart();
  counts.kills += 1;
  killAt = Date.now() + killEvery * 1_000;
}

const audit = await lane.audit();
if (!audit.ok) broken.push(`the audit is torn at entry ${audit.seq}: ${audit.fault}`);
const bytesForEach = Math.round((sizeOf(lane.database) - firstBytes) / counts.lives);
const grown = growth();
await lane.stop();
for (const each of [...broken, ...grown]) console.error(each);
console.log(
  `${runs} runs watched, ${counts.lives} lives, ${counts.kills} kills, ${minute()} min: ${broken.length} violations, ${bytesForEach} bytes of the database for each decision, ${grown.length === 0 ? "nothing else grew" : "something grew"}`,
);
process.exit(broken.length + grown.length === 0 && samples.length >= 3 ? 0 : 1);

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

/** Returns what grew from the first to the last third of the samples. */
function growth(): readonly string[] {
  const third = Math.ceil(samples.length / 3);
  const middle = (of: readonly Sample[], what: keyof Sample): number =>
    of.map((each) => each[what]).toSorted((one, other) => one - other)[Math.floor(of.length / 2)] ??
    Number.NaN;
  const [early, late] = [samples.slice(0, third), samples.slice(-third)];
  const rises = (what: keyof Sample, limit: (before: number) => number): readonly string[] => {
    const [before, after] = [middle(early, what), middle(late, what)];
    return after <= limit(before) ? [] : [`${what} grew from ${before} to ${after}`];
  };
  return [
    ...rises("rssMb", (before) => before * MAY_GROW.rss),
    ...rises("files", (before) => before + MAY_GROW.files),
    ...rises("sockets", (before) => before + MAY_GROW.sockets),
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
The process is killed every N seconds (--kill-every). Needs Linux, for its /proc.`;
  return readCommandLine(usage, options, (given) => ({
    minutes: wholeNumber("--minutes", given.minutes),
    runs: wholeNumber("--runs", given.runs),
    killEvery: wholeNumber("--kill-every", given["kill-every"]),
  }));
}
