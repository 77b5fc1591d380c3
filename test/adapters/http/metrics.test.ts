import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createMetrics } from "#src/adapters/http/metrics.ts";
import { METRICS, type MetricRow } from "#src/adapters/http/metrics-table.ts";
import { PARTS, type Readings } from "#src/ports/monitoring.ts";

const aSet = () => createMetrics({ version: "1.2.3", node: "26.0.0", at: 1_700_000_000_000 });

const READINGS: Readings = {
  runs: { starting: 0, running: 2, awaiting_approval: 1, stopped: 0, missing: 0 },
  retriedStarts: 0,
  pending: { count: 4, oldestMs: 90_000, oldestUnshownMs: 30_500, reminded: 2 },
  undelivered: { count: 1, oldestMs: 61_500, late: 1 },
  stillListed: 3,
  parts: PARTS.map((part) => ({ part, fault: part === "service_key" ? "refused" : null, unready: false })),
  pollLagMs: 250,
  circuitOpen: true,
  slackConnected: true,
  slackQueues: { post: 3, update: 0, read: 0, sweep: 0, other: 0 },
  policyVersion: "abc",
  auditHead: 17,
};

async function linesOf(metrics: ReturnType<typeof aSet>): Promise<string[]> {
  return (await metrics.expose()).body.split("\n");
}

test("events are counted under their name and labels", async () => {
  const metrics = aSet();
  metrics.poll("snapshot", 0.02);
  metrics.poll("snapshot", 0.2);
  metrics.poll("timeout", 10);
  metrics.pollsInFlight(3);
  metrics.runsWatched(7);
  metrics.effect("post", "posted");
  metrics.decision("approve", "confirmed");
  metrics.refusal("requester");
  metrics.outage(true);
  metrics.slackCall("chat.update", "rate_limited");
  metrics.storeFault("store_full");
  metrics.leaseLapsed();
  metrics.committed(0.003);
  metrics.cardShown(2);
  metrics.decisionConfirmed(0.4);
  metrics.auditSinkFailed();
  metrics.auditSinkLag(12);
  const { contentType } = await metrics.expose();
  expect(contentType).toContain("text/plain");
  expect(await linesOf(metrics)).toEqual(
    expect.arrayContaining([
      'countersign_polls_total{outcome="snapshot"} 2',
      'countersign_polls_total{outcome="timeout"} 1',
      'countersign_poll_duration_seconds_bucket{le="0.025"} 1',
      'countersign_poll_duration_seconds_bucket{le="10"} 3',
      "countersign_polls_in_flight 3",
      "countersign_runs_watched 7",
      'countersign_effects_total{effect="post",outcome="posted"} 1',
      'countersign_decisions_total{verdict="approve",outcome="confirmed"} 1',
      'countersign_refusals_total{reason="requester"} 1',
      "countersign_audit_sink_failures_total 1",
      "countersign_audit_sink_lag_entries 12",
      "countersign_service_outage 1",
      'countersign_slack_calls_total{method="chat.update",outcome="rate_limited"} 1',
      'countersign_store_faults_total{code="store_full"} 1',
      "countersign_leases_lapsed_total 1",
      'countersign_store_commit_duration_seconds_bucket{le="0.005"} 1',
      'countersign_card_delay_seconds_bucket{le="2.5"} 1',
      'countersign_decision_confirmation_delay_seconds_bucket{le="0.5"} 1',
    ]),
  );
});

test("values read at each scrape are shown in seconds and by name", async () => {
  const metrics = aSet();
  metrics.readFrom(() => Promise.resolve({ ...READINGS, policyVersion: null }));
  expect(await linesOf(metrics)).toContain('countersign_policy_info{version="built-in"} 1');
  metrics.readFrom(() => Promise.resolve(READINGS));
  metrics.policyReload(false, 1_800_000_000_000);
  const lines = await linesOf(metrics);
  expect(lines).toEqual(
    expect.arrayContaining([
      'countersign_build_info{version="1.2.3",node="26.0.0"} 1',
      'countersign_runs{state="running"} 2',
      "countersign_approvals_pending 4",
      "countersign_approvals_pending_oldest_age_seconds 90",
      "countersign_approvals_unshown_oldest_age_seconds 30.5",
      "countersign_decisions_unsent 1",
      "countersign_decisions_unsent_oldest_age_seconds 61.5",
      'countersign_part_healthy{part="service_key"} 0',
      'countersign_part_healthy{part="store"} 1',
      "countersign_poll_lag_seconds 0.25",
      "countersign_service_circuit_open 1",
      "countersign_slack_connected 1",
      'countersign_slack_queue_depth{kind="post"} 3',
      'countersign_policy_info{version="abc"} 1',
      "countersign_policy_last_reload_successful 0",
      "countersign_policy_last_reload_success_timestamp_seconds 1700000000",
      "countersign_audit_head_entry 17",
    ]),
  );
  expect(lines).not.toContain('countersign_policy_info{version="built-in"} 1');
});

