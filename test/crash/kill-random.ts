// Kills the bot at random instants, as many lives long as asked for: `node test/crash/kill-random.ts 200 --seed 1`.
// One line of counts at the end; exit code 1, and what was broken, when an invariant did not hold.

import { parseArgs } from "node:util";
import { type Lane, startLane } from "./lane.ts";
import { type Life, live, newLife } from "./life.ts";
import { watch, type Witness } from "./verdict.ts";

type Task = { readonly text: string; readonly verdict: "approve" | "deny" };

const FIRST: Task = { text: "deploy billing", verdict: "approve" };
const TASKS: readonly Task[] = [
  FIRST,
  { text: "deploy billing", verdict: "deny" },
  { text: "two approvals for the release", verdict: "approve" },
  { text: "huge report", verdict: "approve" },
];
/** A life that nothing disturbs is over by then (ms), and a bot has started (ms). */
const LIFE_MS = 1_200;
const STARTING_MS = 500;
const MOST_KILLS = 3;
/** In this share of the lives the second and third kill come while the bot is starting. */
const STARTING_SHARE = 0.2;
const LANES = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string", default: "1" } },
});
const size = Number(positionals[0] ?? "100");
const seed = Number(values.seed);
if (!Number.isSafeInteger(size) || size < 1 || !Number.isSafeInteger(seed)) {
  console.error("Usage: node test/crash/kill-random.ts <lives> [--seed <whole number>]");
  process.exit(2);
}

const counts = { lives: 0, kills: 0, again: 0, unconfirmed: 0, resent: 0, broken: 0 };
const startedAt = Date.now();
let next = 0;
await Promise.all(Array.from({ length: Math.min(LANES, size) }, () => work()));
const seconds = Math.round((Date.now() - startedAt) / 1_000);
console.log(
  `${counts.lives} lives, ${counts.kills} kills, seed ${seed}: ${counts.broken} broken; ${counts.again} started again after an unknown start, ${counts.unconfirmed} decisions honestly unconfirmed, ${counts.resent} sent again with the same content; ${seconds} s`,
);
process.exit(counts.broken === 0 ? 0 : 1);

async function work(): Promise<void> {
  const lane = await startLane();
  const lived: Lived[] = [];
  while (next < size) lived.push(await oneLife(lane, next++));
  // What a bot does late, about a life of long ago, is judged too.
  await lane.quiet();
  for (const each of lived) tally(each);
  await lane.stop();
}

type Lived = {
  readonly index: number;
  readonly life: Life;
  readonly witness: Witness;
  readonly stuck: string | null;
};

async function oneLife(lane: Lane, index: number): Promise<Lived> {
  // Numbers of its own for each life: they do not depend on which lane is faster.
  const random = numbers(seed * 1_000_003 + index);
  const task = TASKS[Math.floor(random() * TASKS.length)] ?? FIRST;
  const life = newLife(lane.world, `life ${index}`, task.text, task);
  const witness = watch(lane.world, life);
  const instants = Array.from({ length: 1 + Math.floor(random() * MOST_KILLS) }, () => random() * LIFE_MS);
  const killed = killAt(lane, instants, random() < STARTING_SHARE);
  const stuck = await live(lane, life, () => Promise.resolve()).then(
    () => null,
    (error: unknown) => String(error),
  );
  await killed;
  const audit = await lane.audit();
  const torn = audit.ok ? null : `the audit is torn at entry ${audit.seq}: ${audit.fault}`;
  return { index, life, witness, stuck: stuck ?? torn };
}

/** After each pause (ms) a kill. `early`: the next kill comes while the bot is still starting. */
async function killAt(lane: Lane, pauses: readonly number[], early: boolean): Promise<void> {
  for (const [nth, ms] of pauses.entries()) {
    await pause(early && nth > 0 ? ms * (STARTING_MS / LIFE_MS) : ms);
    await lane.kill();
    counts.kills += 1;
    const up = lane.restart();
    // A process that is killed while it starts is no failure.
    if (early && nth + 1 < pauses.length) up.catch(() => undefined);
    else await up;
  }
}

function tally({ index, life, witness, stuck }: Lived): void {
  const { broken, unconfirmed, resent } = witness.verdict();
  const all = stuck === null ? broken : [stuck, ...broken];
  counts.lives += 1;
  counts.again += life.again;
  counts.unconfirmed += unconfirmed;
  counts.resent += resent;
  counts.broken += all.length;
  for (const each of all) console.error(`life ${index}, seed ${seed}, "${life.task}": ${each}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Mulberry32: the same seed gives the same numbers in [0, 1) everywhere. */
function numbers(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
