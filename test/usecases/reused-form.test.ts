// The service asks for the same thing again under the same id, after something else.

import { expect, test } from "vitest";
import { DECISION_LINGER_MS } from "#src/domain/snapshot.ts";
import { formView } from "#src/adapters/slack/blocks/decision-modal.ts";
import { createBench, clickOn } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, TEAM } from "../make/run.ts";

test("the form of a reused id shows its own request's rule", async () => {
  const bench = await createBench();
  bench.policy = aPolicy({ name: "lax" });
  const { id, click } = await bench.withCard();
  const first = { id: "apr_1", content: { action: "delete it" } };
  const other = { id: "apr_1", content: { action: "delete it", target: "db" } };
  const approve = async (each: typeof click) => {
    const opened = await bench.flow.openForm.open({ ...each, user: APPROVER }, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    return {
      opened: opened.value,
      done: await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go"),
    };
  };
  bench.agents.pending.set(id, [first]);
  expect((await approve(click)).done.ok).toBe(true);
  await bench.clock.pass(2_000);
  bench.agents.pending.set(id, [other]);
  await bench.clock.pass(DECISION_LINGER_MS * 8);
  const second = clickOn(await bench.run(id), 1);
  expect((await approve(second.click)).done.ok).toBe(true);
  await bench.clock.pass(2_000);
  // The policy gets stricter, and the agent asks for the first thing again, under the same id.
  bench.policy = aPolicy({ name: "strict", friction: { readFirst: false, word: "production" }, needs: 2 });
  bench.agents.pending.set(id, [first]);
  await bench.clock.pass(DECISION_LINGER_MS * 8);
  const run = await bench.run(id);
  expect(run.approvals.length).toBe(3);
  const third = clickOn(run, 2);
  const { opened } = await approve(third.click);
  const text = JSON.stringify(formView(opened));
  expect(text).toContain("1 more person must approve it");
  expect(text).toContain('Type \\"production\\"');
});
