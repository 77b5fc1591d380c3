// How much of the audit can be archived if decisions overlap: the entries of each decision stay together.

import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { appendAudit } from "#src/adapters/store/append-audit.ts";
import { archiveLimit } from "#src/adapters/store/archive-bounds.ts";
import { auditKeyBeside } from "#src/adapters/store/audit-key.ts";
import { type Database, write } from "#src/adapters/store/database.ts";
import { migrate } from "#src/adapters/store/schema.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import { ApprovalId } from "#src/domain/ids.ts";
import { PLANNED } from "#src/domain/posted-message.ts";
import { ADMIN, AUDIT_CHANNEL } from "../../make/bot.ts";
import { anAuditEntry, aNonce, aRun, REQUESTER } from "../../make/run.ts";

const run = aRun();
const { key } = auditKeyBeside(":memory:");
let db: Database;
beforeEach(async () => {
  db = openSqlite(":memory:");
  await migrate(db, SQLITE);
});
afterEach(() => db.destroy());

/** Appends an entry at each number. `of`: the decision that it belongs to, as a number, or null. */
const append = (of: readonly (number | null)[]) =>
  write(db, (trx) => {
    const entries = of.map((nth, at) => {
      const what = nth === null ? ("opened" as const) : ("decided" as const);
      return anAuditEntry(run, { what, at: at + 1, approval: ApprovalId(`apr_${nth ?? "other"}`) });
    });
    return appendAudit(trx, entries, key);
  });

/** Resolves to the last entry that can be archived before entry `stays`, and to the number of statements that it took. */
async function limitBefore(stays: number) {
  let statements = 0;
  const selectFrom = ((...args: Parameters<Database["selectFrom"]>) => {
    statements += 1;
    return db.selectFrom(...args);
  }) as Database["selectFrom"];
  const limit = await archiveLimit({ selectFrom, fn: db.fn }, { before: stays, withoutSink: true });
  return { ...limit, statements };
}

/** Each decision but the last begins before the previous one has ended: 1 0 2 1 3 2 … */
const chain = (length: number): number[] =>
  Array.from({ length: 2 * length }, (_, at) => (at % 2 === 0 ? at / 2 + 1 : (at - 1) / 2));

test("a chain of overlapping decisions takes no more statements if it is longer", async () => {
  await append([null, ...chain(10)]);
  const short = await limitBefore(20);
  expect(short.because).toBe("the decision that it belongs to ends later");
  await db.destroy();
  db = openSqlite(":memory:");
  await migrate(db, SQLITE);
  await append([null, ...chain(100)]);
  const long = await limitBefore(200);
  expect(long).toEqual(short);
});

test("an entry from a wrong clock stops the archive, and the reason names its time", async () => {
  const [day, wrong] = [86_400_000, Date.UTC(2031, 0, 1)];
  const times = [day, 2 * day, wrong, 3 * day, 4 * day];
  const entries = times.map((at) => anAuditEntry(run, { what: "opened", at }));
  await write(db, (trx) => appendAudit(trx, entries, key));
  const limit = (before: number) => archiveLimit(db, { before, withoutSink: true });
  expect(await limit(4 * day)).toEqual({
    lastArchivable: 2,
    because: expect.stringContaining("its time is 2031-01-01T00:00:00.000Z") as unknown,
  });
  expect(await limit(2 * day)).toEqual({ lastArchivable: 1, because: null });
  expect((await limit(wrong + 1)).lastArchivable).toBe(4);
});

test("an alarm that is still to be sent stops the archive, and the reason names its kind, its recipients and the way out", async () => {
  await append([null, null, null, null]);
  const rows = [ADMIN, AUDIT_CHANNEL, REQUESTER].map((to, nth) => ({
    id: aNonce(),
    kind: nth === 2 ? "receipt" : "dispute",
    entry: nth === 2 ? 3 : 2,
    to_id: to,
    made_at: 1,
    to_do: 1 as const,
    disputed: 0 as const,
    post: JSON.stringify(PLANNED),
  }));
  await write(db, (trx) => trx.insertInto("notifications").values(rows).execute());
  const { lastArchivable, because } = await limitBefore(3);
  expect(lastArchivable).toBe(1);
  expect(because).toContain(`dispute to ${AUDIT_CHANNEL}, dispute to ${ADMIN}. Start Countersign`);
  expect(because).toContain("change ADMINS or AUDIT_CHANNEL");
  await write(db, (trx) => trx.deleteFrom("notifications").where("kind", "=", "dispute").execute());
  const later = await limitBefore(5);
  expect(later.because).toContain(`receipt to ${REQUESTER}`);
  expect(later.because).not.toContain("ADMINS");
});

test("the limit is the highest that splits no decision", async () => {
  const entry = fc.option(fc.nat(6), { freq: 2 });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 25 }), fc.nat(25), async (of, wished) => {
      await db.destroy();
      db = openSqlite(":memory:");
      await migrate(db, SQLITE);
      await append(of);
      const stays = Math.min(wished + 1, of.length);
      const isSplit = (limit: number): boolean =>
        of.some((nth, at) => nth !== null && at < limit && of.lastIndexOf(nth) >= limit);
      let expected = stays - 1;
      while (isSplit(expected)) expected -= 1;
      expect((await limitBefore(stays)).lastArchivable).toBe(expected);
    }),
  );
});
