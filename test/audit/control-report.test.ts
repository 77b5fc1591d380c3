// What the figures of a period say about an approval, in whatever order its entries were written.

import { expect, test } from "vitest";
import { readForReport } from "#src/audit/control-report.ts";
import { UserId } from "#src/domain/ids.ts";
import { auditEntry, type KeptEntry } from "#src/audit/entry.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { BY, decided } from "../make/receipts.ts";
import { TEAM } from "../make/run.ts";

const LATE = { team: TEAM, user: UserId("U0LATE") };

/** Returns the rows of the report about everything, by measure. */
async function report({ store }: Bench): Promise<ReadonlyMap<string, string>> {
  const reader = readForReport({ from: 0, to: Number.MAX_SAFE_INTEGER });
  const head = (await store.auditHead())?.seq ?? 0;
  for (let seq = 1; seq <= head; seq += 1) reader.add((await store.auditEntry(seq)) as KeptEntry);
  const sections = reader.report([], { unread: 0, archived: 0 });
  return new Map(sections.flatMap(({ rows }) => rows.map(({ measure, value }) => [measure, value])));
}

test("a form whose look-ups took longer than another person's decision does not reopen the request", async () => {
  const bench = await createBench();
  const { click } = await bench.withCard();
  const lookUp = bench.people.lookUp.bind(bench.people);
  const { promise: slow, resolve: answer } = Promise.withResolvers<void>();
  bench.people.lookUp = async (team, user, ...more) => {
    if (user === LATE.user) await slow;
    return lookUp(team, user, ...more);
  };
  const late = bench.flow.openForm.open({ ...click, ...LATE }, "approve");
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go");
  await bench.clock.pass(5_000);
  answer();
  await late;
  const rows = await report(bench);
  expect([rows.get("Approved"), rows.get("Open at the end of the period")]).toEqual(["1", "0"]);
});

test("a decision that is sent twice because its first answer was lost counts as one approval", async () => {
  const bench = await createBench();
  const answered = bench.agents.answer;
  bench.agents.answer = () => Promise.reject(failure("http_503", { applied: "no" }));
  await decided(bench);
  await bench.clock.pass(2_000);
  bench.agents.answer = answered;
  await bench.clock.pass(60_000);
  expect(bench.agents.resolved.length).toBeGreaterThan(1);
  const rows = await report(bench);
  expect([rows.get("Approvals sent"), rows.get("Approved")]).toEqual(["1", "1"]);
});

test.each([
  ["Restores from a back-up", "restored"],
  ["Archives made", "archived"],
] as const)("the exceptions name each gap of the audit: %s", async (measure, what) => {
  const bench = await createBench();
  expect((await report(bench)).get(measure)).toBe("0");
  await bench.store.audit([auditEntry(null, { at: bench.clock.now(), what, outcome: "x", since: 0 })]);
  expect((await report(bench)).get(measure)).toBe("1");
});
