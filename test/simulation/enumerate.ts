// Plays a story once for each way in which at most so many of its calls go wrong.

import { type Choose, scriptedFortune } from "./fortune.ts";
import { Stage, type Story } from "./scenarios.ts";
import { inWorld, type SimulatedWorld } from "./world.ts";

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

/** Plays one schedule. The options are those of `playStory`. */
export type Player = (
  faults: readonly Fault[],
) => Promise<{ readonly options: readonly number[]; readonly broken: string | null }>;

export type Limits = {
  /** When to stop (as `performance.now`). */
  readonly until?: number;
  /** Only each so-manyth of the schedules with faults. */
  readonly every?: number;
};

/** After so many broken schedules it gives up. */
const MAX_BROKEN = 5;

/** First the schedule without a fault, then those with one, and so on. The players share the work. */
export async function everySchedule(
  maxFaults: number,
  players: readonly Player[],
  { until = Number.POSITIVE_INFINITY, every = 1 }: Limits = {},
): Promise<Enumerated> {
  const broken: { faults: readonly Fault[]; why: string }[] = [];
  const isCutShort = (): boolean => broken.length >= MAX_BROKEN || performance.now() > until;
  let played = 0;
  let choices = 0;
  let schedules: readonly (readonly Fault[])[] = [[]];
  for (let count = 0; count <= maxFaults && !isCutShort(); count += 1) {
    const next: (readonly Fault[])[][] = [];
    const waiting = schedules.entries();
    const playOn = async (player: Player): Promise<void> => {
      for (const [index, faults] of waiting) {
        if (isCutShort()) return;
        const { options, broken: why } = await player(faults);
        played += 1;
        if (why !== null) broken.push({ faults, why });
        if (count === 0) choices = options.length;
        if (count < maxFaults) next[index] = further(faults, options).filter((_, nth) => nth % every === 0);
      }
    };
    await Promise.all(players.map(playOn));
    schedules = next.flat();
  }
  return { played, choices, broken, ended: !isCutShort() };
}

/** Each schedule with one more fault, after those that it has. */
function further(faults: readonly Fault[], options: readonly number[]): (readonly Fault[])[] {
  const from = (faults.at(-1)?.at ?? -1) + 1;
  return options.flatMap((many, at) =>
    at < from ? [] : Array.from({ length: many - 1 }, (_, index) => [...faults, { at, way: index + 1 }]),
  );
}
