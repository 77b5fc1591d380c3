// The chain of audit entries, the keys that sign it, and the pairs of entries that belong together. Each link is a hash over the previous
// link and its own entry, and is signed. Changing, removing or inserting an entry means rebuilding every later link, which takes the key.

import { isList, isRecord, type Json, type JsonRecord } from "../json.ts";

/** The place of an entry: its number, and the link that covers it and all entries before it. */
export type AuditPlace = { readonly seq: number; readonly link: string };

/** One entry as stored. */
export type ChainedEntry = AuditPlace & {
  /** The entry as canonical JSON. The link is computed over exactly these characters. */
  readonly text: string;
  /** The id of the key that signed the entry. */
  readonly key: string;
  readonly signature: string;
  /** Columns that the store keeps for look-ups; they must follow from the text. */
  readonly columns: AuditColumns;
};

export type AuditColumns = {
  readonly at: number;
  readonly what: string;
  readonly run: string | null;
  readonly runId: string | null;
  readonly approval: string | null;
  readonly by: string | null;
  /** The verdict and the digest of what was asked, to find earlier decisions on the same request. */
  readonly asked: string | null;
};

/** The greatest number that an entry can have. No program will ever write that many entries. */
export const LAST_SEQ = Number.MAX_SAFE_INTEGER;

/** The link before the first entry. */
export const NO_LINK = "0".repeat(64);

type Linked = Pick<ChainedEntry, "seq" | "key" | "text">;

/** Returns the text whose SHA-256 is the entry's link. No field before the text contains a newline, so no two entries share a text. */
export function linkText(previous: string, { seq, key, text }: Linked): string {
  return ["countersign audit 1", previous, seq, key, text].join("\n");
}

/** Returns the text that the signature of an entry covers. */
export function signedText({ seq, link }: AuditPlace): string {
  return `countersign audit 1 signature\n${seq}\n${link}`;
}

/** How many hex digits of a link are shown for people to copy. Our choice: a second entry with the same digits takes about 2^64 hashes. */
const SHOWN_LINK_CHARS = 16;

/** Returns the head as it is shown outside the database: "audit 1234 · 9f3c…". */
export function headWords({ seq, link }: AuditPlace): string {
  return `audit ${seq} · ${link.slice(0, SHOWN_LINK_CHARS)}`;
}

/** A head that a person kept: the link or its first characters, and the number if they kept that too. */
export type KnownHead = { readonly seq: number | null; readonly link: string };

/** Parses a head as cards, the log and the audit channel show it, the id of a block, or a bare link. Returns null if it is none of these. */
export function parseKnownHead(text: string): KnownHead | null {
  const match = /^\s*(?:audit[\s:]\s*)?(?:(\d{1,15})\s*[·:.,\s]\s*)?([0-9a-f]{16,64})…?\s*$/i.exec(text);
  const [, seq, link] = match ?? [];
  if (link === undefined) return null;
  return { seq: seq === undefined ? null : Number(seq), link: link.toLowerCase() };
}

// Which key may sign which entry. A key hands over to the next key in an entry that it signs itself, and signs nothing after that. So a
// retired key that is stolen cannot sign later entries.

type Entry = JsonRecord;

export type NamedKey = {
  /** The id, as in ChainedEntry.key. It is a hash of the public key. */
  readonly id: string;
  /** 32 bytes in base64. */
  readonly publicKey: string;
};

export type KeyChange = { readonly from: NamedKey; readonly to: NamedKey };

/** Returns the key change that the entry records. Returns null if it is about something else, or cannot be read. */
export function keyChangeIn(entry: Entry): KeyChange | null {
  const keys = entry["keys"];
  if (entry["what"] !== "key-changed" || keys === undefined || !isRecord(keys)) return null;
  const from = parseKey(keys["from"]);
  const to = parseKey(keys["to"]);
  return from === null || to === null ? null : { from, to };
}

function parseKey(key: Json | undefined): NamedKey | null {
  if (key === undefined || !isRecord(key)) return null;
  const { id, publicKey } = key;
  return typeof id === "string" && typeof publicKey === "string" ? { id, publicKey } : null;
}

