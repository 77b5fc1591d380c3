// The audit as JSON lines or as CSV.

import type { ChainedEntry } from "../../domain/audit/hash-chain.ts";
import { plainJson } from "../../domain/json.ts";
import type { KeptEntry } from "../../audit/entry.ts";
import { AROUND_A_RUN, momentWords, runStory } from "../../audit/narrative.ts";
import { type AuditFile, entryOf } from "../../adapters/store/audit-file.ts";
import type { Asked } from "./command-line.ts";

type Wanted = Extract<Asked, { type: "export" }>;

/** Yields piece by piece, so that an audit of any size fits in memory. */
export async function* exportEntries(audit: AuditFile, { from, to, format }: Wanted): AsyncGenerator<string> {
  if (format === "csv") yield csvLine(HEADINGS);
  for await (const row of audit.rows()) {
    if (row.columns.at < from || row.columns.at > to) continue;
    const { digest, context } = entryOf(row).entry;
    const texts = {
      content: digest === null ? null : await audit.textOf(digest),
      context: context === undefined ? null : await audit.textOf(context),
    };
    yield format === "csv" ? csvRow(cells(row, texts)) : jsonLine(row, texts);
  }
}

/** The texts behind the digests of an entry, as far as they are stored. */
type Texts = { readonly content: string | null; readonly context: string | null };

/** Holds everything that another verifier needs; the link covers `text`. */
function jsonLine({ seq, link, key, signature, text }: ChainedEntry, texts: Texts): string {
  const entry = JSON.parse(text) as unknown;
  return `${plainJson({ seq, link, key, signature, entry, text, ...texts })}\n`;
}

const BASICS = ["number", "at", "what", "who", "run", "run key", "channel", "requester"] as const;
const DECISION = ["approval", "verdict", "reason", "earlier approvals", "sent reason"] as const;
const WHYS = ["outcome", "times", "since", "step", "refusal", "about entry", "policy", "rule"] as const;
const MOMENTS = ["asked", "shown", "clicked", "submitted", "sent", "confirmed"] as const;
const HEADINGS = [
  ...BASICS,
  ...DECISION,
  ...WHYS,
  ...MOMENTS,
  "digest",
  "content",
  "context",
  "link",
] as const;

const csvRow = (row: Cells): string => csvLine(HEADINGS.map((name) => row[name]));

const person = (by: KeptEntry["entry"]["by"]): string | null =>
  by === null ? null : `${by.team}:${by.user}`;

type Cells = Readonly<Record<(typeof HEADINGS)[number], string | number | null | undefined>>;

function cells(row: ChainedEntry, { content, context }: Texts): Cells {
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
  };
}

// A table that spreadsheets can open without running formulas in it.

/** A spreadsheet takes a cell that begins so for a formula; some fold the wide forms too (OWASP, CSV Injection). */
const FORMULA = /^[\s]*[=+\-@＝＋－＠\t\r|%]/u;

export function csvLine(cells: readonly (string | number | null | undefined)[]): string {
  return `${cells.map((cell) => csvCell(cell)).join(",")}\r\n`;
}

function csvCell(cell: string | number | null | undefined): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number") return String(cell);
  const inert = FORMULA.test(cell) ? `'${cell}` : cell;
  return `"${inert.replaceAll("\0", "␀").replaceAll('"', '""')}"`;
}

/** Null: no entry is about a run with this service id or key. */
export async function showRun(audit: AuditFile, run: string): Promise<string | null> {
  const keys = new Set<string>([run]);
  for await (const { columns } of audit.rows())
    if (columns.runId === run && columns.run !== null) keys.add(columns.run);
  const kinds = new Set<string>(AROUND_A_RUN);
  const found: KeptEntry[] = [];
  const around: KeptEntry[] = [];
  for await (const row of audit.rows()) {
    if (row.columns.runId === run || keys.has(row.columns.run ?? "")) found.push(entryOf(row));
    if (kinds.has(row.columns.what)) around.push(entryOf(row));
  }
  return found.length === 0 ? null : runStory(found, audit.textOf, around);
}
