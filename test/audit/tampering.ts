// Someone who has the database file, and knows everything about it except the key, changes its audit. Each way is
// drawn at random and done with SQL past the store, after its triggers are dropped.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  headWords,
  linkText,
  NO_LINK,
  parseKnownHead,
  signedText,
  type KnownHead,
} from "#src/domain/audit/hash-chain.ts";
import { type AuditVerdict, columnsOf, verifyAudit } from "#src/domain/audit/verify-chain.ts";
import { canonicalJson, type Json } from "#src/domain/json.ts";
import { RunId, UserId } from "#src/domain/ids.ts";
import { type AuditKey, auditKeyBeside, auditKeyOf, auditSignatures } from "#src/adapters/store/audit-key.ts";
import { openAuditFile } from "#src/adapters/store/audit-file.ts";
import { openStore } from "#src/adapters/store/open.ts";
import type { AuditEntry } from "#src/audit/entry.ts";
import { anApproval, anAuditEntry, aRun, NOON } from "../make/run.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** Random numbers from 0 to below 1 that depend on the seed alone (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Chance = () => number;
const upTo = (random: Chance, most: number): number => Math.floor(random() * most);
const oneOf = <T>(random: Chance, all: readonly T[]): T => {
  const found = all[upTo(random, all.length)];
  if (found === undefined) throw new Error("nothing to choose from");
  return found;
};

export type Original = {
  readonly file: string;
  readonly key: AuditKey;
  readonly entries: number;
  /** The heads that were shown outside: one from the middle, and the last. */
  readonly witnesses: readonly KnownHead[];
};

/** Creates a database whose audit was written by the real store. */
export async function writeAudit(file: string, random: Chance, entries = 40): Promise<Original> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const runs = Array.from({ length: 4 }, () => aRun());
  // As in the bot, what is sent was decided by the same person right before.
  let decided: { seq: number; entry: AuditEntry } | null = null;
  for (let n = 0; n < entries; n += 1) {
    const run = oneOf(random, runs);
    const text = canonicalJson(["run_1", `apr_${n % 7}`, { action: `do ${n % 7}` }]);
    const asked = { approval: anApproval(`apr_${n % 7}`).id, digest: sha256(text), text };
    const what = oneOf(random, ["opened", "decided", "refused", "settled"] as const);
    const by = { team: run.team, user: UserId(`U0${upTo(random, 5)}`) };
    const reason = `because ${n} “🛂”`;
    const facts = { at: NOON + n, by, runId: RunId("run_1"), verdict: "approve", reason, ...asked } as const;
    const entry: AuditEntry =
      decided === null
        ? anAuditEntry(run, { ...facts, what })
        : { ...decided.entry, at: NOON + n, what: "sent" as const, refers: decided.seq };
    await store.audit([entry]);
    decided = entry.what === "decided" ? { seq: n + 1, entry } : null;
  }
  const [middle, last] = [await store.auditEntry(Math.ceil(entries / 2)), await store.auditHead()];
  await store.close();
  const heads = [middle, last].flatMap((each) => (each === null ? [] : [parseKnownHead(headWords(each))]));
  const witnesses = heads.flatMap((each) => each ?? []);
  if (witnesses.length !== 2) throw new Error("no heads to witness");
  return { file, key: auditKeyBeside(file).key, entries, witnesses };
}

/** Verifies as `npm run audit -- verify --head …` does. */
export async function verify(
  { file, key }: Original,
  witnesses: readonly KnownHead[],
): Promise<AuditVerdict> {
  const audit = await openAuditFile(file);
  try {
    const signature = auditSignatures([key.publicKey]);
    return await verifyAudit(audit.rows(), { hash: sha256, signature, textOf: audit.textOf }, witnesses);
  } finally {
    await audit.close();
  }
}

type Row = { seq: number; entry: string; key: string; link: string; signature: string };

export type Tampering = {
  readonly name: string;
  /** Only a head that was kept outside reveals it. */
  readonly needsWitness: boolean;
  readonly act: (db: DatabaseSync, random: Chance, original: Original) => void;
};

const rowsOf = (db: DatabaseSync): Row[] =>
  db.prepare("select seq, entry, key, link, signature from audit order by seq").all() as Row[];

