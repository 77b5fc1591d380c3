// Stops the clocks of waiting requests while people cannot act: during a long outage of the service or of Slack, and while no process of
// Countersign runs or can store anything.
//
// Every few seconds, each process writes the time into one document that all replicas share. A gap means that no process ran, or that none
// reached the store. The clocks are set back by the gap before an expiry or an escalation is recorded (run-engine.ts), before a click or a
// form is judged, and at the start before any run is claimed. The time is written again only after that, so a crash in between is safe.

import { type OutageCause, isPausedBy, pauseClocks, resumeClocks } from "../domain/pause.ts";
import type { EventLog } from "../ports.ts";
import type { DocumentStore, RunStore } from "../ports/store.ts";
import { createBackgroundLoop, createDueWork } from "./background-work.ts";
import { changeHeld, changeUnfinished } from "./change-runs.ts";
import type { CountedTime } from "./clock.ts";
import type { RunEngine } from "./run-engine.ts";
import type { ServiceBreaker } from "./service-breaker.ts";
import { createSlackLost, GRACE_MS, type Lost, type SlackLostDeps } from "./slack-lost.ts";

export type PauseClocks = CountedTime & {
  start(): void;
  stop(): Promise<void>;
};

const CHECK_MS = 5_000;
/** The time between two writes of the shared document (ms). So the end of a process is known to within this time. */
const WRITE_EVERY_MS = 15_000;
const RETRY_MS = [1_000, 30_000] as const;
const RUNNING = "running at";

type Deps = SlackLostDeps & {
  readonly store: DocumentStore & Pick<RunStore, "eachRun">;
  readonly engine: Pick<RunEngine, "change" | "changeAnywhere" | "holdsShard" | "onPlan">;
  readonly breaker: Pick<ServiceBreaker, "state">;
  readonly log: EventLog;
};

export function createPauseClocks(deps: Deps): PauseClocks {
  const { clock } = deps;
  /** When this process last wrote the time, or found a later one there (monotonic ms). */
  let writtenAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;

  async function makeUpAndWrite(): Promise<void> {
    const stored = await makeUpForGap(deps);
    const at = clock.monotonic();
    // A replica whose clock is behind must not make the others see a gap.
    if (at > stored) await deps.store.putDocument(RUNNING, at);
    writtenAt = at;
  }

  /** Callers during a write wait for that write. */
  async function writeIfOlderThan(ms: number): Promise<void> {
    if (clock.monotonic() - writtenAt < ms) return;
    writing ??= makeUpAndWrite().finally(() => (writing = null));
    await writing;
  }

  const outages = [
    createOutagePause(deps, "service", () => serviceLostSince(deps.breaker)),
    createOutagePause(deps, "slack", createSlackLost(deps)),
  ];
  const loop = createBackgroundLoop(deps, {
    pass: async () => {
      await writeIfOlderThan(WRITE_EVERY_MS);
      for (const outage of outages) await outage.pass();
    },
    everyMs: CHECK_MS,
    retryMs: RETRY_MS,
    failure: "could not stop or start the clocks of waiting requests",
  });
  return {
    isCounted: (at) => at - writtenAt < GRACE_MS,
    makeUp: () => writeIfOlderThan(GRACE_MS),
    start: () => loop.start(CHECK_MS),
    stop: loop.stop,
  };
}

/**
 * Sets the clocks of all unfinished runs back, including those that no process holds yet. Resolves to the time that was stored last, or to
 * 0 if there is none.
 */
async function makeUpForGap(deps: Deps): Promise<number> {
  const { store, clock, log } = deps;
  const from = await store.document(RUNNING);
  const until = clock.monotonic();
  if (typeof from !== "number") return 0;
  if (until - from < GRACE_MS) return from;
  await changeUnfinished(deps, (run) => pauseClocks(run, { why: "stopped", from, until }));
  log.info(
    { ms: until - from },
    "nothing ran or was stored for a while: the clocks of waiting requests stood still",
  );
  return from;
}

function serviceLostSince(breaker: Deps["breaker"]): Lost {
  const state = breaker.state();
  if (state.type === "unknown") return "unknown";
  return state.type === "answers" ? null : state.since;
}

type OutagePause = { pass(): Promise<void> };

function createOutagePause(deps: Deps, why: OutageCause, lostSince: () => Lost | Promise<Lost>): OutagePause {
  /** Due while a clock may be stopped for this cause. The run may have arrived at a start, or from another replica. */
  const resuming = createDueWork();
  deps.engine.onPlan((run) => {
    if (isPausedBy(run, why)) resuming.ask();
  });
  /** The beginning of the outage for which all unfinished runs are paused. During it, only requests that open later still need a pause. */
  let pausedSince: number | null = null;

  async function pass(): Promise<void> {
    const since = await lostSince();
    if (since === "unknown") return;
    if (since === null) {
      const until = deps.clock.monotonic();
      await resuming.doIfDue(() => changeHeld(deps, "unfinished", (run) => resumeClocks(run, why, until)));
    } else if (deps.clock.monotonic() - since >= GRACE_MS) {
      resuming.ask();
      const only = pausedSince === since ? "pending" : "unfinished";
      await changeHeld(deps, only, (run) => pauseClocks(run, { why, from: since, until: null }));
      pausedSince = since;
    }
  }

  return { pass };
}
