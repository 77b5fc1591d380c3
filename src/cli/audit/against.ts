// `verify --against FILE`: what a copy of the audit, as AUDIT_SINK has taken it, has to say against the database.

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { auditSignatures, digestOf } from "../../adapters/store/audit-key.ts";
import type { AuditFile } from "../../adapters/store/audit-file.ts";
import { type CopyComparison, readCopy } from "../../audit/compare-copy.ts";

export type AgainstCopy = { readonly agrees: boolean; readonly words: string };

/** `files`: the parts of one copy, in any order. Rejects where one cannot be read, or where they hold no entry of this audit. */
export async function compareWithCopy(
  audit: AuditFile,
  publicKeys: readonly string[],
  files: readonly string[],
): Promise<AgainstCopy> {
  const signature = auditSignatures([...publicKeys, ...(await audit.announcedKeys())]);
  const copy = readCopy({ hash: digestOf, signature });
  for (const file of files) {
    const input = createReadStream(file, "utf8");
    for await (const line of createInterface({ input, crlfDelay: Infinity })) copy.add(line);
  }
  return words(await copy.compare(audit.rows(), await audit.base()));
}

type Ranges = CopyComparison["missingInCopy"];

/** More would say nothing new. */
const MOST = 20;

function words(found: CopyComparison): AgainstCopy {
  const { same, rewritten, altered, contradicted, missingInCopy, missingInDatabase } = found;
  const one = (numbers: readonly number[]): Ranges => numbers.map((seq) => ({ from: seq, to: seq }));
  const faults: readonly (readonly [Ranges, string])[] = [
    [one(rewritten), "the database has something else than what was sent, and the copy's line is signed"],
    [one(altered), "the copy's line is not what was sent"],
    [one(contradicted), "the copy has different lines for the same entry"],
    [missingInDatabase, "the copy has it, and the database does not"],
    [missingInCopy, "the database has it, and the copy does not"],
  ];
  const lines = faults.flatMap(([ranges, says]) =>
    ranges.length === 0 ? [] : [`DIFFERS at entry ${rangeWords(ranges)}: ${says}.`],
  );
  const agrees = lines.length === 0;
  if (agrees && same === 0)
    throw new Error(
      "The copy has no entry of this audit, so nothing was compared. Give --against the file that AUDIT_SINK has written.",
    );
  const notes = [
    ...(found.before === null
      ? []
      : [`The copy does not have the oldest entries, ${rangeWords([found.before])}.`]),
    ...(found.notYet === null
      ? []
      : [
          `The copy does not have the newest entries, ${rangeWords([found.notYet])}: not sent yet, or cut off.`,
        ]),
    ...(found.otherLines === 0 ? [] : [`${found.otherLines} of its lines are no entries of an audit.`]),
  ];
  const head = `${agrees ? "The copy agrees" : "Otherwise the copy agrees"}: ${same} entries are the same in both.`;
  return { agrees, words: [...lines, head, ...notes].join("\n") };
}

function rangeWords(ranges: Ranges): string {
  const shown = ranges
    .slice(0, MOST)
    .map(({ from, to }) => (from === to ? String(from) : `${from} to ${to}`));
  const more = ranges.length - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
