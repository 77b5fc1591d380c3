// The chain of audit entries: each link is taken of the link before it and of its own entry, and is signed. Whoever changes, takes
// away or puts in an entry must make every later link anew, and has no key to sign them.

/** Where an entry stands: its number, and the link that vouches for it and for all before it. */
export type AuditMark = { readonly seq: number; readonly link: string };

/** One entry as it lies in the store. */
export type ChainedEntry = AuditMark & {
  /** The entry as canonical JSON. The link is taken of these very characters. */
  readonly text: string;
  /** Names the key that signed. */
  readonly key: string;
  readonly signature: string;
  /** What the store keeps apart of the entry to find it by; must follow from the text. */
  readonly columns: AuditColumns;
};

export type AuditColumns = {
  readonly at: number;
  readonly what: string;
  readonly run: string | null;
  readonly runId: string | null;
  readonly approval: string | null;
  readonly by: string | null;
};

/** Before the first entry. */
export const NO_LINK = "0".repeat(64);

type Linked = Pick<ChainedEntry, "seq" | "key" | "text">;

/** What the link of an entry is the SHA-256 of. No field before the text holds a newline, so two entries never write the same. */
export function linkText(previous: string, { seq, key, text }: Linked): string {
  return ["countersign audit 1", previous, seq, key, text].join("\n");
}

/** What is signed of an entry. */
export function signedText({ seq, link }: AuditMark): string {
  return `countersign audit 1 signature\n${seq}\n${link}`;
}

/** Of a link as people copy it (hex digits): nobody finds a second entry to half of these. Ours. */
const SHOWN_LINK_CHARS = 16;

/** «audit 1234 · 9f3c…»: the head as it is witnessed outside. */
export function headWords({ seq, link }: AuditMark): string {
  return `audit ${seq} · ${link.slice(0, SHOWN_LINK_CHARS)}`;
}

/** A head that somebody kept: the link or its first characters, and the number where it was kept too. */
export type KnownHead = { readonly seq: number | null; readonly link: string };

/** Takes a head as cards, the log and the audit channel show it, or a bare link. Null: it is none. */
export function parseKnownHead(text: string): KnownHead | null {
  const match = /^\s*(?:audit\s+)?(?:(\d{1,15})\s*[·:.,\s]\s*)?([0-9a-f]{16,64})…?\s*$/i.exec(text);
  const [, seq, link] = match ?? [];
  if (link === undefined) return null;
  return { seq: seq === undefined ? null : Number(seq), link: link.toLowerCase() };
}
