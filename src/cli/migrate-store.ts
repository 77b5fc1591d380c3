// `npm run migrate-store -- sqlite:PATH postgres://…`: moves a stopped installation to PostgreSQL, with its open cards and its audit.

import { answerHelp, exitOnSignals, failOnLostOutput } from "../program-options.ts";
import { auditKeyFile, type AuditKey } from "../adapters/store/audit-key.ts";
import type { AuditFile } from "../adapters/store/audit-file.ts";
import { Refused } from "../adapters/store/faults.ts";
import { type Moved, openSource } from "../adapters/store/move-store.ts";
import { isServer, shown } from "../adapters/store/database-copy.ts";
import { type ConfigFault, type Environment, explainFaults, readAuditConfig } from "../config.ts";
import { headWords } from "../domain/audit/hash-chain.ts";
import { auditVerdict, neededKey, verdictWords } from "./audit/inspect.ts";

const USAGE = `Usage: npm run migrate-store -- sqlite:PATH [postgres://USER:PASSWORD@HOST/NAME?sslmode=verify-full]
Moves an installation from a SQLite file to an empty PostgreSQL database: runs with their open cards, forms and buttons,
notifications, and the whole audit, verified. Without a second address it uses DATABASE_URL, which keeps the password out of the
process list. Stop Countersign first. The file stays as it is, so you can repeat the command until it succeeds. The audit is
verified with AUDIT_KEY, or with the key beside the database.
Exit code 0: moved. 1: the audit was tampered with, and nothing was moved. 2: the installation could not be moved.`;

const GOOD = 0;
const TAMPERED = 1;
const FAILED = 2;

/** The audit is not intact, in the file or in the copy. */
class Tampered extends Refused {}

answerHelp(USAGE);
exitOnSignals();
failOnLostOutput();
process.exitCode = await run(process.argv.slice(2), process.env);

async function run([from = "", to, ...more]: readonly string[], env: Environment): Promise<number> {
  if (from === "") return fail(`migrate-store needs the address of the file to move.\n\n${USAGE}`);
  if (more.length > 0)
    return fail(`migrate-store does not take the argument "${more.join(" ")}".\n\n${USAGE}`);
  const withUrl = (url: string): Environment => ({ ...env, DATABASE_URL: url, DATABASE_URL_FILE: undefined });
  const source = readAuditConfig(withUrl(from));
  const target = readAuditConfig(to === undefined ? env : withUrl(to));
  if (!source.ok) return fail(addressFault("first", source.error));
  if (!target.ok)
    return fail(to === undefined ? explainFaults(target.error) : addressFault("second", target.error));
  if (isServer(source.value.database) || !isServer(target.value.database))
    return fail(`The first address must be sqlite:PATH, and the second postgres://…\n\n${USAGE}`);
  try {
    console.log(await move(source.value, target.value.database));
    return GOOD;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : null;
    fail(error instanceof Error ? error.message : String(error));
    return error instanceof Tampered || cause instanceof Tampered ? TAMPERED : FAILED;
  }
}

/** An address on the command line is not the variable that it stands in for. */
function addressFault(which: string, faults: readonly ConfigFault[]): string {
  const url = faults.find(({ variable }) => variable === "DATABASE_URL");
  if (url === undefined) return explainFaults(faults);
  return `The ${which} address ${url.wrong}. The first must be sqlite:PATH, and the second postgres://…`;
}

function fail(words: string): number {
  console.error(words);
  return FAILED;
}

type Where = { readonly database: string; readonly key: string | null };

async function move(where: Where, url: string): Promise<string> {
  const key = neededKey(where, "key to verify the audit with");
  const source = await openSource(where.database);
  try {
    await refuseOtherKey(source, key);
    const sourceState = await verifiedState(source, key);
    const done = await source.moveTo(url, async (copy) => {
      const isSame = (await verifiedState(copy, key)) === sourceState;
      if (!isSame) throw new Tampered("the copy differs from the file");
    });
    return done === "already" ? alreadyWords(where, url) : doneWords(where, url, done, sourceState);
  } finally {
    await source.close();
  }
}

/** With another key, every row would look as if it had been changed, and the bot could not start on the copy. */
async function refuseOtherKey(source: AuditFile, { id }: AuditKey): Promise<void> {
  const inForce = await source.headKey();
  if (inForce === null || inForce === id) return;
  throw new Error(
    `The audit is signed with the key ${inForce}, and the key here is ${id}. Nothing was moved. Put the right key in place.`,
  );
}

/** Resolves to the head, and to what was changed outside Countersign, in words. Rejects if the audit is not intact. */
async function verifiedState(audit: AuditFile, key: AuditKey): Promise<string> {
  const verdict = await auditVerdict(audit, [key.publicKey], []);
  if (!verdict.ok) throw new Tampered(`${verdictWords(verdict, 0)}\nNothing was moved.`);
  const { head } = verdict;
  const broken = (await audit.brokenRows(key)).map(({ words }) => `\nAs before, ${words}.`).toSorted();
  const headSentence =
    head === null || head.seq === null
      ? "The audit is empty."
      : `Its head: ${headWords({ ...head, seq: head.seq })}.`;
  return [headSentence, ...new Set(broken)].join("");
}

function alreadyWords({ database }: Where, url: string): string {
  return `${shown(url)} already holds the installation of ${database}, so nothing was changed.`;
}

function doneWords({ database, key }: Where, url: string, done: Moved, state: string): string {
  const { runs, audit, forms, notifications } = done;
  const keyFile = auditKeyFile(database);
  const [keySource, leftKey] =
    key === null ? [`the content of ${keyFile}`, `, but leave ${keyFile}`] : ["the same key as here", ""];
  return [
    `Moved to ${shown(url)}. Runs: ${runs}, forms: ${forms}, audit entries: ${audit}, notifications: ${notifications}.`,
    `The audit arrived intact. ${state}`,
    `${database} is unchanged. Do not start Countersign on it again: two installations would both act on the same runs.`,
    `Start Countersign with DATABASE_URL set to the new address, and AUDIT_KEY to ${keySource}.`,
    `Replace the back-up job with pg_dump, and move ${database}, with its -wal and -shm if they are there, out of its folder${leftKey}: otherwise the old job goes on to copy the old file, and reports success.`,
  ].join("\n");
}
