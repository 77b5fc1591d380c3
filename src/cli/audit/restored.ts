// A restored copy lacks the entries that were written after it. So their heads are missing, and AUDIT_SINK has other entries under their
// numbers, although no one tampered with the audit.

import { momentWords } from "../../audit/narrative.ts";
import { type AuditVerdict, parsedEntry } from "../../domain/audit/verify-chain.ts";
import { type AuditFile, auditVerdict } from "./inspect.ts";

/** What is said after each restore, and at the end. */
type About = { readonly each: string; readonly all: string };

export const OF_HEADS: About = {
  each: "Heads published between these times are missing because of it.",
  all: "Any other missing head means tampering.",
};

export const OF_COPY: About = {
  each: "What AUDIT_SINK got between these times is not in this audit, and its numbers were given again.",
  all: "Any other difference means tampering. Give AUDIT_SINK a new file after a restore, and keep the old one: docs/backup.md.",
};

/** Returns the place of a head that a restore may have lost, or null. */
export const lostHead = (verdict: AuditVerdict): number | null =>
  !verdict.ok && (verdict.fault === "cut-short" || verdict.fault === "rewritten") ? verdict.seq : null;

/**
 * Resolves to the restores that explain what is missing or other at the entry `lost`, in words, or to null. Only the keeper of the head or
 * the copy knows when it was published. The exit code stays: a person with the key can write such an entry, too.
 */
export async function restoreWords(
  audit: AuditFile,
  publicKeys: readonly string[],
  lost: number | null,
  about: About,
): Promise<string | null> {
  if (lost === null) return null;
  // Anyone with the database can insert such an entry, so without the given heads the audit must be intact.
  const { ok: isIntact } = await auditVerdict(audit, publicKeys, []);
  if (!isIntact) return null;
  // A copy made after the entry in this place has that entry, so its restore did not lose it.
  let entryAt = Infinity;
  const restores: Restore[] = [];
  for await (const { seq, text, columns } of audit.rows()) {
    const { at, what } = columns;
    if (seq === lost) entryAt = at;
    const since = what === "restored" ? parsedEntry(text)?.["since"] : null;
    if (typeof since === "number") restores.push({ seq, at, since });
  }
  const words = restores
    .filter(({ since }) => since <= entryAt)
    .map((each) => `${oneRestore(each)} ${about.each}`);
  return words.length === 0 ? null : `${words.join(" ")} ${about.all}`;
}

type Restore = { readonly seq: number; readonly at: number; readonly since: number };

const oneRestore = ({ seq, at, since }: Restore): string =>
  `Entry ${seq} records a restore at ${momentWords(at)} from a back-up made at ${momentWords(since)}.`;
