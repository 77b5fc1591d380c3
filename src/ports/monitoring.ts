// What health and metrics need from the outside world, and what they tell.

import type { PacedEffect } from "../ports.ts";

/** Slack, as far as its health goes. */
export type SlackHealth = {
  /** "starting": it was never connected since the start of this process. */
  connection(): "starting" | "connected" | "lost" | "stopping";
  /** Slack's code for refusing the bot token; null: Slack took it last time, or has not said. */
  tokenRefusal(): string | null;
  /** Asks Slack about the token, unless another call was answered within `maxAgeMs`. Never rejects. */
  checkToken(maxAgeMs: number): Promise<void>;
  /** How many calls wait for their turn, by kind. */
  queues(): { readonly [kind in PacedEffect["kind"]]: number };
};

export const PARTS = [
  "store",
  "store_calls",
  "slack",
  "slack_token",
  "service",
  "service_key",
  "decisions",
  "watching",
] as const;
export type PartName = (typeof PARTS)[number];

export type PartHealth = {
  readonly part: PartName;
  /** What is wrong, in our own words, without addresses and texts of requests. Null: nothing. */
  readonly fault: string | null;
  /**
   * True: because of the fault, this process can't do its work while another one may. Then it is not ready. A fault that all replicas
   * share is only told: taking all of them out of service would mend nothing.
   */
  readonly unready: boolean;
  /** True: nothing has been heard of the part since the start. That is no fault yet, so the metrics say nothing about it. */
  readonly untried?: boolean;
};

export type Health = {
  /** False: only a restart helps. */
  live(): boolean;
  /** Writes to the store, at most once a second. Never rejects. */
  parts(): Promise<readonly PartHealth[]>;
};

export const RUN_STATES = ["starting", "running", "awaiting_approval", "stopped", "missing"] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Ages in ms; 0 where there is none. */
export type RunFigures = {
  readonly runs: { readonly [state in RunState]: number };
  /** Requests that wait for a decision, or for more votes. `reminded`: those of them whose last reminder was sent. */
  readonly pending: { readonly count: number; readonly oldestMs: number; readonly reminded: number };
  /**
   * Decisions that are recorded, and neither confirmed nor refused by the service: it was not reached, or its answer was unclear. One
   * that a rule holds back on purpose does not count. `late`: of them, those older than a minute.
   */
  readonly unsent: { readonly count: number; readonly oldestMs: number; readonly late: number };
};

/** What the metrics read when they are asked for. */
export type Readings = RunFigures & {
  readonly parts: readonly PartHealth[];
  readonly pollLagMs: number;
  readonly circuitOpen: boolean;
  readonly slackConnected: boolean;
  readonly slackQueues: ReturnType<SlackHealth["queues"]>;
  /** Null: the built-in policy. */
  readonly policyVersion: string | null;
  /** The number of the newest entry; null: there is none, or the store does not answer. */
  readonly auditHead: number | null;
};
