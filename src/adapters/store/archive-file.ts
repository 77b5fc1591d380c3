// Reads and writes archive files of the audit. Each line is a JSON record: a heading, then the entries, each preceded by the texts that it is
// the first to name, then a signature over all lines before it. The entries are chained and signed as in the database.

import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { type AuditPlace, type ChainedEntry, keyChangeIn } from "../../domain/audit/hash-chain.ts";
import { columnsOf, parsedEntry } from "../../domain/audit/verify-chain.ts";
import { isRecord, type Json, type JsonRecord, plainJson } from "../../domain/json.ts";
import type { AuditKey } from "./audit-key.ts";
import { isNoEntry, Refused } from "./faults.ts";
import { syncFolderOf } from "./sync-folder.ts";

const FORMAT = "countersign archive 1";

export const archiveSignedText = (file: string): string => `${FORMAT} signature\n${file}`;

export type ArchiveContent = {
  readonly rows: AsyncIterable<ChainedEntry>;
  readonly textOf: (digest: string) => Promise<string | null>;
  /** The entry before the first one. */
  readonly after: AuditPlace;
};

/** Resolves to the SHA-256 of the lines before the signature, once the file is on the disk. Rejects if the file already exists. */
export async function writeArchive(path: string, content: ArchiveContent, key: AuditKey): Promise<string> {
  const file = newFile(path);
  try {
    const hash = createHash("sha256");
    const put = (record: object): void => {
      const line = `${plainJson(record)}\n`;
      hash.update(line);
      writeSync(file, line);
    };
    put({ format: FORMAT, after: content.after });
    const written = new Set<string>();
    for await (const { columns: _columns, ...row } of content.rows) {
      for (const digest of digestsIn(row.text)) {
        const text = written.has(digest) ? null : await content.textOf(digest);
        if (text !== null) put({ digest, content: text });
        written.add(digest);
      }
      put(row);
    }
    const digest = hash.digest("hex");
    const { id, publicKey } = key;
    writeSync(
      file,
      `${plainJson({ file: digest, key: id, publicKey, signature: key.sign(archiveSignedText(digest)) })}\n`,
    );
    fsyncSync(file);
    syncFolderOf(path);
    return digest;
  } finally {
    closeSync(file);
  }
}

function newFile(path: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    throw new Refused(`${path} ${whyNotNew(error)}`, { cause: error });
  }
}

function whyNotNew(error: unknown): string {
  if (isNoEntry(error))
    return "cannot be created, because its folder does not exist. Nothing was archived. Create the folder, or name another file.";
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EEXIST") return "already exists, so nothing was archived. Name another file.";
  return `cannot be created (${message}), so nothing was archived.`;
}

/** Returns the digests of the texts that an entry names. */
export function digestsIn(text: string): readonly string[] {
  const { textKept, digest, context } = parsedEntry(text) ?? {};
  return [textKept === true ? digest : null, context].filter((name) => typeof name === "string");
}

export type ArchiveFile = {
  readonly path: string;
  readonly after: AuditPlace;
  /** The last entry. */
  readonly head: AuditPlace;
  /** SHA-256 of the lines before the signature. */
  readonly digest: string;
  readonly signature: { readonly key: string; readonly signature: string };
  /** Public keys that take over according to its entries. */
  readonly announcedKeys: readonly string[];
  rows(): AsyncGenerator<ChainedEntry, undefined>;
  textOf(digest: string): string | null;
  close(): void;
};

/** Rejects with one line for the operator if the file is not a complete archive. The caller must still verify its entries. */
export async function openArchive(path: string): Promise<ArchiveFile> {
  const index = createIndex();
  for await (const line of linesOf(path)) if (!index.take(line)) throw notWhole(path);
  const found = index.found();
  if (found === null) throw notWhole(path);
  const { texts, ...content } = found;
  const raw = openSync(path, "r");
  return {
    path,
    ...content,
    rows: () => rowsIn(path),
    textOf: (wanted) => textAt(raw, texts.get(wanted)),
    close: () => closeSync(raw),
  };
}

