// "This was not me" under a decision whose audit entry was damaged or removed: the report reaches the admins all the same.

import { describe, expect, test } from "vitest";
import { auditEntry } from "#src/audit/entry.ts";
import { ADMIN } from "../make/bot.ts";
import { BY, decided, disputes, receiptOf, sent } from "../make/receipts.ts";
import { withFile } from "../make/spoilt-database.ts";
import { APPROVER, CHANNEL, TEAM } from "../make/run.ts";

const MIN = 60_000;
const ALTERED = "update audit set entry = replace(entry, 'approve', 'deny') where what = 'decided'";
const REMOVED = "delete from audit where what = 'decided'";

/** A person decided, and then the database was changed. */
async function damaged(change: string) {
  const { bench, spoil } = await withFile();
  await decided(bench);
  const receipt = await receiptOf(bench);
  spoil(change);
  const press = () => bench.flow.dispute(BY, receipt.id);
  const alarms = async () => {
    await bench.clock.pass(5 * MIN);
    return sent(bench, "tampering").map(({ facts }) => facts.entry.entry.outcome);
  };
  return { bench, receipt, press, alarms };
}

describe.each([
  ["altered", ALTERED],
  ["removed", REMOVED],
])("a report about a decision whose entry is %s", (_what, change) => {
  test("is notified, logged as an error, and recorded with the number of the entry", async () => {
    const { bench, receipt, press, alarms } = await damaged(change);
    expect(await press()).toEqual({ ok: false, error: "unproven" });
    expect(bench.errors).toContain(
      "a person disputes a decision in their name that the audit does not prove",
    );
    const [refused] = await bench.store.auditAfter(0, ["refused"], 10);
    expect(refused?.entry).toMatchObject({ by: BY, step: "receipt", refers: receipt.entry });
    const said = await alarms();
    expect(said.length).toBeGreaterThan(0);
    expect(said.join()).toContain(`${APPROVER} pressed "This was not me"`);
    expect(await disputes(bench)).toEqual([]);
  });

  test("is notified also if the damage was acknowledged before", async () => {
    const { bench, press, alarms } = await damaged(change);
    await bench.restart();
    const before = (await alarms()).length;
    const { code } = (await bench.flow.queries.health(ADMIN)).audit;
    const admin = { team: TEAM, user: ADMIN, channel: CHANNEL };
    expect(await bench.flow.acknowledge(admin, code ?? "", "a disk fault")).toMatchObject({ ok: true });
    await press();
    expect((await alarms()).length).toBeGreaterThan(before);
  });

  test("is notified once, however often the button is pressed", async () => {
    const { bench, press, alarms } = await damaged(change);
    await press();
    await alarms();
    await press();
    await alarms();
    expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).toHaveLength(1);
  });
});

test("a report about a decision whose entry is archived is no finding, but an error in the log", async () => {
  const { bench, spoil } = await withFile();
  await decided(bench);
  const receipt = await receiptOf(bench);
  const archive = { seq: receipt.entry, link: receipt.facts.entry.link, file: "audit-1.jsonl" };
  const facts = { at: bench.clock.now(), what: "archived", outcome: "archived", archive } as const;
  await bench.store.audit([auditEntry(null, facts)]);
  spoil(`delete from audit where seq <= ${receipt.entry}`);
  expect(await bench.flow.dispute(BY, receipt.id)).toEqual({ ok: false, error: "gone" });
  expect(bench.errors).toContain("a person disputes a decision in their name that the audit does not prove");
  const [refused] = await bench.store.auditAfter(0, ["refused"], 10);
  expect(refused?.entry).toMatchObject({ step: "receipt", refers: receipt.entry });
  await bench.clock.pass(60_000);
  expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).toEqual([]);
});
