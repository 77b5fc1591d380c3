import type { Context } from "../domain/context.ts";
import type { RunKey } from "../domain/ids.ts";
import type { Clock } from "./clock.ts";
import type { Integrity } from "./integrity.ts";
import type { Perform } from "./perform-effect.ts";
import type { AgentService, Change, Chat, Counters, EventLog, People, Store } from "../ports.ts";

/** What executing an effect needs. */
export type ExecutorDeps = {
  readonly agents: Pick<AgentService, "fetchRun">;
  readonly chat: Pick<Chat, "waitForTurn">;
  readonly people: Pick<People, "lookUp" | "memberOf">;
  readonly store: Pick<Store, "byRunId" | "provenEntry" | "settledAfter">;
  readonly integrity: Pick<Integrity, "found" | "state">;
  readonly perform: Perform;
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: EventLog;
  readonly metrics: Counters;
};

/** The way back into the engine: how to change the run, and how to have it reconciled again. */
export type EngineHandle = {
  readonly change: Change;
  readonly again: (key: RunKey, afterMs: number) => void;
};

export type ExecutionHandle = EngineHandle & { readonly stopping: () => boolean };