type Place = { readonly at: number; readonly bytes: number };
type Found = Pick<ArchiveFile, "after" | "head" | "digest" | "signature" | "announcedKeys"> & {
  readonly texts: ReadonlyMap<string, Place>;
};

/** Keeps the position of each text instead of the text, so that an archive of any size fits in memory. */
function createIndex() {
  const texts = new Map<string, Place>();
  const announcedKeys: string[] = [];
  const hash = createHash("sha256");
  let after: AuditPlace | null = null;
  let head: AuditPlace | null = null;
  let trailer: JsonRecord | null = null;
  let at = 0;

  function takeRecord(record: JsonRecord, bytes: number): void {
    const { digest } = record;
    const row = rowIn(record);
    if (row === null) {
      if (typeof digest === "string") texts.set(digest, { at, bytes });
      return;
    }
    head = row;
    const change = keyChangeIn(parsedEntry(row.text) ?? {});
    if (change !== null) announcedKeys.push(change.from.publicKey, change.to.publicKey);
  }

  return {
    /** Returns false if this line is not part of an archive, or comes after its end. */
    take(line: string): boolean {
      const record = parsedEntry(line);
      if (record === null || trailer !== null) return false;
      const bytes = Buffer.byteLength(line) + 1;
      if (at === 0) after = record["format"] === FORMAT ? markIn(record["after"]) : null;
      if (typeof record["file"] === "string") trailer = record;
      else hash.update(`${line}\n`);
      takeRecord(record, bytes);
      at += bytes;
      return after !== null;
    },
    found(): Found | null {
      const { key, signature, file } = trailer ?? {};
      const digest = hash.digest("hex");
      if (after === null || head === null || file !== digest) return null;
      if (typeof key !== "string" || typeof signature !== "string") return null;
      return { after, head, digest, signature: { key, signature }, announcedKeys, texts };
    },
  };
}

const notWhole = (path: string): Error =>
  new Error(
    `${path} is not a complete archive of an audit: it was cut off or changed, or is another kind of file. Use an intact copy.`,
  );

/** Splits only at "\n", as the lines were written. Any other character stays in its line, so that the digest covers it. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await open(path, "r");
  try {
    let pieces: string[] = [];
    for await (const chunk of file.createReadStream({ encoding: "utf8" }) as AsyncIterable<string>) {
      const [end = "", ...begun] = chunk.split("\n");
      pieces.push(end);
      for (const next of begun) {
        yield pieces.join("");
        pieces = [next];
      }
    }
    const last = pieces.join("");
    if (last !== "") yield last;
  } finally {
    await file.close().catch(() => undefined);
  }
}

function markIn(value: Json | undefined): AuditPlace | null {
  if (value === undefined || !isRecord(value)) return null;
  const { seq, link } = value;
  return typeof seq === "number" && typeof link === "string" ? { seq, link } : null;
}

function rowIn(record: JsonRecord): ChainedEntry | null {
  const mark = markIn(record);
  const { text, key, signature } = record;
  if (mark === null || typeof text !== "string" || typeof key !== "string" || typeof signature !== "string")
    return null;
  return { ...mark, text, key, signature, columns: columnsOf(parsedEntry(text) ?? {}) };
}

async function* rowsIn(path: string): AsyncGenerator<ChainedEntry, undefined> {
  for await (const line of linesOf(path)) {
    const row = rowIn(parsedEntry(line) ?? {});
    if (row !== null) yield row;
  }
}

function textAt(file: number, place: Place | undefined): string | null {
  if (place === undefined) return null;
  const bytes = Buffer.alloc(place.bytes);
  readSync(file, bytes, 0, place.bytes, place.at);
  const content = parsedEntry(bytes.toString("utf8"))?.["content"];
  return typeof content === "string" ? content : null;
}
