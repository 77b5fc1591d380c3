// `npm run audit`: verifies the audit and shows what it holds. The commands that only read do not need the bot and change nothing.

import { answerHelp, exitOnSignals, failOnLostOutput } from "../program-options.ts";
import { once } from "node:events";
import { createWriteStream, existsSync, renameSync, rmSync } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { shown } from "../adapters/store/database-copy.ts";
import { isNoEntry, isOfEngine, reasonOf, unusable } from "../adapters/store/faults.ts";
import { explainFaults, readAuditConfig } from "../config.ts";
import type { AuditVerdict } from "../domain/audit/verify-chain.ts";
import { slackNames } from "./slack/ask-slack.ts";
import {
  acknowledgeFindings,
  type NewKey,
  redactText,
  rotateKeys,
  stateOfRows,
  unprovenFindings,
} from "./audit/upkeep.ts";
import { archiveOldest, withArchives } from "./audit/archive.ts";
import { lostHead, restoreWords } from "./audit/restored.ts";
import { compareWithCopy, type CopyPart, openCopy } from "./audit/against.ts";
import { type AuditCommand, readCommandLine, USAGE } from "./audit/command-line.ts";
import {
  type AuditFile,
  auditVerdict,
  exportEntries,
  openAuditFile,
  publicKeysFor,
  showRun,
  verdictWords,
} from "./audit/inspect.ts";

const GOOD = 0;
const TAMPERED = 1;
const FAILED = 2;

const STANDS =
  "What the command did stands: the newest entries of `npm run audit -- export` say what it was.";

answerHelp(USAGE);
exitOnSignals();
const command = readCommandLine(process.argv.slice(2));
const isOfOutput = failOnLostOutput(isWriting(command) ? STANDS : "");
if (typeof command === "string") {
  console.error(`${command}.\n\n${USAGE}`);
  process.exitCode = FAILED;
} else {
  process.exitCode = await run(command);
}

function isWriting(command: AuditCommand | string): boolean {
  return (
    typeof command !== "string" && ["rotate-key", "redact", "acknowledge", "archive"].includes(command.type)
  );
}

async function run(command: AuditCommand): Promise<number> {
  const config = readAuditConfig(process.env);
  if (!config.ok) {
    console.error(explainFaults(config.error));
    return FAILED;
  }
  try {
    return await execute(command, config.value);
  } catch (error) {
    if (!isOfOutput(error)) console.error(wordsOf(error, config.value));
    return FAILED;
  }
}

/** The engine's own words name no database. */
function wordsOf(error: unknown, { database }: Where): string {
  const named = isOfEngine(error) ? unusable(shown(database), error) : error;
  return named instanceof Error ? named.message : String(named);
}

type Where = { readonly database: string; readonly key: string | null };
type VerifyCommand = Extract<AuditCommand, { type: "verify" }>;
type Verification = VerifyCommand & { readonly copy: readonly CopyPart[] };
type PrintCommand = Extract<AuditCommand, { type: "export" | "show" | "report" }>;

async function execute(command: AuditCommand, where: Where): Promise<number> {
  switch (command.type) {
    case "rotate-key":
      console.log(await rotateKeys(where, command.newKey === null ? null : readNewKey(command.newKey)));
      await warnIfTampered(where);
      return GOOD;
    case "redact": {
      const { tampered, words } = await redactText(where, command);
      (tampered ? console.error : console.log)(words);
      return tampered ? TAMPERED : GOOD;
    }
    case "acknowledge":
      console.log(await acknowledgeFindings(where, command));
      return GOOD;
    case "archive": {
      const { tampered, words } = await archiveOldest(where, command);
      (tampered ? console.error : console.log)(words);
      return tampered ? TAMPERED : GOOD;
    }
    default:
      return readAudit(command, where);
  }
}

async function readAudit(command: VerifyCommand | PrintCommand, where: Where): Promise<number> {
  // Opened first, so that the database has every entry that the copy has.
  const copy = await openCopy(command.type === "verify" ? command.against : []);
  const stored = await openAuditFile(where.database);
  let close = stored.close;
  try {
    const audit = await withArchives(stored, command.archives, publicKeysFor(where, command.publicKeys));
    close = audit.close;
    return await (command.type === "verify"
      ? verify(audit, { ...command, copy }, where)
      : printUnlessTampered(audit, command, where));
  } finally {
    await close();
  }
}

function readNewKey(file: string): NewKey {
  const read = readAuditConfig({ AUDIT_KEY_FILE: file });
  if (read.ok && read.value.key !== null) return { file, seed: read.value.key };
  const unreadable = read.ok ? undefined : read.error.find(({ variable }) => variable === "AUDIT_KEY_FILE");
  if (unreadable !== undefined) throw new Error(`--new-key ${unreadable.wrong}. The key was not changed.`);
  throw new Error(
    `${file} contains neither an Ed25519 private key in PEM format nor 32 bytes in base64. The key was not changed.`,
  );
}

/** The key is replaced whatever the audit says, because it may have been stolen. */
async function warnIfTampered(where: Where): Promise<void> {
  try {
    const audit = await openAuditFile(where.database);
    try {
      const verdict = await auditVerdict(audit, publicKeysFor(where, []), []);
      if (!verdict.ok) console.error(`${verdictWords(verdict, 0)}\nThis does not affect the key.`);
    } finally {
      await audit.close();
    }
  } catch (error) {
    console.error(`The audit was not verified: ${wordsOf(error, where)}. This does not affect the key.`);
  }
}

