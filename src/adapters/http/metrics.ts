// The metrics for Prometheus, and the count of rejected requests. Label values are stable words of our own code, never text that
// somebody sent.

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "@prometheus-io/client";
import type { Counters, EventLog } from "../../ports.ts";

export type Metrics = Counters & {
  /** Counts a request that was rejected before any use case saw it. */
  rejectedRequests(because: string): void;
  expose(): Promise<{ contentType: string; body: string }>;
};

/** From a service on the same machine (1 ms) to the time limit of a call (10 s). */
const POLL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function pollHistogram(registry: Registry): Histogram {
  const name = "countersign_poll_seconds";
  const help = "How long one poll of a run took.";
  return new Histogram({ name, help, buckets: POLL_SECONDS, registers: [registry] });
}

const UNREADABLE =
  "Approvals that the service lists and that cannot be read; 1 for a run whose answers cannot be.";

function sinkMetrics(registry: Registry): Pick<Counters, "auditSinkFailed" | "auditSinkLag"> {
  const registers = [registry];
  const failures = new Counter({
    name: "countersign_audit_sink_failures_total",
    help: "Times that AUDIT_SINK did not take entries.",
    registers,
  });
  const lag = new Gauge({
    name: "countersign_audit_sink_lag_entries",
    help: "Audit entries that AUDIT_SINK has not taken yet.",
    registers,
  });
  return { auditSinkFailed: () => failures.inc(), auditSinkLag: (entries) => lag.set(entries) };
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> =>
    new Counter({ name: `countersign_${name}`, help, labelNames, registers: [registry] });
  const gauge = (name: string, help: string): Gauge =>
    new Gauge({ name: `countersign_${name}`, help, registers: [registry] });

  const polls = counter("polls_total", "Polls of runs, by outcome.", ["outcome"]);
  const pollSeconds = pollHistogram(registry);
  const inFlight = gauge("polls_in_flight", "Polls of runs under way.");
  const watched = gauge("runs_watched", "Runs that this process watches.");
  const effects = counter("effects_total", "Effects performed, by kind and outcome.", ["do", "outcome"]);
  const decisions = counter("decisions_total", "Decisions sent, by verdict and outcome.", [
    "verdict",
    "outcome",
  ]);
  const refusals = counter("refusals_total", "Refusals given to people, by reason.", ["because"]);
  const rejectedRequests = counter("turned_away_total", "Rejected requests, by reason.", ["because"]);
  const tampered = gauge("tampered", "Findings of tampering that hold approvals back.");
  const outage = gauge("outage", "1 while the service has been down or unusable for long.");
  const unreadable = gauge("unreadable_approvals", UNREADABLE);
  return {
    poll(outcome, seconds) {
      polls.inc({ outcome });
      pollSeconds.observe(seconds);
    },
    pollsInFlight: (count) => inFlight.set(count),
    runsWatched: (count) => watched.set(count),
    effect: (what, outcome) => effects.inc({ do: what, outcome }),
    decision: (verdict, outcome) => decisions.inc({ verdict, outcome }),
    refusal: (because) => refusals.inc({ because }),
    rejectedRequests: (because) => rejectedRequests.inc({ because }),
    ...sinkMetrics(registry),
    tampered: (findings) => tampered.set(findings),
    outage: (on) => outage.set(on ? 1 : 0),
    unreadable: (approvals) => unreadable.set(approvals),
    cardShown: () => undefined,
    decisionConfirmed: () => undefined,
    storeFault: () => undefined,
    slackCall: () => undefined,
    expose: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

// Counts every rejected request, and logs each kind at most once a minute, so that a stranger cannot fill the log.

/** `because` is one of our own words. The log gets nothing that a stranger sent. */
export type RejectedRequests = (because: string) => void;

type Deps = {
  readonly count: (because: string) => void;
  readonly log: EventLog;
  readonly monotonic: () => number;
};

const QUIET_MS = 60_000;

export function createRejectedRequests({ count, log, monotonic }: Deps): RejectedRequests {
  const kinds = new Map<string, { readonly at: number; unlogged: number }>();
  return (because) => {
    count(because);
    const last = kinds.get(because);
    if (last !== undefined && monotonic() - last.at < QUIET_MS) {
      last.unlogged += 1;
      return;
    }
    log.warn({ because, unlogged: last?.unlogged ?? 0 }, "rejected a request");
    kinds.set(because, { at: monotonic(), unlogged: 0 });
  };
}
