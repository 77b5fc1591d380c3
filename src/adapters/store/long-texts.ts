// Stores the long texts of runs and forms in separate rows, one for each digest. A run is saved whole many times while its cards are posted,
// and a request of several megabytes would be written, sealed and parsed each time. The document contains the digest, so the seal of its
// row covers the text too.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { RunKey } from "../../domain/ids.ts";
import { isList, isRecord, type Json } from "../../domain/json.ts";
import { digestOf } from "./audit-key.ts";
import { type Database, read, type Trx } from "./database.ts";

/** Texts longer than this (characters) get a separate row. */
const LONG_CHARS = 16_384;
/** The size of the cache of texts (characters), so that the texts of a run that is saved often are not read again. */
const CACHE_CHARS = 24 * 2 ** 20;

/** Marks the digest of a text. A real text that starts with NUL gets one more NUL in front. */
const NUL = "\0";
const REFERENCE = `${NUL}@`;
/** NUL as JSON writes it. A document without it contains no reference, and nothing that looks like one. */
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
  /** Computes the digests of the value's long texts in advance, so that a transaction does not wait for them. */
  prepare(value: unknown): Promise<void>;
  pack(value: unknown): Packed;
  /** Reads the texts that the owner's document names. A text that does not match its digest counts as missing. */
  textsOf(db: Pick<Database, "selectFrom">, owner: string, doc: string): Promise<TextOf>;
  /** Keeps the texts that the owner's document needs, and removes those that it no longer needs. */
  keep(trx: Trx, owner: string, run: RunKey, packed: Packed): Promise<void>;
};

export function createLongTexts(): LongTexts {
  const cache = createCache();
  return {
    async prepare(value) {
      if (hasLongText(value) && pack(value, cache).texts.size > 0) await yieldToEventLoop();
    },
    pack: (value) => pack(value, cache),
    textsOf: (db, owner, doc) => read(() => textsOf(db, owner, doc, cache)),
    async keep(trx, owner, run, { texts }) {
      const rows = await trx.selectFrom("long_texts").select("digest").where("owner", "=", owner).execute();
      const unused = new Set(rows.map(({ digest }) => digest));
      for (const [digest, text] of texts) {
        if (unused.delete(digest)) continue;
        await trx.insertInto("long_texts").values({ owner, digest, run, text }).execute();
        await yieldToEventLoop();
      }
      for (const digest of unused)
        await trx.deleteFrom("long_texts").where("owner", "=", owner).where("digest", "=", digest).execute();
    },
  };
}

type Cache = { readonly digestOf: (text: string) => string; readonly textOf: TextOf };

/** Caches the most recently used texts. */
function createCache(): Cache {
  const byDigest = new Map<string, string>();
  const byText = new Map<string, string>();
  let chars = 0;
  const cachedDigestOf = (text: string): string => {
    const digest = byText.get(text) ?? digestOf(text);
    if (!byDigest.has(digest)) chars += text.length;
    byDigest.delete(digest);
    byDigest.set(digest, text);
    byText.set(text, digest);
    for (const [oldest, dropped] of byDigest) {
      if (chars <= CACHE_CHARS || oldest === digest) break;
      byDigest.delete(oldest);
      byText.delete(dropped);
      chars -= dropped.length;
    }
    return digest;
  };
  return { digestOf: cachedDigestOf, textOf: (digest) => byDigest.get(digest) };
}

function pack(value: unknown, cache: Cache): Packed {
  // Looks for long texts first, so as not to write megabytes only to learn that. Without a long text, a replacer would only cost time.
  const plain = hasLongText(value) ? null : JSON.stringify(value);
  if (plain !== null && !plain.includes(WRITTEN_NUL)) return { doc: plain, texts: NO_TEXTS };
  const texts = new Map<string, string>();
  const doc = JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== "string") return member;
    // SQLite cannot store a text with a lone surrogate, so such a text stays in the document, where JSON escapes it.
    if (member.length <= LONG_CHARS || !member.isWellFormed())
      return member.startsWith(NUL) ? NUL + member : member;
    const digest = cache.digestOf(member);
    texts.set(digest, member);
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
  cache: Cache,
): Promise<TextOf> {
  const texts = new Map<string, string>();
  for (const [, digest = ""] of doc.matchAll(WRITTEN_REFERENCE)) {
    const text = cache.textOf(digest) ?? (await readText(db, owner, digest));
    if (text !== undefined && cache.digestOf(text) === digest) texts.set(digest, text);
    await yieldToEventLoop();
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

/** Returns the value of the document with its texts, or undefined if a text is missing. */
export function unpackedFrom(doc: string, value: Json, textOf: TextOf): Json | undefined {
  return doc.includes(WRITTEN_NUL) ? unpacked(value, textOf) : value;
}

function unpacked(value: Json, textOf: TextOf): Json | undefined {
  if (typeof value === "string") {
    if (value.startsWith(REFERENCE)) return textOf(value.slice(REFERENCE.length));
    return value.startsWith(NUL) ? value.slice(NUL.length) : value;
  }
  if (isList(value)) {
    const members = value.map((member) => unpacked(member, textOf));
    return members.includes(undefined) ? undefined : (members as Json[]);
  }
  if (!isRecord(value)) return value;
  const members: { [name: string]: Json } = {};
  for (const [name, packed] of Object.entries(value)) {
    const member = unpacked(packed, textOf);
    if (member === undefined) return undefined;
    // An assignment would not work for a field named __proto__.
    Object.defineProperty(members, name, {
      value: member,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return members;
}
