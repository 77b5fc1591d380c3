// The read-only commands of `npm run audit`: verification in plain words, the export, and the story of one run.

import { type AuditFile, entryIfReadable, entryOf } from "../../adapters/store/audit-file.ts";
import {
  type AuditKey,
  auditKeyFile,
  auditKeyOf,
  auditSignatures,
  digestOf,
  keyIdOf,
  readAuditKey,
} from "../../adapters/store/audit-key.ts";
import { isServer, refuseMissing } from "../../adapters/store/database-copy.ts";
import type { KeptEntry } from "../../audit/entry.ts";
import { AROUND_A_RUN, momentWords, nameWords, peopleIn, runStory } from "../../audit/narrative.ts";
import { type ChainedEntry, headWords, type KnownHead } from "../../domain/audit/hash-chain.ts";
import { type AuditVerdict, FAULT_WORDS, parsedEntry, verifyAudit } from "../../domain/audit/verify-chain.ts";
import { plainJson } from "../../domain/json.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import type { AuditCommand } from "./command-line.ts";
import { asText, csvLine } from "./csv.ts";

export { type AuditFile, openAuditFile } from "../../adapters/store/audit-file.ts";

export async function auditVerdict(
  audit: AuditFile,
  publicKeys: readonly string[],
  heads: readonly KnownHead[],
): Promise<AuditVerdict> {
  const strays = await audit.strays();
  if (strays > 0) return { ok: false, fault: "stray", seq: 0 };
  const signature = auditSignatures([...publicKeys, ...(await audit.announcedKeys())]);
  const pinned = publicKeys.map(keyIdOf);
  const tools = { hash: digestOf, signature, textOf: audit.textOf, pinned };
  return verifyAudit(audit.rows(), tools, [...heads, ...(await audit.heads())], await audit.base());
}

export function verdictWords(verdict: AuditVerdict, heads: number): string {
  if (!verdict.ok) {
    const { seq, fault, key } = verdict;
    const where = seq === 0 ? "" : ` at entry ${seq}`;
    if (fault === "in-archive") return `NOT VERIFIED${where}: ${FAULT_WORDS[fault]}`;
    const what = key === undefined ? FAULT_WORDS[fault] : unknownKeyWords(key);
    return `TAMPERED${where}: ${what}\nKeep the database as it is. Compare it with a backup and with the heads that were kept elsewhere.`;
  }
  const { entries, redacted, head } = verdict;
  if (head === null || head.seq === null)
    return "The audit is empty. If it should not be empty, everything in it was removed, or DATABASE_URL names another database.";
  const lines = [
    `Intact: ${entries === 1 ? "1 entry, in its" : `${count(entries)} entries, each in its`} place and signed. Head: ${headWords({ ...head, seq: head.seq })}`,
  ];
  if (redacted > 0)
    lines.push(
      `${redacted === 1 ? "1 text was" : `${count(redacted)} texts were`} erased, as the audit records.`,
    );
  lines.push(
    heads > 0
      ? `${count(heads)} given ${heads === 1 ? "head was" : "heads were"} found in it, so nothing up to there was cut off or rewritten.`
      : "No head was given with --head. Only a head that was kept elsewhere (--head) proves that the end was not cut off, and that the audit was not rewritten with the key.",
  );
  return lines.join("\n");
}

const ID_CHARS = 64;

/** Anyone with the database can write such a row, so the hint is no acquittal. */
const unknownKeyWords = (key: string): string =>
  `it is signed with an unknown key, ${oneLine(key, ID_CHARS)}. It was forged, or this is the audit of another key. A copy from before rotate-key needs the key of that time: ….audit-key.<id> beside the database, or AUDIT_KEY as it was then.`;

const count = (n: number): string => n.toLocaleString("en-US");

type Where = { readonly database: string; readonly key: string | null };

/** Returns `named`, or if it is empty the public half of the key that signs here. Throws if there is no such key. */
export function publicKeysFor(where: Where, named: readonly string[]): readonly string[] {
  refuseOtherThanKeys(named);
  if (named.length > 0) return named;
  const own = ownKey(where);
  if (own !== null) return [own.publicKey];
  refuseMissing(where.database);
  throw new Error(
    `There is no key to check signatures with, so nothing was checked. Either ${howToGiveKey(where.database)}, or give --public-key.`,
  );
}

