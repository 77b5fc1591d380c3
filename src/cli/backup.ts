// `npm run backup -- FILE`: copies the database of a running bot, and says what the copy holds.

import { answerHelp } from "../program-options.ts";
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import type { AuditFile } from "../adapters/store/audit-file.ts";
import { auditKeyFile } from "../adapters/store/audit-key.ts";
import { backUp, type BackedUp } from "../adapters/store/back-up.ts";
import { isServer } from "../adapters/store/database-copy.ts";
import { explainFaults, readAuditConfig } from "../config.ts";
import { headWords } from "../domain/audit/hash-chain.ts";
import { auditVerdict, publicKeysFor, sealingKey, verdictWords } from "./audit/inspect.ts";
import { findingsIn, findingsWords } from "./audit/upkeep.ts";

const USAGE = `Usage: npm run backup -- FILE [--public-key KEY]
Copies the database of DATABASE_URL to a new FILE, also while the bot runs. The copy is verified before it gets its name: the
database, and its audit with AUDIT_KEY, the key beside the database or --public-key (32 bytes in base64). docs/backup.md says how to
restore it.
Exit code 0: copied. 1: the database was tampered with. 2: it could not be done.`;

const PG_DUMP = `This database is PostgreSQL's, whose own program copies it while Countersign runs:
  pg_dump --format=custom --no-owner --file=countersign.dump "$DATABASE_URL"
  pg_restore --exit-on-error --single-transaction --no-owner --dbname="$DATABASE_URL" countersign.dump
The second command restores it into an empty database. docs/backup.md says more.`;

const MEBIBYTE = 2 ** 20;

const [GOOD, TAMPERED, UNUSABLE] = [0, 1, 2];

/** The audit of the copy is not whole. */
class Tampered extends Error {}

answerHelp(USAGE);

// A copy that is cut off is removed at the exit. Once it has its name, a signal changes the exit code no more.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => process.exit(process.exitCode ?? UNUSABLE));

process.exitCode = await answered(process.argv.slice(2));

async function answered(args: readonly string[]): Promise<number> {
  const asked = readAsked(args);
  if (asked === null) return refused(USAGE);
  const read = readAuditConfig(process.env);
  if (!read.ok) return refused(explainFaults(read.error));
  if (isServer(read.value.database)) return refused(PG_DUMP);
  try {
    return await copied(read.value, asked);
  } catch (error) {
    refused(error instanceof Error ? error.message : String(error));
    return error instanceof Error && error.cause instanceof Tampered ? TAMPERED : UNUSABLE;
  }
}

function refused(words: string): number {
  console.error(words);
  return UNUSABLE;
}

type Asked = { readonly file: string; readonly publicKeys: readonly string[] };

/** Null: the command line is wrong. */
function readAsked(args: readonly string[]): Asked | null {
  try {
    const options = { "public-key": { type: "string", multiple: true } } as const;
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const [file, ...more] = positionals;
    return file === undefined || more.length > 0 ? null : { file, publicKeys: values["public-key"] ?? [] };
  } catch {
    return null;
  }
}

type Where = { readonly database: string; readonly key: string | null };

async function copied(where: Where, { file, publicKeys }: Asked): Promise<number> {
  let [head, findings, tampered] = ["", "", false];
  const check = async (audit: AuditFile): Promise<void> => {
    const verdict = await auditVerdict(audit, publicKeysFor(where, publicKeys), []);
    if (!verdict.ok) throw new Tampered(verdictWords(verdict, 0));
    head =
      verdict.head === null || verdict.head.seq === null
        ? "empty audit"
        : headWords({ ...verdict.head, seq: verdict.head.seq });
    const found = await findingsIn(audit, await sealingKey(audit, where));
    findings = findingsWords(found);
    tampered = found.open.length > 0;
  };
  const done = await backUp(where.database, file, { at: Date.now(), check });
  console.log([holds(file, done, head), withoutKey(where)].join("\n"));
  if (findings !== "") (tampered ? console.error : console.log)(findings);
  return tampered ? TAMPERED : GOOD;
}

function holds(file: string, { schema, runs, bytes }: BackedUp, head: string): string {
  const size = `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
  const held = `${runs.all} ${runs.all === 1 ? "run" : "runs"}, ${runs.unfinished} of them unfinished`;
  return `Backed up and verified: ${file}, ${size}, schema ${schema}, ${held}, ${head}`;
}

/** The audit cannot go on without its key, and with both a thief could forge it. */
function withoutKey({ database, key }: Where): string {
  const file = auditKeyFile(database);
  const place = key !== null ? "AUDIT_KEY" : existsSync(file) ? file : "the file beside the database";
  return `It does not hold the key that signs the audit (${place}). A restore needs the key too: keep a copy of it in another place than the back-ups.`;
}
