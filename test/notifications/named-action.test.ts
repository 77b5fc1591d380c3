// A receipt, the alarm after "This was not me" and the message to the requester name the action that the approver saw on the card.

import { expect, test } from "vitest";
import { readRun } from "#src/adapters/agents/run-record.ts";
import { RunId } from "#src/domain/ids.ts";
import { type Bench, clickOn, createBench } from "../make/bot.ts";
import { BY, receiptOf, sent } from "../make/receipts.ts";
import { aRunId, aWatchedRun, CHANNEL, NOON, TEAM } from "../make/run.ts";

/** Approves the first approval of a list in this form. Resolves to the action on its card. */
async function approvedAction(bench: Bench, list: string): Promise<string | null> {
  const id = aRunId();
  const body = `{"id":"${id}","status":"awaiting_approval","pending_approvals":${list}}`;
  const read = readRun({ body, spoiled: null }, RunId(id), { askedAt: NOON, now: NOON });
  if (!read.ok) throw new Error(read.error);
  bench.agents.pending.set(id, read.value.pending ?? []);
  const asker = { team: TEAM, user: aWatchedRun().requester, channel: CHANNEL };
  await bench.flow.adoptRun.adopt(asker, id);
  await bench.clock.pass(1_000);
  const run = await bench.run(id);
  const opened = await bench.flow.openForm.open(clickOn(run).click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  const done = await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go");
  if (!done.ok) throw new Error(done.error.refusal.type);
  return run.approvals[0]?.request.action ?? null;
}

const DELETE = "Delete the production database";

test.for<[string, string, string | null]>([
  ["a record", `[{"id":"a1","action":"${DELETE}"}]`, DELETE],
  ["a record with two names of an id", `[{"approval_id":"a1","action":"${DELETE}"}]`, DELETE],
  [
    "a record in a record with an action",
    `[{"approval":{"id":"a1","action":"${DELETE}"},"action":"Read the logs"}]`,
    DELETE,
  ],
  ["a record in a record", `[{"data":{"approvalId":7,"action":"${DELETE}"}}]`, DELETE],
  ["records by id", `{"a1":{"action":"${DELETE}"}}`, DELETE],
  ["records by id that have their id as a name too", `{"a1":{"a1":"x","action":"${DELETE}"}}`, DELETE],
  ["actions by id", `{"a1":"${DELETE}"}`, DELETE],
  [
    "the same id twice",
    `[{"id":"a1","action":"${DELETE}"},{"id":"a1","action":"Then drop it"}]`,
    `${DELETE}\nThen drop it`,
  ],
  ["an id alone", `["a1"]`, null],
  ["an action that is no text", `[{"id":"a1","action":{"do":"it"}}]`, null],
])("%s", async ([, list, action]) => {
  const bench = await createBench();
  expect(await approvedAction(bench, list)).toBe(action);
  const receipt = await receiptOf(bench);
  expect(receipt.facts.action).toBe(action);
  await bench.flow.dispute(BY, receipt.id);
  await bench.clock.pass(5_000);
  const later = ["answered", "dispute"].flatMap((kind) => sent(bench, kind));
  expect(later.map(({ facts }) => facts.action)).toEqual([action, action, action]);
});
