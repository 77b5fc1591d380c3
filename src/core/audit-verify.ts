// Is the audit whole? Reads the chain from its first entry on and names the first row that does not fit.

import {
  type AuditColumns,
  type ChainedEntry,
  linkText,
  NO_LINK,
  signedText,
  type Witness,
} from "./audit-chain.ts";
import { isRecord, type Json } from "./json.ts";

export type AuditTools = {
  /** SHA-256 of the UTF-8 text, in hex. */
  readonly hash: (text: string) => string;
  readonly signature: (key: string, text: string, signature: string) => "good" | "bad" | "unknown-key";
  /** The full request kept under this digest. */
  readonly textOf: (digest: string) => Promise<string | null>;
};

export type AuditFault =
  /** A number is missing, or comes twice. */
  | "gap"
  /** The entry, its place or the entry before it is not what was linked. */
  | "altered"
  /** The signature is not that of the key it names. */
  | "forged"
  /** Signed with a key that nobody vouches for. */
  | "unknown-key"
  /** What the row says of its entry is not what the entry says. */
  | "columns"
  | "text-missing"
  | "text-altered"
  /** A witnessed head is newer than the newest entry. */
  | "cut-short"
  /** A witnessed head names another entry than the one that is there: everything up to it was made anew. */
  | "rewritten";

export type AuditVerdict =
  | { readonly ok: true; readonly entries: number; readonly head: Witness | null }
  | { readonly ok: false; readonly fault: AuditFault; readonly seq: number };

type Progress = {
  previous: ChainedEntry | null;
  entries: number;
  readonly knownTexts: Set<string>;
  readonly unseen: Set<Witness>;
};

/** Rows in the order of their numbers. `witnesses`: heads kept outside; each must be found in the chain. */
export async function verifyAudit(
  rows: AsyncIterable<ChainedEntry>,
  tools: AuditTools,
  witnesses: readonly Witness[] = [],
): Promise<AuditVerdict> {
  const progress: Progress = {
    previous: null,
    entries: 0,
    knownTexts: new Set(),
    unseen: new Set(witnesses),
  };
  for await (const row of rows) {
    const fault = (await rowFault(row, progress, tools)) ?? witnessFault(row, progress);
    if (fault !== null) return { ok: false, fault, seq: row.seq };
    progress.previous = row;
    progress.entries += 1;
  }
  const { entries, previous, unseen } = progress;
  const [missing] = unseen;
  if (missing === undefined) return { ok: true, entries, head: previous };
  const last = previous?.seq ?? 0;
  // A link without a number that is nowhere: either it was cut off or everything was written anew.
  const fault = (missing.seq ?? last + 1) > last ? "cut-short" : "rewritten";
  return { ok: false, fault, seq: missing.seq ?? last };
}

async function rowFault(
  row: ChainedEntry,
  progress: Progress,
  tools: AuditTools,
): Promise<AuditFault | null> {
  const { previous } = progress;
  const expected = (previous?.seq ?? 0) + 1;
  if (row.seq !== expected) return "gap";
  if (row.link !== tools.hash(linkText(previous?.link ?? NO_LINK, row))) return "altered";
  const signed = tools.signature(row.key, signedText(row), row.signature);
  if (signed !== "good") return signed === "bad" ? "forged" : "unknown-key";
  const entry = parsedEntry(row.text);
  if (entry === null || !sameColumns(row.columns, columnsOf(entry))) return "columns";
  return textFault(entry, progress, tools);
}

async function textFault(
  entry: AuditJson,
  { knownTexts }: Progress,
  { textOf, hash }: AuditTools,
): Promise<AuditFault | null> {
  const { digest, context } = entry;
  const kept = [entry["textKept"] === true ? digest : null, context].filter(
    (each) => typeof each === "string",
  );
  for (const each of kept) {
    if (knownTexts.has(each)) continue;
    const text = await textOf(each);
    if (text === null) return "text-missing";
    if (hash(text) !== each) return "text-altered";
    knownTexts.add(each);
  }
  return null;
}

function witnessFault({ seq, link }: ChainedEntry, { unseen }: Progress): AuditFault | null {
  for (const witness of unseen) {
    const same = link.startsWith(witness.link);
    if (witness.seq === seq && !same) return "rewritten";
    if (same && (witness.seq === null || witness.seq === seq)) unseen.delete(witness);
  }
  return null;
}

type AuditJson = { readonly [field: string]: Json };

function parsedEntry(text: string): AuditJson | null {
  try {
    const entry = JSON.parse(text) as Json;
    return isRecord(entry) ? entry : null;
  } catch {
    return null;
  }
}

/** What the store keeps apart of an entry. */
export function columnsOf(entry: AuditJson): AuditColumns {
  const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);
  const by = entry["by"] ?? null;
  return {
    at: typeof entry["at"] === "number" ? entry["at"] : 0,
    what: text(entry["what"]) ?? "",
    run: text(entry["run"]),
    runId: text(entry["runId"]),
    approval: text(entry["approval"]),
    by: isRecord(by) ? text(by["user"]) : null,
  };
}

function sameColumns(a: AuditColumns, b: AuditColumns): boolean {
  return (["at", "what", "run", "runId", "approval", "by"] as const).every((name) => a[name] === b[name]);
}