async function verify(audit: AuditFile, command: Verification, where: Where): Promise<number> {
  const { heads } = command;
  const publicKeys = publicKeysFor(where, command.publicKeys);
  const verdict = await auditVerdict(audit, publicKeys, heads);
  (verdict.ok ? console.log : console.error)(verdictWords(verdict, heads.length));
  const explained = await restoreWords(audit, publicKeys, lostHead(verdict));
  if (explained !== null) console.error(explained);
  await reportArchived(audit, "check");
  const own = codeOf(verdict, heads);
  const codes = [own, await reportCopy(audit, command, where)];
  // The rows are checked against the audit, so the audit must be intact itself.
  if (own === TAMPERED) for (const line of await unprovenFindings(audit)) console.error(line);
  else codes.push(await reportFindings(audit, where, command.publicKeys.length > 0));
  return [TAMPERED, FAILED].find((code) => codes.includes(code)) ?? GOOD;
}

/** If a given head is archived, it was not compared, which says nothing about the audit. */
function codeOf(verdict: AuditVerdict, heads: VerifyCommand["heads"]): number {
  if (verdict.ok) return GOOD;
  // The entries of stored runs are never archived. So if the head was not given, this fault means that a run was changed.
  const isGiven = heads.some(({ seq }) => seq === null || seq === verdict.seq);
  return verdict.fault === "in-archive" && isGiven ? FAILED : TAMPERED;
}

/** Prints a tampered audit only on request, because it is not evidence. */
async function printUnlessTampered(audit: AuditFile, command: PrintCommand, where: Where): Promise<number> {
  const verdict = await auditVerdict(audit, publicKeysFor(where, command.publicKeys), []);
  if (!verdict.ok) {
    console.error(verdictWords(verdict, 0));
    if (!command.tampered) {
      console.error(
        "Nothing was printed. To print the audit anyway, add --tampered. Do not use it as evidence.",
      );
      return TAMPERED;
    }
  }
  await reportArchived(audit, "read");
  const code = await print(audit, { ...command, tampered: !verdict.ok });
  return verdict.ok ? code : TAMPERED;
}

/** Writes to standard error, because the requested data goes to standard output. */
async function reportArchived(audit: AuditFile, verb: "check" | "read"): Promise<void> {
  const { seq } = await audit.base();
  if (seq > 0) console.error(`Entries 1 to ${seq} are archived. To ${verb} them too, add --archive FILE.`);
}

/** Never rejects, because what is wrong with the database itself is still to be reported. */
async function reportCopy(
  audit: AuditFile,
  { copy, publicKeys }: Verification,
  where: Where,
): Promise<number> {
  if (copy.length === 0) return GOOD;
  try {
    const keys = publicKeysFor(where, publicKeys);
    const { differs, lost, words } = await compareWithCopy(audit, keys, copy);
    (differs ? console.error : console.log)(words);
    const explained = await restoreWords(audit, keys, lost);
    if (explained !== null) console.error(explained);
    return differs ? TAMPERED : GOOD;
  } catch (error) {
    console.error(wordsOf(error, where));
    return FAILED;
  }
}

/**
 * Reports what was changed in the rest of the database. The audit itself must be intact. If there is no key, as for auditors,
 * leaving out the check is no failure. If the key was replaced, it is one, because the operator expects everything to be checked.
 */
async function reportFindings(audit: AuditFile, where: Where, isPinned: boolean): Promise<number> {
  const { open, words, isOther } = await stateOfRows(audit, where, isPinned);
  const isBad = open || isOther;
  if (words !== "") (isBad ? console.error : console.log)(words);
  return open ? TAMPERED : isOther ? FAILED : GOOD;
}

async function print(audit: AuditFile, command: PrintCommand): Promise<number> {
  if (command.type === "export") {
    await write(exportEntries(audit, command, await slackNames(process.env)), command.out);
    return GOOD;
  }
  if (command.type === "report") {
    // Loaded here because only the report needs the policy parser.
    const { controlReport } = await import("./audit/report.ts");
    await write([await controlReport(audit, command)], command.out);
    return GOOD;
  }
  const story = await showRun(audit, command, await slackNames(process.env));
  if (story === null)
    console.error("The audit has no entry about this run. Check the run id and DATABASE_URL.");
  else console.log(story);
  return story === null ? FAILED : GOOD;
}

/** The file gets its name only once it is complete. Rejects if there is already one, so that nothing is overwritten. */
async function write(pieces: AsyncIterable<string> | Iterable<string>, out: string | null): Promise<void> {
  if (out === null) return writeTo(process.stdout, pieces);
  const partial = `${out}.partial`;
  for (const file of [out, partial]) refuseExisting(file);
  const to = createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true });
  try {
    await writeTo(to, pieces);
    refuseExisting(out);
    renameSync(partial, out);
  } catch (error) {
    if (error !== to.errored) throw error;
    const why = isNoEntry(error) ? "its folder does not exist" : reasonOf(error);
    throw new Error(`Cannot write ${out}: ${why}. Correct this, or name another file with --out.`, {
      cause: error,
    });
  } finally {
    if (existsSync(partial)) rmSync(partial);
  }
}

function refuseExisting(file: string): void {
  if (!existsSync(file)) return;
  const cause = file.endsWith(".partial") ? " A command writes it now, or was interrupted." : "";
  throw new Error(`EEXIST: ${file} already exists.${cause} Remove it, or name another file.`);
}

async function writeTo(to: Writable, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const failed = once(to, "error").then(([error]: unknown[]) => {
    throw error instanceof Error ? error : new Error(String(error));
  });
  const writing = async (): Promise<void> => {
    for await (const piece of pieces) if (!to.write(piece)) await once(to, "drain");
    if (to !== process.stdout) await finished(to.end());
  };
  await Promise.race([writing(), failed]);
}
