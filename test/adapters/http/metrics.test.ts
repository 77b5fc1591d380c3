import { expect, test } from "vitest";
import { createMetrics } from "#src/adapters/http/metrics.ts";

test("what happened is counted under its name and labels", async () => {
  const metrics = createMetrics();
  metrics.poll("snapshot", 0.02);
  metrics.poll("snapshot", 0.2);
  metrics.poll("timeout", 10);
  metrics.pollsInFlight(3);
  metrics.runsWatched(7);
  metrics.effect("post", "posted");
  metrics.decision("approve", "confirmed");
  metrics.refusal("requester");
  metrics.outage(true);
  metrics.auditSinkFailed();
  metrics.auditSinkLag(12);
  const { contentType, body } = await metrics.expose();
  expect(contentType).toContain("text/plain");
  expect(body.split("\n")).toEqual(
    expect.arrayContaining([
      'countersign_polls_total{outcome="snapshot"} 2',
      'countersign_polls_total{outcome="timeout"} 1',
      'countersign_poll_seconds_bucket{le="0.025"} 1',
      'countersign_poll_seconds_bucket{le="10"} 3',
      "countersign_polls_in_flight 3",
      "countersign_runs_watched 7",
      'countersign_effects_total{do="post",outcome="posted"} 1',
      'countersign_decisions_total{verdict="approve",outcome="confirmed"} 1',
      'countersign_refusals_total{because="requester"} 1',
      "countersign_outage 1",
      "countersign_audit_sink_failures_total 1",
      "countersign_audit_sink_lag_entries 12",
    ]),
  );
});

test("the process and its event loop are measured too", async () => {
  const { body } = await createMetrics().expose();
  expect(body).toContain("process_cpu_seconds_total");
  expect(body).toContain("nodejs_eventloop_lag_p99_seconds");
});

test("two sets of metrics do not count into each other", async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.refusal("guest");
  expect((await other.expose()).body).not.toContain("guest");
});
