// `npm run audit`: verifies the audit and shows what is in it. The commands that examine it read the database without the bot, and change
// nothing.

import { answerHelp } from "../program-options.ts";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { explainFaults, readAuditConfig } from "../config.ts";
import { slackNames } from "./slack/ask-slack.ts";
import {
  acknowledgeFindings,
  findingsIn,
  findingsWords,
  type NewKey,
  redactText,
  rotateKeys,
} from "./audit/upkeep.ts";
import { archiveOldest, withArchives } from "./audit/archive.ts";
import { compareWithCopy } from "./audit/against.ts";
import { type Asked, readAsked, USAGE } from "./audit/command-line.ts";
import {
  type AuditFile,
  auditVerdict,
  exportEntries,
  openAuditFile,
  publicKeysFor,
  sealingKey,
  showRun,
  verdictWords,
} from "./audit/inspect.ts";

const [GOOD, TAMPERED, UNUSABLE] = [0, 1, 2];

answerHelp(USAGE);
const asked = readAsked(process.argv.slice(2));
if (typeof asked === "string") {
  console.error(`${asked}.\n\n${USAGE}`);
  process.exitCode = UNUSABLE;
} else {
  process.exitCode = await answered(asked);
}

async function answered(wanted: Asked): Promise<number> {
  const read = readAuditConfig(process.env);
  if (!read.ok) {
    console.error(explainFaults(read.error));
    return UNUSABLE;
  }
  try {
    return await act(wanted, read.value);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return UNUSABLE;
  }
}

type Where = { readonly database: string; readonly key: string | null };
type Verifying = Extract<Asked, { type: "verify" }>;
type Reading = Extract<Asked, { type: "verify" | "export" | "show" | "report" }>;

async function act(wanted: Asked, where: Where): Promise<number> {
  switch (wanted.type) {
    case "rotate-key":
      console.log(await rotateKeys(where, wanted.newKey === null ? null : newKeyIn(wanted.newKey)));
      return GOOD;
    case "redact": {
      const { tampered, words } = await redactText(where, wanted);
      (tampered ? console.error : console.log)(words);
      return tampered ? TAMPERED : GOOD;
    }
    case "acknowledge":
      console.log(await acknowledgeFindings(where, wanted));
      return GOOD;
    case "archive": {
      const { tampered, words } = await archiveOldest(where, wanted);
      (tampered ? console.error : console.log)(words);
      return tampered ? TAMPERED : GOOD;
    }
    default:
      return readAll(wanted, where);
  }
}

async function readAll(wanted: Reading, where: Where): Promise<number> {
  const stored = await openAuditFile(where.database);
  let close = stored.close;
  try {
    const audit = await withArchives(stored, wanted.archives, publicKeysFor(where, wanted.publicKeys));
    close = audit.close;
    return await readOut(audit, wanted, where);
  } finally {
    await close();
  }
}

function newKeyIn(file: string): NewKey {
  const read = readAuditConfig({ AUDIT_KEY_FILE: file });
  if (read.ok && read.value.key !== null) return { file, seed: read.value.key };
  const unread = read.ok ? undefined : read.error.find(({ variable }) => variable === "AUDIT_KEY_FILE");
  if (unread !== undefined) throw new Error(`--new-key ${unread.wrong}.`);
  throw new Error(`${file} holds neither an Ed25519 private key in PEM nor 32 bytes in base64.`);
}

/** A tampered audit is no evidence, so it is printed only on request. */
async function readOut(audit: AuditFile, wanted: Reading, where: Where): Promise<number> {
  const heads = wanted.type === "verify" ? wanted.heads : [];
  const verdict = await auditVerdict(audit, publicKeysFor(where, wanted.publicKeys), heads);
  if (wanted.type === "verify") {
    (verdict.ok ? console.log : console.error)(verdictWords(verdict, heads.length));
    await tellArchived(audit, "checked");
    const agrees = await tellCopy(audit, wanted, where);
    return verdict.ok && agrees ? tellFindings(audit, where) : TAMPERED;
  }
  if (!verdict.ok) {
    console.error(verdictWords(verdict, 0));
    if (!wanted.tampered) {
      console.error("Nothing was printed. --tampered prints the audit as it is, which is no evidence.");
      return TAMPERED;
    }
  }
  await tellArchived(audit, "read");
  const given = await give(audit, wanted);
  return verdict.ok ? given : TAMPERED;
}

/** On standard error, because what was asked for goes to standard output. */
async function tellArchived(audit: AuditFile, done: "checked" | "read"): Promise<void> {
  const { seq } = await audit.base();
  if (seq > 0) console.error(`Entries 1 to ${seq} are archived. With --archive FILE they are ${done}, too.`);
}

/** False: a copy says something else than the database. */
async function tellCopy(
  audit: AuditFile,
  { against, publicKeys }: Verifying,
  where: Where,
): Promise<boolean> {
  if (against.length === 0) return true;
  const { agrees, words } = await compareWithCopy(audit, publicKeysFor(where, publicKeys), against);
  (agrees ? console.log : console.error)(words);
  return agrees;
}

/** The audit is intact. Reports what was changed in the rest of the database. */
async function tellFindings(audit: AuditFile, where: Where): Promise<number> {
  const findings = await findingsIn(audit, await sealingKey(audit, where));
  const words = findingsWords(findings);
  const open = findings.open.length > 0;
  if (words !== "") (open ? console.error : console.log)(words);
  return open ? TAMPERED : GOOD;
}

async function give(audit: AuditFile, wanted: Exclude<Reading, { type: "verify" }>): Promise<number> {
  if (wanted.type === "export") {
    await write(exportEntries(audit, wanted, await slackNames(process.env)), wanted.out);
    return GOOD;
  }
  if (wanted.type === "report") {
    // It reads policies. Nothing else here needs their parser.
    const { controlReport } = await import("./audit/report.ts");
    await write([await controlReport(audit, wanted)], wanted.out);
    return GOOD;
  }
  const story = await showRun(audit, wanted.run, await slackNames(process.env));
  if (story === null) console.error("The audit has no entry about this run.");
  else console.log(story);
  return story === null ? UNUSABLE : GOOD;
}

/** Does not overwrite an existing file. */
async function write(pieces: AsyncIterable<string> | Iterable<string>, out: string | null): Promise<void> {
  const to: Writable = out === null ? process.stdout : createWriteStream(out, { flags: "wx", mode: 0o600 });
  const failed = once(to, "error").then(([error]: unknown[]) => {
    throw error instanceof Error ? error : new Error(String(error));
  });
  const writing = async (): Promise<void> => {
    for await (const piece of pieces) if (!to.write(piece)) await once(to, "drain");
    if (out !== null) await finished(to.end());
  };
  await Promise.race([writing(), failed]);
}
