// The report on who decided in the last week: who may read it, and its audit entry.

import { expect, test } from "vitest";
import { UserId } from "#src/domain/ids.ts";
import { ADMIN, type Bench, createBench } from "../make/bot.ts";
import { lastEntry } from "../make/last-entry.ts";
import { APPROVER, CHANNEL, TEAM } from "../make/run.ts";
import { decided } from "../make/receipts.ts";

const asks = (user: UserId) => ({ team: TEAM, user, channel: CHANNEL });
const last = ({ store }: Bench) => lastEntry(store);

/** Waits until the next Monday is over. */
async function nextWeek(bench: Bench): Promise<void> {
  await bench.clock.pass(20_000);
  bench.clock.step(7 * 86_400_000);
}

test("an admin is told who decided what and who was refused, and an entry says so", async () => {
  const bench = await createBench();
  const { click } = await decided(bench);
  await decided(bench, "deny");
  await bench.flow.openForm.open({ ...click, user: UserId("U0LATE") }, "approve");
  await nextWeek(bench);
  const report = await bench.flow.reportWeek(asks(ADMIN));
  if (!report.ok) throw new Error(report.error.type);
  expect(report.value.people).toEqual([
    { user: APPROVER, approved: 1, denied: 1, refused: 0 },
    { user: "U0LATE", approved: 0, denied: 0, refused: 1 },
  ]);
  expect(await last(bench)).toMatchObject({ what: "audit-read", run: null, by: { user: ADMIN } });
});

test("anyone else is refused, and an entry says so too", async () => {
  const bench = await createBench();
  await decided(bench);
  await nextWeek(bench);
  const no = await bench.flow.reportWeek(asks(APPROVER));
  expect(no).toEqual({ ok: false, error: { type: "not-admin", asked: "report" } });
  expect(await last(bench)).toMatchObject({ what: "refused", step: "audit", refusal: "not-admin" });
});

test("an admin outside a channel is refused too, and so is one whom Slack does not identify", async () => {
  const bench = await createBench();
  bench.people.facts = { kind: "guest" };
  expect(await bench.flow.reportWeek(asks(ADMIN))).toEqual({ ok: false, error: { type: "guest" } });
});
