// Reads what other processes have written to the audit and this process must act on: freezes and their ends, a new policy, findings of
// tampering and their acknowledgement. They are also read before each decision is sent. The loop here brings the cards up to date.

import pRetry from "p-retry";
import type { AuditEntry } from "../audit/entry.ts";
import type { Context } from "../domain/context.ts";
import { type Freeze, type FreezeEntry, freezesAfter, unknownFreeze } from "../domain/freeze.ts";
import type { EventLog } from "../ports.ts";
import type { AuditLog, Finding, RunStore } from "../ports/store.ts";
import { createBackgroundLoop, createDueWork } from "./background-work.ts";
import { applyBrakeToRuns, applyPolicyToWaiting, releaseHeldBack } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import type { Integrity } from "./integrity.ts";
import { type ProvenReads, readAfter, type ReadRow } from "./proven-entries.ts";
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
  const newPolicy = createDueWork(false);
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

/**
 * The freezes in force, derived from the audit. A freeze counts from the moment its entry is written. Only a signed entry lifts a freeze.
 * An entry that is not proven also counts as a freeze if it calls itself one, because a freeze can only stop an agent.
 */
export type Freezes = {
  /** Returns the freezes in force, oldest first. */
  now(): readonly Freeze[];
  /** Returns the number of the last audit entry that `now` takes into account, or 0 if there is none. */
  knownTo(): number;
  /** Reads the entries written since the last call. Rejects with PortError if the store fails. */
  refresh(): Promise<void>;
  /**
   * Writes the entry, which is in force when this resolves. Rejects with PortError if the store fails. The entry may then be stored all the
   * same, and is in force after the next `refresh`.
   */
  write(entry: AuditEntry): Promise<void>;
  /** Calls the listener when `now` may return something else than before. */
  onChange(listener: () => void): void;
  /** Sets the one listener for rows that this program did not write. It may hear of the same row again. */
  onForged(listener: (finding: Finding) => void): void;
};

const FREEZE_KINDS = ["frozen", "freeze-lifted"] as const;
/** If a freeze cannot be read back for about ten seconds, `write` rejects (ms). */
const RETRY = { retries: 20, minTimeout: 50, maxTimeout: 1_000 };

export function createFreezes(store: Pick<AuditLog, "audit"> & ProvenReads): Freezes {
  let inForce: readonly Freeze[] = [];
  let cursor = 0;
  let lastRead: Promise<void> = Promise.resolve();
  const listeners: (() => void)[] = [];
  let reportForged: (finding: Finding) => void = () => undefined;

  async function read(): Promise<void> {
    const before = inForce;
    const { rows, cursor: reached, isCut } = await readAfter(store, cursor, FREEZE_KINDS);
    // A row that was not read may be a freeze.
    const unread = isCut ? rows.slice(-1).map(({ seq }) => unknownFreeze(seq)) : [];
    inForce = freezesAfter(inForce, [...rows.flatMap(freezeEntries), ...unread]);
    cursor = reached;
    for (const row of rows) if (row.type === "forged") reportForged(row.finding);
    if (inForce !== before) for (const listener of listeners) listener();
  }

  /** Runs reads one after the other, so that no older answer replaces a newer one. */
  function refresh(): Promise<void> {
    lastRead = lastRead.then(read, read);
    return lastRead;
  }

  return {
    now: () => inForce,
    knownTo: () => cursor,
    refresh,
    async write(entry) {
      await store.audit([entry]);
      // A freeze that is written must count at once, and not only after a restart.
      await pRetry(refresh, RETRY);
    },
    onChange: (listener) => void listeners.push(listener),
    onForged: (listener) => void (reportForged = listener),
  };
}

function freezeEntries(row: ReadRow): readonly FreezeEntry[] {
  if (row.type === "proven") return [row.kept];
  return row.what === "frozen" ? [unknownFreeze(row.seq)] : [];
}
