// Plays lives of runs under a policy with quorum and holds, with kills at random instants: `npm run campaign:kills -- --lives 2000 --seed
// 1`. One of several processes may also be suspended for longer than its lease. The last line has the figures. Prints each broken invariant, and exits with 1 if there is one. docs/reliability.md has results.

import { setTimeout as later } from "node:timers/promises";
import { readCommandLine, wholeNumber } from "../make/command-line.ts";
import { type StruckLane, startStruckLane, type Victim } from "./campaign-lanes.ts";
import { type Life, live, newLife, noteStrike } from "./life.ts";
import { watch, type Witness } from "./verdict.ts";

type Task = { readonly text: string } & Parameters<typeof newLife>[3];

const FIRST: Task = { text: "deploy billing", verdict: "approve" };
/** kill-campaign-policy.yaml and sandbox/service/tasks.ts say what the words of a task mean. */
const TASKS: readonly Task[] = [
  FIRST,
  { text: "deploy billing", verdict: "deny" },
  { text: "two approvals for the release", verdict: "approve" },
  { text: "huge report", verdict: "approve" },
  { text: "deploy billing in pairs", verdict: "approve", byTwo: true },
  { text: "deploy billing after a hold", verdict: "approve", holdMs: 1_000 },
  { text: "deploy billing in pairs after a hold", verdict: "approve", byTwo: true, holdMs: 1_000 },
];
const MAX_KILLS = 3;
/** The share of lives in which the second and third kill come while the victim is starting. */
const STARTING_SHARE = 0.2;
const STARTING_MS = 500;
/** With `--database`, the share of kills that hit the database, and the longest time that it stays down (ms). Clicks give up before. */
const DATABASE_SHARE = 0.5;
const AWAY_MS = 5_000;
/** The recorders keep 100,000 requests. This many lives stay far below. */
const LIVES_OF_A_LANE = 25;

const { lives: size, from, replicas, seed, lanes, minutes, strikesDatabase, hasStandby } = readArgs();

const counts = {
  lives: 0,
  killed: 0,
  suspended: 0,
  crashed: 0,
  acknowledged: 0,
  lost: 0,
  broken: 0,
  again: 0,
  unconfirmed: 0,
  resent: 0,
};
const startedAt = Date.now();
const endsAt = startedAt + minutes * 60_000;
let next = from;
/** Returns whether another life may begin: none begins after `--minutes`. */
const isMore = (): boolean => next < from + size && Date.now() < endsAt;
await Promise.all(Array.from({ length: Math.min(lanes, size) }, () => work()));
console.log(figures());
process.exit(counts.broken === 0 ? 0 : 1);

function figures(): string {
  const { lives, killed, suspended, crashed, acknowledged, lost, broken, again, unconfirmed, resent } =
    counts;
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  const struck = [
    `${killed} kills`,
    ...(replicas > 1 ? [`${suspended} suspensions beyond the lease`] : []),
    ...(strikesDatabase ? [`${crashed} kills of the database`] : []),
  ].join(", ");
  return `${lives} lives, ${replicas} ${replicas === 1 ? "process" : "processes"}, ${struck}, ${acknowledged} decisions acknowledged, seed ${seed}: ${broken} violations, ${lost} acknowledged decisions lost; ${again} started again after an unknown start, ${unconfirmed} decisions honestly unconfirmed, ${resent} sent again with the same content; ${seconds} s`;
}

async function work(): Promise<void> {
  while (isMore()) {
    const lane = await startStruckLane(replicas, hasStandby);
    const lived: Lived[] = [];
    const windowMs = await undisturbed(lane);
    while (isMore() && lived.length < LIVES_OF_A_LANE) lived.push(await oneLife(lane, next++, windowMs));
    // What a bot does late, for an earlier life, is judged, too.
    await lane.quiet();
    for (const each of lived) tally(each);
    if (lane.world.service.requests.forgotten() > 0)
      fail("the recorder has forgotten requests, so nothing is proved");
    for (const finding of await lane.findings()) fail(`the bot found tampering: ${finding}`);
    await lane.stop();
    console.error(figures());
  }
}