test("before the first reading, nothing says that no decision, request, finding or notification waits", async () => {
  const metrics = aSet();
  const lines = await linesOf(metrics);
  const unread =
    /^countersign_(runs|approvals_[pu]\w+_seconds|approvals_pending|approvals_past_reminders|decisions_\w*(unsent|listed)\w*|notifications_waiting|alarms_waiting|audit_head_entry|tampering_findings)[ {]/;
  expect(lines.filter((line) => unread.test(line))).toEqual([]);
  expect(lines).toContain("countersign_slack_connected 0");
  metrics.tampered(0);
  metrics.notificationsWaiting(0);
  metrics.alarmsWaiting(0);
  metrics.readFrom(() => Promise.resolve({ ...READINGS, undelivered: { count: 0, oldestMs: 0, late: 0 } }));
  expect(await linesOf(metrics)).toEqual(
    expect.arrayContaining([
      'countersign_runs{state="missing"} 0',
      "countersign_approvals_pending 4",
      "countersign_approvals_past_reminders 2",
      "countersign_decisions_unsent 0",
      "countersign_decisions_unsent_oldest_age_seconds 0",
      "countersign_decisions_still_listed 3",
      "countersign_notifications_waiting 0",
      "countersign_alarms_waiting 0",
      "countersign_tampering_findings 0",
    ]),
  );
});

test("every other metric exists from the start, and every counter has its known labels at 0", async () => {
  const lines = await linesOf(aSet());
  const missing = METRICS.filter(({ name }) => !lines.some((line) => line.startsWith(`countersign_${name}`)));
  expect(missing.map(({ name }) => name)).toEqual([
    "part_healthy",
    "approvals_pending",
    "approvals_pending_oldest_age_seconds",
    "approvals_unshown_oldest_age_seconds",
    "approvals_past_reminders",
    "decisions_unsent",
    "decisions_unsent_oldest_age_seconds",
    "decisions_still_listed",
    "notifications_waiting",
    "alarms_waiting",
    "policy_info",
    "audit_head_entry",
    "tampering_findings",
  ]);
  for (const line of [
    'countersign_decisions_total{verdict="deny",outcome="unsure"} 0',
    'countersign_effects_total{effect="send-decision",outcome="later"} 0',
    'countersign_effects_total{effect="find-people",outcome="people-found"} 0',
    'countersign_refusals_total{reason="not-claimer"} 0',
    'countersign_refusals_total{reason="own-audit"} 0',
    'countersign_slack_calls_total{method="chat.postMessage",outcome="rate_limited"} 0',
    'countersign_store_faults_total{code="store_full"} 0',
    'countersign_http_requests_rejected_total{reason="forged"} 0',
    "countersign_decision_confirmation_delay_seconds_count 0",
    "countersign_runs_watched 0",
  ])
    expect(lines).toContain(line);
});

test("a part has no value until its state is known, so that a start does not look like a fault", async () => {
  const metrics = aSet();
  const ofParts = async () =>
    (await linesOf(metrics)).filter((line) => line.startsWith("countersign_part_healthy{"));
  expect(await ofParts()).toEqual([]);
  const slack = { part: "slack", fault: "not reached yet", unready: true, untried: true } as const;
  const store = { part: "store", fault: null, unready: false } as const;
  metrics.readFrom(() => Promise.resolve({ ...READINGS, parts: [store, slack] }));
  expect(await ofParts()).toEqual(['countersign_part_healthy{part="store"} 1']);
  metrics.readFrom(() => Promise.resolve({ ...READINGS, parts: [store, { ...slack, untried: false }] }));
  expect(await ofParts()).toContain('countersign_part_healthy{part="slack"} 0');
});

test("the table in docs/reference.md is the code's", () => {
  const reference = readFileSync(new URL("../../../docs/reference.md", import.meta.url), "utf8");
  const rows = METRICS.map(({ name, type, labels, help }: MetricRow) => {
    const named = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`countersign_${name}\` | ${type} | ${named === "" ? "–" : named} | ${help} |`;
  });
  expect(reference.split("\n").filter((line) => line.startsWith("| `countersign_"))).toEqual(rows);
});

test("promtool has no complaints about our metrics", async () => {
  const metrics = aSet();
  metrics.readFrom(() => Promise.resolve(READINGS));
  const { body } = await metrics.expose();
  const ours = body.split("\n").filter((line) => /^(# (HELP|TYPE) )?countersign_/.test(line));
  const complaints = execFileSync("promtool", ["check", "metrics"], { input: `${ours.join("\n")}\n` });
  expect(complaints.toString()).toBe("");
});

test("the process and its event loop are measured too", async () => {
  const { body } = await aSet().expose();
  expect(body).toContain("process_cpu_seconds_total");
  // An alert counts its changes.
  expect(body).toContain("\nprocess_start_time_seconds ");
  expect(body).toContain("nodejs_eventloop_lag_p99_seconds");
});

test("two sets of metrics are independent", async () => {
  const [one, other] = [aSet(), aSet()];
  one.refusal("guest");
  expect(await linesOf(other)).toContain('countersign_refusals_total{reason="guest"} 0');
});
