// The audit's file, and the public keys that it is checked with.

import { auditKeyFile, auditKeyOf, readAuditKey } from "../store/audit-key.ts";

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
