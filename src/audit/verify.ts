// The verdict on an audit, in plain words.

import { headWords, type Witness } from "../core/audit-chain.ts";
import { type AuditFault, type AuditVerdict, verifyAudit } from "../core/audit-verify.ts";
import type { AuditFile } from "../store/audit-file.ts";
import { auditSignatures } from "../store/audit-key.ts";
import { digestOf } from "../store/digest.ts";

export async function verdictOn(
  audit: AuditFile,
  publicKeys: readonly string[],
  heads: readonly Witness[],
): Promise<AuditVerdict> {
  const tools = { hash: digestOf, signature: auditSignatures(publicKeys), textOf: audit.textOf };
  return verifyAudit(audit.rows(), tools, heads);
}

export function verdictWords(verdict: AuditVerdict, heads: number): string {
  if (!verdict.ok) {
    const { seq, fault } = verdict;
    return `TAMPERED at entry ${seq}: ${FAULTS[fault]}\nKeep this file as it is, and look at a backup and at the heads that were kept elsewhere.`;
  }
  const { entries, head } = verdict;
  if (head === null || head.seq === null)
    return "The audit is empty. If it should not be, everything was removed.";
  const lines = [
    `Whole: ${count(entries)} entries, each in its place and signed. Head: ${headWords({ ...head, seq: head.seq })}`,
  ];
  lines.push(
    heads > 0
      ? `${count(heads)} witnessed ${heads === 1 ? "head was" : "heads were"} found in it: up to there nothing was cut off or written anew.`
      : "No witnessed head was given. Only one proves that nothing was cut off at the end, or written anew by somebody with the key: --head",
  );
  return lines.join("\n");
}

const count = (n: number): string => n.toLocaleString("en-US");

const FAULTS: Readonly<Record<AuditFault, string>> = {
  gap: "the number before it is missing, or its own comes twice. Entries were removed or put in.",
  altered: "it is not what was linked. It, or its place, was changed.",
  forged: "its signature is not by the key that it names. It was written by somebody without the key.",
  "unknown-key":
    "it is signed with a key that is not vouched for. It was forged, or the key was exchanged: then give the earlier one too, with --public-key.",
  columns: "what the table says of it is not what the entry says. The table was changed.",
  "text-missing": "the full request it is about was removed.",
  "text-altered": "the full request it is about was changed.",
  "cut-short": "a witnessed head is not in the audit. The newest entries were cut off.",
  rewritten: "a witnessed head is another than the one there. The audit was written anew.",
};
