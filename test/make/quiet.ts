// A log and counters that record only what tests check.

import type { Counters, EventLog } from "#src/ports.ts";

export function quietLog(warnings: string[], errors: string[]): EventLog {
  const nothing = (): void => undefined;
  return {
    debug: nothing,
    info: nothing,
    warn: (_fields, message) => void warnings.push(message),
    error: (_fields, message) => void errors.push(message),
  };
}

export function quietMetrics(refusals: string[], outages: boolean[]): Counters {
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
    slackCall: nothing,
    auditSinkFailed: nothing,
    auditSinkLag: nothing,
    notificationsWaiting: nothing,
  };
}
