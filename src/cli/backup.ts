// `npm run backup -- FILE`: copies the database, even of a running bot, and says what the copy contains.

import { answerHelp, exitOnSignals, failOnLostOutput } from "../program-options.ts";
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import type { AuditFile } from "../adapters/store/audit-file.ts";
import { auditKeyFile } from "../adapters/store/audit-key.ts";
import { backUp, type BackedUp } from "../adapters/store/back-up.ts";
import { isServer } from "../adapters/store/database-copy.ts";
import { Unusable } from "../adapters/store/faults.ts";
import { explainFaults, readAuditConfig } from "../config.ts";
import { headWords } from "../domain/audit/hash-chain.ts";
import { auditVerdict, ownKey, publicKeysFor, refuseOtherThanKeys, verdictWords } from "./audit/inspect.ts";
import { type StateOfRows, stateOfRows } from "./audit/upkeep.ts";

const USAGE = `Usage: npm run backup -- FILE [--public-key KEY]
Copies the database of DATABASE_URL to a new FILE, even while the bot runs. FILE appears only once the copy is verified: the database,
and its audit with --public-key (32 bytes in base64), or else with AUDIT_KEY or the key beside the database. docs/backup.md says how
to restore it.
Exit code 0: copied. 1: the database was tampered with. 2: the copy could not be made, or is not fully verified, because the key here does
not sign the audit any more.`;

const PG_DUMP = `This command copies SQLite only, and DATABASE_URL names PostgreSQL. Use PostgreSQL's own program, even while Countersign runs:
  pg_dump --format=custom --no-owner --file=countersign.dump "$DATABASE_URL"
To restore the dump into an empty database:
  pg_restore --exit-on-error --single-transaction --no-owner --dbname="$DATABASE_URL" countersign.dump
If DATABASE_URL has sslmode=verify-full without sslrootcert, these programs need &sslrootcert=FILE, with the authority's certificate, or
&sslrootcert=system (PostgreSQL 16 or newer). docs/backup.md explains this, and has the commands for Compose and Kubernetes.`;

const MEBIBYTE = 2 ** 20;

const GOOD = 0;
const TAMPERED = 1;
const FAILED = 2;

/** The audit of the copy is not intact. */
class Tampered extends Error {}

answerHelp(USAGE);
exitOnSignals();
failOnLostOutput("What the command did stands: if FILE is there, it is a complete copy.");

process.exitCode = await run(process.argv.slice(2));

async function run(args: readonly string[]): Promise<number> {
  const options = readCommandLine(args);
  if (typeof options === "string") return fail(`${options}.\n\n${USAGE}`);
  const config = readAuditConfig(process.env);
  if (!config.ok) return fail(explainFaults(config.error));
  if (isServer(config.value.database)) return fail(PG_DUMP);
  try {
    return await copy(config.value, options);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
    return error instanceof Error && error.cause instanceof Tampered ? TAMPERED : FAILED;
  }
}

function fail(words: string): number {
  console.error(words);
  return FAILED;
}

type Options = { readonly file: string; readonly publicKeys: readonly string[] };

/** Returns a text if the command line is wrong. */
function readCommandLine(args: readonly string[]): Options | string {
  try {
    const options = { "public-key": { type: "string", multiple: true } } as const;
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const [file, ...more] = positionals;
    if (file === undefined || file === "") return "backup needs a file to write to";
    if (more.length > 0) return `backup writes one file, and does not take the argument "${more.join(" ")}"`;
    const publicKeys = values["public-key"] ?? [];
    refuseOtherThanKeys(publicKeys);
    return { file, publicKeys };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

type Where = { readonly database: string; readonly key: string | null };

async function copy(where: Where, { file, publicKeys }: Options): Promise<number> {
  let head = "";
  let rows: StateOfRows = { open: false, isOther: false, words: "" };
  let signedWith: string | null = null;
  const check = async (audit: AuditFile): Promise<void> => {
    refuseUnusableKey(where);
    const verdict = await auditVerdict(audit, publicKeysFor(where, publicKeys), []);
    if (!verdict.ok) throw new Tampered(verdictWords(verdict, 0));
    head =
      verdict.head === null || verdict.head.seq === null
        ? "empty audit"
        : headWords({ ...verdict.head, seq: verdict.head.seq });
    rows = await stateOfRows(audit, where);
    signedWith = await audit.headKey();
  };
  const done = await backUp(where.database, file, { at: Date.now(), check });
  const did = rows.isOther ? "Backed up, but not fully verified" : "Backed up and verified";
  console.log([`${did}: ${contentWords(file, done, head)}`, keyWords(where, signedWith)].join("\n"));
  const isBad = rows.open || rows.isOther;
  if (rows.words !== "") (isBad ? console.error : console.log)(rows.words);
  return rows.open ? TAMPERED : rows.isOther ? FAILED : GOOD;
}

/** The seals of the copy are checked with the key here, whichever key is pinned. */
function refuseUnusableKey(where: Where): void {
  try {
    ownKey(where);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const words = `${why}. Without it, the copy cannot be verified, so there is no copy. Put the key back so that this user can read it, or set AUDIT_KEY.`;
    throw new Unusable(words, { cause: error });
  }
}

function contentWords(file: string, { schema, runs, bytes }: BackedUp, head: string): string {
  const size = `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
  const held = `${runs.all} ${runs.all === 1 ? "run" : "runs"}, ${runs.unfinished} of them unfinished`;
  return `${file}, ${size}, schema ${schema}, ${held}, ${head}`;
}

/** The audit cannot continue without its key. A thief who has both could forge it, so the key must lie elsewhere. */
function keyWords({ database, key }: Where, signedWith: string | null): string {
  const isHere = signedWith === null || ownKey({ database, key })?.id === signedWith;
  const file = auditKeyFile(database);
  const beside = existsSync(file) ? file : "the file beside the database";
  const place = key === null ? beside : "AUDIT_KEY";
  const which = isHere ? place : `${signedWith}, which is not here`;
  return `The copy does not contain the key that signs the audit (${which}). A restore needs this key too. Keep a copy of it, but not with the backups.`;
}