/** Throws one line for the operator if one of the values of --public-key is not a key. */
export function refuseOtherThanKeys(named: readonly string[]): void {
  try {
    for (const key of named) keyIdOf(key);
  } catch (error) {
    throw new Error(NOT_A_KEY, { cause: error });
  }
}

const NOT_A_KEY =
  "--public-key takes a public key of the audit itself (32 bytes in base64), not a file. Nothing was checked. The key is in the bot's log and in evidence files";

/** Throws one line for the operator if there is no such key, or not even the database. */
export function neededKey(where: Where, use: string): AuditKey {
  const own = ownKey(where);
  if (own !== null) return own;
  refuseMissing(where.database);
  throw new Error(`There is no ${use}: ${howToGiveKey(where.database)}.`);
}

/** Returns AUDIT_KEY or the key beside the database file. Returns null if there is neither. */
export function ownKey({ database, key }: Where): AuditKey | null {
  if (key !== null) return auditKeyOf(key);
  return isServer(database) ? null : readAuditKey(database);
}

const howToGiveKey = (database: string): string =>
  isServer(database) ? "set AUDIT_KEY" : `set AUDIT_KEY or put ${auditKeyFile(database)} back`;

// Exports the audit as JSON lines or as CSV.

type ExportCommand = Extract<AuditCommand, { type: "export" }>;

/** Yields piece by piece, so that an audit of any size fits in memory. A row that is no entry belongs to no day, and is always included. */
export async function* exportEntries(
  audit: AuditFile,
  { from, to, format, tampered }: ExportCommand,
  nameOf: NameOf,
): AsyncGenerator<string> {
  if (format === "csv") yield csvLine(HEADINGS);
  for await (const row of audit.rows()) {
    const kept = entryIfReadable(row, tampered);
    if (kept === null) yield format === "csv" ? csvRow(rawCells(row)) : jsonLine(row, NO_TEXTS);
    if (kept === null || kept.entry.at < from || kept.entry.at > to) continue;
    const { digest, context } = kept.entry;
    const texts = {
      content: digest === null ? null : await audit.textOf(digest),
      context: context === undefined ? null : await audit.textOf(context),
    };
    yield format === "csv"
      ? csvRow({ ...cells(row, texts), ...(await namesIn(row, nameOf)) })
      : jsonLine(row, texts);
  }
}

/** Resolves to a person's current name in Slack, or null if it is unknown. */
export type NameOf = (user: string) => Promise<string | null>;

async function namesIn(row: ChainedEntry, nameOf: NameOf): Promise<NameCells> {
  const { by, requester } = entryOf(row).entry;
  const name = async (person: typeof by): Promise<string | null> =>
    person === null ? null : nameWords((await nameOf(person.user)) ?? undefined);
  return { "who is called": await name(by), "requester is called": await name(requester) };
}

/** The texts behind the digests of an entry. Null if a text is not stored. */
type Texts = { readonly content: string | null; readonly context: string | null };

const NO_TEXTS: Texts = { content: null, context: null };

/** Contains everything that another verifier needs. The link covers `text`. */
function jsonLine({ seq, link, key, signature, text }: ChainedEntry, texts: Texts): string {
  const entry = parsedEntry(text);
  return `${plainJson({ seq, link, key, signature, entry, text, ...texts })}\n`;
}

const BASICS = ["number", "at", "what", "who", "run", "run key", "channel", "requester"] as const;
const DECISION = ["approval", "verdict", "reason", "earlier approvals", "sent reason"] as const;
const CAUSES = ["outcome", "times", "since", "step", "refusal", "about entry", "policy", "rule"] as const;
const MOMENTS = ["asked", "shown", "clicked", "submitted", "sent", "confirmed"] as const;
/** These columns come last, so that the earlier ones keep their positions. */
const OF_SOME_KINDS = [
  "context digest",
  "other person",
  "saved task",
  "same request",
  "stage begins after (ms)",
  "mentioned",
  "until",
  "keys",
  "archive",
  "findings",
  "text was stored",
] as const;
const HEADINGS = [
  ...BASICS,
  ...DECISION,
  ...CAUSES,
  ...MOMENTS,
  "digest",
  "content",
  "context",
  "link",
  "who is called",
  "requester is called",
  ...OF_SOME_KINDS,
] as const;

