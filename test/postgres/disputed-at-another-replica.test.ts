// A replica stores a dispute while another one deletes old runs.

import { expect, onTestFinished, test } from "vitest";
import { appendAudit } from "#src/adapters/store/append-audit.ts";
import { auditKeyOf } from "#src/adapters/store/audit-key.ts";
import { write } from "#src/adapters/store/database.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { openPostgres } from "#src/adapters/store/postgres.ts";
import { startPostgres } from "../make/postgres.ts";
import { anAuditEntry, aWatchedRun } from "../make/run.ts";

const KEY = Buffer.alloc(32, "key").toString("base64");
const WAITING = "select pid from pg_stat_activity where wait_event_type = 'Lock'";

test("the run of the disputed decision stays", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const url = await server.database();
  const store = await openStore({ url, owner: "deletes", auditKey: KEY });
  onTestFinished(() => store.close());
  const other = await openPostgres(url);
  onTestFinished(() => other.destroy());
  const run = aWatchedRun();
  await store.insert(run, { audit: [anAuditEntry(run)] });
  const stored = await store.load(run.key);
  if (stored === null) throw new Error("the run is not stored");
  await store.save(stored, run, { finished: true });

  let deleting = Promise.resolve(0);
  await write<string>(other, async (trx) => {
    await appendAudit(trx, [anAuditEntry(run, { what: "disputed", refers: 1 })], auditKeyOf(KEY));
    let isOver = false;
    deleting = store.forget(Number.MAX_SAFE_INTEGER).finally(() => (isOver = true));
    await expect.poll(async () => isOver || (await server.run(url, WAITING)).length > 0).toBe(true);
    return "disputed";
  });
  expect(await deleting).toBe(0);
  expect(await store.load(run.key)).not.toBeNull();
});
