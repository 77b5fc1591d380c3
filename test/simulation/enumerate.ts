// Plays a story once for each combination of at most a given number of faults.

import { type Choose, scriptedFortune } from "./fortune.ts";
import { Stage, type Story } from "./scenarios.ts";
import { inWorld, type SimulatedWorld } from "./world.ts";

export type Fault = { readonly at: number; readonly way: number };
export type Enumerated = {
  readonly played: number;
  /** False if the time was up, or too many schedules were broken. */
  readonly ended: boolean;
  /** How many choices the story has without faults. */
  readonly choices: number;
  /** The first schedules that broke something, in the form in which they can be played again. */
  readonly broken: readonly { readonly faults: readonly Fault[]; readonly why: string }[];
};

type Played = { readonly world: SimulatedWorld; readonly options: readonly number[] };

/** A fault is named by the index of its choice, in the order of the history, and by its way. */
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

/** Plays one schedule. `options` is as in `playStory`. */
export type Player = (
  faults: readonly Fault[],
) => Promise<{ readonly options: readonly number[]; readonly broken: string | null }>;

export type Limits = {
  /** When to stop (on the clock of `performance.now`). */
  readonly until?: number;
  /** Plays only every nth of the schedules with `maxFaults` faults. */
  readonly every?: number;
};

/** Gives up after this many broken schedules. */
const MAX_BROKEN = 5;

/** Plays the schedule without a fault, then those with one, and so on. The players share the work. */
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
    const nth = count + 1 === maxFaults ? every : 1;
    const waiting = schedules.entries();
    const playOn = async (player: Player): Promise<void> => {
      for (const [index, faults] of waiting) {
        if (isCutShort()) return;
        const { options, broken: why } = await player(faults);
        played += 1;
        if (why !== null) broken.push({ faults, why });
        if (count === 0) choices = options.length;
        // Shifted by the index, so that the faults that are left out differ from one schedule to the next.
        if (count < maxFaults)
          next[index] = further(faults, options).filter((_, order) => (order + index) % nth === 0);
      }
    };
    await Promise.all(players.map(playOn));
    schedules = next.flat();
  }
  return { played, choices, broken, ended: !isCutShort() };
}

/** Returns each schedule with one more fault after those of this one. */
function further(faults: readonly Fault[], options: readonly number[]): (readonly Fault[])[] {
  const from = (faults.at(-1)?.at ?? -1) + 1;
  return options.flatMap((ways, at) =>
    at < from ? [] : Array.from({ length: ways - 1 }, (_, index) => [...faults, { at, way: index + 1 }]),
  );
}
