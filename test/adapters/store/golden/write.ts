// Writes the golden database of this schema. Once a version is released, its file is never written again: node
// test/adapters/store/golden/write.ts

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "#src/adapters/store/open.ts";
import { MIGRATIONS } from "#src/adapters/store/schema.ts";
import { PLANNED } from "#src/domain/posted-message.ts";
import type { Notification } from "#src/ports/notification.ts";
import {
  anApproval,
  anAuditEntry,
  aNonce,
  APPROVER,
  aTicket,
  aWatchedRun,
  NOON,
  withApprovals,
} from "../../../make/run.ts";
import { GOLDEN_KEY, goldenFile } from "./load.ts";
import { everyState } from "./states.ts";

const folder = mkdtempSync(join(tmpdir(), "golden-"));
const file = join(folder, "bot.db");
await fill();
writeFileSync(goldenFile(MIGRATIONS.length), dumped());
rmSync(folder, { recursive: true });

async function fill(): Promise<void> {
  const store = await openStore({
    url: `sqlite:${file}`,
    owner: "golden",
    auditKey: GOLDEN_KEY,
    now: () => NOON,
  });
  for (const run of everyState()) {
    await store.insert(run, { audit: [anAuditEntry(run)] });
    const [approval] = run.approvals;
    if (approval !== undefined) await store.saveForm(aTicket(run, approval));
  }
  const tampered = withApprovals(aWatchedRun(), anApproval());
  await store.insert(tampered, { audit: [anAuditEntry(tampered)] });
  await store.putDocument("audit letters", 7);
  const entries = [
    ["receipt", { what: "decided", verdict: "approve", reason: "The change is planned." }],
    ["answered", { what: "settled", verdict: "deny", outcome: "confirmed", asked: "e".repeat(64) }],
    ["dispute", { what: "disputed", refers: 1 }],
    ["head", {}],
    ["tampering", { what: "tampering-found", findings: ["run x"] }],
    ["redaction", { what: "redacted", digest: "d".repeat(64), reason: "It held a secret." }],
  ] as const;
  for (const [kind, facts] of entries) {
    await store.audit([anAuditEntry(tampered, facts)]);
    const entry = (await store.auditHead())?.seq ?? 0;
    const notification: Notification = {
      id: aNonce(),
      kind,
      entry,
      to: APPROVER,
      madeAt: NOON,
      post: PLANNED,
    };
    await store.addNotifications([notification]);
  }
  await store.close();
  const raw = new DatabaseSync(file);
  raw.prepare("update runs set doc = replace(doc, 'Rotate', 'Delete') where key = ?").run(tampered.key);
  raw.close();
}

/** Returns the database as statements, so that a reviewer can read a change of the file. */
function dumped(): string {
  const raw = new DatabaseSync(file);
  const schema = raw.prepare("select type, name, sql from sqlite_schema where sql is not null").all();
  const [tables, rest] = [
    schema.filter(({ type }) => type === "table"),
    schema.filter(({ type }) => type !== "table"),
  ];
  const lines = [
    `pragma application_id = ${String(raw.prepare("pragma application_id").get()?.["application_id"])}`,
    ...tables.map(({ sql }) => String(sql)),
    ...tables.flatMap(({ name }) => rowsOf(raw, String(name))),
    ...rest.map(({ sql }) => String(sql)),
  ];
  raw.close();
  return `${lines.join(";\n")};\n`;
}

function rowsOf(raw: DatabaseSync, table: string): string[] {
  return raw
    .prepare(`select * from ${table}`)
    .all()
    .map((row) => `insert into ${table} values (${Object.values(row).map(literal).join(", ")})`);
}

function literal(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : "null";
}
