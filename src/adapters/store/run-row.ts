// Converts runs and form tickets to rows and back.

import { type Approval, isUndecided } from "../../domain/approval.ts";
import { isUndelivered } from "../../domain/decision-delivery.ts";
import { markTampered } from "../../domain/end-run.ts";
import { type RunKey, shardOf } from "../../domain/ids.ts";
import { isRecord, type Json, type JsonRecord, parseJson } from "../../domain/json.ts";
import { currentId, type Run, unreadableNow } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import { type FormTicket, ROW_UNREADABLE, type StoredRun } from "../../ports/store.ts";
import type { Doc } from "./document-shape.ts";
import { type LongTexts, type Packed, type TextOf, unpackedFrom } from "./long-texts.ts";
import { formDocument, runDocument } from "./run-document.ts";
import { brokenForm, brokenRun, type Findings, isSealed, type SealedRun, type Seals } from "./seals.ts";
import { type Database, read, type RunRow, type Tables } from "./database.ts";

/**
 * To be raised with the first change of the stored fields after a release. An older release drops the fields that it does not know when it
 * saves a run, but cannot read a newer version, so it leaves the run alone. This file reads all older versions; 0.2.0 wrote version 1.
 */
export const DOC_VERSION = 2;

/** The columns that are derived from the run. */
export type DerivedRow = SealedRun & Pick<RunRow, "seal" | "shard">;

/** `doc` is the run as packed by `LongTexts`. */
export function toRow(run: Run, { doc }: Packed, seals: Seals): DerivedRow {
  const row = {
    key: run.key,
    service_run_id: currentId(run),
    team: run.team,
    channel: run.channel,
    requester: run.requester,
    pending: run.approvals.filter(isInQueue).length + (unreadableNow(run)?.count ?? 0),
    audit_seq: run.audited?.seq ?? null,
    audit_link: run.audited?.link ?? null,
    doc_version: DOC_VERSION,
    doc,
  };
  return { ...row, shard: shardOf(run), seal: seals.run(row) };
}

/** A decision stays in the queue until the service has confirmed it, so that people see that it is on its way. */
const isInQueue = (approval: Approval): boolean => isUndecided(approval) || isUndelivered(approval);

export type StoredRow = SealedRun & Pick<RunRow, "seal" | "revision">;

/** The columns from which a run is read. */
export const STORED = [
  "key",
  "revision",
  "service_run_id",
  "team",
  "channel",
  "requester",
  "pending",
  "audit_seq",
  "audit_link",
  "doc_version",
  "doc",
  "seal",
] as const satisfies readonly (keyof StoredRow)[];

export type Reading = {
  /** Null for a reader without the key, which only displays runs and trusts every row. */
  readonly seals: Seals | null;
  readonly texts: LongTexts;
  readonly now: () => number;
  readonly findings: Pick<Findings, "report">;
};

/** How many versions of a run are read before we give up, if other processes keep changing it meanwhile. */
const MAX_VERSIONS = 5;

/**
 * Rejects with PortError if the row cannot be read. Reports a row with a wrong seal, and resolves to what can safely be kept of it. Since
 * the row was read, another process may have saved or deleted the run, and so have removed a long text. Then this resolves to the newest
 * version, or to null if there is none.
 */
export async function fromRow(db: Reader, row: StoredRow, reading: Reading): Promise<StoredRun | null> {
  let current = row;
  for (let version = 1; version <= MAX_VERSIONS; version += 1) {
    const run = await runOf(db, current, reading);
    if (run !== null) return run;
    const newest = await read(() =>
      db.selectFrom("runs").select(STORED).where("key", "=", row.key).executeTakeFirst(),
    );
    if (newest === undefined) return null;
    if (newest.doc === current.doc) {
      reading.findings.report(brokenRun(current));
      throw textMissing(`run ${row.key}`);
    }
    current = newest;
  }
  const facts = { applied: "no", retry: "later", code: "store_busy" } as const;
  throw new PortError(`the stored run ${row.key} changes faster than it can be read`, facts);
}

