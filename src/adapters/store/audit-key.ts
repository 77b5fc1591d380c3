// The key that signs the audit, and the digest of its texts. The key is an Ed25519 key, so a verifier needs only the public half and cannot
// forge entries with it.

import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { giveToOwner } from "./give-to-owner.ts";
import { reasonOf, Unusable } from "./faults.ts";
import { syncFolderOf } from "./sync-folder.ts";

export type AuditKey = {
  /** The first half of the SHA-256 of the public key, in hex. */
  readonly id: string;
  /** The public half for verifiers: 32 bytes in base64. */
  readonly publicKey: string;
  readonly sign: (text: string) => string;
  /** Returns a MAC (base64) under a key derived from this one. It proves that a program with this key wrote the text. */
  readonly seal: (text: string) => string;
};

/** The file of a database's key, unless the environment names a key. */
export const auditKeyFile = (database: string): string => `${database}.audit-key`;

const SEED_BYTES = 32;
/** A private key in PKCS #8 consists of these bytes (RFC 8410) and the seed. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Makes the key from a seed of 32 bytes in base64. Throws if the text is not one. */
export function auditKeyOf(seed: string): AuditKey {
  const bytes = Buffer.from(seed, "base64");
  if (bytes.length !== SEED_BYTES) throw new Error("the audit's key is not 32 bytes in base64");
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8, bytes]), format: "der", type: "pkcs8" });
  const publicKey = rawOf(createPublicKey(secret));
  const sealing = sealingKey(bytes);
  return {
    id: idOf(publicKey),
    publicKey: publicKey.toString("base64"),
    sign: (text) => sign(null, Buffer.from(text, "utf8"), secret).toString("base64"),
    seal: (text) => createHmac("sha256", sealing).update(text, "utf8").digest("base64"),
  };
}

/** Derives a separate key for seals, so that signatures and seals never share a key. */
function sealingKey(seed: Buffer): Buffer {
  return Buffer.from(hkdfSync("sha256", seed, "", "countersign row seals 1", SEED_BYTES));
}

/** Returns the key beside the database file. Creates it on first use, readable by its owner only. `made` is the new file. */
export function auditKeyBeside(database: string): { readonly key: AuditKey; readonly made: string | null } {
  if (database === ":memory:") return { key: auditKeyOf(newSeed()), made: null };
  const file = auditKeyFile(database);
  const there = readSeed(file);
  if (there !== null) return { key: auditKeyOf(there), made: null };
  const seed = newSeed();
  keepSeed(file, seed, database);
  return { key: auditKeyOf(seed), made: file };
}

function keepSeed(file: string, seed: string, database: string): void {
  try {
    writeSeed(file, seed, database);
  } catch (error) {
    throw new Unusable(`cannot write the audit's key ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Writes the file completely or not at all, so that a crash leaves no partial key. */
function writeSeed(file: string, seed: string, database: string): void {
  const unfinished = `${file}.new`;
  rmSync(unfinished, { force: true });
  const opened = openSync(unfinished, "wx", 0o600);
  try {
    writeSync(opened, `${seed}\n`);
    giveToOwner(opened, database);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  renameSync(unfinished, file);
  syncFolderOf(file);
}

/** Returns the key beside the database, or null if there is none. */
export function readAuditKey(database: string): AuditKey | null {
  const seed = readSeed(auditKeyFile(database));
  return seed === null ? null : auditKeyOf(seed);
}

const nextKeyFile = (database: string): string => `${auditKeyFile(database)}.next`;

/** The file that keeps a replaced key, because a back-up from before the rotation needs it. */
export const keptKeyFile = (database: string, { id }: AuditKey): string => `${auditKeyFile(database)}.${id}`;

/**
 * Returns the key beside the database and the one that will replace it, and keeps both in files. An interrupted rotation continues with the
 * same new key. Must be called while we hold the lock of the database, until `adoptNextKey`.
 */
export function keysBeside(database: string): { readonly from: AuditKey; readonly to: AuditKey } {
  const old = readSeed(auditKeyFile(database));
  if (old === null) throw new Unusable(`the audit's key ${auditKeyFile(database)} is gone: put it back`);
  const from = auditKeyOf(old);
  keepSeed(keptKeyFile(database, from), old, database);
  const file = nextKeyFile(database);
  // Written again if it is there, so that it is complete and has the right owner.
  const seed = readSeed(file) ?? newSeed();
  keepSeed(file, seed, database);
  return { from, to: auditKeyOf(seed) };
}

/** Returns whether a rotation was interrupted before `adoptNextKey`. */
export const isReplacingKey = (database: string): boolean => existsSync(nextKeyFile(database));

/** Puts the new key in the place of the old one. */
export function adoptNextKey(database: string): void {
  renameSync(nextKeyFile(database), auditKeyFile(database));
  syncFolderOf(database);
}

/** Checks signatures made with these keys (public halves, base64). */
export function auditSignatures(publicKeys: readonly string[]) {
  const known = new Map(publicKeys.map((text) => publicOf(text)));
  return (key: string, text: string, signature: string): "good" | "bad" | "unknown-key" => {
    const object = known.get(key);
    if (object === undefined) return "unknown-key";
    const bytes = Buffer.from(signature, "base64");
    // Base64 leaves some bits at the end unused, so several texts decode to the same signature. We accept only the canonical one.
    const canonical = bytes.toString("base64") === signature;
    return canonical && verify(null, Buffer.from(text, "utf8"), object, bytes) ? "good" : "bad";
  };
}

/** Throws if the text is not a public key. */
function publicOf(text: string): readonly [id: string, key: KeyObject] {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== SEED_BYTES) throw new Error("a public key of the audit is 32 bytes in base64");
  const jwk = { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") };
  return [idOf(bytes), createPublicKey({ key: jwk, format: "jwk" })];
}

/** Returns the id by which the audit names the key with this public half. Throws if the text is not a public key. */
export const keyIdOf = (publicKey: string): string => publicOf(publicKey)[0];

const newSeed = (): string => randomBytes(SEED_BYTES).toString("base64");

const rawOf = (key: KeyObject): Buffer => Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");

const idOf = (publicKey: Buffer): string => createHash("sha256").update(publicKey).digest("hex").slice(0, 32);

/** Returns null if there is no such file. Throws one line for the operator if the file cannot be read or holds no key. */
function readSeed(file: string): string | null {
  const seed = readText(file);
  if (seed === null || Buffer.from(seed, "base64").length === SEED_BYTES) return seed;
  throw new Unusable(`cannot use the audit's key ${file}: it does not hold 32 bytes in base64`);
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw new Unusable(`cannot read the audit's key ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

/** SHA-256 of the UTF-8 text, in hex. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