function put(db: DatabaseSync, { seq, entry, key, link, signature }: Row): void {
  const columns = columnsOf(JSON.parse(entry) as { [field: string]: Json });
  const { at, what, run, runId, approval, by, asked } = columns;
  db.prepare("insert or replace into audit values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
    seq,
    at,
    what,
    run,
    runId,
    approval,
    by,
    entry,
    link,
    key,
    signature,
    asked,
  );
}

const FIELDS = ["at", "what", "run", "by", "verdict", "reason", "outcome", "policy"];

/** Sets one field of the entry to another value. */
function altered(entry: string, random: Chance): string {
  const fields = JSON.parse(entry) as { [field: string]: Json };
  const name = oneOf(random, FIELDS);
  const other: { [field: string]: Json } = { at: NOON - 1, by: { team: "T0ACME", user: "U0SOMEONE" } };
  return canonicalJson({ ...fields, [name]: other[name] ?? `other ${upTo(random, 1e9)}` });
}

function retold(entry: string, outcome: string): string {
  return canonicalJson({ ...(JSON.parse(entry) as { [field: string]: Json }), outcome });
}

/** Computes the links again from this entry on, signed with `key`, or with the existing signatures. */
export function relink(db: DatabaseSync, from: number, key: AuditKey | null): void {
  const rows = rowsOf(db);
  let previous = rows.find(({ seq }) => seq === from - 1)?.link ?? NO_LINK;
  for (const row of rows.filter(({ seq }) => seq >= from)) {
    const named = key === null ? row : { ...row, key: key.id };
    const link = sha256(linkText(previous, { ...named, text: row.entry }));
    const signature = key === null ? row.signature : key.sign(signedText({ seq: row.seq, link }));
    put(db, { ...named, link, signature });
    previous = link;
  }
}

function renumber(db: DatabaseSync): void {
  const rows = rowsOf(db);
  db.exec("delete from audit");
  for (const [index, row] of rows.entries()) put(db, { ...row, seq: index + 1 });
}

/** A stranger's key: the thief has the file, but not the secret. */
const thiefs = (random: Chance): AuditKey =>
  auditKeyOf(Buffer.from(Array.from({ length: 32 }, () => upTo(random, 256))).toString("base64"));

const COLUMNS = ["at", "what", "run", "run_id", "approval", "by_user", "link", "signature", "key"];

