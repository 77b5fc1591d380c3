// `npm run simulate -- --seeds N [--from SEED] [--lanes L]` plays random histories, some of them side by side, and judges them.
// `npm run simulate -- --seed S [--focus NAME] --verbose` plays one history and prints it, with another focus than the seed's if one is given.
// `npm run simulate -- --enumerate [--faults 2] [--every K] [--story NAME] [--minutes M] [--lanes L]` plays the stories once for each
// combination of at most that many faults, or for every Kth of those with the most faults.
// `npm run simulate -- --schedule "STORY: AT/WAY ..."` plays one schedule again, as a broken enumeration prints it.
// `npm run simulate -- --days N [--seed S]` plays many days in one world, and compares what is kept at the end of each.
// Exit code 1: an invariant was broken, something grew that should not, the enumeration was cut short, or a long campaign missed a named
// state.

import { availableParallelism } from "node:os";
import { readCommandLine, wholeNumber } from "../make/command-line.ts";
import { everySchedule, type Fault, type Player, playStory } from "./enumerate.ts";
import { type Lane, startLane } from "./lane.ts";
import type { LaneTask, LaneResult } from "./lane-thread.ts";
import { FOCUS_NAMES } from "./focus.ts";
import { grownIn, type Night, playDays } from "./long-history.ts";
import { NAMED_STATES } from "./named-states.ts";
import { playSeed } from "./random-history.ts";
import { STORIES } from "./scenarios.ts";
import { FailedHistory, type SimulatedWorld } from "./world.ts";

