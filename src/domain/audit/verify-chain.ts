// Verifies that the audit is intact. Reads the chain from its first entry on, and reports the first faulty row, with words for each fault.

import { isRecord, type Json, type JsonRecord } from "../json.ts";
import {
  type AuditColumns,
  type AuditPlace,
  type ChainedEntry,
  createKeyOrder,
  createPairs,
  type KeyOrder,
  type KnownHead,
  linkText,
  NO_LINK,
  type Pairs,
  signedText,
} from "./hash-chain.ts";

export type AuditTools = {
  /** SHA-256 of the UTF-8 text, in hex. */
  readonly hash: (text: string) => string;
  readonly signature: (key: string, text: string, signature: string) => "good" | "bad" | "unknown-key";
  /** Keys that the reader trusts. Each must have signed a part of the audit. The audit itself says which keys follow. */
  readonly pinned?: readonly string[];
  /** Returns the text stored under a digest, or null if it is missing. Null if texts should not be checked. */
  readonly textOf: ((digest: string) => Promise<string | null>) | null;
};

export type AuditFault =
  /** A number is missing or repeated. */
  | "gap"
  /** The link does not match the entry, its place or the previous entry. */
  | "altered"
  /** The signature is not by the key that it names. */
  | "forged"
  /** The entry is signed with an unknown key. */
  | "unknown-key"
  /** The entry is signed with a key out of turn: no entry of the previous key hands over to it. */
  | "key-order"
  /** A key that the reader trusts has signed nothing in this audit. */
  | "not-pinned"
  /** Something was sent without a matching decision. */
  | "unpaired"
  /** There are rows with an impossible number. */
  | "stray"
  /** A column of the row differs from its entry. */
  | "columns"
  /** The oldest entries are missing, and no entry says that they were archived. */
  | "no-archive"
  /** A witnessed head is older than the first entry here. */
  | "in-archive"
  | "text-missing"
  | "text-altered"
  /** A witnessed head is newer than the newest entry. */
  | "cut-short"
  /** A witnessed head differs from the stored entry: everything up to it was rewritten. */
  | "rewritten";

export type AuditVerdict =
  | {
      readonly ok: true;
      readonly entries: number;
      readonly redacted: number;
      readonly head: KnownHead | null;
    }
  | {
      readonly ok: false;
      readonly fault: AuditFault;
      readonly seq: number;
      /** The id of the unknown key, as the row names it. */
      readonly key?: string;
    };

type Progress = {
  previous: AuditPlace;
  /** There are no entries before the first one, or an entry says that they are archived. */
  archived: boolean;
  entries: number;
  readonly knownTexts: Set<string>;
  /** Missing texts, with the entry that stored each. A later entry may say that the text was erased. */
  readonly missingTexts: Map<string, number>;
  redacted: number;
};

/** The place before the first entry. */
export const BEGINNING: AuditPlace = { seq: 0, link: NO_LINK };

/**
 * Verifies the rows, which must come in the order of their numbers. `witnesses`: heads kept elsewhere, each of which must be in the chain.
 * `base`: the last archived entry, after which the rows begin. An entry among the rows must confirm it.
 */
