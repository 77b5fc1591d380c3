// A restored copy lacks the entries that were written after it. So their heads are missing, and AUDIT_SINK has other entries under their
// numbers, although no one tampered with the audit.

import { momentWords } from "../../audit/narrative.ts";
import { type AuditVerdict, parsedEntry } from "../../domain/audit/verify-chain.ts";
import { type AuditFile, auditVerdict } from "./inspect.ts";

/**
 * A head, of which only its keeper knows when it was published, or a line of a copy, which says when it was written (ms; Infinity if it does
 * not).
 */
export type Lost =
  | { readonly type: "head"; readonly seq: number }
  | { readonly type: "line"; readonly at: number };

/** What is said after each restore, and at the end. */
const ABOUT: { readonly [type in Lost["type"]]: { readonly each: string; readonly all: string } } = {
  head: {
    each: "Heads published between these times are missing because of it.",
    all: "Any other missing head means tampering.",
  },
  line: {
    each: "What AUDIT_SINK got between these times is not in this audit, and its numbers were given again.",
    all: "This explains the first difference. Any other means another restore or tampering. Give AUDIT_SINK a new file after a restore, and keep the old one: docs/backup.md.",
  },
};

/** Returns a head that a restore may have lost, or null. */
export const lostHead = (verdict: AuditVerdict): Lost | null =>
  !verdict.ok && (verdict.fault === "cut-short" || verdict.fault === "rewritten")
    ? { type: "head", seq: verdict.seq }
    : null;

/**
 * Resolves to the restores that explain what is missing or other, in words, or to null. The exit code stays: a person with the key can write
 * such an entry, too.
 */
export async function restoreWords(
  audit: AuditFile,
  publicKeys: readonly string[],
  lost: Lost | null,
): Promise<string | null> {
  if (lost === null) return null;
  // Anyone with the database can insert such an entry, so without the given heads the audit must be intact.
  const { ok: isIntact } = await auditVerdict(audit, publicKeys, []);
  if (!isIntact) return null;
  // A back-up made after the entry in the head's place has that entry, so its restore did not lose it.
  let entryAt = Infinity;
  const restores: Restore[] = [];
  for await (const { seq, text, columns } of audit.rows()) {
    const { at, what } = columns;
    if (lost.type === "head" && seq === lost.seq) entryAt = at;
    const since = what === "restored" ? parsedEntry(text)?.["since"] : null;
    if (typeof since === "number") restores.push({ seq, at, since });
  }
  const explains = ({ at, since }: Restore): boolean =>
    lost.type === "head" ? since <= entryAt : since <= lost.at && lost.at <= at;
  const { each, all } = ABOUT[lost.type];
  const words = restores.filter(explains).map((restore) => `${oneRestore(restore)} ${each}`);
  return words.length === 0 ? null : `${words.join(" ")} ${all}`;
}

type Restore = { readonly seq: number; readonly at: number; readonly since: number };

const oneRestore = ({ seq, at, since }: Restore): string =>
  `Entry ${seq} records a restore at ${momentWords(at)} from a back-up made at ${momentWords(since)}.`;
