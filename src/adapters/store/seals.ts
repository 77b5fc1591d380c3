// Seals: without the key, someone who can write to the database cannot create a run, form or button that this program trusts. A seal does
// not prove that a row is the newest version; the audit does. This file also reports and collects rows whose seal does not match.

import { createHash, timingSafeEqual } from "node:crypto";
import type { Finding } from "../../ports/audit-store.ts";
import type { AuditKey } from "./audit-key.ts";
import type { Database, RunRow, Tables } from "./database.ts";

/** Columns that change without a save (holder, revision, times) are not sealed, because no decision depends on them. */
export type SealedRun = Pick<
  RunRow,
  | "key"
  | "service_run_id"
  | "team"
  | "channel"
  | "requester"
  | "pending"
  | "audit_seq"
  | "audit_link"
  | "doc_version"
  | "doc"
>;

/** Computes the seal that a row must have. */
export type Seals = {
  readonly run: (row: SealedRun) => string;
  readonly form: (row: Omit<Tables["forms"], "seal">) => string;
  readonly button: (row: Omit<Tables["buttons"], "seal">) => string;
};

export function sealsOf(key: AuditKey): Seals {
  // JSON contains no raw line breaks, so no two rows produce the same text.
  const sealed = (...fields: readonly (string | number | null)[]): string =>
    key.seal(fields.map((field) => JSON.stringify(field)).join("\n"));
  return {
    run: (row) => {
      const { team, channel, requester, pending, audit_seq, audit_link, doc_version, doc } = row;
      const place = [row.key, row.service_run_id, team, channel, requester] as const;
      return sealed("run", ...place, pending, audit_seq, audit_link, doc_version, doc);
    },
    form: ({ nonce, run, opened_at, doc_version, doc }) =>
      sealed("form", nonce, run, opened_at, doc_version, doc),
    button: ({ nonce, run, approval, version }) => sealed("button", nonce, run, approval, version),
  };
}

/** Compares in constant time. */
export function isSealed(seal: string, expected: string): boolean {
  const actualBytes = Buffer.from(seal, "utf8");
  const expectedBytes = Buffer.from(expected, "utf8");
  return actualBytes.length === expectedBytes.length && timingSafeEqual(actualBytes, expectedBytes);
}

/** The id of a finding covers the content, so that a second change of the same row is a new finding. */
const ID_CHARS = 16;
const mark = (text: string): string =>
  createHash("sha256").update(text, "utf8").digest("hex").slice(0, ID_CHARS);

export function brokenRun({ key, doc }: Pick<RunRow, "key" | "doc">): Finding {
  const words = `the stored run ${key} was changed outside Countersign`;
  return { id: `run ${key} ${mark(doc)}`, words, run: key };
}

export function brokenForm({ nonce, doc }: Pick<Tables["forms"], "nonce" | "doc">): Finding {
  const words = "a stored form was changed outside Countersign; nothing in it was sent";
  return { id: `form ${mark(nonce)} ${mark(doc)}`, words, run: null };
}

export function brokenButton({ nonce, run, approval, version }: Tables["buttons"]): Finding {
  const words = "a stored button was changed outside Countersign; it opens nothing";
  return { id: `button ${mark(nonce)} ${mark(`${run} ${approval} ${version}`)}`, words, run: null };
}

export function brokenNotification({ id, kind, to_id, post }: Tables["notifications"]): Finding {
  const words = "a stored notification was changed outside Countersign";
  return { id: `notification ${mark(id)} ${mark(`${kind} ${to_id} ${post}`)}`, words, run: null };
}

/** Finds all rows without a valid seal of this key. */
export async function brokenRows(db: Database, key: AuditKey): Promise<readonly Finding[]> {
  const seals = sealsOf(key);
  const found: Finding[] = [];
  // One run at a time, because a run with its requests can be megabytes long.
  for (const { key: run } of await db.selectFrom("runs").select("key").execute()) {
    const row = await db.selectFrom("runs").selectAll().where("key", "=", run).executeTakeFirstOrThrow();
    if (!isSealed(row.seal, seals.run(row))) found.push(brokenRun(row));
  }
  for (const { nonce } of await db.selectFrom("forms").select("nonce").execute()) {
    const row = await db.selectFrom("forms").selectAll().where("nonce", "=", nonce).executeTakeFirstOrThrow();
    if (!isSealed(row.seal, seals.form(row))) found.push(brokenForm(row));
  }
  for (const row of await db.selectFrom("buttons").selectAll().execute())
    if (!isSealed(row.seal, seals.button(row))) found.push(brokenButton(row));
  return found;
}

// Collects findings about rows that this program did not write. Keeps them until there is a listener, so that none is lost while the store
// opens.

export type Findings = {
  readonly report: (finding: Finding) => void;
  /** Sets the only listener, and immediately calls it with the findings so far. */
  readonly listen: (listener: (finding: Finding) => void) => void;
};

export function createFindings(): Findings {
  const early: Finding[] = [];
  let receive = (finding: Finding): void => void early.push(finding);
  return {
    report: (finding) => receive(finding),
    listen(listener) {
      receive = listener;
      for (const finding of early.splice(0)) listener(finding);
    },
  };
}
