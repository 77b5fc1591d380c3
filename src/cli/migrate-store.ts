// `npm run migrate-store -- sqlite:PATH postgres://…`: moves a stopped installation to PostgreSQL, with its open cards and its audit.

import { answerHelp } from "../program-options.ts";
import { auditKeyFile, type AuditKey } from "../adapters/store/audit-key.ts";
import type { AuditFile } from "../adapters/store/audit-file.ts";
import { type Moved, openSource } from "../adapters/store/move-store.ts";
import { isServer, shown } from "../adapters/store/database-copy.ts";
import { type Environment, explainFaults, readAuditConfig } from "../config.ts";
import { headWords } from "../domain/audit/hash-chain.ts";
import { auditVerdict, howToGiveKey, ownKey, verdictWords } from "./audit/inspect.ts";

const USAGE = `Usage: npm run migrate-store -- sqlite:PATH [postgres://USER:PASSWORD@HOST/NAME?sslmode=verify-full]
Moves an installation from a file to an empty database of PostgreSQL: runs with their open cards, forms and buttons, notifications,
and the audit, whole and verified. Without a second address it goes to DATABASE_URL, which keeps the password out of the list of
processes. Stop Countersign first. The file stays as it is; the command can be repeated until it has succeeded. The audit's key is
AUDIT_KEY, or the file beside the database.
Exit code 0: moved. 1: the audit was tampered with, and nothing was moved. 2: it could not be done.`;

const [GOOD, TAMPERED, UNUSABLE] = [0, 1, 2];

/** The audit is not whole, here or there. */
class Tampered extends TypeError {}

answerHelp(USAGE);
process.exitCode = await answered(process.argv.slice(2), process.env);

async function answered([from = "", to, ...more]: readonly string[], env: Environment): Promise<number> {
  if (from === "" || more.length > 0) return refused(USAGE);
  const at = (url: string): Environment => ({ ...env, DATABASE_URL: url, DATABASE_URL_FILE: undefined });
  const source = readAuditConfig(at(from));
  const target = readAuditConfig(to === undefined ? env : at(to));
  if (!source.ok) return refused(explainFaults(source.error));
  if (!target.ok) return refused(explainFaults(target.error));
  if (isServer(source.value.database) || !isServer(target.value.database))
    return refused(`The first address must be sqlite:PATH, and the second one postgres://…\n\n${USAGE}`);
  try {
    console.log(await moved(source.value, target.value.database));
    return GOOD;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : null;
    refused(error instanceof Error ? error.message : String(error));
    return error instanceof Tampered || cause instanceof Tampered ? TAMPERED : UNUSABLE;
  }
}

function refused(words: string): number {
  console.error(words);
  return UNUSABLE;
}

type Where = { readonly database: string; readonly key: string | null };

async function moved(where: Where, url: string): Promise<string> {
  const key = ownKey(where);
  if (key === null)
    throw new Error(`There is no key to verify the audit with: ${howToGiveKey(where.database)}.`);
  const source = await openSource(where.database);
  try {
    const here = await wholeState(source, key);
    const done = await source.moveTo(url, async (there) => {
      const same = (await wholeState(there, key)) === here;
      if (!same) throw new Tampered("the copy is not what the file holds");
    });
    return done === "already" ? already(where, url) : doneWords(where, url, done, here);
  } finally {
    await source.close();
  }
}

/** Says the head and what was changed outside Countersign. Rejects when the audit is not whole. */
async function wholeState(audit: AuditFile, key: AuditKey): Promise<string> {
  const verdict = await auditVerdict(audit, [key.publicKey], []);
  if (!verdict.ok) throw new Tampered(`${verdictWords(verdict, 0)}\nNothing was moved.`);
  const { head } = verdict;
  const broken = (await audit.brokenRows(key)).map(({ words }) => `\nAs before, ${words}.`).toSorted();
  const named =
    head === null || head.seq === null
      ? "The audit is empty."
      : `Its head: ${headWords({ ...head, seq: head.seq })}.`;
  return [named, ...new Set(broken)].join("");
}

function already({ database }: Where, url: string): string {
  return `${shown(url)} holds the installation of ${database} already: nothing was changed.`;
}

function doneWords({ database, key }: Where, url: string, done: Moved, state: string): string {
  const { runs, audit, forms, notifications } = done;
  const given = key === null ? `what is in ${auditKeyFile(database)}` : "the same key as here";
  return [
    `Moved to ${shown(url)}. Runs: ${runs}, forms: ${forms}, audit entries: ${audit}, notifications: ${notifications}.`,
    `The audit is whole there. ${state}`,
    `${database} is unchanged. Keep Countersign stopped on it: two installations would both act on the same runs.`,
    `Start it with DATABASE_URL set to the new address, and AUDIT_KEY to ${given}.`,
  ].join("\n");
}
