// A thread that plays the histories it is sent, one after the other. Started by lane.ts.

import { parentPort } from "node:worker_threads";
import { type Fault, playStory } from "./enumerate.ts";
import { playSeed } from "./random-history.ts";
import { STORIES } from "./scenarios.ts";
import { FailedHistory, type SimulatedWorld } from "./world.ts";

export type LaneTask =
  | { readonly type: "seed"; readonly seed: number }
  | { readonly type: "schedule"; readonly story: string; readonly faults: readonly Fault[] };

export type LaneResult = {
  readonly events: number;
  readonly states: ReadonlyMap<string, number>;
  /** How many ways each choice of a schedule had, in order. */
  readonly options: readonly number[];
  /** What was broken. Null if nothing was. */
  readonly broken: string | null;
  /** The lines of the history. Empty unless something was broken. */
  readonly notes: readonly string[];
};

parentPort?.on(
  "message",
  (task: LaneTask) => void play(task).then((result) => parentPort?.postMessage(result)),
);

async function play(task: LaneTask): Promise<LaneResult> {
  try {
    const { world, options } = await playTask(task);
    return { ...countsOf(world), options, broken: null, notes: [] };
  } catch (error) {
    if (error instanceof FailedHistory)
      return { ...countsOf(error.world), options: [], broken: error.message, notes: error.world.notes };
    return { events: 0, states: new Map(), options: [], broken: stackOf(error), notes: [] };
  }
}

async function playTask(task: LaneTask): ReturnType<typeof playStory> {
  if (task.type === "seed") return { world: await playSeed(task.seed), options: [] };
  const story = STORIES[task.story];
  if (story === undefined) throw new Error(`there is no story ${task.story}`);
  return playStory(story, task.faults);
}

const countsOf = ({ notes, states }: SimulatedWorld) => ({ events: notes.length, states });

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
