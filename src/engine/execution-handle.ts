import type { Context } from "../domain/context.ts";
import type { RunKey } from "../domain/ids.ts";
import type { Clock } from "./clock.ts";
import type { Integrity } from "./integrity.ts";
import type { Perform } from "./perform-effect.ts";
import type { AgentService, Chat, Counters, EventLog, People } from "../ports.ts";
import type { AuditLog, RunStore } from "../ports/store.ts";
import type { Change, Transact } from "./change.ts";

/** What executing an effect needs. */
export type ExecutorDeps = {
  readonly agents: Pick<AgentService, "fetchRun">;
  readonly chat: Pick<Chat, "waitForTurn">;
  readonly people: Pick<People, "lookUp" | "memberOf">;
  readonly store: Pick<RunStore, "byRunId"> & Pick<AuditLog, "provenEntry" | "settledAfter">;
  readonly integrity: Pick<Integrity, "found" | "state">;
  readonly perform: Perform;
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: EventLog;
  readonly metrics: Counters;
};

/** The way back into the engine: how to change the run, and how to have it reconciled again. */
export type EngineHandle = {
  readonly transact: Transact;
  readonly change: Change;
  readonly again: (key: RunKey, afterMs: number) => void;
};

export type ExecutionHandle = EngineHandle & { readonly stopping: () => boolean };