const values = readCommandLine(
  `npm run simulate -- [--seeds 1000] [--from 1] [--lanes N]
       npm run simulate -- --seed N [--focus NAME] [--verbose]
       npm run simulate -- --enumerate [--faults 1] [--every N] [--story NAME] [--minutes N] [--lanes N]
       npm run simulate -- --schedule SCHEDULE
       npm run simulate -- --days N [--seed N]`,
  {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    lanes: { type: "string", default: String(availableParallelism()) },
    seed: { type: "string" },
    focus: { type: "string" },
    enumerate: { type: "boolean", default: false },
    faults: { type: "string", default: "1" },
    every: { type: "string", default: "1" },
    story: { type: "string" },
    minutes: { type: "string" },
    schedule: { type: "string" },
    days: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
  (given) => {
    for (const name of ["seeds", "from", "lanes", "seed", "faults", "every", "minutes", "days"] as const)
      if (given[name] !== undefined) wholeNumber(`--${name}`, given[name]);
    if (given.story !== undefined && STORIES[given.story] === undefined)
      throw new Error(`--story must be one of: ${Object.keys(STORIES).join(", ")}`);
    const focus = FOCUS_NAMES.find((name) => name === given.focus);
    if (given.focus !== undefined && focus === undefined)
      throw new Error(`--focus must be one of: ${FOCUS_NAMES.join(", ")}`);
    return { ...given, focus };
  },
);

const SEEDS_BETWEEN_REPORTS = 100;
/** Gives up after this many failing seeds. */
const MAX_FAILURES = 10;
const MINUTE_MS = 60_000;
/** A campaign of this many random histories must reach every named state. */
const LONG_CAMPAIGN = 20_000;
const NIGHTS_BETWEEN_REPORTS = 10;
/** How often each state occurred, and where it occurred first. */
const states = new Map<string, { readonly times: number; readonly first: string }>();
const began = performance.now();
const cpuBegan = process.cpuUsage();
let failures = 0;
let isComplete = true;
let played = 0;
let events = 0;

if (values.schedule !== undefined) await playOneSchedule(values.schedule);
else if (values.enumerate) await enumerateStories();
else if (values.days !== undefined) await playLong(Number(values.days), Number(values.seed ?? "1"));
else if (values.seed !== undefined) await playOneSeed(Number(values.seed));
else await playSeeds(Number(values.from), Number(values.seeds));

for (const [state, { times, first }] of [...states].sort(([a], [b]) => a.localeCompare(b)))
  console.log(`${times}\t${state}\t(first: ${first})`);
const missed = NAMED_STATES.filter((state) => !states.has(state));
if (missed.length > 0) console.log(`never reached: ${missed.join("; ")}`);
const isProof = isComplete && (missed.length === 0 || played < LONG_CAMPAIGN || values.enumerate);
console.log(
  `${played} histories, ${failures} broken, ${events} events, ${states.size} named states, ${seconds()} s, ${speed()}`,
);
process.exit(failures === 0 && isProof ? 0 : 1);

async function playOneSeed(seed: number): Promise<void> {
  try {
    note(await playSeed(seed, values.focus === undefined ? {} : { focus: values.focus }), `seed ${seed}`);
  } catch (error) {
    reportFailure(`seed ${seed}`, error);
  }
}

async function playSeeds(first: number, count: number): Promise<void> {
  let next = first;
  const take = (): number | null => (next < first + count && failures < MAX_FAILURES ? next++ : null);
  await inLanes(Math.min(Number(values.lanes), count), (lanes) =>
    Promise.all(
      lanes.map(async (lane) => {
        for (let seed = take(); seed !== null; seed = take()) {
          await playIn(lane, { type: "seed", seed }, `seed ${seed}`);
          if (played % SEEDS_BETWEEN_REPORTS === 0)
            console.log(`${played} of ${count} seeds, ${failures} broken, ${speed()}`);
        }
      }),
    ),
  );
  console.log(`the last seed was ${next - 1}`);
}

async function enumerateStories(): Promise<void> {
  const every = Number(values.every);
  const limits = {
    every,
    ...(values.minutes !== undefined && { until: began + Number(values.minutes) * MINUTE_MS }),
  };
  const ended = every === 1 ? "all" : `1 in ${every} of those with the most faults`;
  await inLanes(Number(values.lanes), async (lanes) => {
    for (const name of values.story === undefined ? Object.keys(STORIES) : [values.story]) {
      const players = lanes.map(
        (lane): Player =>
          (faults) =>
            playIn(
              lane,
              { type: "schedule", story: name, faults },
              `--schedule "${name}: ${written(faults)}"`,
            ),
      );
      const done = await everySchedule(Number(values.faults), players, limits);
      isComplete &&= done.ended;
      console.log(
        `${name}: ${done.choices} choices, ${done.played} schedules, ${done.ended ? ended : "NOT ALL"}, ${done.broken.length} broken, ${speed()}`,
      );
    }
  });
}

async function inLanes(count: number, play: (lanes: readonly Lane[]) => Promise<unknown>): Promise<void> {
  const lanes = Array.from({ length: count }, startLane);
  await play(lanes);
  await Promise.all(lanes.map((lane) => lane.end()));
}

async function playIn(lane: Lane, task: LaneTask, name: string): Promise<LaneResult> {
  const result = await lane.play(task);
  played += 1;
  events += result.events;
  addStates(result.states, name);
  if (result.broken !== null) reportBroken(name, result.broken, result.notes);
  return result;
}

async function playLong(days: number, seed: number): Promise<void> {
  const nights: Night[] = [];
  const onNight = (night: Night): void => {
    nights.push(night);
    if (nights.length % NIGHTS_BETWEEN_REPORTS === 0)
      console.log(
        `night ${nights.length}: ${[...night].map(([name, count]) => `${name} ${count}`).join(", ")}`,
      );
  };
  try {
    note(await playDays(seed, days, onNight), `--days ${days} --seed ${seed}`);
  } catch (error) {
    reportFailure(`day ${nights.length + 1} of --days ${days} --seed ${seed}`, error);
  }
  for (const words of grownIn(nights)) {
    failures += 1;
    console.log(words);
  }
}

async function playOneSchedule(given: string): Promise<void> {
  const [name = "", faults = ""] = given.split(":");
  const story = STORIES[name];
  if (story === undefined) throw new Error(`there is no story ${name}`);
  try {
    note((await playStory(story, read(faults))).world, given);
  } catch (error) {
    reportFailure(given, error);
  }
}

function written(faults: readonly Fault[]): string {
  return faults.map(({ at, way }) => `${at}/${way}`).join(" ");
}

function read(text: string): readonly Fault[] {
  return text
    .trim()
    .split(" ")
    .filter((each) => each !== "")
    .map((each) => {
      const [at, way] = each.split("/").map(Number);
      return { at: at ?? 0, way: way ?? 0 };
    });
}

function note(world: SimulatedWorld, name: string): void {
  played += 1;
  events += world.notes.length;
  addStates(world.states, name);
  if (values.verbose) console.log(`${world.notes.join("\n")}\ndigest ${world.digest()}`);
}

function addStates(seen: ReadonlyMap<string, number>, where: string): void {
  for (const [state, more] of seen) {
    const { times, first } = states.get(state) ?? { times: 0, first: where };
    states.set(state, { times: times + more, first });
  }
}

function reportFailure(what: string, error: unknown): void {
  played += 1;
  reportBroken(what, String(error), error instanceof FailedHistory ? error.world.notes : []);
  if (!(error instanceof FailedHistory)) console.log(error);
}

function reportBroken(what: string, why: string, notes: readonly string[]): void {
  failures += 1;
  console.log(`${what} BROKEN: ${why}`);
  if (values.verbose || failures === 1) console.log(notes.join("\n"));
}

function seconds(): string {
  return ((performance.now() - began) / 1_000).toFixed(1);
}

/** Histories per second of processor time (the machine may be busy with other things) and of real time. */
function speed(): string {
  const { user, system } = process.cpuUsage(cpuBegan);
  return `${((played * 1_000_000) / (user + system)).toFixed(1)} per second of processor time, ${(played / Number(seconds())).toFixed(1)} per second`;
}