/** Resolves to null if a long text is missing. */
async function runOf(db: Reader, row: StoredRow, reading: Reading): Promise<StoredRun | null> {
  const { seals, now, findings } = reading;
  const what = `run ${row.key}`;
  const textOf = await reading.texts.textsOf(db, row.key, row.doc);
  const isIntact = seals === null || isSealed(row.seal, seals.run(row));
  if (!isIntact) findings.report(brokenRun(row));
  const doc = readDocument(what, row, textOf);
  if (doc === null) return null;
  if (doc["key"] !== row.key) throw unreadable(what, "it names another run");
  const run = isIntact ? parsedAs(what, runDocument, doc) : tamperedRun(what, doc, now());
  return { run, revision: row.revision };
}

/** A document that someone else wrote may have any shape. What we keep of it must have the shape of a run. */
function tamperedRun(what: string, doc: JsonRecord, monotonic: number): Run {
  try {
    return runDocument.parse(markTampered(doc as unknown as Run, monotonic));
  } catch (error) {
    throw unreadable(what, "it was changed outside Countersign", error);
  }
}

/** Throws a PortError that says where the document is wrong, but never quotes its content. */
export function parsedAs<T>(what: string, schema: Doc<T>, doc: Json): T {
  const read = schema.safeParse(doc);
  if (read.success) return read.data;
  const [{ path, message } = { path: [], message: "it has another shape" }] = read.error.issues;
  throw unreadable(what, `${path.join(".")}: ${message}`);
}

export function ticketRow(ticket: FormTicket, { doc }: Packed, seals: Seals): Tables["forms"] {
  const { nonce, run, at } = ticket;
  const row = { nonce, run, opened_at: at, doc_version: DOC_VERSION, doc };
  return { ...row, seal: seals.form(row) };
}

/**
 * Resolves to "changed" if the row was changed outside Countersign, and to null if it was deleted since it was read. Rejects with PortError
 * if it cannot be read.
 */
export async function fromTicketRow(
  db: Reader,
  row: Tables["forms"],
  { seals, texts, findings }: Reading,
): Promise<FormTicket | "changed" | null> {
  const textOf = await texts.textsOf(db, row.nonce, row.doc);
  const what = `form ${row.nonce}`;
  if (seals !== null && !isSealed(row.seal, seals.form(row))) {
    findings.report(brokenForm(row));
    return "changed";
  }
  const doc = readDocument(what, row, textOf);
  if (doc !== null) return parsedAs(what, formDocument, doc);
  // A form never changes, but it is deleted with its run, together with its texts.
  const same = db.selectFrom("forms").select("nonce").where("nonce", "=", row.nonce);
  if ((await read(() => same.executeTakeFirst())) === undefined) return null;
  findings.report(brokenForm(row));
  throw textMissing(what);
}

/** Returns null if a long text is missing. */
function readDocument(
  what: string,
  row: { doc_version: number; doc: string },
  textOf: TextOf,
): JsonRecord | null {
  const { doc_version: version } = row;
  if (version > DOC_VERSION)
    throw unreadable(
      what,
      `it has version ${version}, and this program reads at most version ${DOC_VERSION}`,
    );
  const written = parsedJson(what, row.doc);
  const doc = unpackedFrom(row.doc, written, textOf);
  if (doc === undefined) return null;
  if (!isRecord(doc)) throw unreadable(what, "it is not a record");
  return doc;
}

export function parsedJson(what: string, text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    throw unreadable(what, "it is not JSON", error);
  }
}

const textMissing = (what: string): PortError =>
  unreadable(what, "one of its long texts is missing, or was changed outside Countersign");

function unreadable(what: string, words: string, cause?: unknown): PortError {
  const facts = { applied: "no", retry: "never", code: ROW_UNREADABLE, cause } as const;
  return new PortError(`the stored ${what} cannot be read: ${words}`, facts);
}

/** Reads the rows that can be read, and passes the others to `onCorrupt`. Rejects with PortError if the database fails. */
export async function readable(
  db: Reader,
  rows: readonly StoredRow[],
  reading: Reading,
  onCorrupt: (key: RunKey, error: PortError) => void,
): Promise<StoredRun[]> {
  const stored: StoredRun[] = [];
  for (const row of rows) {
    try {
      const run = await fromRow(db, row, reading);
      if (run !== null) stored.push(run);
    } catch (error) {
      // Any other error, such as a database that does not answer, says nothing about the row.
      if (!(error instanceof PortError) || error.code !== ROW_UNREADABLE) throw error;
      onCorrupt(row.key, error);
    }
  }
  return stored;
}

type Reader = Pick<Database, "selectFrom">;
