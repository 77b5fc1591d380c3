// A primary with a standby, and an address that leads to one of them. If the primary dies and the standby takes over, nothing that the
// store has acknowledged is lost, unless the standby is behind. If the address leads to the standby for a while, the store is not tied to it.

import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { examineServer } from "#src/adapters/store/examine-server.ts";
import { openStore } from "#src/adapters/store/open.ts";
import type { RunKey } from "#src/domain/ids.ts";
import { createFreezes } from "#src/engine/freezes.ts";
import { PortError } from "#src/ports.ts";
import type { Store } from "#src/ports/store.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";
import { quietLog } from "../../make/quiet.ts";
import { anAuditEntry, aRun } from "../../make/run.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");
const WRITERS = 4;
const BEFORE = 100;
const AFTER = 50;
/** Ends the connections of all clients. The standby's is not to a database. */
const CUT_ALL =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";

/** A folder for the host in a URL. It leads to one server, and then to another. */
function anAddressOf(server: PostgresServer) {
  const places = mkdtempSync(join(tmpdir(), "address-"));
  onTestFinished(() => rmSync(places, { recursive: true }));
  const address = join(places, "db");
  symlinkSync(server.folder, address);
  const leadTo = ({ folder }: PostgresServer): void => {
    rmSync(address);
    symlinkSync(folder, address);
  };
  return { address, leadTo };
}

async function aStoreAt(address: string, url: string): Promise<Store> {
  const there = url.replace(/host=.*/, `host=${address}`);
  const store = await openStore({ url: there, owner: "test", auditKey: AUDIT_KEY });
  onTestFinished(() => store.close());
  return store;
}

test("a standby that takes over has every run and every entry that was acknowledged, and one chain", async () => {
  const primary = await startPostgres();
  onTestFinished(() => primary.stop());
  const url = await primary.database();
  const standby = await startPostgres({ standbyOf: primary });
  onTestFinished(() => standby.stop());
  await primary.run(url, "alter system set synchronous_standby_names = '*'");
  await primary.run(url, "select pg_reload_conf()");

  const { leadTo, address } = anAddressOf(primary);
  const store = await aStoreAt(address, url);

  const acknowledged: RunKey[] = [];
  let wanted = Infinity;
  const reached = Promise.withResolvers<void>();
  async function write(): Promise<void> {
    while (acknowledged.length < wanted) {
      const run = aRun();
      try {
        await store.insert(run, { audit: [anAuditEntry(run)] });
        acknowledged.push(run.key);
        if (acknowledged.length === BEFORE) reached.resolve();
      } catch (error) {
        // No primary answers. The write may have been applied, but was not acknowledged.
        if (!(error instanceof PortError)) throw error;
      }
    }
  }
  const writers = Promise.all(Array.from({ length: WRITERS }, write));
  await reached.promise;
  const [{ sync_state: state } = {}] = await primary.run(url, "select sync_state from pg_stat_replication");
  expect(state).toBe("sync");
  await primary.kill();
  await standby.promote();
  leadTo(standby);
  wanted = acknowledged.length + AFTER;
  await writers;

  const lost: RunKey[] = [];
  for (const key of acknowledged) if ((await store.load(key)) === null) lost.push(key);
  expect(lost).toEqual([]);
  expect((await store.auditHead())?.seq).toBeGreaterThanOrEqual(acknowledged.length);
  expect(await store.walkAudit()).toBeNull();
});

test("after a standby takes over that lacks the newest entries, a process knows the freezes that get their numbers", async () => {
  const primary = await startPostgres();
  onTestFinished(() => primary.stop());
  const url = await primary.database();
  const { leadTo, address } = anAddressOf(primary);
  const store = await aStoreAt(address, url);
  const freezes = createFreezes(store, quietLog([], []));
  const frozen = anAuditEntry(aRun(), { what: "frozen", run: null });
  await freezes.write(frozen);
  const standby = await startPostgres({ standbyOf: primary });
  onTestFinished(() => standby.stop());
  await standby.kill();
  await freezes.write({ ...frozen, what: "freeze-lifted", refers: 1 });
  expect(freezes.now()).toEqual([]);
  await primary.kill();
  await standby.start();
  await standby.promote();
  leadTo(standby);
  await store.audit([frozen]);
  await freezes.refresh();
  expect(freezes.now().map(({ entry }) => entry)).toEqual([1, 2]);
});

test("a store whose connections lead to a standby writes again as soon as the address leads to the primary", async () => {
  const primary = await startPostgres();
  onTestFinished(() => primary.stop());
  const url = await primary.database();
  const { leadTo, address } = anAddressOf(primary);
  const store = await aStoreAt(address, url);
  const standby = await startPostgres({ standbyOf: primary });
  onTestFinished(() => standby.stop());
  leadTo(standby);
  await primary.run(url, CUT_ALL);
  // Until the store notices that its connection was cut, a check fails for that reason.
  const check = (): Promise<unknown> => store.ping().catch(({ code }: PortError) => code);
  await expect.poll(check).toBe("store_readonly");
  leadTo(primary);
  await store.ping();
});

test("a primary that does not wait for its standby is found", async () => {
  const primary = await startPostgres();
  onTestFinished(() => primary.stop());
  const url = await primary.database();
  await primary.run(url, `alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = local`);
  const { faults } = await examineServer(url);
  await primary.run(url, "alter system set synchronous_standby_names = '*'");
  await primary.run(url, "select pg_reload_conf()");
  await expect.poll(async () => (await examineServer(url)).faults).toHaveLength(faults.length + 1);
});
