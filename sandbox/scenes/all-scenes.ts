import { approve, deny } from "./approve-deny.ts";
import { ownRun, twice } from "./dares.ts";
import type { Scene } from "./engine.ts";
import { hostile } from "./hostile.ts";
import { botKilled, serviceDies } from "./outages.ts";
import { change, race } from "./race-change.ts";
import { replicaDies } from "./replica-dies.ts";
import { reviewSeveral } from "./review-several.ts";
import { stopRun } from "./stop-run.ts";
import { storm } from "./approval-storm.ts";

/** The scenes for a bot that runs as one process, in the order in which the page lists them. */
export const allScenes: readonly Scene[] = [
  approve,
  deny,
  ownRun,
  twice,
  race,
  change,
  serviceDies,
  botKilled,
  stopRun,
  reviewSeveral,
  storm,
  hostile,
];

/** Adds the scenes that need several replicas, after the scene that kills the bot. */
export function scenesFor(replicas: number): readonly Scene[] {
  if (replicas < 2) return allScenes;
  return allScenes.flatMap((scene) => (scene === botKilled ? [botKilled, replicaDies] : [scene]));
}
