// All runs, and the clock that drives them: the state behind the endpoints and the controls.

import type { Wait } from "../base/changes.ts";
import type { Cancel, Clock } from "../base/sandbox-clock.ts";
import type { Memory } from "./service-memory.ts";
import { wake } from "./script.ts";
import { type Moved, newRun, type Run } from "./service-run.ts";
import { stepsFor } from "./tasks.ts";

/** What tests and the page can read. */
export type Runs = {
  readonly all: () => readonly Run[];
  readonly get: (id: string) => Run | undefined;
  /** Resolves to the run when it meets the condition. */
  readonly until: (id: string, fits: (run: Run) => boolean, wait?: Wait) => Promise<Run>;
  readonly subscribe: (listener: () => void) => () => void;
};

export type World = Runs & {
  readonly create: (input: string, idempotencyKey?: string) => Run;
  /** Returns the run that was created earlier with this key. */
  readonly madeWith: (idempotencyKey: string) => Run | undefined;
  readonly apply: (id: string, move: (run: Run, now: number) => Moved) => Moved;
  readonly newApprovalId: () => string;
  readonly stop: () => void;
};

export type WorldOptions = {
  readonly clock: Clock;
  readonly tempo: number;
  readonly memory: Memory;
  readonly newId: (kind: "run" | "apr") => string;
};

const queuedMs = 400;
const resumeMs = 400;

export function createWorld({ clock, tempo, memory, newId }: WorldOptions): World {
  const { runs, keys } = memory;
  const newApprovalId = () => newId("apr");
  const alarms = createAlarms(clock, (id) => {
    const run = runs.get(id);
    const context = { now: clock.now(), tempo, newApprovalId };
    if (run !== undefined) put(wake(run, stepsFor(run.input), context));
  });

  function put(run: Run) {
    alarms.set(run.id, run.wakeAt);
    runs.set(run.id, run);
    memory.changed();
  }

  for (const run of runs.values()) alarms.set(run.id, run.wakeAt);

  return {
    ...viewOf(memory),
    create(input, idempotencyKey) {
      const now = clock.now();
      const run = { ...newRun(newId("run"), input, now), wakeAt: now + queuedMs * tempo };
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
      if (moved.ok) put(withDelay(run, moved.run, now + resumeMs * tempo));
      return moved;
    },
    newApprovalId,
    stop: alarms.clear,
  };
}

function viewOf({ runs, changes }: Memory): Runs {
  return {
    all: () => [...runs.values()],
    get: (id) => runs.get(id),
    until: (id, fits, wait) =>
      changes.until(
        () => fitting(runs.get(id), fits),
        (ms) => `not within ${ms} ms; the run is ${JSON.stringify(runs.get(id))}`,
        wait,
      ),
    subscribe: changes.subscribe,
  };
}

/** Delays a run that continues after its last approval, like a real service. */
function withDelay(before: Run, after: Run, wakeAt: number): Run {
  return before.phase === "awaiting_approval" && after.phase === "working" ? { ...after, wakeAt } : after;
}

function fitting(run: Run | undefined, fits: (run: Run) => boolean): Run | undefined {
  return run !== undefined && fits(run) ? run : undefined;
}

// One alarm per run.

export type Alarms = {
  /** Replaces the alarm of the run. Null sets none. */
  readonly set: (id: string, at: number | null) => void;
  readonly clear: () => void;
};

function createAlarms(clock: Clock, fire: (id: string) => void): Alarms {
  const cancels = new Map<string, Cancel>();
  return {
    set(id, at) {
      cancels.get(id)?.();
      cancels.delete(id);
      if (at !== null)
        cancels.set(
          id,
          clock.after(Math.max(0, at - clock.now()), () => fire(id)),
        );
    },
    clear() {
      for (const cancel of cancels.values()) cancel();
      cancels.clear();
    },
  };
}
