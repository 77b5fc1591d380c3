// A back-up's copy lacks the entries after it, so the heads of those entries fail without anyone's wrong-doing.

import { momentWords } from "../../audit/narrative.ts";
import { type AuditVerdict, parsedEntry } from "../../domain/audit/verify-chain.ts";
import { type AuditFile, auditVerdict } from "./inspect.ts";

/**
 * Resolves to the sentence that explains this verdict by a restore, or to null. The exit code stays: a person with the key can write such an
 * entry, too.
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
  let headAt = Infinity;
  const restores: { readonly seq: number; readonly since: number }[] = [];
  for await (const { seq, text, columns } of audit.rows()) {
    if (seq === verdict.seq) headAt = columns.at;
    const since = columns.what === "restored" ? parsedEntry(text)?.["since"] : null;
    if (typeof since === "number") restores.push({ seq, since });
  }
  const restore = restores.findLast(({ since }) => since <= headAt);
  if (restore === undefined) return null;
  return `Entry ${restore.seq} says that this is a back-up's copy from ${momentWords(restore.since)}: heads from after that are not in it.`;
}
