// The audit's file, and the public keys that it is checked with.

import { auditKeyFile, auditKeyOf, readAuditKey } from "../store/audit-key.ts";

export { type AuditFile, openAuditFile } from "../store/audit-file.ts";

/** Those that were named; without any, the public half of the key that signs here. Throws where there is none. */
export function publicKeysFor(
  { database, key }: { readonly database: string; readonly key: string | null },
  named: readonly string[],
): readonly string[] {
  const own = key === null ? readAuditKey(database) : auditKeyOf(key);
  const all = own === null ? named : [...named, own.publicKey];
  if (all.length > 0) return all;
  throw new Error(
    `There is no key to check signatures with: set AUDIT_KEY, put ${auditKeyFile(database)} back, or give --public-key.`,
  );
}
