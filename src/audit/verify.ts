// The verdict on an audit, in plain words.

import { headWords, type Witness } from "../core/audit-chain.ts";
import { type AuditVerdict, verifyAudit } from "../core/audit-verify.ts";
import { FAULT_WORDS } from "../flow/fault-words.ts";
import type { AuditFile } from "../store/audit-file.ts";
import { auditSignatures, keyIdOf } from "../store/audit-key.ts";
import { digestOf } from "../store/digest.ts";

export async function verdictOn(
  audit: AuditFile,
  publicKeys: readonly string[],
  heads: readonly Witness[],
): Promise<AuditVerdict> {
  const strays = await audit.strays();
  if (strays > 0) return { ok: false, fault: "stray", seq: 0 };
  const signature = auditSignatures([...publicKeys, ...(await audit.announcedKeys())]);
  const pinned = publicKeys.map(keyIdOf);
  const tools = { hash: digestOf, signature, textOf: audit.textOf, pinned };
  return verifyAudit(audit.rows(), tools, [...heads, ...(await audit.heads())]);
}

export function verdictWords(verdict: AuditVerdict, heads: number): string {
  if (!verdict.ok) {
    const { seq, fault } = verdict;
    const where = seq === 0 ? "" : ` at entry ${seq}`;
    return `TAMPERED${where}: ${FAULT_WORDS[fault]}\nKeep this file as it is, and look at a backup and at the heads that were kept elsewhere.`;
  }
  const { entries, redacted, head } = verdict;
  if (head === null || head.seq === null)
    return "The audit is empty. If it should not be, everything was removed.";
  const lines = [
    `Whole: ${count(entries)} entries, each in its place and signed. Head: ${headWords({ ...head, seq: head.seq })}`,
  ];
  if (redacted > 0)
    lines.push(
      `${redacted === 1 ? "1 text was" : `${count(redacted)} texts were`} erased, as the audit itself says.`,
    );
  lines.push(
    heads > 0
      ? `${count(heads)} witnessed ${heads === 1 ? "head was" : "heads were"} found in it: up to there nothing was cut off or written anew.`
      : "No witnessed head was given. Only one proves that nothing was cut off at the end, or written anew by somebody with the key: --head",
  );
  return lines.join("\n");
}

const count = (n: number): string => n.toLocaleString("en-US");
