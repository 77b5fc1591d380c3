// The audit's key is replaced while a replica is suspended: its lease has lapsed, so nobody sees it, and it still has the old key.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { auditKeyOf, auditSignatures, digestOf } from "#src/adapters/store/audit-key.ts";
import { openAuditFile } from "#src/adapters/store/audit-file.ts";
import { rotateKey } from "#src/adapters/store/audit-upkeep.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { verifyAudit } from "#src/domain/audit/verify-chain.ts";
import type { Store } from "#src/ports/store.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";
import { anApproval, anAuditEntry, aRun, aTicket, NOON, withApprovals } from "../../make/run.ts";

const seed = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const [OLD, NEW] = [auditKeyOf(seed(1)), auditKeyOf(seed(2))];
const LEASE_MS = 60_000;
const RETIRED = { code: "store_key_retired", retry: "never", applied: "no" };

let server: PostgresServer;
let url = "";
let replica: Store;

beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());
beforeEach(async () => {
  url = await server.database();
  replica = await openStore({ url, owner: "suspended", auditKey: seed(1) });
  await replica.audit([anAuditEntry(aRun())]);
});
afterEach(() => replica.close());

const lapse = () => server.run(url, "update owners set until = 0");

async function expectIntact(entries: number): Promise<void> {
  const audit = await openAuditFile(url);
  const signature = auditSignatures([OLD.publicKey, NEW.publicKey]);
  const tools = { hash: digestOf, signature, textOf: audit.textOf };
  expect(await verifyAudit(audit.rows(), tools)).toMatchObject({ ok: true, entries });
  await audit.close();
}

test("a replica without a lease records nothing once the key was replaced, and gets no lease", async () => {
  await lapse();
  expect(await rotateKey(url, { from: OLD, to: NEW }, NOON)).toBe("rotated");
  const run = withApprovals(aRun(), anApproval());
  const entries = [anAuditEntry(run)];
  await expect(replica.audit(entries)).rejects.toMatchObject(RETIRED);
  await expect(replica.insert(run, { audit: entries })).rejects.toMatchObject(RETIRED);
  await expect(replica.saveForm(aTicket(run, anApproval()), entries)).rejects.toMatchObject(RETIRED);
  await expect(replica.renew(NOON, LEASE_MS)).rejects.toMatchObject(RETIRED);
  expect(await server.run(url, "select key from runs")).toEqual([]);
  expect(await server.run(url, "select owner from owners where until > 0")).toEqual([]);
  await expectIntact(3);
});

test("a replica keeps the key from being replaced while it starts and once it works, and counts once", async () => {
  await expect(rotateKey(url, { from: OLD, to: NEW }, NOON)).rejects.toThrow("1 process uses it");
  await replica.renew(NOON, LEASE_MS);
  await expect(rotateKey(url, { from: OLD, to: NEW }, NOON)).rejects.toThrow("1 process uses it");
  await replica.release();
  expect(await rotateKey(url, { from: OLD, to: NEW }, NOON)).toBe("rotated");
});

test("a replica that gets its lease back before keeps the key from being replaced", async () => {
  await lapse();
  await replica.renew(NOON, LEASE_MS);
  await expect(rotateKey(url, { from: OLD, to: NEW }, NOON)).rejects.toThrow("1 process uses it");
  await expectIntact(1);
});

test("a key that comes back after another one signs again", async () => {
  await replica.release();
  await rotateKey(url, { from: OLD, to: NEW }, NOON);
  await rotateKey(url, { from: NEW, to: OLD }, NOON);
  await replica.audit([anAuditEntry(aRun())]);
  await expectIntact(6);
});
