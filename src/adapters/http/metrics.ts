// The metrics for Prometheus.

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "@prometheus-io/client";
import type { Counters } from "../../ports.ts";
import type { Readings } from "../../ports/monitoring.ts";
import { METRICS, type MetricName, type MetricRow } from "./metrics-table.ts";

export type Metrics = Counters & {
  /** Counts a request that was rejected before any use case saw it. */
  rejectedRequests(reason: string): void;
  /** Records the duration of a database commit. */
  committed(seconds: number): void;
  /** Records that the policy file was read at `at` (ms since 1970). `ok` is false if the file could not be used. */
  policyReload(ok: boolean, at: number): void;
  /** Sets the function that provides the readings at each scrape. */
  readFrom(read: () => Promise<Readings>): void;
  expose(): Promise<{ contentType: string; body: string }>;
};

type Registered = { readonly [name in MetricName]: Counter<string> | Gauge<string> | Histogram };

/** The versions of this program and of Node, and when it read its policy at the start (`at`, ms since 1970). */
type Build = { readonly version: string; readonly node: string; readonly at: number };

/** How often event loop utilization is measured. The package's default, ten times a second, costs more than the figure is worth. */
const UTILIZATION_EVERY_MS = 1_000;

export function createMetrics({ version, node, at }: Build): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopUtilizationTimeout: UTILIZATION_EVERY_MS });
  const all = registerAll(registry);
  const set = setterOf(all);
  set("build_info", 1, { version, node });
  const gauges = gaugesOf(set);
  gauges.policyReload(true, at);
  let read: (() => Promise<Readings>) | null = null;
  return {
    ...countersOf(all),
    ...gauges,
    readFrom: (from) => void (read = from),
    async expose() {
      if (read !== null) setReadings(all, set, await read());
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

function registerAll(registry: Registry): Registered {
  const metrics = METRICS.map((row: MetricRow) => [row.name, createMetric(row, registry)] as const);
  return Object.fromEntries(metrics) as Registered;
}

function createMetric(row: MetricRow, registry: Registry): Counter<string> | Gauge<string> | Histogram {
  const { type, labels, starts = labels.length === 0 ? [[]] : [], buckets = [], help } = row;
  const common = { name: `countersign_${row.name}`, help, labelNames: [...labels], registers: [registry] };
  if (type === "histogram") return new Histogram({ ...common, buckets: [...buckets] });
  const metric: Counter<string> | Gauge<string> =
    type === "counter" ? new Counter(common) : new Gauge(common);
  // The package begins every metric without labels at 0.
  if (labels.length === 0 && starts.length === 0) metric.remove();
  for (const values of starts)
    metric.inc(Object.fromEntries(labels.map((label, at) => [label, values[at] ?? ""])), 0);
  return metric;
}

type Labels = { readonly [label: string]: string };
type SetGauge = (name: MetricName, value: number, labels?: Labels) => void;

function setterOf(all: Registered): SetGauge {
  return (name, value, labels = {}) => {
    const metric = all[name];
    if (metric instanceof Gauge) metric.set(labels, value);
  };
}

type CounterNames =
  | "poll"
  | "effect"
  | "decision"
  | "refusal"
  | "rejectedRequests"
  | "storeFault"
  | "leaseLapsed"
  | "slackCall"
  | "committed"
  | "cardShown"
  | "decisionConfirmed"
  | "auditSinkFailed";

function countersOf(all: Registered): Pick<Metrics, CounterNames> {
  const count = (name: MetricName, labels: Labels): void => {
    const metric = all[name];
    if (metric instanceof Counter) metric.inc(labels);
  };
  const observe = (name: MetricName, seconds: number): void => {
    const metric = all[name];
    if (metric instanceof Histogram) metric.observe(seconds);
  };
  return {
    poll(outcome, seconds) {
      count("polls_total", { outcome });
      observe("poll_duration_seconds", seconds);
    },
    effect: (effect, outcome) => count("effects_total", { effect, outcome }),
    decision: (verdict, outcome) => count("decisions_total", { verdict, outcome }),
    refusal: (reason) => count("refusals_total", { reason }),
    rejectedRequests: (reason) => count("http_requests_rejected_total", { reason }),
    storeFault: (code) => count("store_faults_total", { code }),
    leaseLapsed: () => count("leases_lapsed_total", {}),
    slackCall: (method, outcome) => count("slack_calls_total", { method, outcome }),
    auditSinkFailed: () => count("audit_sink_failures_total", {}),
    committed: (seconds) => observe("store_commit_duration_seconds", seconds),
    cardShown: (seconds) => observe("card_delay_seconds", seconds),
    decisionConfirmed: (seconds) => observe("decision_confirmation_delay_seconds", seconds),
  };
}

function gaugesOf(
  set: SetGauge,
): Pick<
  Metrics,
  | "pollsInFlight"
  | "runsWatched"
  | "tampered"
  | "outage"
  | "unreadable"
  | "notificationsWaiting"
  | "alarmsWaiting"
  | "auditSinkLag"
  | "policyReload"
> {
  return {
    pollsInFlight: (count) => set("polls_in_flight", count),
    runsWatched: (count) => set("runs_watched", count),
    tampered: (findings) => set("tampering_findings", findings),
    outage: (on) => set("service_outage", Number(on)),
    unreadable: (approvals) => set("approvals_unreadable", approvals),
    notificationsWaiting: (count) => set("notifications_waiting", count),
    alarmsWaiting: (count) => set("alarms_waiting", count),
    auditSinkLag: (entries) => set("audit_sink_lag_entries", entries),
    policyReload(ok, at) {
      set("policy_last_reload_successful", Number(ok));
      if (ok) set("policy_last_reload_success_timestamp_seconds", at / 1_000);
    },
  };
}

function setReadings(all: Registered, set: SetGauge, readings: Readings): void {
  const { runs, pending, undelivered, stillListed, parts, slackQueues, auditHead } = readings;
  for (const [state, count] of Object.entries(runs)) set("runs", count, { state });
  set("approvals_pending", pending.count);
  set("approvals_past_reminders", pending.reminded);
  set("approvals_pending_oldest_age_seconds", pending.oldestMs / 1_000);
  set("approvals_unshown_oldest_age_seconds", pending.oldestUnshownMs / 1_000);
  set("decisions_unsent", undelivered.count);
  set("decisions_unsent_oldest_age_seconds", undelivered.oldestMs / 1_000);
  set("decisions_still_listed", stillListed);
  for (const { part, fault, untried } of parts)
    if (untried !== true) set("part_healthy", Number(fault === null), { part });
  for (const [kind, depth] of Object.entries(slackQueues)) set("slack_queue_depth", depth, { kind });
  set("slack_connected", Number(readings.slackConnected));
  set("service_circuit_open", Number(readings.circuitOpen));
  set("poll_lag_seconds", readings.pollLagMs / 1_000);
  // Removes the previous version, because only one version is in force.
  all.policy_info.reset();
  set("policy_info", 1, { version: readings.policyVersion ?? "built-in" });
  if (auditHead !== null) set("audit_head_entry", auditHead);
}
