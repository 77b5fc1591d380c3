// Stores the long texts of runs and forms in rows of their own, once for each digest. A run is saved whole many times while its cards
// are posted, and a request of megabytes would be written, sealed and parsed each time. The document holds the digest, so the seal of
// its row covers the text too.

import { setImmediate as breath } from "node:timers/promises";
import type { RunKey } from "../../domain/ids.ts";
import { isList, isRecord, type Json } from "../../domain/json.ts";
import { digestOf } from "./audit-key.ts";
import { type Database, read, type Trx } from "./database.ts";

/** Texts longer than this (characters) get a row of their own. */
const LONG_CHARS = 16_384;
/** How many characters of texts we keep in memory, so that a run that is saved often is not read again. */
const KEPT_CHARS = 24 * 2 ** 20;

/** Marks the digest of a text. A real text that starts like this gets one more NUL in front. */
const NUL = "\0";
const REFERENCE = `${NUL}@`;
/** As JSON writes it. A document without one holds no reference, and nothing that could be taken for one. */
const WRITTEN_NUL = "\\u0000";
const WRITTEN_REFERENCE = /"\\u0000@([0-9a-f]{64})"/g;

export type Packed = {
  /** JSON. */
  readonly doc: string;
  /** By digest. */
  readonly texts: ReadonlyMap<string, string>;
};

/** Finds a text by its digest. */
export type TextOf = (digest: string) => string | undefined;

export type LongTexts = {
  /** Takes the digests of the value's long texts, so that a transaction does not wait for them. */
  prepare(value: unknown): Promise<void>;
  pack(value: unknown): Packed;
  /** Reads the texts that the owner's document names. A text that does not match its digest counts as missing. */
  textsOf(db: Pick<Database, "selectFrom">, owner: string, doc: string): Promise<TextOf>;
  /** Keeps the texts that the owner's document needs, and removes those that it no longer needs. */
  keep(trx: Trx, owner: string, run: RunKey, packed: Packed): Promise<void>;
};

export function createLongTexts(): LongTexts {
  const kept = createKept();
  return {
    async prepare(value) {
      if (pack(value, kept).texts.size > 0) await breath();
    },
    pack: (value) => pack(value, kept),
    textsOf: (db, owner, doc) => read(() => textsOf(db, owner, doc, kept)),
    async keep(trx, owner, run, { texts }) {
      const rows = await trx.selectFrom("long_texts").select("digest").where("owner", "=", owner).execute();
      const there = new Set(rows.map(({ digest }) => digest));
      for (const [digest, text] of texts) {
        if (there.delete(digest)) continue;
        await trx.insertInto("long_texts").values({ owner, digest, run, text }).execute();
        await breath();
      }
      for (const digest of there)
        await trx.deleteFrom("long_texts").where("owner", "=", owner).where("digest", "=", digest).execute();
    },
  };
}

type Kept = { readonly digestOf: (text: string) => string; readonly textOf: TextOf };

/** The texts that were used last. */
function createKept(): Kept {
  const byDigest = new Map<string, string>();
  const byText = new Map<string, string>();
  let chars = 0;
  const digestOfKept = (text: string): string => {
    const digest = byText.get(text) ?? digestOf(text);
    if (!byDigest.has(digest)) chars += text.length;
    byDigest.delete(digest);
    byDigest.set(digest, text);
    byText.set(text, digest);
    for (const [oldest, dropped] of byDigest) {
      if (chars <= KEPT_CHARS || oldest === digest) break;
      byDigest.delete(oldest);
      byText.delete(dropped);
      chars -= dropped.length;
    }
    return digest;
  };
  return { digestOf: digestOfKept, textOf: (digest) => byDigest.get(digest) };
}

function pack(value: unknown, kept: Kept): Packed {
  // Megabytes are not written only to find out that they are long. Without a long text, a replacer would only take time.
  const plain = hasLongText(value) ? null : JSON.stringify(value);
  if (plain !== null && !plain.includes(WRITTEN_NUL)) return { doc: plain, texts: NO_TEXTS };
  const texts = new Map<string, string>();
  const doc = JSON.stringify(value, (_name, each: unknown) => {
    if (typeof each !== "string") return each;
    // SQLite cannot store a text with a lone surrogate.
    if (each.length <= LONG_CHARS || !each.isWellFormed()) return each.startsWith(NUL) ? NUL + each : each;
    const digest = kept.digestOf(each);
    texts.set(digest, each);
    return REFERENCE + digest;
  });
  return { doc, texts };
}

function hasLongText(value: unknown): boolean {
  if (typeof value === "string") return value.length > LONG_CHARS;
  return typeof value === "object" && value !== null && Object.values(value).some(hasLongText);
}

async function textsOf(
  db: Pick<Database, "selectFrom">,
  owner: string,
  doc: string,
  kept: Kept,
): Promise<TextOf> {
  const texts = new Map<string, string>();
  for (const [, digest = ""] of doc.matchAll(WRITTEN_REFERENCE)) {
    const text = kept.textOf(digest) ?? (await readText(db, owner, digest));
    if (text !== undefined && kept.digestOf(text) === digest) texts.set(digest, text);
    await breath();
  }
  return (digest) => texts.get(digest);
}

async function readText(
  db: Pick<Database, "selectFrom">,
  owner: string,
  digest: string,
): Promise<string | undefined> {
  const query = db.selectFrom("long_texts").select("text").where("owner", "=", owner);
  return (await query.where("digest", "=", digest).executeTakeFirst())?.text;
}

const NO_TEXTS: ReadonlyMap<string, string> = new Map();

/** The value of the document, with its texts. Undefined: one of them is missing. */
export function unpackedFrom(doc: string, value: Json, textOf: TextOf): Json | undefined {
  return doc.includes(WRITTEN_NUL) ? unpacked(value, textOf) : value;
}

function unpacked(value: Json, textOf: TextOf): Json | undefined {
  if (typeof value === "string") {
    if (value.startsWith(REFERENCE)) return textOf(value.slice(REFERENCE.length));
    return value.startsWith(NUL) ? value.slice(NUL.length) : value;
  }
  if (isList(value)) {
    const members = value.map((each) => unpacked(each, textOf));
    return members.includes(undefined) ? undefined : (members as Json[]);
  }
  if (!isRecord(value)) return value;
  const members: { [name: string]: Json } = {};
  for (const [name, each] of Object.entries(value)) {
    const member = unpacked(each, textOf);
    if (member === undefined) return undefined;
    // An assignment would not work for a field that is called __proto__.
    Object.defineProperty(members, name, {
      value: member,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return members;
}
