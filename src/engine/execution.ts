// The types that the parts of the effect executor share: effect-executor.ts, check-before-sending.ts and outcome-writer.ts.

import type { Context } from "../domain/context.ts";
import type { RunKey } from "../domain/ids.ts";
import type { AgentService, Chat, EventLog, People } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import type { AuditLog } from "../ports/audit-store.ts";
import type { Change, Transact } from "./transact.ts";
import type { Clock } from "./clock.ts";
import type { Freezes } from "./freezes.ts";
import type { Integrity } from "./integrity.ts";
import type { EffectLog } from "./logging.ts";
import type { Perform } from "./perform-effect.ts";

/** The dependencies of the effect executor. */
export type ExecutorDeps = {
  readonly agents: Pick<AgentService, "fetchRun">;
  readonly chat: Pick<Chat, "waitForTurn" | "raiseUrgency" | "notifyIfQueued">;
  readonly people: Pick<People, "lookUp" | "memberOf">;
  readonly store: Pick<RunStore, "byRunId" | "load"> & Pick<AuditLog, "provenEntry" | "settledAfter">;
  readonly integrity: Pick<Integrity, "found" | "state">;
  readonly perform: Perform;
  /** False if this process, by its own clock, may have lost its lease. It then makes no call. */
  readonly holdsLease: () => boolean;
  /** The freezes in `context`. */
  readonly freezes: Pick<Freezes, "knownTo" | "refresh">;
  /** Reads the freezes, findings, acknowledgements and policy that other processes have written. Rejects with PortError if it cannot. */
  readonly catchUp: () => Promise<void>;
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: EventLog;
  readonly logEffect: EffectLog;
};

/** The engine as the executor sees it: changes the run, and reconciles it again. */
export type EngineHandle = {
  readonly transact: Transact;
  readonly change: Change;
  readonly changeAnywhere: Change;
  /** Reconciles the run again after `afterMs`. */
  readonly reconcileAfter: (key: RunKey, afterMs: number) => void;
  /** Called when no effect of the run is in progress any more. */
  readonly onIdle: (key: RunKey) => void;
  readonly holdsShard: (shard: number) => boolean;
};

export type ExecutionHandle = EngineHandle & {
  readonly isStopping: () => boolean;
  /** Whether this process is stopping and the time for what is in progress is over. */
  readonly hasStopped: () => boolean;
  /** Called right before the effect is marked. Returns false if another process holds the run; the effect is then not marked here. */
  readonly beginSending: () => boolean;
};
