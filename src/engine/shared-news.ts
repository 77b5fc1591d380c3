// What other processes have written and this one must act on: a freeze or its end, another policy, findings of tampering and their
// acknowledgement. All stand in the audit. Before a decision is sent they are read in any case; here the cards follow.

import type { Context } from "../domain/context.ts";
import type { EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import { createBackgroundLoop } from "./background-work.ts";
import { applyBrakeToRuns, applyPolicyToWaiting, releaseHeldBack } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import type { Freezes } from "./freezes.ts";
import type { Integrity } from "./integrity.ts";
import type { RunEngine } from "./run-engine.ts";

export type SharedNews = {
  /** Resolves once all that is written is known; at once in a process that was always alone. Rejects with PortError when the store fails. */
  catchUp(): Promise<void>;
  /** This process is not alone. May be called again. */
  start(): void;
  stop(): Promise<void>;
};

const LOOK_EVERY_MS = 1_000;
/** The longest wait after failures of the store (ms). */
const SLOWEST_RETRY_MS = 30_000;

type Deps = {
  readonly freezes: Freezes;
  readonly integrity: Pick<Integrity, "catchUp" | "state">;
  /** Takes over the policy that another process has put into force. Resolves to whether it is another one. */
  readonly followPolicy: () => Promise<boolean>;
  /** Called at every look: other processes may have changed something. */
  readonly onLook: () => void;
  readonly engine: () => Pick<RunEngine, "change" | "looksAfter">;
  readonly store: Pick<RunStore, "list" | "channelsInUse">;
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: EventLog;
};

export function createSharedNews(deps: Deps): SharedNews {
  const { freezes, integrity } = deps;
  let alone = true;
  // What the cards have followed so far. A decision that is about to leave may catch up in between.
  let frozen = freezes.now();
  let heldBack = false;
  let policyChanged = false;

  async function catchUp(): Promise<void> {
    if (alone) return;
    await freezes.refresh();
    await integrity.catchUp();
    if (await deps.followPolicy()) policyChanged = true;
  }

  async function pass(): Promise<void> {
    await catchUp();
    const all = { ...deps, engine: deps.engine() };
    const now = freezes.now();
    if (now !== frozen) await applyBrakeToRuns(all);
    frozen = now;
    if (policyChanged) await applyPolicyToWaiting(all);
    policyChanged = false;
    const holdsBack = integrity.state().code !== null;
    if (heldBack && !holdsBack) await releaseHeldBack(all);
    heldBack = holdsBack;
    deps.onLook();
  }

  const loop = createBackgroundLoop(deps, {
    pass,
    everyMs: LOOK_EVERY_MS,
    retryMs: [LOOK_EVERY_MS, SLOWEST_RETRY_MS],
    failure: "could not read what other replicas have written to the audit",
  });
  function start(): void {
    alone = false;
    loop.start(LOOK_EVERY_MS);
  }
  return { catchUp, start, stop: loop.stop };
}