export async function verifyAudit(
  rows: AsyncIterable<ChainedEntry>,
  tools: AuditTools,
  witnesses: readonly KnownHead[] = [],
  base: AuditPlace = BEGINNING,
): Promise<AuditVerdict> {
  const progress = newProgress(base);
  const keys = createKeyOrder();
  const pairs = createPairs();
  const heads = createHeads(witnesses);
  const baseFault = base.seq === BEGINNING.seq ? null : heads.next(base);
  for await (const row of rows) {
    const fault = (await nextFault(row, progress, tools, { keys, pairs, base })) ?? heads.next(row);
    if (fault === "unknown-key") return { ok: false, fault, seq: row.seq, key: row.key };
    if (fault !== null) return { ok: false, fault, seq: row.seq };
    progress.previous = row;
    progress.entries += 1;
  }
  const { entries, redacted } = progress;
  const last = progress.previous.seq;
  if (!progress.archived) return { ok: false, fault: "no-archive", seq: base.seq + 1 };
  // If a trusted key signed nothing here, this is not the audit that the reader means.
  if (entries > 0 && tools.pinned?.some((key) => !keys.seen.has(key)) === true)
    return { ok: false, fault: "not-pinned", seq: last };
  const [erased] = [...progress.missingTexts.values()].toSorted((a, b) => a - b);
  if (erased !== undefined) return { ok: false, fault: "text-missing", seq: erased };
  if (baseFault !== null) return { ok: false, fault: baseFault, seq: base.seq };
  // If a missing head has no number, either the end was cut off or everything was rewritten.
  const missing = heads.missing().map(({ seq }) => ({ fault: missingFault(seq, base.seq, last), seq }));
  const worst = missing.find(({ fault }) => fault !== "in-archive") ?? missing[0];
  if (worst === undefined)
    return { ok: true, entries, redacted, head: entries === 0 ? null : progress.previous };
  return { ok: false, fault: worst.fault, seq: worst.seq ?? last };
}

function missingFault(seq: number | null, base: number, last: number): AuditFault {
  if (base > 0 && (seq === null || seq < base)) return "in-archive";
  return (seq ?? last + 1) > last ? "cut-short" : "rewritten";
}

const newProgress = (base: AuditPlace): Progress => ({
  previous: base,
  archived: base.seq === 0,
  entries: 0,
  knownTexts: new Set(),
  missingTexts: new Map(),
  redacted: 0,
});

type Orders = { readonly keys: KeyOrder; readonly pairs: Pairs; readonly base: AuditPlace };

function confirmsArchive(entry: AuditJson, base: AuditPlace): boolean {
  const mark = archivedPlace(entry);
  return mark !== null && mark.seq === base.seq && mark.link === base.link;
}

/** Returns the last entry of the archive file, from an "archived" entry. Returns null for any other entry. */
export function archivedPlace({ what, archive = null }: AuditJson): AuditPlace | null {
  if (what !== "archived" || !isRecord(archive)) return null;
  const { seq, link } = archive;
  return typeof seq === "number" && typeof link === "string" ? { seq, link } : null;
}

async function nextFault(
  row: ChainedEntry,
  progress: Progress,
  tools: AuditTools,
  { keys, pairs, base }: Orders,
): Promise<AuditFault | null> {
  const { previous } = progress;
  if (row.seq !== previous.seq + 1) return "gap";
  const fault = rowFault(row, previous.link, tools);
  if (fault !== null) return fault;
  const entry = parsedEntry(row.text) ?? {};
  if (!keys.next(row, entry)) return "key-order";
  if (confirmsArchive(entry, base)) progress.archived = true;
  return pairs.next(row.seq, entry) ? textFault({ entry, seq: row.seq }, progress, tools) : "unpaired";
}

/** Checks one row. `previous`: the link of the row before it. */
export function rowFault(
  row: ChainedEntry,
  previous: string,
  tools: Pick<AuditTools, "hash" | "signature">,
): AuditFault | null {
  if (row.link !== tools.hash(linkText(previous, row))) return "altered";
  const signed = tools.signature(row.key, signedText(row), row.signature);
  if (signed !== "good") return signed === "bad" ? "forged" : "unknown-key";
  const entry = parsedEntry(row.text);
  return entry === null || !sameColumns(row.columns, columnsOf(entry)) ? "columns" : null;
}

/** Checks the texts of an entry. A text may be missing if a later entry says that it was erased. If it was stored again, it must exist. */
async function textFault(
  { entry, seq }: { readonly entry: AuditJson; readonly seq: number },
  progress: Progress,
  { textOf, hash }: Pick<AuditTools, "textOf" | "hash">,
): Promise<AuditFault | null> {
  if (textOf === null) return null;
  const { knownTexts, missingTexts } = progress;
  const { digest, context, what } = entry;
  if (what === "redacted" && typeof digest === "string" && missingTexts.delete(digest))
    progress.redacted += 1;
  const keptDigests = [entry["textKept"] === true ? digest : null, context].filter(
    (kept) => typeof kept === "string",
  );
  for (const kept of keptDigests) {
    if (knownTexts.has(kept)) continue;
    const text = await textOf(kept);
    if (text === null) {
      if (!missingTexts.has(kept)) missingTexts.set(kept, seq);
      continue;
    }
    if (hash(text) !== kept) return "text-altered";
    knownTexts.add(kept);
  }
  return null;
}

