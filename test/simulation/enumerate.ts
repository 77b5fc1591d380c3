// Plays a story once for each way in which at most so many of its calls go wrong.

import { type Choose, scriptedFortune } from "./fortune.ts";
import { Stage, type Story } from "./scenarios.ts";
import { FailedHistory, inWorld, type SimulatedWorld } from "./world.ts";

export type Fault = { readonly at: number; readonly way: number };
export type Enumerated = {
  readonly played: number;
  /** False: the time was up, or too many were broken. */
  readonly ended: boolean;
  /** How many choices the story has when all goes well. */
  readonly choices: number;
  /** The first ones that broke something, as they can be played again. */
  readonly broken: readonly { readonly faults: readonly Fault[]; readonly why: string }[];
};

type Played = { readonly world: SimulatedWorld; readonly options: readonly number[] };

/** A fault is named by the number of its choice, in the order in which they come, and its way. */
export async function playStory(story: Story, faults: readonly Fault[]): Promise<Played> {
  const options: number[] = [];
  const choose: Choose = (ways) => {
    options.push(ways.length);
    return faults.find(({ at }) => at === options.length - 1)?.way ?? 0;
  };
  const fortune = scriptedFortune(choose);
  const { replicas, rule } = story;
  const world = await inWorld(fortune, rule === undefined ? { replicas } : { replicas, rule }, (each) =>
    story.play(new Stage(each, fortune)),
  );
  return { world, options };
}

export type Options = {
  readonly seen: (world: SimulatedWorld) => void;
  /** When to stop (as `performance.now`). */
  readonly until?: number;
  /** Only each so-manyth of the schedules with faults. */
  readonly every?: number;
};

/** How many broken schedules are kept. */
const MOST_BROKEN = 5;

/** Those with fewer faults come first. */
export async function everySchedule(
  story: Story,
  maxFaults: number,
  { seen, until = Number.POSITIVE_INFINITY, every = 1 }: Options,
): Promise<Enumerated> {
  const waiting: (readonly Fault[])[] = [[]];
  const broken: { faults: readonly Fault[]; why: string }[] = [];
  let played = 0;
  let choices = 0;
  for (let next = 0; next < waiting.length && broken.length < MOST_BROKEN; next += 1) {
    const faults = waiting[next] ?? [];
    if (performance.now() > until) return { played, choices, broken, ended: false };
    played += 1;
    try {
      const { world, options } = await playStory(story, faults);
      seen(world);
      if (faults.length === 0) choices = options.length;
      if (faults.length < maxFaults)
        waiting.push(...further(faults, options).filter((_, index) => index % every === 0));
    } catch (error) {
      if (!(error instanceof FailedHistory)) throw error;
      broken.push({ faults, why: error.message });
    }
  }
  return { played, choices, broken, ended: broken.length < MOST_BROKEN };
}

/** Each schedule with one more fault, after those that it has. */
function further(faults: readonly Fault[], options: readonly number[]): readonly (readonly Fault[])[] {
  const from = (faults.at(-1)?.at ?? -1) + 1;
  return options.flatMap((many, at) =>
    at < from ? [] : Array.from({ length: many - 1 }, (_, index) => [...faults, { at, way: index + 1 }]),
  );
}
