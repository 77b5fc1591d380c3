// The stored run of a waiting request lags behind the policy, the freezes and the time until its next change. People are judged as of now.

import { describe, expect, test } from "vitest";
import { GroupId, UserId } from "#src/domain/ids.ts";
import type { When } from "#src/domain/policy/policy.ts";
import { ADMIN, createBench, failure } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";
import { failsFor } from "../make/silent-slack.ts";

const MIN = 60_000;
const PAY = GroupId("S0PAY");
const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };
const BY_PAY: When = { ...ALWAYS, requesters: [], requesterGroups: [PAY] };
const BY = { team: TEAM, user: APPROVER };
const byGroup = aPolicy(
  { name: "payments team", when: BY_PAY, approvers: these([UserId("U0LEAD")]) },
  { name: "others", approvers: these([APPROVER]) },
);
const expiring = (afterMs: number) => ({ expiry: { afterMs, outcome: "nothing" } as const });

async function waiting(policy = aPolicy({})) {
  const bench = await createBench();
  bench.policy = policy;
  return { bench, ...(await bench.withCard()) };
}

describe("a policy that has just come to ask for the requester's groups", () => {
  test("leaves it open in the queue who may decide, until Slack has said who the requester is", async () => {
    const { bench } = await waiting();
    bench.policy = byGroup;
    const { others } = await bench.flow.queries.pending(BY, CHANNEL);
    expect(others.map(({ refusal }) => refusal?.type)).toEqual(["unverified"]);
  });

  test("lets those stop the run who may decide its requests under it", async () => {
    const { bench, id } = await waiting();
    bench.policy = byGroup;
    const press = { ...BY, channel: CHANNEL, run: (await bench.run(id)).key, shown: null };
    expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: true });
  });
});

test("a click on a request that is too old under every rule of the new policy opens no form", async () => {
  const { bench, click } = await waiting(aPolicy(expiring(18 * MIN)));
  await bench.clock.pass(15 * MIN);
  bench.policy = aPolicy({ when: BY_PAY, ...expiring(MIN) }, expiring(12 * MIN));
  failsFor(bench, (user) => user === REQUESTER);
  expect(await bench.flow.openForm.open(click, "deny")).toMatchObject({
    error: { refusal: { type: "closed", why: "expired" } },
  });
});

describe("while a new freeze has not reached the stored run", () => {
  async function heldAndFrozen() {
    const { bench, ...card } = await waiting(aPolicy({ holdMs: 5 * MIN }));
    const opened = await bench.flow.openForm.open(card.click, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    const submit = () => bench.flow.submitDecision(BY, opened.value.ticket.nonce, "checked");
    expect(await submit()).toMatchObject({ ok: true });
    bench.store.eachRun = () => Promise.reject(failure("timeout"));
    await bench.flow.freeze.freeze({ team: TEAM, user: ADMIN, channel: CHANNEL }, CHANNEL, "it loops");
    return { bench, submit, ...card };
  }

  test("an approval that was held and is submitted again does not pass for a recorded one", async () => {
    const { submit } = await heldAndFrozen();
    expect(await submit()).toMatchObject({ error: { refusal: { type: "reopened" } } });
  });

  test("a press on the card of a held approval hears that the request is open again", async () => {
    const { bench, click } = await heldAndFrozen();
    expect(await bench.flow.claimRequest.claim(click)).toMatchObject({
      error: { refusal: { type: "reopened" } },
    });
  });
});

test("a form about a request shows the run as its person was judged", async () => {
  const { bench, click } = await waiting(byGroup);
  await bench.clock.pass(30_000);
  bench.people.ownSets = new Map([[REQUESTER, new Set([PAY])]]);
  await bench.clock.pass(70_000);
  const opened = await bench.flow.askRequester.open({ ...click, user: UserId("U0LEAD") });
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  expect(opened.value.run.approvals[0]?.appliedRule.rule.name).toBe("payments team");
});
