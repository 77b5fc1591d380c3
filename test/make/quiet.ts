// A log and counters that record only what tests check, and a Slack that is well.

import type { Counters, EventLog } from "#src/ports.ts";
import type { SlackHealth } from "#src/ports/monitoring.ts";

export function quietLog(warnings: string[], errors: string[]): EventLog {
  const nothing = (): void => undefined;
  return {
    debug: nothing,
    info: nothing,
    warn: (_fields, message) => void warnings.push(message),
    error: (_fields, message) => void errors.push(message),
  };
}

/** The notifications that wait, by the metrics. */
export type Waiting = { all: number; alarms: number };

export function quietMetrics(
  refusals: string[],
  outages: boolean[],
  waiting: Waiting = { all: 0, alarms: 0 },
): Counters {
  const nothing = (): void => undefined;
  return {
    poll: nothing,
    pollsInFlight: nothing,
    runsWatched: nothing,
    effect: nothing,
    decision: nothing,
    refusal: (because) => void refusals.push(because),
    outage: (on) => void outages.push(on),
    unreadable: nothing,
    tampered: nothing,
    cardShown: nothing,
    decisionConfirmed: nothing,
    storeFault: nothing,
    leaseLapsed: nothing,
    slackCall: nothing,
    auditSinkFailed: nothing,
    auditSinkLag: nothing,
    notificationsWaiting: (count) => void (waiting.all = count),
    alarmsWaiting: (count) => void (waiting.alarms = count),
  };
}

export const HEALTHY_SLACK: SlackHealth = {
  connection: () => "connected",
  tokenRefusal: () => null,
  unanswered: () => null,
  checkToken: () => Promise.resolve(),
  queues: () => ({ post: 0, update: 0, read: 0, sweep: 0, other: 0 }),
};
