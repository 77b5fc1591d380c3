// The chain of audit entries, the keys that sign it, and the pairs of entries that belong together. Each link is a hash over the
// previous link and its own entry, and is signed. To change, remove or insert an entry one must rebuild every later link, which
// takes the key.

import { isList, isRecord, type Json } from "../json.ts";

/** The place of an entry: its number, and the link that covers it and all entries before it. */
export type AuditMark = { readonly seq: number; readonly link: string };

/** One entry as stored. */
export type ChainedEntry = AuditMark & {
  /** The entry as canonical JSON. The link is computed over exactly these characters. */
  readonly text: string;
  /** The id of the key that signed. */
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
  /** The verdict and the digest of what was asked: by this, earlier decisions on the same request are found. */
  readonly asked: string | null;
};

/** Before the first entry. */
export const NO_LINK = "0".repeat(64);

type Linked = Pick<ChainedEntry, "seq" | "key" | "text">;

/** The input of the SHA-256 that is an entry's link. No field before the text holds a newline, so two entries never collide. */
export function linkText(previous: string, { seq, key, text }: Linked): string {
  return ["countersign audit 1", previous, seq, key, text].join("\n");
}

/** The text that the signature of an entry covers. */
export function signedText({ seq, link }: AuditMark): string {
  return `countersign audit 1 signature\n${seq}\n${link}`;
}

/** How many hex digits of a link people copy. Our choice: a second entry with even half of them cannot be found. */
const SHOWN_LINK_CHARS = 16;

/** "audit 1234 · 9f3c…": the head as it is shown outside the database. */
export function headWords({ seq, link }: AuditMark): string {
  return `audit ${seq} · ${link.slice(0, SHOWN_LINK_CHARS)}`;
}

/** A head that someone kept: the link or its first characters, and the number if that was kept too. */
export type KnownHead = { readonly seq: number | null; readonly link: string };

/** Reads a head as cards, the log and the audit channel show it, as the id of a block, or a bare link. Null: it is not a head. */
export function parseKnownHead(text: string): KnownHead | null {
  const match = /^\s*(?:audit[\s:]\s*)?(?:(\d{1,15})\s*[·:.,\s]\s*)?([0-9a-f]{16,64})…?\s*$/i.exec(text);
  const [, seq, link] = match ?? [];
  if (link === undefined) return null;
  return { seq: seq === undefined ? null : Number(seq), link: link.toLowerCase() };
}

// Which key may sign which entry. A key hands over to the next one in an entry that it signs itself, and signs nothing after that.
// So a retired key that is stolen cannot sign later entries.

type Entry = { readonly [field: string]: Json };

export type NamedKey = {
  /** The id, as in ChainedEntry.key. */
  readonly id: string;
  /** Base64, 32 bytes; the id is a hash of it. */
  readonly publicKey: string;
};

export type KeyChange = { readonly from: NamedKey; readonly to: NamedKey };

/** Null: the entry is about something else, or cannot be read. */
export function keyChangeIn(entry: Entry): KeyChange | null {
  const keys = entry["keys"];
  if (entry["what"] !== "key-changed" || keys === undefined || !isRecord(keys)) return null;
  const [from, to] = [named(keys["from"]), named(keys["to"])];
  return from === null || to === null ? null : { from, to };
}

function named(key: Json | undefined): NamedKey | null {
  if (key === undefined || !isRecord(key)) return null;
  const { id, publicKey } = key;
  return typeof id === "string" && typeof publicKey === "string" ? { id, publicKey } : null;
}

export type KeyOrder = {
  /** Takes entries in their order. False: this entry is signed by a key out of turn, or hands over a key that did not sign it. */
  next(row: Pick<ChainedEntry, "key">, entry: Entry): boolean;
  /** The keys that have signed so far. */
  readonly seen: ReadonlySet<string>;
};

export function createKeyOrder(): KeyOrder {
  const seen = new Set<string>();
  let due: string | null = null;
  return {
    seen,
    next({ key }, entry) {
      const inTurn = due === null || key === due;
      const handsOver = entry["what"] === "key-changed";
      const change = handsOver ? keyChangeIn(entry) : null;
      seen.add(key);
      due = change?.to.id ?? key;
      return inTurn && (!handsOver || change?.from.id === key);
    },
  };
}

// What was sent must have been decided. Each "sent" entry needs a "decided" entry of the same approval, request, verdict, reason
// and person, and a "voted" entry for each earlier approval that it names, none of them undone or settled before.

export type Pairs = {
  /** Takes entries in their order. False: this entry says that something was sent without a decision. */
  next(seq: number, entry: Entry): boolean;
};

export function createPairs(): Pairs {
  // For each approval: the votes and decisions that still stand, by entry number.
  const given = new Map<string, Map<number, Entry>>();
  return {
    next(seq, entry) {
      const { what, run, approval } = entry;
      if (typeof run !== "string" || typeof approval !== "string") return what !== "sent";
      const place = JSON.stringify([run, approval]);
      const words = given.get(place) ?? new Map<number, Entry>();
      if (what === "decided" || what === "voted") given.set(place, words.set(seq, entry));
      if (what === "sent") return isBorneOut(entry, words);
      if (what === "settled") settle(words, entry);
      if (what === "closed" || words.size === 0) given.delete(place);
      return true;
    },
  };
}

const FINAL: readonly (Json | undefined)[] = ["confirmed", "elsewhere", "unconfirmed"];

function settle(words: Map<number, Entry>, { outcome, refers }: Entry): void {
  if (typeof refers !== "number") return;
  if (typeof outcome === "string" && outcome.startsWith("void")) words.delete(refers);
  if (FINAL.includes(outcome)) for (const seq of words.keys()) if (seq <= refers) words.delete(seq);
}

const SAME = ["run", "runId", "approval", "digest", "verdict", "reason", "by"] as const;

function isBorneOut(sent: Entry, words: ReadonlyMap<number, Entry>): boolean {
  const decided = typeof sent["refers"] === "number" ? words.get(sent["refers"]) : undefined;
  if (decided?.["what"] !== "decided" || !SAME.every((name) => same(sent[name], decided[name]))) return false;
  const votes = sent["votes"] ?? [];
  return isList(votes) && votes.every((vote) => isRecord(vote) && isVote(vote, sent, words));
}

function isVote(vote: Entry, sent: Entry, words: ReadonlyMap<number, Entry>): boolean {
  const given = typeof vote["entry"] === "number" ? words.get(vote["entry"]) : undefined;
  if (given?.["verdict"] !== "approve" || !same(given["digest"], sent["digest"])) return false;
  return same(vote["by"], given["by"]) && same(vote["reason"], given["reason"]);
}

/** Both come from canonical JSON, so equal values have equal texts. */
const same = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