type Heads = { next(row: AuditPlace): AuditFault | null; missing(): readonly KnownHead[] };

function createHeads(witnesses: readonly KnownHead[]): Heads {
  const numbered = Map.groupBy(
    witnesses.filter(({ seq }) => seq !== null),
    ({ seq }) => seq,
  );
  const bare = new Set(witnesses.filter(({ seq }) => seq === null));
  return {
    next({ seq, link }) {
      for (const witness of bare) if (link.startsWith(witness.link)) bare.delete(witness);
      const here = numbered.get(seq) ?? [];
      numbered.delete(seq);
      return here.every((witness) => link.startsWith(witness.link)) ? null : "rewritten";
    },
    missing: () => [...[...numbered.values()].flat(), ...bare],
  };
}

type AuditJson = JsonRecord;

/** Returns null if the text is not a JSON object. */
export function parsedEntry(text: string): AuditJson | null {
  try {
    const entry = JSON.parse(text) as Json;
    return isRecord(entry) ? entry : null;
  } catch {
    return null;
  }
}

/** Returns the columns that must follow from an entry. */
export function columnsOf(entry: AuditJson): AuditColumns {
  const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);
  const by = entry["by"] ?? null;
  const asked = text(entry["asked"]);
  return {
    at: typeof entry["at"] === "number" ? entry["at"] : 0,
    what: text(entry["what"]) ?? "",
    run: text(entry["run"]),
    runId: text(entry["runId"]),
    approval: text(entry["approval"]),
    by: isRecord(by) ? text(by["user"]) : null,
    asked: asked === null ? null : askedColumn(text(entry["verdict"]) ?? "", asked),
  };
}

export const askedColumn = (verdict: string, asked: string): string => `${verdict} ${asked}`;

function sameColumns(a: AuditColumns, b: AuditColumns): boolean {
  return (["at", "what", "run", "runId", "approval", "by", "asked"] as const).every(
    (name) => a[name] === b[name],
  );
}

// What is wrong with an audit, for people. Each text follows "entry 12:".

export const FAULT_WORDS: Readonly<Record<AuditFault, string>> = {
  gap: "the number before it is missing, or its own number is repeated. Entries were removed or inserted.",
  altered: "it does not match its link. The entry or its place was changed.",
  forged: "its signature is not by the key that it names. Someone without the key wrote it.",
  "unknown-key": "it is signed with an unknown key. It was forged, or this is the audit of another key.",
  "key-order":
    "it is signed with a key out of turn. No entry of the previous key hands over to it, or the key was retired.",
  "not-pinned":
    "a given public key has signed nothing in this audit. Either the key belongs to another audit, or everything was rewritten.",
  unpaired: "something was sent without a matching decision. The database was changed before it was sent.",
  stray: "there are rows with impossible numbers. They were inserted.",
  columns: "its columns differ from the entry. The table was changed.",
  "no-archive": "the entries before it are missing, and no entry says that they were archived.",
  "in-archive":
    "a head that you gave, or that a stored run keeps, is older than the first entry here. The archive has it, or nothing does: give its file with --archive.",
  "text-missing":
    "a text that it names by its digest was removed: a request, a task, a policy or a configuration.",
  "text-altered":
    "a text that it names by its digest was changed: a request, a task, a policy or a configuration.",
  "cut-short":
    "a head that you gave, or that a stored run keeps, is not in the audit. The newest entries were cut off.",
  rewritten:
    "a head that you gave, or that a stored run keeps, differs from the stored entry. The audit was rewritten.",
};
