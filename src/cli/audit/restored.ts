// A restored copy lacks the entries that were written after it, so their heads are missing although no one tampered with the audit.

import { momentWords } from "../../audit/narrative.ts";
import { type AuditVerdict, parsedEntry } from "../../domain/audit/verify-chain.ts";
import { type AuditFile, auditVerdict } from "./inspect.ts";

/**
 * Resolves to the times whose heads a restore explains, in words, or to null. Only the head's keeper knows when it was published. The exit
 * code stays: a person with the key can write such an entry, too.
 */
export async function restoreWords(
  audit: AuditFile,
  publicKeys: readonly string[],
  verdict: AuditVerdict,
): Promise<string | null> {
  if (verdict.ok || (verdict.fault !== "cut-short" && verdict.fault !== "rewritten")) return null;
  // Anyone with the database can insert such an entry, so without the given heads the audit must be intact.
  const { ok: isIntact } = await auditVerdict(audit, publicKeys, []);
  if (!isIntact) return null;
  // A copy made after the entry in the head's place has that entry, so its restore did not lose the head.
  let entryAt = Infinity;
  const restores: Restore[] = [];
  for await (const { seq, text, columns } of audit.rows()) {
    const { at, what } = columns;
    if (seq === verdict.seq) entryAt = at;
    const since = what === "restored" ? parsedEntry(text)?.["since"] : null;
    if (typeof since === "number") restores.push({ seq, at, since });
  }
  const words = restores.filter(({ since }) => since <= entryAt).map(oneRestore);
  return words.length === 0 ? null : `${words.join(" ")} Any other missing head means tampering.`;
}

type Restore = { readonly seq: number; readonly at: number; readonly since: number };

const oneRestore = ({ seq, at, since }: Restore): string =>
  `Entry ${seq} records a restore at ${momentWords(at)} from a back-up made at ${momentWords(since)}. Heads published between these times are missing because of it.`;
