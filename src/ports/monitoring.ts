// What health and metrics need from the outside world, and what they report.

import type { PacedEffect } from "../ports.ts";

/** The health of the connection to Slack. */
export type SlackHealth = {
  /** "starting": this process has not been connected yet. "refused": the connection is lost, and Slack refuses the app's token. */
  connection(): "starting" | "connected" | "lost" | "refused" | "stopping";
  /**
   * Returns Slack's code for refusing the bot token, or "missing_scope" if Slack refuses calls by which people are verified or told. Returns
   * null if Slack last accepted the token, or has not said.
   */
  tokenRefusal(): string | null;
  /**
   * Returns the times of the first and the newest of the latest calls that failed in a row because Slack's Web API did not answer, or
   * answered that it failed itself (monotonic ms). Returns null if it answered the newest call.
   */
  unanswered(): { readonly first: number; readonly newest: number } | null;
  /** Asks Slack about the token, unless another call was answered within `maxAgeMs`. Never rejects. */
  checkToken(maxAgeMs: number): Promise<void>;
  /** Returns the number of calls that wait for their turn, by kind. */
  queues(): { readonly [kind in PacedEffect["kind"]]: number };
};

export const PARTS = [
  "store",
  "store_calls",
  "slack",
  "slack_token",
  "service",
  "service_key",
  "key_file",
  "decisions",
  "watching",
] as const;
export type PartName = (typeof PARTS)[number];

export type PartHealth = {
  readonly part: PartName;
  /** What is wrong, in our own words, without addresses and texts of requests. Null if nothing is. */
  readonly fault: string | null;
  /**
   * Whether the fault makes this process not ready: it cannot do its work, but another process may. A fault that all replicas share is only
   * reported, because taking all of them out of service would not fix it.
   */
  readonly unready: boolean;
  /** True if the state of the part is not known yet. That is not a fault, so the metrics omit the part. */
  readonly untried?: boolean;
};

export type Health = {
  /** Returns false if only a restart helps. */
  live(): boolean;
  /** Checks all parts. This writes to the store, at most once a second. Never rejects. */
  parts(): Promise<readonly PartHealth[]>;
};

export type RunState = "starting" | "running" | "awaiting_approval" | "stopped" | "missing";

/** Numbers of runs and approvals. `oldestMs` is the age of the oldest (ms), or 0 if there are none. */
export type RunFigures = {
  readonly runs: { readonly [state in RunState]: number };
  /** The starts that failed at least once and are tried again. */
  readonly retriedStarts: number;
  /**
   * Requests that wait for a decision or for more votes. `oldestUnshownMs`: the age of the oldest that Slack does not show, or 0.
   * `reminded`: how many of them have had their last reminder.
   */
  readonly pending: {
    readonly count: number;
    readonly oldestMs: number;
    readonly oldestUnshownMs: number;
    readonly reminded: number;
  };
  /**
   * Recorded decisions that the service has neither confirmed nor refused, because it was not reached or its answer was unclear. A decision
   * that a rule holds back on purpose does not count. `late`: how many are older than a minute.
   */
  readonly undelivered: { readonly count: number; readonly oldestMs: number; readonly late: number };
  /** Decided approvals for which nothing more is sent, and which the service lists as pending nevertheless. */
  readonly stillListed: number;
};

/**
 * The result of the last reading of the policy's file. `faulty`: the file cannot be used. `not recorded`: the audit could not store the new
 * policy. In both cases the old one stays in force.
 */
export type PolicyReading = "in force" | "faulty" | "not recorded";

/** What the metrics read at each scrape. */
export type Readings = RunFigures & {
  readonly parts: readonly PartHealth[];
  readonly pollLagMs: number;
  readonly circuitOpen: boolean;
  readonly slackConnected: boolean;
  readonly slackQueues: ReturnType<SlackHealth["queues"]>;
  /** Null for the built-in policy. */
  readonly policyVersion: string | null;
  /** The number of the newest audit entry. Null if there is none, or if the store does not answer. */
  readonly auditHead: number | null;
};
