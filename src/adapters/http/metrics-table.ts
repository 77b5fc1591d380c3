// All our metrics: name, type, labels with the values that exist from the start, and meaning. docs/reference.md has the same table, and a
// test compares them. Label values are stable words of our own code, never text that a person sent.

import {
  DECISION_OUTCOMES,
  EFFECT_OUTCOMES,
  POLL_OUTCOMES,
  REFUSALS,
  REJECTIONS,
  SLACK_METHODS,
  STORE_FAULTS,
} from "./label-values.ts";

export type MetricRow = {
  /** Without the prefix `countersign_`. */
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** The label names. A value that is not listed in `starts` appears when it first occurs. */
  readonly labels: readonly string[];
  /** The sets of label values that are exposed with 0 from the start, in the order of `labels`. Without labels, the default is one set. */
  readonly starts?: readonly (readonly string[])[];
  readonly buckets?: readonly number[];
  readonly help: string;
};

/** Seconds. From a service on the same machine (1 ms) to the time limit of a call (10 s). */
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds. From a commit to a fast disk up to a statement that the server aborts. */
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
/** Seconds. Delays that people notice, from almost none to an outage of an hour. */
const DELAY_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

/**
 * For what is stored in the database: it has no value until it is read. A start that waits for Slack has not read it yet, and a 0 would say
 * that nothing waits.
 */
const UNTIL_READ = [] as const;

const each = (values: readonly string[]): string[][] => values.map((value) => [value]);
const pairs = (firsts: readonly string[], seconds: readonly string[]): string[][] =>
  firsts.flatMap((first) => seconds.map((second) => [first, second]));

