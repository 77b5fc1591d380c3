// A thread that plays the histories that it is sent, one after the other. lane.ts starts some.

import { parentPort } from "node:worker_threads";
import { type Fault, playStory } from "./enumerate.ts";
import { playSeed } from "./random-history.ts";
import { STORIES } from "./scenarios.ts";
import { FailedHistory, type SimulatedWorld } from "./world.ts";

export type Asked =
  | { readonly type: "seed"; readonly seed: number }
  | { readonly type: "schedule"; readonly story: string; readonly faults: readonly Fault[] };

export type Told = {
  readonly events: number;
  readonly states: ReadonlyMap<string, number>;
  /** How many ways each choice of a schedule had, in their order. */
  readonly options: readonly number[];
  /** Null: nothing was broken. */
  readonly broken: string | null;
  /** Only of what was broken. */
  readonly notes: readonly string[];
};

parentPort?.on("message", (asked: Asked) => void play(asked).then((told) => parentPort?.postMessage(told)));

async function play(asked: Asked): Promise<Told> {
  try {
    const { world, options } = await playAsked(asked);
    return { ...countsOf(world), options, broken: null, notes: [] };
  } catch (error) {
    if (error instanceof FailedHistory)
      return { ...countsOf(error.world), options: [], broken: error.message, notes: error.world.notes };
    return { events: 0, states: new Map(), options: [], broken: stackOf(error), notes: [] };
  }
}

async function playAsked(asked: Asked): ReturnType<typeof playStory> {
  if (asked.type === "seed") return { world: await playSeed(asked.seed), options: [] };
  const story = STORIES[asked.story];
  if (story === undefined) throw new Error(`no story is called ${asked.story}`);
  return playStory(story, asked.faults);
}

const countsOf = ({ notes, states }: SimulatedWorld) => ({ events: notes.length, states });

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
