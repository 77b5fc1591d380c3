// A thread that plays the histories of the seeds that it is sent, one after the other. simulate.ts starts some.

import { parentPort } from "node:worker_threads";
import { playSeed } from "./random-history.ts";
import { FailedHistory, type SimulatedWorld } from "./world.ts";

export type PlayedSeed = {
  readonly seed: number;
  readonly events: number;
  readonly states: ReadonlyMap<string, number>;
  /** Null: nothing was broken. */
  readonly broken: string | null;
  readonly notes: readonly string[];
};

parentPort?.on(
  "message",
  (seed: number) => void play(seed).then((played) => parentPort?.postMessage(played)),
);

async function play(seed: number): Promise<PlayedSeed> {
  try {
    return { ...told(seed, await playSeed(seed)), broken: null, notes: [] };
  } catch (error) {
    if (error instanceof FailedHistory) return { ...told(seed, error.world), broken: String(error) };
    return { seed, events: 0, states: new Map(), broken: stackOf(error), notes: [] };
  }
}

function told(seed: number, world: SimulatedWorld) {
  return { seed, events: world.notes.length, states: world.states, notes: world.notes };
}

const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
