// Someone who can write to the database points a stored receipt at another decision of the same person.

import { describe, expect, test } from "vitest";
import { entryShownIn } from "#src/adapters/slack/blocks/receipts.ts";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";
import type { AuditPlace } from "#src/domain/audit/hash-chain.ts";
import { BY, decided, disputes, receiptOf, sent } from "../make/receipts.ts";
import { withFile } from "../make/spoilt-database.ts";

const MIN = 60_000;

/** What the button of a drawn receipt says about its entry. */
function shownBy({ blocks }: Pick<Message, "blocks">): AuditPlace | null {
  const [block] = blocks.filter(({ type }) => type === "actions");
  return entryShownIn(block?.block_id);
}

/** A person decided twice. The row of the second receipt names the first decision. */
async function repointed() {
  const { bench, spoil } = await withFile();
  await decided(bench);
  await receiptOf(bench);
  await decided(bench, "deny");
  await bench.clock.pass(16 * MIN);
  const [older, newer] = sent(bench, "receipt");
  if (older === undefined || newer === undefined) throw new Error("a receipt is missing");
  spoil(`update notifications set entry = ${older.entry}, kind = 'receipt-at-once' where id = '${newer.id}'`);
  return { bench, spoil, older, newer, shown: shownBy(notificationMessage(newer, newer.facts)) };
}

const SHARED = {
  type: "up",
  ts: "1700000000.000100",
  sweepAt: null,
  shows: "several receipts",
  notBefore: 0,
  tries: 0,
};
/** Puts all receipts into one message. */
const TOGETHER = `update notifications set post = '${JSON.stringify(SHARED)}' where kind like 'receipt%'`;

const findings = async ({ bench }: Awaited<ReturnType<typeof repointed>>) => {
  await bench.clock.pass(5 * MIN);
  return bench.store.auditAfter(0, ["tampering-found"], 10);
};

describe("a receipt whose row names another decision of the same person", () => {
  test("disputes the decision that it shows, and is a finding", async () => {
    const on = await repointed();
    const { bench, newer, shown } = on;
    expect(await bench.flow.dispute(BY, newer.id, shown)).toMatchObject({
      value: { again: false, entry: { seq: newer.entry }, receipt: { entry: newer.entry } },
    });
    expect((await disputes(bench)).map(({ entry }) => entry.refers)).toEqual([newer.entry]);
    expect(await findings(on)).toHaveLength(1);
  });

  test("raises the alarm although the other decision is already reported", async () => {
    const { bench, older, newer, shown } = await repointed();
    await bench.flow.dispute(BY, older.id);
    const done = await bench.flow.dispute(BY, newer.id, shown);
    expect(done).toMatchObject({ value: { again: false } });
    if (!done.ok || done.value.facts === null) throw new Error("no facts");
    expect(done.value.facts.entry.seq).toBe(newer.entry);
  });

  test("disputes nothing if its button does not show an entry of this audit", async () => {
    const on = await repointed();
    const { bench, newer } = on;
    const shown = { seq: newer.entry, link: "0".repeat(16) };
    expect(await bench.flow.dispute(BY, newer.id, shown)).toEqual({ ok: false, error: "unproven" });
    expect(await disputes(bench)).toEqual([]);
    expect(await findings(on)).toHaveLength(1);
  });

  test("keeps its button in a shared message, also if another button of the message is pressed", async () => {
    const { bench, spoil, older } = await repointed();
    spoil(TOGETHER);
    expect(await bench.flow.dispute(BY, older.id)).toMatchObject({ value: { again: false, together: [] } });
  });

  test("in a shared message is drawn again with the decision that it showed", async () => {
    const { bench, spoil, older, newer, shown } = await repointed();
    spoil(TOGETHER);
    const done = await bench.flow.dispute(BY, newer.id, shown);
    if (!done.ok) throw new Error(done.error);
    expect(done.value.together.map(({ facts }) => facts.entry.seq)).toEqual([older.entry, newer.entry]);
  });
});

test("a button of an earlier release says no entry, so the row does", async () => {
  const { bench, older, newer } = await repointed();
  expect(entryShownIn(`receipt-${newer.id}`)).toBeNull();
  expect(await bench.flow.dispute(BY, newer.id, null)).toMatchObject({
    value: { entry: { seq: older.entry } },
  });
});