export const TAMPERINGS: readonly Tampering[] = [
  {
    name: "an entry edited",
    needsWitness: false,
    act: (db, random) => {
      const row = oneOf(random, rowsOf(db));
      db.prepare("update audit set entry = ? where seq = ?").run(altered(row.entry, random), row.seq);
    },
  },
  {
    name: "an entry edited with its columns, and all links made anew",
    needsWitness: false,
    act: (db, random) => {
      const row = oneOf(random, rowsOf(db));
      put(db, { ...row, entry: altered(row.entry, random) });
      relink(db, row.seq, null);
    },
  },
  {
    name: "a column edited",
    needsWitness: false,
    act: (db, random) => {
      const column = oneOf(random, COLUMNS);
      const value = column === "at" ? 1 : `0${upTo(random, 1e9)}`;
      const { seq } = oneOf(random, rowsOf(db));
      db.prepare(`update audit set ${column} = ? where seq = ?`).run(value, seq);
    },
  },
  {
    name: "one character of an entry, a link or a signature turned",
    needsWitness: false,
    act: (db, random) => {
      const row = oneOf(random, rowsOf(db));
      const column = oneOf(random, ["entry", "link", "signature", "key"] as const);
      const text = row[column];
      // Sometimes one of the last characters: at the end of a signature, base64 leaves bits unused.
      const at = random() < 0.3 ? text.length - 1 - upTo(random, 3) : upTo(random, text.length);
      const other = oneOf(
        random,
        "abcdefgh0123=".split("").filter((each) => each !== text[at]),
      );
      const turned = text.slice(0, at) + other + text.slice(at + 1);
      db.prepare(`update audit set ${column} = ? where seq = ?`).run(turned, row.seq);
    },
  },
  {
    name: "entries deleted from the middle or the beginning",
    needsWitness: false,
    act: (db, random, { entries }) => {
      const first = 1 + upTo(random, entries - 1);
      db.prepare("delete from audit where seq between ? and ?").run(
        first,
        Math.min(first + upTo(random, 5), entries - 1),
      );
    },
  },
  {
    name: "entries deleted, the rest numbered and linked anew",
    needsWitness: false,
    act: (db, random, { entries }) => {
      const seq = 1 + upTo(random, entries - 1);
      db.prepare("delete from audit where seq = ?").run(seq);
      renumber(db);
      relink(db, seq, null);
    },
  },
  {
    name: "two entries swapped",
    needsWitness: false,
    act: (db, random) => {
      const rows = rowsOf(db);
      const one = oneOf(random, rows);
      const other = oneOf(
        random,
        rows.filter(({ seq }) => seq !== one.seq),
      );
      const whole = random() < 0.5;
      put(db, whole ? { ...other, seq: one.seq } : { ...one, entry: other.entry });
      put(db, whole ? { ...one, seq: other.seq } : { ...other, entry: one.entry });
    },
  },
  {
    name: "an entry put in twice",
    needsWitness: false,
    act: (db, random, { entries }) => put(db, { ...oneOf(random, rowsOf(db)), seq: entries + 1 }),
  },
  {
    name: "a forged entry appended",
    needsWitness: false,
    act: (db, random, { entries }) => {
      const row = oneOf(random, rowsOf(db));
      put(db, { ...row, seq: entries + 1, entry: altered(row.entry, random) });
      // Signed by nobody, by a stranger, or by a stranger whose key is passed off as ours.
      const thief = thiefs(random);
      relink(db, entries + 1, oneOf(random, [null, thief, { ...thief, id: row.key }]));
    },
  },
  {
    name: "a request's full text edited or taken away",
    needsWitness: false,
    act: (db, random) => {
      const { digest } = oneOf(random, db.prepare("select digest from audit_texts").all());
      if (digest === undefined) throw new Error("no text");
      const how = random() < 0.5 ? "delete from audit_texts" : "update audit_texts set text = text || ' '";
      db.prepare(`${how} where digest = ?`).run(digest);
    },
  },
  {
    name: "everything written anew without the key",
    needsWitness: false,
    act: (db, random) => {
      for (const row of rowsOf(db)) put(db, { ...row, entry: altered(row.entry, random) });
      const thief = thiefs(random);
      const [{ key } = { key: "" }] = rowsOf(db);
      relink(db, 1, oneOf(random, [null, thief, { ...thief, id: key }]));
    },
  },
  {
    name: "cut off at the end",
    needsWitness: true,
    act: (db, random, { entries }) =>
      void db.prepare("delete from audit where seq > ?").run(upTo(random, entries)),
  },
  {
    name: "everything from an entry on written anew with the stolen key",
    needsWitness: true,
    act: (db, random, { key, entries }) => {
      const from = 1 + upTo(random, entries);
      // A careful thief: what was sent still matches what was decided.
      for (const row of rowsOf(db).filter(({ seq }) => seq >= from))
        put(db, { ...row, entry: retold(row.entry, `other ${upTo(random, 1e9)}`) });
      relink(db, from, key);
    },
  },
];

/** Tampers with a copy, and resolves to the verifier's verdict. `withHeads`: whether it got the witnessed heads. */
export async function tamper(
  original: Original,
  { act }: Tampering,
  random: Chance,
  withHeads: boolean,
): Promise<AuditVerdict> {
  const file = `${original.file}.tampered`;
  copyFileSync(original.file, file);
  const db = new DatabaseSync(file);
  try {
    for (const { name } of db.prepare("select name from sqlite_schema where type = 'trigger'").all())
      db.exec(`drop trigger ${String(name)}`);
    db.exec("begin");
    act(db, random, original);
    db.exec("commit");
  } finally {
    db.close();
  }
  try {
    return await verify({ ...original, file }, withHeads ? original.witnesses : []);
  } finally {
    for (const end of ["", "-wal", "-shm"]) if (existsSync(file + end)) rmSync(file + end);
  }
}
