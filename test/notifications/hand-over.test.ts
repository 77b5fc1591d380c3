// Two replicas create notifications one after the other, and the first gets the work back.

import { expect, test } from "vitest";
import { auditEntry } from "#src/audit/entry.ts";
import { createNotificationWriter } from "#src/notifications/from-audit.ts";
import { ADMIN, AUDIT_CHANNEL, createBench } from "../make/bot.ts";
import { contextAt } from "../make/history.ts";
import { quietLog } from "../make/quiet.ts";
import { APPROVER, CHANNEL, TEAM } from "../make/run.ts";

const CURSOR = "audit letters";
/** More than a writer follows at a time. */
const DECISIONS = 500;

test("a replica that writes notifications again continues where the other one stopped", async () => {
  const bench = await createBench();
  const { store } = bench;
  const isOurs = { now: true };
  const cursors: unknown[] = [];
  bench.store = {
    ...store,
    renew: (...given) =>
      isOurs.now
        ? store.renew(...given)
        : Promise.resolve({ shards: [], surplus: 0, replicas: 2, nextEndMs: null }),
    putDocument: async (name, value) => {
      if (name === CURSOR) cursors.push(value);
      return store.putDocument(name, value);
    },
  };
  await bench.restart();
  await bench.clock.pass(5_000);
  isOurs.now = false;
  await bench.clock.pass(60_000);
  expect(bench.flow.holdsShard(0)).toBe(false);

  const other = createNotificationWriter({
    store,
    audit: { team: TEAM, channel: AUDIT_CHANNEL, admins: [ADMIN] },
    context: () => contextAt(),
    log: quietLog([], []),
    engine: { changeAnywhere: () => Promise.resolve(null) },
    integrity: { found: () => undefined },
  });
  for (let n = 0; n < DECISIONS; n += 1) {
    const by = { team: TEAM, user: APPROVER };
    const facts = { at: 1, what: "decided", outcome: "recorded", verdict: "approve", by } as const;
    await store.audit([auditEntry(null, { ...facts, channel: CHANNEL })]);
  }
  for (let round = 0; round < 5; round += 1) await other.write();
  const reached = Number(await store.document(CURSOR));
  expect(reached).toBeGreaterThan(DECISIONS);

  cursors.length = 0;
  isOurs.now = true;
  await bench.clock.pass(60_000);
  expect(bench.flow.holdsShard(0)).toBe(true);
  expect(cursors.filter((cursor) => Number(cursor) < reached)).toEqual([]);
});
