// `npm run simulate -- --seeds N [--from SEED]`: plays random histories and judges them. `--seed S --verbose` plays one and prints it.
// `npm run simulate -- --enumerate [--faults 2] [--story NAME] [--minutes M]`: plays the ten stories once for each way in which at most
// so many of their calls go wrong. Exit code 1: an invariant was broken.

import { readCommandLine, wholeNumber } from "../make/command-line.ts";
import { everySchedule, type Fault, playStory } from "./enumerate.ts";
import { NAMED_STATES } from "./named-states.ts";
import { playSeed } from "./random-history.ts";
import { STORIES } from "./scenarios.ts";
import { FailedHistory, type SimulatedWorld } from "./world.ts";

const values = readCommandLine(
  `npm run simulate -- [--seeds 1000] [--from 1] [--seed N [--verbose]]
       npm run simulate -- --enumerate [--faults 1] [--story NAME] [--minutes N]
       npm run simulate -- --schedule SCHEDULE`,
  {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    enumerate: { type: "boolean", default: false },
    faults: { type: "string", default: "1" },
    story: { type: "string" },
    minutes: { type: "string" },
    schedule: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
  (given) => {
    for (const name of ["seeds", "from", "seed", "faults", "minutes"] as const)
      if (given[name] !== undefined) wholeNumber(`--${name}`, given[name]);
    return given;
  },
);

const TELL_EVERY = 50;
/** So many failing seeds are shown before it gives up. */
const MOST_FAILURES = 10;
const MINUTE_MS = 60_000;
const states = new Map<string, number>();
const began = performance.now();
const cpuBegan = process.cpuUsage();
let failures = 0;
let played = 0;
let events = 0;

if (values.schedule !== undefined) await playOneSchedule(values.schedule);
else if (values.enumerate) await enumerateStories();
else await playSeeds();

for (const [state, times] of [...states].sort(([a], [b]) => a.localeCompare(b)))
  console.log(`${times}\t${state}`);
const missed = NAMED_STATES.filter((state) => !states.has(state));
if (missed.length > 0) console.log(`never reached: ${missed.join("; ")}`);
console.log(
  `${played} histories, ${failures} broken, ${events} events, ${states.size} named states, ${seconds()} s, ${speed()}`,
);
process.exit(failures > 0 ? 1 : 0);

async function playSeeds(): Promise<void> {
  const first = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.seeds) : 1;
  for (let seed = first; seed < first + count && failures < MOST_FAILURES; seed += 1) {
    try {
      note(await playSeed(seed));
    } catch (error) {
      tellFailure(`seed ${seed}`, error);
    }
    if (played % TELL_EVERY === 0) console.log(`${played} of ${count} seeds, ${failures} broken, ${speed()}`);
  }
  console.log(`the last seed was ${first + played - 1}`);
}

async function enumerateStories(): Promise<void> {
  const until = values.minutes === undefined ? {} : { until: began + Number(values.minutes) * MINUTE_MS };
  for (const [name, story] of Object.entries(STORIES)) {
    if (values.story !== undefined && values.story !== name) continue;
    const done = await everySchedule(story, Number(values.faults), { seen: note, ...until });
    failures += done.broken.length;
    const { played: schedules, choices, broken, ended } = done;
    console.log(
      `${name}: ${choices} choices, ${schedules} schedules, ${ended ? "all" : "NOT ALL"}, ${broken.length} broken, ${speed()}`,
    );
    for (const { faults, why } of broken) console.log(`  --schedule "${name}: ${written(faults)}": ${why}`);
  }
}

async function playOneSchedule(given: string): Promise<void> {
  const [name = "", faults = ""] = given.split(":");
  const story = STORIES[name];
  if (story === undefined) throw new Error(`no story is called ${name}`);
  try {
    note((await playStory(story, read(faults))).world);
  } catch (error) {
    tellFailure(given, error);
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

function note(world: SimulatedWorld): void {
  played += 1;
  events += world.notes.length;
  for (const [state, times] of world.states) states.set(state, (states.get(state) ?? 0) + times);
  if (values.verbose) console.log(`${world.notes.join("\n")}\ndigest ${world.digest()}`);
}

function tellFailure(what: string, error: unknown): void {
  played += 1;
  failures += 1;
  console.log(`${what} BROKEN: ${String(error)}`);
  if (!(error instanceof FailedHistory)) console.log(error);
  else if (values.verbose || failures === 1) console.log(error.world.notes.join("\n"));
}

function seconds(): string {
  return ((performance.now() - began) / 1_000).toFixed(1);
}

/** By the time of the processor, as a machine may be busy with other things. */
function speed(): string {
  const { user, system } = process.cpuUsage(cpuBegan);
  return `${((played * 1_000_000) / (user + system)).toFixed(1)} a second of the processor`;
}
