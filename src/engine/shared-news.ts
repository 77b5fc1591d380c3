// Reads what other processes have written to the audit and this process must act on: freezes and their ends, a new policy, findings of
// tampering and their acknowledgement. They are also read before each decision is sent. The loop here brings the cards up to date.

import type { Context } from "../domain/context.ts";
import type { EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import { createBackgroundLoop, createDueWork } from "./background-work.ts";
import { applyBrakeToRuns, applyPolicyToWaiting, releaseHeldBack } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import type { Freezes } from "./freezes.ts";
import type { Integrity } from "./integrity.ts";
import type { RunEngine } from "./run-engine.ts";

export type SharedNews = {
  /**
   * Resolves once this process knows everything that is written. A process that has always been alone reads only the freezes. Rejects with
   * PortError if the store fails.
   */
  catchUp(): Promise<void>;
  /** Calls the listener at the end of every pass, because other processes may have changed something. */
  onPass(listener: () => void): void;
  /** Starts the loop, because this process is not alone. May be called again. */
  start(): void;
  /** Whether this process has always been alone. */
  readonly isAlone: () => boolean;
  stop(): Promise<void>;
};

const LOOK_EVERY_MS = 1_000;
/** The longest wait after failures of the store (ms). */
const SLOWEST_RETRY_MS = 30_000;

type Deps = {
  readonly freezes: Freezes;
  readonly integrity: Pick<Integrity, "catchUp" | "found" | "state">;
  /** Adopts the policy that another process has put into force. Resolves to true if the policy has changed. */
  readonly followPolicy: () => Promise<boolean>;
  readonly engine: () => Pick<RunEngine, "change" | "holdsShard">;
  readonly store: Pick<RunStore, "eachRun">;
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: EventLog;
};

export function createSharedNews(deps: Deps): SharedNews {
  const { freezes, integrity } = deps;
  freezes.onForged((finding) => integrity.found(finding));
  let isAlone = true;
  // The state that the cards show. A decision that is about to leave may call `catchUp` between two passes.
  let shownFreezes = freezes.now();
  let heldBack = false;
  const newPolicy = createDueWork();
  const listeners: (() => void)[] = [];

  async function catchUp(): Promise<void> {
    // A process that is alone also reads them, because it may have failed to read back a freeze of its own.
    await freezes.refresh();
    if (isAlone) return;
    await integrity.catchUp();
    if (await deps.followPolicy()) newPolicy.ask();
  }

  async function pass(): Promise<void> {
    await catchUp();
    const changeDeps = { ...deps, engine: deps.engine() };
    const newest = freezes.now();
    if (newest !== shownFreezes) await applyBrakeToRuns(changeDeps);
    shownFreezes = newest;
    await newPolicy.doIfDue(() => applyPolicyToWaiting(changeDeps));
    const isHoldingBack = integrity.state().code !== null;
    if (heldBack && !isHoldingBack) await releaseHeldBack(changeDeps);
    heldBack = isHoldingBack;
    for (const listener of listeners) listener();
  }

  const loop = createBackgroundLoop(deps, {
    pass,
    everyMs: LOOK_EVERY_MS,
    retryMs: [LOOK_EVERY_MS, SLOWEST_RETRY_MS],
    failure: "could not read what other replicas have written to the audit",
  });
  function start(): void {
    isAlone = false;
    loop.start(LOOK_EVERY_MS);
  }
  const onPass: SharedNews["onPass"] = (listener) => void listeners.push(listener);
  return { catchUp, onPass, start, isAlone: () => isAlone, stop: loop.stop };
}
