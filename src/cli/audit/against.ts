// `verify --against FILE`: compares the database with a copy of the audit that AUDIT_SINK received.

import { createReadStream, fstatSync, open } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { auditSignatures, digestOf } from "../../adapters/store/audit-key.ts";
import type { AuditFile } from "../../adapters/store/audit-file.ts";
import { isNoEntry, reasonOf } from "../../adapters/store/faults.ts";
import { type CopyComparison, readCopy } from "../../audit/compare-copy.ts";
import type { Lost } from "./restored.ts";

export type AgainstCopy = {
  readonly differs: boolean;
  /** The first line that a restore may explain. */
  readonly lost: Lost | null;
  readonly words: string;
};

/** Yields the lines of one part of a copy. Rejects if its file cannot be read. */
export type CopyPart = () => AsyncIterable<string>;

/**
 * Opens the parts of one copy, in any order. What AUDIT_SINK appends from then on is not read. So if the database is opened afterwards, it
 * has every entry that was sent. Never rejects: a part that cannot be opened rejects when it is read.
 */
export async function openCopy(files: readonly string[]): Promise<readonly CopyPart[]> {
  const parts: CopyPart[] = [];
  for (const file of files) parts.push(await openPart(file));
  return parts;
}

async function openPart(file: string): Promise<CopyPart> {
  try {
    const fd = await promisify(open)(file, "r");
    const stats = fstatSync(fd);
    // A pipe has no size.
    return () => linesOf(file, fd, stats.isFile() ? stats.size : Infinity);
  } catch (error) {
    return () => {
      throw unreadable(file, error);
    };
  }
}

async function* linesOf(file: string, fd: number, bytes: number): AsyncGenerator<string> {
  if (bytes === 0) return;
  const input = createReadStream("", { fd, encoding: "utf8", end: bytes - 1 });
  try {
    yield* createInterface({ input, crlfDelay: Infinity });
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): Error {
  const why = isNoEntry(error) ? "there is no such file" : reasonOf(error);
  return new Error(`Cannot read the copy ${file}: ${why}. Give --against the file that AUDIT_SINK wrote.`, {
    cause: error,
  });
}

/** Rejects if a part cannot be read, or if none of them has an entry of this audit. */
export async function compareWithCopy(
  audit: AuditFile,
  publicKeys: readonly string[],
  parts: readonly CopyPart[],
): Promise<AgainstCopy> {
  const signature = auditSignatures([...publicKeys, ...(await audit.announcedKeys())]);
  const copy = readCopy({ hash: digestOf, signature });
  for (const lines of parts) for await (const line of lines()) copy.add(line);
  return words(await copy.compare(audit.rows(), await audit.base()));
}

type Ranges = CopyComparison["missingInCopy"];

/** The number of ranges that a line lists. */
const MAX_RANGES = 20;

function words(found: CopyComparison): AgainstCopy {
  const { same, rewritten, altered, contradicted, missingInCopy, missingInDatabase } = found;
  const asRanges = (numbers: readonly number[]): Ranges => numbers.map((seq) => ({ from: seq, to: seq }));
  const faults: readonly (readonly [Ranges, string])[] = [
    [asRanges(rewritten), "the database differs from what was sent, and the copy's line is signed"],
    [asRanges(altered), "the copy's line is not what was sent"],
    [asRanges(contradicted), "the copy has different lines for the same entry"],
    [missingInDatabase, "in the copy, but not in the database"],
    [missingInCopy, "in the database, but not in the copy"],
  ];
  const lines = faults.flatMap(([ranges, says]) =>
    ranges.length === 0 ? [] : [`DIFFERS at entry ${rangeWords(ranges)}: ${says}.`],
  );
  const agrees = lines.length === 0;
  if (agrees && same === 0)
    throw new Error(
      "The copy has no entry of this audit, so nothing was compared. Give --against the file that AUDIT_SINK wrote.",
    );
  const notes = [
    ...(found.before === null ? [] : [`The copy lacks the oldest entries, ${rangeWords([found.before])}.`]),
    ...(found.notYet === null
      ? []
      : [
          `The copy lacks the newest entries, ${rangeWords([found.notYet])}: they were not sent yet, or were cut off.`,
        ]),
    ...(found.otherLines === 0
      ? []
      : [
          found.otherLines === 1
            ? "1 of its lines is not an audit entry."
            : `${found.otherLines} of its lines are not audit entries.`,
        ]),
  ];
  const entries = same === 1 ? "1 entry is" : `${same} entries are`;
  const head = `${agrees ? "The copy agrees" : "Otherwise the copy agrees"}: ${entries} the same in both.`;
  const lost = found.firstLineAt === null ? null : ({ type: "line", at: found.firstLineAt } as const);
  return { differs: !agrees, lost, words: [...lines, head, ...notes].join("\n") };
}

function rangeWords(ranges: Ranges): string {
  const shown = ranges
    .slice(0, MAX_RANGES)
    .map(({ from, to }) => (from === to ? String(from) : `${from} to ${to}`));
  const more = ranges.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
