// A text is erased while replicas go on writing: what was there before is read without the lock of the audit, for which all writers wait.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { sql } from "kysely";
import { appendAudit, takeAuditLock } from "#src/adapters/store/append-audit.ts";
import { auditKeyOf } from "#src/adapters/store/audit-key.ts";
import { lockAudit, type LockedAudit } from "#src/adapters/store/audit-upkeep.ts";
import { type Database, write } from "#src/adapters/store/database.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { openPostgres } from "#src/adapters/store/postgres.ts";
import type { Run } from "#src/domain/run.ts";
import type { Store } from "#src/ports/store.ts";
import { sha256 } from "../../audit/tampering.ts";
import { eventually } from "../../make/eventually.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";
import { anAuditEntry, aRun } from "../../make/run.ts";
import { STATEMENTS_LOGGED } from "../../make/sql-words.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");
const KEY = auditKeyOf(AUDIT_KEY);
const TEXT = "call Ana Example on 555-0199";
const DIGEST = sha256(TEXT);
const WANTED = { digest: DIGEST, reason: null, by: "test", at: 5 };

let server: PostgresServer;
let url = "";
let store: Store;
let db: Database;
let audit: LockedAudit;

beforeAll(async () => void (server = await startPostgres({ settings: STATEMENTS_LOGGED })));
afterAll(() => server.stop());
beforeEach(async () => {
  url = await server.database();
  store = await openStore({ url, owner: "test", auditKey: AUDIT_KEY });
  db = await openPostgres(url);
  audit = await lockAudit(url, KEY);
});
afterEach(async () => {
  await audit.close();
  await db.destroy();
  await store.close();
});

async function finished(facts: Parameters<typeof anAuditEntry>[1] = {}): Promise<Run> {
  const run = aRun();
  await store.insert(run, { audit: [anAuditEntry(run, facts)] });
  await store.save({ run, revision: 1 }, run, { finished: true });
  return run;
}

const kept = async () => (await server.run(url, "select key from runs order by key")).map(({ key }) => key);

test("runs and entries from before are read before the lock is taken", async () => {
  const other = await finished();
  await finished({ digest: DIGEST, text: TEXT });
  const before = server.log().length;
  expect(await audit.redact(WANTED)).toMatchObject({ runs: 1, again: false });
  expect(await kept()).toEqual([other.key]);
  const statements = await eventually(() => {
    const lines = server.log().slice(before).split("\n");
    expect(lines.some((line) => line.includes('delete from "audit_texts"'))).toBe(true);
    return lines;
  });
  const locked = statements.findIndex((line) => line.includes("audit_lock"));
  const readsDocuments = (line: string): boolean => line.includes("replace(doc");
  expect(statements.slice(0, locked).filter(readsDocuments)).not.toEqual([]);
  expect(statements.slice(locked).filter(readsDocuments)).toEqual([]);
});

const WAITING = "select pid from pg_stat_activity where wait_event_type = 'Lock'";

test("a run that gets the text while the command waits for the lock is deleted with it", async () => {
  await finished({ digest: DIGEST, text: TEXT });
  const [saved, named, other] = [await finished(), await finished(), await finished()];
  const redacting = await write(db, async (trx) => {
    await takeAuditLock(trx);
    const begun = audit.redact(WANTED);
    await eventually(async () => expect(await server.run(url, WAITING)).toHaveLength(1));
    const doc = sql<string>`doc || ${DIGEST}`;
    const revision = sql<number>`revision + 1`;
    await trx.updateTable("runs").set({ doc, revision }).where("key", "=", saved.key).execute();
    await appendAudit(trx, [anAuditEntry(named, { digest: DIGEST })], KEY);
    return { begun };
  });
  expect(await redacting.begun).toMatchObject({ runs: 3 });
  expect(await kept()).toEqual([other.key]);
  expect(await store.auditText(DIGEST)).toBeNull();
});

test("nothing is erased if an unfinished run gets the text while the command waits for the lock", async () => {
  await finished({ digest: DIGEST, text: TEXT });
  const open = aRun();
  await store.insert(open, {});
  const redacting = await write(db, async (trx) => {
    await takeAuditLock(trx);
    const begun = audit.redact(WANTED).catch((error: unknown) => error);
    await eventually(async () => expect(await server.run(url, WAITING)).toHaveLength(1));
    await appendAudit(trx, [anAuditEntry(open, { digest: DIGEST })], KEY);
    return { begun };
  });
  expect(String(await redacting.begun)).toContain(
    `An unfinished run still holds this text or a part of it (${open.key})`,
  );
  expect(await store.auditText(DIGEST)).toBe(TEXT);
});
