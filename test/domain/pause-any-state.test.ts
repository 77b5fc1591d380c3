// An outage counts for no request, whatever its state and its rule are at that moment.

import { expect, test } from "vitest";
import { decide } from "#src/domain/decide.ts";
import { ageAt } from "#src/domain/follow-up.ts";
import { applyPolicy } from "#src/domain/applied-rule.ts";
import { pauseClocks, resumeClocks } from "#src/domain/pause.ts";
import { recheckAuthority } from "#src/domain/decision-delivery.ts";
import { createBench, failure } from "../make/bot.ts";
import { contextAt, listedRun } from "../make/history.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, NOON, TEAM } from "../make/run.ts";

const MIN = 60_000;
const policy = aPolicy({ expiry: { afterMs: 60 * MIN, outcome: "deny" } });
const by = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true } as const;

test("a pause that began before the approval ends with the outage", () => {
  const run = applyPolicy(listedRun("apr_1"), contextAt(0, policy));
  const paused = pauseClocks(run, { why: "service", from: NOON + 10 * MIN, until: null });
  const [approval] = paused.approvals;
  if (approval === undefined) throw new Error("no approval");
  const { id, version, request } = approval;
  const decided = decide(
    paused,
    { approval: id, version, digest: request.digest, was: request, verdict: "approve", reason: "go", by },
    contextAt(12 * MIN, policy),
  );
  if (!decided.ok) throw new Error(decided.error.type);
  const resumed = resumeClocks(decided.value, "service", NOON + 20 * MIN);
  const check = recheckAuthority(resumed, id, [{ ...by, kind: "deactivated" }], contextAt(300 * MIN, policy));
  if (check.type !== "void") throw new Error(check.type);
  const again = check.run.approvals[0];
  if (again === undefined) throw new Error("no approval");
  expect(again.followUp?.pauses?.map(({ until }) => until)).toEqual([NOON + 20 * MIN]);
  expect(ageAt(again, NOON + 300 * MIN) / MIN).toBe(290);
});

test("an outage does not count either if the rule of that hour has no clock", () => {
  const clockless = applyPolicy(listedRun("apr_1"), contextAt(0, aPolicy({})));
  const paused = resumeClocks(
    pauseClocks(clockless, { why: "service", from: NOON, until: null }),
    "service",
    NOON + 120 * MIN,
  );
  const later = applyPolicy(paused, contextAt(120 * MIN, policy));
  const [approval] = later.approvals;
  if (approval === undefined) throw new Error("no approval");
  expect(ageAt(approval, NOON + 120 * MIN) / MIN).toBe(0);
});

test("an outage of the service does not count for a request that was approved before it and is open again after it", async () => {
  const bench = await createBench({}, 0.5);
  bench.policy = aPolicy({ expiry: { afterMs: 60 * MIN, outcome: "deny" }, holdMs: 5_000 });
  const { id, click } = await bench.withCard();
  await bench.clock.pass(50 * MIN);
  const opened = await bench.flow.openForm.open({ ...click, user: APPROVER }, "approve");
  if (!opened.ok) throw new Error("no form");
  expect(
    (await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go")).ok,
  ).toBe(true);
  // The service is away for half an hour. The approval waits, no byte of it leaves.
  bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
  await bench.clock.pass(30 * MIN);
  expect(bench.agents.resolved).toEqual([]);
  // Meanwhile the approver has left: at the return the approval is void, and the card opens again.
  bench.people.facts = { kind: "deactivated" };
  bench.agents.beforeLook = () => Promise.resolve();
  await bench.clock.pass(2 * MIN);
  const [approval] = (await bench.run(id)).approvals;
  expect(bench.agents.resolved).toEqual([]);
  expect(approval?.state.type).toBe("pending");
});