export const METRICS = [
  {
    name: "build_info",
    type: "gauge",
    labels: ["version", "node"],
    help: "1, with the version of Countersign and of Node.",
  },
  {
    name: "part_healthy",
    type: "gauge",
    labels: ["part"],
    help: "1 while the part is healthy, 0 while it is faulty. The parts are those of /readyz. Absent until its state is known.",
  },
  {
    name: "runs",
    type: "gauge",
    labels: ["state"],
    starts: UNTIL_READ,
    help: "Unfinished runs that this process holds, by state.",
  },
  { name: "runs_watched", type: "gauge", labels: [], help: "Runs that this process polls." },
  {
    name: "approvals_pending",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "Requests that wait for a decision, or for more votes.",
  },
  {
    name: "approvals_pending_oldest_age_seconds",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "Age of the oldest request that waits. 0 if there is none.",
  },
  {
    name: "approvals_unshown_oldest_age_seconds",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "Age of the oldest request that waits and that Slack does not show with buttons, on a card or in a list of many. 0 if there is none.",
  },
  {
    name: "approvals_past_reminders",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "Requests that still wait after their last reminder.",
  },
  {
    name: "approvals_unreadable",
    type: "gauge",
    labels: [],
    help: "Approvals that the service lists but that cannot be read.",
  },
  {
    name: "decisions_unsent",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "Recorded decisions that the service has neither confirmed nor refused. Decisions on hold do not count.",
  },
  {
    name: "decisions_unsent_oldest_age_seconds",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "Age of the oldest decision that the service has neither confirmed nor refused. 0 if there is none.",
  },
  {
    name: "decisions_still_listed",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "Decisions for which nothing more is sent, although the service lists their requests as pending a minute later. Their runs may be waiting.",
  },
  {
    name: "decisions_total",
    type: "counter",
    labels: ["verdict", "outcome"],
    starts: pairs(["approve", "deny"], DECISION_OUTCOMES),
    help: "Attempts to send a decision, by verdict and outcome.",
  },
  {
    name: "decision_confirmation_delay_seconds",
    type: "histogram",
    labels: [],
    buckets: DELAY_SECONDS,
    help: "Time until the service confirmed a decision, from when it was recorded, or from the first attempt to send it after its hold. If this process took the run over in between, from when the person decided.",
  },
  {
    name: "card_delay_seconds",
    type: "histogram",
    labels: [],
    buckets: DELAY_SECONDS,
    help: "Time from when a request was first seen until Slack showed it with buttons.",
  },
  {
    name: "refusals_total",
    type: "counter",
    labels: ["reason"],
    starts: each(REFUSALS),
    help: "Refusals given to people, by reason.",
  },
  {
    name: "effects_total",
    type: "counter",
    labels: ["effect", "outcome"],
    starts: EFFECT_OUTCOMES,
    help: "Attempts of each kind of effect, by outcome.",
  },
  {
    name: "polls_total",
    type: "counter",
    labels: ["outcome"],
    starts: each(POLL_OUTCOMES),
    help: "Polls of runs, by outcome: snapshot, missing, or the code of the failure.",
  },
  {
    name: "poll_duration_seconds",
    type: "histogram",
    labels: [],
    buckets: CALL_SECONDS,
    help: "Duration of one poll of a run.",
  },
  { name: "polls_in_flight", type: "gauge", labels: [], help: "Polls of runs in progress." },
  {
    name: "poll_lag_seconds",
    type: "gauge",
    labels: [],
    help: "How long the poll that waits longest for a free slot has been due.",
  },
  {
    name: "service_outage",
    type: "gauge",
    labels: [],
    help: "1 while the service has been down or unusable for more than a minute, or has answered nothing but HTTP 429 for as long.",
  },
  {
    name: "service_circuit_open",
    type: "gauge",
    labels: [],
    help: "1 while the service is only probed because five calls in a row failed.",
  },
  {
    name: "slack_connected",
    type: "gauge",
    labels: [],
    help: "1 while Slack's requests can reach this process: over the socket, or in HTTP mode once it listens.",
  },
  {
    name: "slack_calls_total",
    type: "counter",
    labels: ["method", "outcome"],
    starts: pairs(SLACK_METHODS, ["ok", "refused", "rate_limited", "failed"]),
    help: "Calls to Slack, by method and outcome. rate_limited: HTTP 429. failed: Slack failed or did not answer.",
  },
  {
    name: "slack_queue_depth",
    type: "gauge",
    labels: ["kind"],
    starts: each(["post", "update", "read", "sweep", "other"]),
    help: "Calls to Slack that wait because of its rate limits, by kind.",
  },
  {
    name: "notifications_waiting",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "This replica's share of the receipts and alerts in the outbox, without receipts that are held to share a message. Stops counting once it finds 500 that are due.",
  },
  {
    name: "alarms_waiting",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "Alarms of disputes and tampering in this replica's share of the outbox. An alarm that Slack refuses waits until Slack takes it.",
  },
  {
    name: "http_requests_rejected_total",
    type: "counter",
    labels: ["reason"],
    starts: each(REJECTIONS),
    help: "Requests to our port and payloads from Slack that were rejected before processing, by reason.",
  },
  {
    name: "store_faults_total",
    type: "counter",
    labels: ["code"],
    starts: each(STORE_FAULTS),
    help: "Failed database calls, by code.",
  },
  {
    name: "leases_lapsed_total",
    type: "counter",
    labels: [],
    help: "Leases of this process that lapsed: the database did not extend them in time, or the process was suspended.",
  },
  {
    name: "store_commit_duration_seconds",
    type: "histogram",
    labels: [],
    buckets: COMMIT_SECONDS,
    help: "Duration of one commit.",
  },
  {
    name: "policy_info",
    type: "gauge",
    labels: ["version"],
    help: "1, with the version of the policy in force.",
  },
  {
    name: "policy_last_reload_successful",
    type: "gauge",
    labels: [],
    help: "0 if the policy file could not be used when it was last read.",
  },
  {
    name: "policy_last_reload_success_timestamp_seconds",
    type: "gauge",
    labels: [],
    help: "When the policy was last read successfully.",
  },
  {
    name: "audit_head_entry",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "The number of the newest entry of the audit.",
  },
  {
    name: "audit_sink_lag_entries",
    type: "gauge",
    labels: [],
    help: "Audit entries that AUDIT_SINK has not accepted yet.",
  },
  {
    name: "audit_sink_failures_total",
    type: "counter",
    labels: [],
    help: "Failed attempts to send entries to AUDIT_SINK.",
  },
  {
    name: "tampering_findings",
    type: "gauge",
    labels: [],
    starts: UNTIL_READ,
    help: "Findings of tampering that hold approvals back, until an admin acknowledges them.",
  },
] as const satisfies readonly MetricRow[];

export type MetricName = (typeof METRICS)[number]["name"];
