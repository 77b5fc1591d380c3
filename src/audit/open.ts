// The audit's file, and the public keys that it is checked with.

import { type AuditKey, auditKeyFile, auditKeyOf, readAuditKey } from "../store/audit-key.ts";

import type { AuditFile } from "../store/audit-file.ts";

export { type AuditFile, openAuditFile } from "../store/audit-file.ts";

/** Those that were named, and then no other; without any, the public half of the key that signs here. Throws where there is none. */
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

/** The key that seals the rest of the database, where it is here and is the one that signs the audit now. */
export async function sealingKey(
  audit: AuditFile,
  { database, key }: { readonly database: string; readonly key: string | null },
): Promise<AuditKey | null> {
  const own = key === null ? readAuditKey(database) : auditKeyOf(key);
  return own !== null && own.id === (await audit.headKey()) ? own : null;
}
