// The result of verifying an audit, in plain words.

import type { AuditFile } from "../../adapters/store/audit-file.ts";
import {
  type AuditKey,
  auditKeyFile,
  auditKeyOf,
  auditSignatures,
  keyIdOf,
  readAuditKey,
} from "../../adapters/store/audit-key.ts";
import { digestOf } from "../../adapters/store/digest.ts";
import { headWords, type KnownHead } from "../../domain/audit/hash-chain.ts";
import { type AuditVerdict, FAULT_WORDS, verifyAudit } from "../../domain/audit/verify-chain.ts";

export async function auditVerdict(
  audit: AuditFile,
  publicKeys: readonly string[],
  heads: readonly KnownHead[],
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
    return "The audit is empty. If it should not be empty, everything was removed.";
  const lines = [
    `Intact: ${count(entries)} entries, each in its place and signed. Head: ${headWords({ ...head, seq: head.seq })}`,
  ];
  if (redacted > 0)
    lines.push(
      `${redacted === 1 ? "1 text was" : `${count(redacted)} texts were`} erased, as the audit itself says.`,
    );
  lines.push(
    heads > 0
      ? `${count(heads)} witnessed ${heads === 1 ? "head was" : "heads were"} found in it: up to there nothing was cut off or rewritten.`
      : "No witnessed head was given. Only a head proves that nothing was cut off at the end, or rewritten by somebody with the key: --head",
  );
  return lines.join("\n");
}

const count = (n: number): string => n.toLocaleString("en-US");

// The audit's file, and the public keys to check it with.

export { type AuditFile, openAuditFile } from "../../adapters/store/audit-file.ts";

/** The keys that were given and no others; without any, the public half of the key that signs here. Throws where there is none. */
export function publicKeysFor(
  { database, key }: { readonly database: string; readonly key: string | null },
  named: readonly string[],
): readonly string[] {
  if (named.length > 0) return named;
  const own = key === null ? readAuditKey(database) : auditKeyOf(key);
  if (own !== null) return [own.publicKey];
  throw new Error(
    `There is no key to check signatures with: set AUDIT_KEY, put ${auditKeyFile(database)} back, or give --public-key.`,
  );
}

/** The key that seals the rest of the database, if it is available and signs the audit now. */
export async function sealingKey(
  audit: AuditFile,
  { database, key }: { readonly database: string; readonly key: string | null },
): Promise<AuditKey | null> {
  const own = key === null ? readAuditKey(database) : auditKeyOf(key);
  return own !== null && own.id === (await audit.headKey()) ? own : null;
}
