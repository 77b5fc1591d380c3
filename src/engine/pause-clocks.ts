// Stops the clocks of waiting requests while people cannot act: while the service or Slack is unreachable for long, and for the time in
// which no process of Countersign ran.
//
// Every few seconds each process writes the time into one document that all replicas share. A gap in it means that no process ran. At the
// start, the clocks are set back by the gap before any run is claimed; only then is the time written again, so a crash in between is safe.

import { shardOf } from "../domain/ids.ts";
import { type OutageCause, isPausedBy, pauseRun, resumeRun } from "../domain/pause.ts";
import type { Run } from "../domain/run.ts";
import type { EventLog } from "../ports.ts";
import type { SlackHealth } from "../ports/monitoring.ts";
import type { DocumentStore, RunStore } from "../ports/store.ts";
import { createBackgroundLoop } from "./background-work.ts";
import { type Change, changeEach, changeUnfinished } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import type { RunEngine } from "./run-engine.ts";
import type { ServiceBreaker } from "./service-breaker.ts";

export type PauseClocks = {
  /** Makes up for the time in which no process ran. Call it before runs are taken up. Rejects when the store fails. */
  begin(): Promise<void>;
  readonly heard: (run: Run) => void;
  start(): void;
  stop(): Promise<void>;
};

/** Shorter ones cost people nothing (ms). */
const GRACE_MS = 60_000;
const CHECK_MS = 5_000;
/** How exactly the end of a process is known (ms). */
const NOTE_MS = 15_000;
const RETRY_MS = [1_000, 30_000] as const;
const MAX_RUNS = 100_000;
const RUNNING = "running at";

type Deps = {
  readonly store: DocumentStore & Pick<RunStore, "list" | "channelsInUse">;
  readonly engine: Pick<RunEngine, "looksAfter">;
  readonly guard: Pick<ServiceBreaker, "state">;
  readonly slackHealth: Pick<SlackHealth, "connection" | "tokenRefusal">;
  readonly change: Change;
  readonly clock: Clock;
  readonly log: EventLog;
};

export function createPauseClocks(deps: Deps): PauseClocks {
  const { clock } = deps;
  const slackLost = createSince(clock, () => isSlackLost(deps.slackHealth));
  let notedAt = Number.NEGATIVE_INFINITY;

  async function note(): Promise<void> {
    if (clock.monotonic() - notedAt < NOTE_MS) return;
    await makeUpForStop(deps);
    await deps.store.putDocument(RUNNING, clock.monotonic());
    notedAt = clock.monotonic();
  }

  const outages = [
    createOutagePause(deps, "service", () => serviceLost(deps.guard)),
    createOutagePause(deps, "slack", slackLost),
  ];
  const loop = createBackgroundLoop(deps, {
    pass: async () => {
      await note();
      for (const outage of outages) await outage.pass();
    },
    everyMs: CHECK_MS,
    retryMs: RETRY_MS,
    failure: "could not stop or start the clocks of waiting requests",
  });
  return {
    begin: note,
    heard: (run) => outages.forEach((outage) => outage.heard(run)),
    start: () => loop.start(CHECK_MS),
    stop: loop.stop,
  };
}

/** Also for runs that no process looks after yet. */
async function makeUpForStop(deps: Deps): Promise<void> {
  const { store, clock, log } = deps;
  const from = await store.document(RUNNING);
  const until = clock.monotonic();
  if (typeof from !== "number" || until - from < GRACE_MS) return;
  log.info({ ms: until - from }, "nothing ran for a while: the clocks of waiting requests stood still");
  await changeUnfinished(deps, (run) => pauseRun(run, { why: "stopped", from, until }));
}

/** Since when something is so (monotonic), as far as this process knows. Null: it is not. */
type Since = () => number | null | "unknown";

function createSince(clock: Clock, isSo: () => boolean | null): Since {
  let since: number | null = null;
  return () => {
    const is = isSo();
    if (is === null) return "unknown";
    since = is ? (since ?? clock.monotonic()) : null;
    return since;
  };
}

function isSlackLost({ connection, tokenRefusal }: Deps["slackHealth"]): boolean | null {
  const is = connection();
  if (is === "starting" || is === "stopping") return null;
  return is === "lost" || tokenRefusal() !== null;
}

function serviceLost(guard: Deps["guard"]): ReturnType<Since> {
  const state = guard.state();
  if (state.type === "unknown") return "unknown";
  return state.type === "answers" ? null : state.since;
}

type OutagePause = { pass(): Promise<void>; heard(run: Run): void };

function createOutagePause(deps: Deps, why: OutageCause, lostSince: Since): OutagePause {
  /** Whether clocks may stand still for this: after a start, or after another replica has died, it is not known. */
  let mayStand = true;

  async function pass(): Promise<void> {
    const since = lostSince();
    if (since === "unknown") return;
    if (since === null) {
      if (!mayStand) return;
      const until = deps.clock.monotonic();
      await changeWaiting(deps, (run) => resumeRun(run, why, until));
      mayStand = false;
    } else if (deps.clock.monotonic() - since >= GRACE_MS) {
      mayStand = true;
      await changeWaiting(deps, (run) => pauseRun(run, { why, from: since, until: null }));
    }
  }

  return { pass, heard: (run) => void (mayStand ||= isPausedBy(run, why)) };
}

/** The runs that this process looks after; another one changes its own. */
async function changeWaiting(deps: Deps, apply: (run: Run) => Run): Promise<void> {
  const { store, engine, change } = deps;
  const channels = await store.channelsInUse();
  if (channels.length === 0) return;
  const runs = await store.list({ channels, only: "pending", limit: MAX_RUNS });
  await changeEach(deps, runs, async (run) => {
    if (engine.looksAfter(shardOf(run)) && apply(run) !== run) await change(run.key, apply);
  });
}
