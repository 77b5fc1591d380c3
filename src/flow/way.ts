import type { Context } from "../core/context.ts";
import type { RunKey } from "../core/ids.ts";
import type { Change } from "./change.ts";
import type { Clock } from "./clock.ts";
import type { FlowLog, FlowMetrics } from "./flow-log.ts";
import type { Integrity } from "./integrity.ts";
import type { People } from "./people.ts";
import type { Perform } from "./perform.ts";
import type { AgentService, Chat, Store } from "./ports.ts";

/** What carrying out an effect needs. */
export type CarryDeps = {
  readonly agents: Pick<AgentService, "look">;
  readonly chat: Pick<Chat, "turn">;
  readonly people: Pick<People, "lookUp" | "memberOf">;
  readonly store: Pick<Store, "byRunId" | "provenEntry" | "settledAfter">;
  readonly integrity: Pick<Integrity, "found" | "state">;
  readonly perform: Perform;
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: FlowLog;
  readonly metrics: FlowMetrics;
};

/** The way back into the round: how to change the run, and how to have it looked after again. */
export type Back = { readonly change: Change; readonly again: (key: RunKey, afterMs: number) => void };

export type Way = Back & { readonly stopping: () => boolean };
