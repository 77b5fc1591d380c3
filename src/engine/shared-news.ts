// What any process may have written to the audit and this one must act on: a freeze or its end, another policy, findings of tampering and their
// acknowledgement. Before a decision is sent they are read in any case; here the cards follow.

import pRetry from "p-retry";
import type { AuditEntry } from "../audit/entry.ts";
import type { Context } from "../domain/context.ts";
import { type Freeze, freezesAfter } from "../domain/freeze.ts";
import type { EventLog } from "../ports.ts";
import type { AuditLog, RunStore } from "../ports/store.ts";
import { createBackgroundLoop } from "./background-work.ts";
import { applyBrakeToRuns, applyPolicyToWaiting, releaseHeldBack } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import type { Integrity } from "./integrity.ts";
import type { RunEngine } from "./run-engine.ts";

export type SharedNews = {
  /** Resolves once all that is written is known; in a process that was always alone, only freezes are read. Rejects with PortError when the store fails. */
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
    // Also in a process that is alone: it may have failed to read its own freeze back.
    await freezes.refresh();
    if (alone) return;
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

/** The freezes in force, as the audit has them. A freeze counts from the moment its entry is written; only a signed entry lifts one. */
export type Freezes = {
  /** Oldest first. */
  now(): readonly Freeze[];
  /** `now` follows from the audit up to this entry; 0 before the first one. */
  knownTo(): number;
  /** Reads the entries that were written since the last call. Rejects with PortError when the store fails. */
  refresh(): Promise<void>;
  /** Writes the entry, which is in force when this resolves. Rejects with PortError; then it may be stored, and is in force after the next read. */
  write(entry: AuditEntry): Promise<void>;
};

const FREEZE_KINDS = ["frozen", "freeze-lifted"] as const;
const AT_ONCE = 1_000;
/** A freeze that cannot be read back for about ten seconds (ms) is reported as a failure. */
const RETRY = { retries: 20, minTimeout: 50, maxTimeout: 1_000 };

export function createFreezes(store: Pick<AuditLog, "audit" | "auditAfter" | "provenEntry">): Freezes {
  let known: readonly Freeze[] = [];
  let cursor = 0;

  let last: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    for (let more = true; more;) {
      const entries = await store.auditAfter(cursor, FREEZE_KINDS, AT_ONCE);
      const proven = await Promise.all(entries.map(({ seq }) => store.provenEntry(seq)));
      // An entry that is not proven freezes all the same: that can only stop an agent.
      const valid = entries.filter(({ entry }, at) => entry.what === "frozen" || proven[at]?.ok === true);
      known = freezesAfter(known, valid);
      cursor = entries.at(-1)?.seq ?? cursor;
      more = entries.length === AT_ONCE;
    }
  }

  /** One after the other, so that no older answer overtakes a newer one. */
  function refresh(): Promise<void> {
    last = last.then(read, read);
    return last;
  }

  return {
    now: () => known,
    knownTo: () => cursor,
    refresh,
    async write(entry) {
      await store.audit([entry]);
      // Once it is written, it must not wait for a restart to count.
      await pRetry(refresh, RETRY);
    },
  };
}