/** Measures a life without kills (ms), so that kills fall into a life even on a slow machine. This life is not counted. */
async function undisturbed(lane: StruckLane): Promise<number> {
  const began = performance.now();
  await live(lane, newLife(lane.world, "undisturbed", FIRST.text, FIRST), () => Promise.resolve());
  return performance.now() - began;
}

type Lived = {
  readonly index: number;
  readonly life: Life;
  readonly witness: Witness;
  readonly stuck: string | null;
};

async function oneLife(lane: StruckLane, index: number, windowMs: number): Promise<Lived> {
  // Each life has its own random numbers, so they do not depend on which lane is faster.
  const random = numbers(seed * 1_000_003 + index);
  const task = TASKS[Math.floor(random() * TASKS.length)] ?? FIRST;
  const life = newLife(lane.world, `life ${index}`, task.text, task);
  const witness = watch(lane.world, life);
  const pauses = Array.from({ length: 1 + Math.floor(random() * MAX_KILLS) }, () => random() * windowMs);
  const killed = killAfter(lane, life, pauses, random);
  const stuck = await live(lane, life, () => Promise.resolve()).then(
    () => null,
    (error: unknown) => String(error),
  );
  await killed;
  const audit = await lane.audit();
  const torn = audit.ok ? null : `the audit is damaged at entry ${audit.seq}: ${audit.fault}`;
  return { index, life, witness, stuck: stuck ?? torn };
}

async function killAfter(
  lane: StruckLane,
  life: Life,
  pauses: readonly number[],
  random: () => number,
): Promise<void> {
  const early = random() < STARTING_SHARE;
  for (const [nth, ms] of pauses.entries()) {
    await later(early && nth > 0 ? Math.min(ms, STARTING_MS) : ms);
    const victim: Victim = strikesDatabase && random() < DATABASE_SHARE ? "database" : "process";
    const isBack = noteStrike(lane.world, life);
    const hit = await lane.strike(victim, random);
    if (hit === null) {
      isBack();
      continue;
    }
    counts[hit.how] += 1;
    if (hit.how === "crashed") await later(random() * AWAY_MS);
    const back = hit.bringBack().finally(isBack);
    // The start of a process that is killed meanwhile is expected to fail.
    if (early && hit.how === "killed" && nth + 1 < pauses.length) back.catch(() => undefined);
    else await back;
  }
}

function tally({ index, life, witness, stuck }: Lived): void {
  const { broken, acknowledged, lost, unconfirmed, resent } = witness.verdict();
  counts.lives += 1;
  counts.acknowledged += acknowledged;
  counts.lost += lost;
  counts.again += life.again;
  counts.unconfirmed += unconfirmed;
  counts.resent += resent;
  for (const each of stuck === null ? broken : [stuck, ...broken])
    fail(`life ${index}, seed ${seed}, "${life.task}": ${each} (commands: ${life.commands.join("; ")})`);
}

function fail(what: string): void {
  counts.broken += 1;
  console.error(what);
}

/** Mulberry32: returns the same numbers in [0, 1) for the same seed, on every machine. */
function numbers(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function readArgs() {
  const options = {
    lives: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    replicas: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    lanes: { type: "string", default: "4" },
    minutes: { type: "string", default: "1440" },
    database: { type: "boolean", default: false },
    standby: { type: "boolean", default: false },
  } as const;
  const usage = `npm run campaign:kills -- [--lives 100] [--from 1] [--minutes 1440] [--seed 1] [--lanes 4] [--replicas 3 [--database [--standby]]]
With --standby, a synchronous standby takes over from each database that is killed. Several replicas, and kills of the database, need PostgreSQL on this machine.`;
  return readCommandLine(usage, options, ({ database: strikesDatabase, standby: hasStandby, ...given }) => {
    const read = (name: keyof typeof given): number => wholeNumber(`--${name}`, given[name]);
    const [lives, from, replicas] = [read("lives"), read("from"), read("replicas")];
    const [seed, lanes, minutes] = [read("seed"), read("lanes"), read("minutes")];
    if (strikesDatabase && replicas === 1) throw new Error("--database needs several replicas");
    if (hasStandby && !strikesDatabase) throw new Error("--standby needs --database");
    return { lives, from, replicas, seed, lanes, minutes, strikesDatabase, hasStandby };
  });
}
