// All runs there are, and the time that moves them: the one truth behind the endpoints and the controls.

import { createAlarms } from "./alarms.ts";
import { createChanges } from "./changes.ts";
import type { Wait } from "./changes.ts";
import type { Clock } from "./clock.ts";
import { newRun } from "./run.ts";
import type { Moved, Run } from "./run.ts";
import { wake } from "./script.ts";
import { createStateFile } from "./state-file.ts";
import { stepsFor } from "./tasks.ts";

/** What a test or a page may look at. */
export type Runs = {
  readonly all: () => readonly Run[];
  readonly get: (id: string) => Run | undefined;
  /** The run, as soon as it fits. */
  readonly until: (id: string, fits: (run: Run) => boolean, wait?: Wait) => Promise<Run>;
  readonly subscribe: (listener: () => void) => () => void;
};

export type World = Runs & {
  readonly create: (input: string, idempotencyKey?: string) => Run;
  /** The run made with this key earlier. */
  readonly madeWith: (idempotencyKey: string) => Run | undefined;
  readonly apply: (id: string, move: (run: Run, now: number) => Moved) => Moved;
  readonly newApprovalId: () => string;
  /** Resolves when all that happened so far would survive the end of this process. */
  readonly saved: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type WorldOptions = {
  readonly clock: Clock;
  readonly tempo: number;
  /** What `loadState` found. */
  readonly state: unknown;
  readonly statePath: string | null;
  readonly newId: (kind: "run" | "apr") => string;
};

type State = {
  readonly version: 1;
  readonly runs: readonly Run[];
  readonly keys: readonly (readonly [string, string])[];
};

const queuedMs = 400;
const resumeMs = 400;

export function createWorld(options: WorldOptions): World {
  const { clock, tempo } = options;
  const memory = createMemory(options);
  const { runs, keys } = memory;
  const alarms = createAlarms(clock, (id) => {
    const run = runs.get(id);
    const telling = { now: clock.now(), tempo, newApprovalId: () => options.newId("apr") };
    if (run !== undefined) put(wake(run, stepsFor(run.input), telling));
  });

  function put(run: Run) {
    alarms.set(run.id, run.wakeAt);
    memory.put(run);
  }

  for (const run of runs.values()) alarms.set(run.id, run.wakeAt);

  return {
    ...memory.view,
    create(input, idempotencyKey) {
      const now = clock.now();
      const run = { ...newRun(options.newId("run"), input, now), wakeAt: now + queuedMs * tempo };
      if (idempotencyKey !== undefined) keys.set(idempotencyKey, run.id);
      put(run);
      return run;
    },
    madeWith: (idempotencyKey) => runs.get(keys.get(idempotencyKey) ?? ""),
    apply(id, move) {
      const run = runs.get(id);
      if (run === undefined) throw new Error(`there is no run ${id}`);
      const now = clock.now();
      const moved = move(run, now);
      if (moved.ok) put(rested(run, moved.run, now + resumeMs * tempo));
      return moved;
    },
    newApprovalId: () => options.newId("apr"),
    saved: memory.saved,
    async stop() {
      alarms.clear();
      await memory.close();
    },
  };
}

function createMemory({ state, statePath }: Pick<WorldOptions, "state" | "statePath">) {
  const { runs, keys } = restored(state);
  const changes = createChanges();
  const dumped = (): State => ({ version: 1, runs: [...runs.values()], keys: [...keys] });
  const file = statePath === null ? null : createStateFile(statePath, dumped);
  const view: Runs = {
    all: () => [...runs.values()],
    get: (id) => runs.get(id),
    until: (id, fits, wait) =>
      changes.until(
        () => fitting(runs.get(id), fits),
        () => `the run is ${JSON.stringify(runs.get(id))}`,
        wait,
      ),
    subscribe: changes.subscribe,
  };

  return {
    runs,
    keys,
    view,
    put(run: Run) {
      runs.set(run.id, run);
      // Whoever must be sure awaits `saved` again and gets the error there.
      file?.saved().catch((error: unknown) => console.error("state not saved:", error));
      changes.changed();
    },
    saved: async () => file?.saved(),
    close: async () => file?.close(),
  };
}

/** A run that goes on after its last approval takes a moment to do so. */
function rested(before: Run, after: Run, wakeAt: number): Run {
  return before.phase === "awaiting_approval" && after.phase === "working" ? { ...after, wakeAt } : after;
}

function fitting(run: Run | undefined, fits: (run: Run) => boolean): Run | undefined {
  return run !== undefined && fits(run) ? run : undefined;
}

function restored(state: unknown): { runs: Map<string, Run>; keys: Map<string, string> } {
  if (state === null) return { runs: new Map(), keys: new Map() };
  if (typeof state !== "object" || !("version" in state) || state.version !== 1) {
    throw new Error("the state file is not one of this service");
  }
  const { runs, keys } = state as State;
  return { runs: new Map(runs.map((run) => [run.id, run])), keys: new Map(keys) };
}
