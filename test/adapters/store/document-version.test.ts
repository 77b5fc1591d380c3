// During a rollout, an older release saves runs that a newer one has stored, and drops the fields that it does not know. So a new field needs
// a new version of the documents, which the older release cannot read.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { auditKeyOf } from "#src/adapters/store/audit-key.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { DOC_VERSION } from "#src/adapters/store/run-row.ts";
import { sealsOf } from "#src/adapters/store/seals.ts";
import { isRecord, parseJson } from "#src/domain/json.ts";
import type { Run } from "#src/domain/run.ts";
import { type FormTicket, ROW_UNREADABLE, type Store } from "#src/ports/store.ts";
import type { Finding } from "#src/ports/audit-store.ts";
import { anApproval, aTicket, aWatchedRun, CHANNEL, NOON, withApprovals } from "../../make/run.ts";
import { GOLDEN_KEY, restore } from "./golden/load.ts";
import { fieldsFile, storedFields } from "./golden/stored-fields.ts";

let folder = "";
let file = "";
let store: Store | null = null;
let findings: Finding[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "document-version-"));
  file = join(folder, "bot.db");
  findings = [];
});
afterEach(async () => {
  await store?.close();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<Store> {
  store = await openStore({ url: `sqlite:${file}`, owner: "test", auditKey: GOLDEN_KEY, now: () => NOON });
  store.onTampering((finding) => findings.push(finding));
  return store;
}

function inFile<Answer>(act: (raw: DatabaseSync) => Answer): Answer {
  const raw = new DatabaseSync(file);
  try {
    return act(raw);
  } finally {
    raw.close();
  }
}

// A change needs a new DOC_VERSION (run-row.ts), unless the newest version is not released yet. golden/write-fields.ts writes the list.
test("the fields of stored runs and forms are those of their version", () => {
  const listed = readFileSync(fieldsFile(DOC_VERSION), "utf8");
  expect(storedFields().split("\n")).toEqual(listed.split("\n"));
});

test("0.2.0, which reads version 1, cannot read a run that this release has saved, nor a form that it has opened", async () => {
  restore(2, file).close();
  const opened = await open();
  const runs = await opened.list({ channels: [CHANNEL], only: "all", limit: 1_000 });
  for (const { key } of runs) {
    const stored = await opened.load(key);
    if (stored !== null) await opened.save(stored, stored.run);
  }
  const run = withApprovals(aWatchedRun(), anApproval());
  await opened.insert(run, {});
  await opened.saveForm(ticketFor(run));
  const versions = (table: string) =>
    inFile((raw) => raw.prepare(`select distinct doc_version as version from ${table}`).all());
  expect(runs.length).toBeGreaterThan(50);
  expect(versions("runs")).toEqual([{ version: DOC_VERSION }]);
  expect(versions(`forms where run = '${run.key}'`)).toEqual([{ version: DOC_VERSION }]);
  expect(DOC_VERSION).toBeGreaterThan(1);
});

function ticketFor(run: Run): FormTicket {
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("no approval");
  return aTicket(run, approval);
}

describe("what a newer release has stored", () => {
  const run = withApprovals(aWatchedRun(), anApproval());
  const ticket = ticketFor(run);

  beforeEach(async () => {
    const before = await open();
    await before.insert(run, {});
    await before.saveForm(ticket);
    await before.close();
    inFile(storeAsNewer);
  });

  const row = () => inFile((raw) => raw.prepare("select doc_version, doc, seal from runs").get());
  const facts = { code: ROW_UNREADABLE, applied: "no", retry: "never" };

  test("cannot be read, and does not count as tampering", async () => {
    const older = await open();
    await expect(older.load(run.key)).rejects.toMatchObject(facts);
    await expect(older.form(ticket.nonce)).rejects.toMatchObject(facts);
    expect(await older.list({ channels: [CHANNEL], only: "all", limit: 10 })).toEqual([]);
    expect(findings).toEqual([]);
  });

  test("is not saved over by a process that read the run before", async () => {
    const [older, stored] = [await open(), row()];
    expect(await older.save({ run, revision: 1 }, { ...run, input: "changed" })).toBe("lost");
    expect(row()).toEqual(stored);
  });

  test("is free for the newer release when the older one ends", async () => {
    const older = await open();
    expect(await older.claim(10)).toEqual([]);
    await older.release();
    const holder = inFile((raw) => raw.prepare("select holder from runs").get());
    expect(holder).toEqual({ holder: null });
  });
});

type RunRow = Parameters<ReturnType<typeof sealsOf>["run"]>[0];
type FormRow = Parameters<ReturnType<typeof sealsOf>["form"]>[0];

/** Saves all runs and forms again as a newer release does: with one more field, a valid seal, and, for a run, the next revision. */
function storeAsNewer(raw: DatabaseSync): void {
  const seals = sealsOf(auditKeyOf(GOLDEN_KEY));
  const newer = <Row extends { readonly doc: string }>(row: Row) => {
    const doc = parseJson(row.doc);
    return {
      ...row,
      doc_version: DOC_VERSION + 1,
      doc: JSON.stringify(isRecord(doc) && { ...doc, next: 1 }),
    };
  };
  for (const row of (raw.prepare("select * from runs").all() as RunRow[]).map(newer))
    raw
      .prepare("update runs set doc_version = ?, doc = ?, seal = ?, revision = revision + 1 where key = ?")
      .run(row.doc_version, row.doc, seals.run(row), row.key);
  for (const row of (raw.prepare("select * from forms").all() as FormRow[]).map(newer))
    raw
      .prepare("update forms set doc_version = ?, doc = ?, seal = ? where nonce = ?")
      .run(row.doc_version, row.doc, seals.form(row), row.nonce);
}
