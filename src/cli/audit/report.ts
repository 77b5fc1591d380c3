// `npm run audit -- report`: the control report of a period as Markdown or CSV.

import { type AuditFile, entryIfReadable } from "../../adapters/store/audit-file.ts";
import { readPolicy } from "../../adapters/policy-file/read-policy.ts";
import { momentWords } from "../../audit/narrative.ts";
import {
  type Period,
  readForReport,
  type ReportReader,
  type ReportSection,
  type RuleInForce,
} from "../../audit/control-report.ts";
import { BUILT_IN_RULE } from "../../domain/policy/policy.ts";
import { headWords } from "../../domain/audit/hash-chain.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import { csvLine } from "./csv.ts";

type ReportOptions = Period & {
  readonly format: "md" | "csv";
  /** The audit is not intact. The report says so, and leaves out rows that are no entries. */
  readonly tampered: boolean;
};

/** The caller must verify the audit first. */
export async function controlReport(audit: AuditFile, options: ReportOptions): Promise<string> {
  const { from, to, format, tampered } = options;
  const reader = readForReport({ from, to });
  let head = "none: the audit is empty";
  const unreadable: number[] = [];
  for await (const row of audit.rows()) {
    const kept = entryIfReadable(row, tampered);
    if (kept === null) unreadable.push(row.seq);
    else reader.add(kept);
    head = headWords(row);
  }
  const { rules, unread } = await rulesInForce(audit, reader.policies());
  const { seq: archived } = await audit.base();
  const found = reader.report(rules, { unread, archived });
  const sections = tampered ? [notVerified(unreadable), ...found] : found;
  return format === "csv" ? csvReport(sections) : markdownReport(sections, { ...options, head });
}

const notVerified = (unreadable: readonly number[]): ReportSection => ({
  title: "Not verified",
  rows: [
    {
      measure: "Rows that cannot be read",
      value: String(unreadable.length),
      counted: "they are no entries, so nothing below counts them; the audit was tampered with",
      entries: unreadable,
    },
  ],
});

/** The number of digits of a policy's digest that name its version. */
const VERSION_DIGITS = 12;

async function rulesInForce(
  audit: AuditFile,
  policies: ReturnType<ReportReader["policies"]>,
): Promise<{ rules: readonly RuleInForce[]; unread: number }> {
  const rules: RuleInForce[] = [];
  let unread = 0;
  for (const digest of policies) {
    if (digest === null) continue;
    const version = digest.slice(0, VERSION_DIGITS);
    const text = await audit.textOf(digest);
    const read = text === null ? null : readPolicy(text, version);
    if (read?.ok !== true) unread += 1;
    else rules.push(...read.value.rules.map(({ name }) => ({ name, version })));
  }
  return { rules: rules.filter(({ name }) => name !== BUILT_IN_RULE.name), unread };
}

type Heading = Period & { readonly head: string; readonly tampered: boolean };

function markdownReport(sections: readonly ReportSection[], { from, to, head, tampered }: Heading): string {
  const proof = tampered
    ? `NOT VERIFIED, up to the head \`${head}\`: the audit was tampered with. Do not use this report as evidence.`
    : `Verified up to the head \`${head}\`: each entry is in its place and\nsigned, and no decision was sent without a matching signed entry.`;
  const lines = [
    "# Control report: approvals of managed agents",
    "",
    `Period: ${momentWords(from)} to ${momentWords(to)}, both included. ${proof}`,
    "",
    "The last column lists the entries behind each number. `npm run audit -- export` prints them, with the requests and reasons.",
    ...sections.flatMap(sectionLines),
    "",
  ];
  return lines.join("\n");
}

function sectionLines({ title, rows }: ReportSection): string[] {
  const lines = rows.map(({ measure, value, counted, entries }) => {
    const cells = [measure, value, counted, rangeWords(entries, RANGES_IN_TABLE)];
    return `|${cells.map(cellWords).join("|")}|`;
  });
  const none = lines.length === 0 ? ["| none | | | |"] : [];
  return [
    "",
    `## ${title}`,
    "",
    "| measure | value | what was counted | entries |",
    "|---|---:|---|---|",
    ...none,
    ...lines,
  ];
}

const CELL_CHARS = 300;
/** More ranges would crowd out the other columns of the table. The CSV lists all. */
const RANGES_IN_TABLE = 12;

/** Rule names and ids come from other people. Nothing in them may end the cell, or become a link or a picture. */
function cellWords(text: string): string {
  return text === ""
    ? " – "
    : ` ${oneLine(text, CELL_CHARS).replace(/[\\`*_[\]<>|!#~]/g, (mark) => `\\${mark}`)} `;
}

function rangeWords(numbers: readonly number[], maxRanges: number): string {
  const ranges: [number, number][] = [];
  for (const seq of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === seq - 1) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  // A spreadsheet takes "10-11" for a date.
  const words = ranges.map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`));
  const more = words.length - maxRanges;
  return more > 0
    ? `${words.slice(0, maxRanges).join(", ")} and ${more} more ${more === 1 ? "range" : "ranges"}`
    : words.join(", ");
}

function csvReport(sections: readonly ReportSection[]): string {
  const rows = sections.flatMap(({ title, rows }) =>
    rows.map(({ measure, value, counted, entries }) =>
      csvLine([title, measure, value, counted, rangeWords(entries, Infinity)]),
    ),
  );
  return [csvLine(["section", "measure", "value", "what was counted", "entries"]), ...rows].join("");
}
