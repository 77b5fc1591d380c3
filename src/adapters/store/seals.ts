// Seals: without the key, someone who can write the database cannot make a run, a form or a button that this program trusts. A
// seal does not prove that a row is the newest one; the audit does. Below, what is found of such rows is collected.

import { createHash, timingSafeEqual } from "node:crypto";
import type { Finding } from "../../ports/store.ts";
import type { AuditKey } from "./audit-key.ts";
import type { Database, RunRow, Tables } from "./database.ts";

/** Columns that change without a save (holder, revision, times) are not sealed: no decision rests on them. */
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

/** The seal that a row must have. */
export type Seals = {
  readonly run: (row: SealedRun) => string;
  readonly form: (row: Omit<Tables["forms"], "seal">) => string;
  readonly button: (row: Omit<Tables["buttons"], "seal">) => string;
};

export function sealsOf(key: AuditKey): Seals {
  // JSON contains no raw line break, so no two rows produce the same text.
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

export function isSealed(seal: string, due: string): boolean {
  const [given, wanted] = [Buffer.from(seal, "utf8"), Buffer.from(due, "utf8")];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The id of a finding covers the content, so that a second change of the same row is another finding. */
const ID_CHARS = 16;
const mark = (text: string): string =>
  createHash("sha256").update(text, "utf8").digest("hex").slice(0, ID_CHARS);

export function brokenRun({ key, doc }: Pick<RunRow, "key" | "doc">): Finding {
  const words = `the stored run ${key} was changed outside Countersign`;
  return { id: `run ${key} ${mark(doc)}`, words, run: key };
}

export function brokenForm({ nonce, doc }: Pick<Tables["forms"], "nonce" | "doc">): Finding {
  const words = "a stored form was changed outside Countersign; nothing that it says was sent";
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

// Finds all rows without a valid seal of this key, in a copy of the database.

export async function brokenRows(db: Database, key: AuditKey): Promise<readonly Finding[]> {
  const seals = sealsOf(key);
  const found: Finding[] = [];
  // One at a time: a run with its requests can be megabytes long.
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

// Collects what the store finds in its database that this program did not write. It keeps findings until there is a listener, so that
// none is lost while the store opens.

export type Findings = {
  readonly report: (finding: Finding) => void;
  /** Sets the only listener, and calls it at once with the findings so far. */
  readonly hear: (listener: (finding: Finding) => void) => void;
};

export function createFindings(): Findings {
  const early: Finding[] = [];
  let hears = (finding: Finding): void => void early.push(finding);
  return {
    report: (finding) => hears(finding),
    hear(listener) {
      hears = listener;
      for (const finding of early.splice(0)) listener(finding);
    },
  };
}