export type KeyOrder = {
  /**
   * Checks the next entry, in order. Returns false if a key signed it out of turn, or if it hands over from a key that did not sign it.
   */
  next(row: Pick<ChainedEntry, "key">, entry: Entry): boolean;
  /** The keys that have signed so far. */
  readonly seen: ReadonlySet<string>;
};

export function createKeyOrder(): KeyOrder {
  const seen = new Set<string>();
  let expected: string | null = null;
  return {
    seen,
    next({ key }, entry) {
      const inTurn = expected === null || key === expected;
      const handsOver = entry["what"] === "key-changed";
      const change = handsOver ? keyChangeIn(entry) : null;
      seen.add(key);
      expected = change?.to.id ?? key;
      return inTurn && (!handsOver || change?.from.id === key);
    },
  };
}

// The outcomes of "settled" entries that end a decision: its last state at the service, or the cause that made it void.

export type FinalOutcome = "confirmed" | "elsewhere" | "unconfirmed";

export const isFinalOutcome = (outcome: string): outcome is FinalOutcome =>
  outcome === "confirmed" || outcome === "elsewhere" || outcome === "unconfirmed";

const VOID = "void: ";

export const voidOutcome = (cause: string): string => `${VOID}${cause}`;

/** Returns null if the outcome is another one. */
export const voidCause = (outcome: string): string | null =>
  outcome.startsWith(VOID) ? outcome.slice(VOID.length) : null;

// What was sent must have been decided. Each "sent" entry needs a "decided" entry with the same approval, request, verdict, reason and
// person. It also needs a "voted" entry for each earlier approval that it names. None of these may have been undone or settled before.

export type Pairs = {
  /** Checks the next entry, in order. Returns false if the entry says that something was sent without a decision. */
  next(seq: number, entry: Entry): boolean;
};

export function createPairs(): Pairs {
  // For each approval, the votes and decisions that are still valid, by entry number.
  const byApproval = new Map<string, Map<number, Entry>>();
  return {
    next(seq, entry) {
      const { what, run, approval } = entry;
      if (typeof run !== "string" || typeof approval !== "string") return what !== "sent";
      const place = JSON.stringify([run, approval]);
      const valid = byApproval.get(place) ?? new Map<number, Entry>();
      if (what === "decided" || what === "voted") byApproval.set(place, valid.set(seq, entry));
      if (what === "sent") return isSupported(entry, valid);
      if (what === "settled") settle(valid, entry);
      if (what === "closed" || valid.size === 0) byApproval.delete(place);
      return true;
    },
  };
}

function settle(valid: Map<number, Entry>, { outcome, refers }: Entry): void {
  if (typeof refers !== "number" || typeof outcome !== "string") return;
  if (voidCause(outcome) !== null) valid.delete(refers);
  if (isFinalOutcome(outcome)) for (const seq of valid.keys()) if (seq <= refers) valid.delete(seq);
}

const SAME = ["run", "runId", "approval", "digest", "verdict", "reason", "by"] as const;

function isSupported(sent: Entry, valid: ReadonlyMap<number, Entry>): boolean {
  const decided = typeof sent["refers"] === "number" ? valid.get(sent["refers"]) : undefined;
  if (decided?.["what"] !== "decided" || !SAME.every((name) => same(sent[name], decided[name]))) return false;
  const votes = sent["votes"] ?? [];
  return isList(votes) && votes.every((vote) => isRecord(vote) && isVoteSupported(vote, sent, valid));
}

function isVoteSupported(vote: Entry, sent: Entry, valid: ReadonlyMap<number, Entry>): boolean {
  const voted = typeof vote["entry"] === "number" ? valid.get(vote["entry"]) : undefined;
  if (voted?.["verdict"] !== "approve" || !same(voted["digest"], sent["digest"])) return false;
  return same(vote["by"], voted["by"]) && same(vote["reason"], voted["reason"]);
}

/** Both values come from canonical JSON, so equal values have equal texts. */
const same = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