const csvRow = (row: Partial<Cells>): string => csvLine(HEADINGS.map((name) => row[name]));

const person = (by: KeptEntry["entry"]["by"]): string | null =>
  by === null ? null : `${by.team}:${by.user}`;

type Cells = Readonly<Record<(typeof HEADINGS)[number], string | number | null | undefined>>;
type NameCells = Pick<Cells, "who is called" | "requester is called">;

function cells(row: ChainedEntry, { content, context }: Texts): Omit<Cells, keyof NameCells> {
  const { entry } = entryOf(row);
  const { at, refers, policy, votes } = entry;
  const moment = (ms: number | undefined): string | null => (ms === undefined ? null : momentWords(ms));
  const basics = {
    ...entry,
    number: row.seq,
    at: moment(at),
    who: person(entry.by),
    requester: person(entry.requester),
    "earlier approvals": votes === undefined ? null : plainJson(votes),
    "sent reason": entry.sentReason,
  };
  return {
    ...basics,
    step: entry.step,
    refusal: entry.refusal,
    run: entry.runId,
    "run key": entry.run,
    times: entry.times,
    since: moment(entry.since),
    "about entry": refers,
    policy: policy?.version,
    rule: policy?.rule,
    asked: moment(entry.moments?.asked),
    shown: moment(entry.moments?.shown),
    clicked: moment(entry.moments?.clicked),
    submitted: moment(entry.moments?.submitted),
    sent: moment(entry.moments?.sent),
    confirmed: moment(entry.moments?.confirmed),
    content,
    context,
    link: row.link,
    ...cellsOfSomeKinds(entry),
  };
}

/** Has what the columns of the table say, and the row's text as it is. */
function rawCells({ seq, link, text, columns }: ChainedEntry): Partial<Cells> {
  const { at, what, runId, run, approval } = columns;
  const outcome = `cannot be read: ${asText(text)}`;
  return { number: seq, at: momentWords(at), what, run: runId, "run key": run, approval, outcome, link };
}

function cellsOfSomeKinds(entry: KeptEntry["entry"]): Pick<Cells, (typeof OF_SOME_KINDS)[number]> {
  const { context, other, savedTask, asked, stageMs, mentioned, until, keys, archive, findings } = entry;
  return {
    "context digest": context,
    "other person": person(other ?? null),
    "saved task": savedTask,
    "same request": asked,
    "stage begins after (ms)": stageMs,
    mentioned: mentioned?.join(" "),
    until: until === undefined ? null : momentWords(until),
    keys: keys === undefined ? null : plainJson(keys),
    archive: archive === undefined ? null : plainJson(archive),
    findings: findings?.join(" "),
    "text was stored": entry.textKept === true ? "yes" : null,
  };
}

/** More of a row that is no entry is in the export. */
const RAW_CHARS = 2_000;

/** Resolves to null if no entry is about a run with this service id or key. */
export async function showRun(
  audit: AuditFile,
  { run, tampered }: Pick<Extract<AuditCommand, { type: "show" }>, "run" | "tampered">,
  nameOf: NameOf,
): Promise<string | null> {
  const keys = new Set<string>([run]);
  for await (const { columns } of audit.rows())
    if (columns.runId === run && columns.run !== null) keys.add(columns.run);
  const kinds = new Set<string>(AROUND_A_RUN);
  const ofRun: KeptEntry[] = [];
  const around: KeptEntry[] = [];
  const unreadable: string[] = [];
  for await (const row of audit.rows()) {
    const isOfRun = row.columns.runId === run || keys.has(row.columns.run ?? "");
    if (!isOfRun && !kinds.has(row.columns.what)) continue;
    const kept = entryIfReadable(row, tampered);
    if (kept === null)
      unreadable.push(`Entry ${row.seq} cannot be read: ${oneLine(asText(row.text), RAW_CHARS)}`);
    else if (isOfRun) ofRun.push(kept);
    if (kept !== null && kinds.has(row.columns.what)) around.push(kept);
  }
  if (ofRun.length === 0) return unreadable.length === 0 ? null : unreadable.join("\n");
  const names = new Map<string, string>();
  for (const user of peopleIn(ofRun)) {
    const name = await nameOf(user);
    if (name !== null) names.set(user, name);
  }
  return [await runStory(ofRun, audit.textOf, around, names), ...unreadable].join("\n");
}
