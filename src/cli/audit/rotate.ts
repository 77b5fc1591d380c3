// `npm run audit -- rotate-key`: the old key signs the hand-over to the new one. The bot must not be running.

import {
  adoptNextKey,
  auditKeyFile,
  auditKeyOf,
  nextAuditKey,
  readAuditKey,
} from "../../adapters/store/audit-key.ts";
import { rotateKey } from "../../adapters/store/rotate-key.ts";

/** The key in the operator's file: 32 bytes in base64. */
export type NewKey = { readonly file: string; readonly seed: string };

type Where = { readonly database: string; readonly key: string | null };

/** Resolves to the message to print. Rejects with one line for people. */
export async function rotateKeys({ database, key }: Where, newKey: NewKey | null): Promise<string> {
  const from = key === null ? readAuditKey(database) : auditKeyOf(key);
  if (from === null)
    throw new Error(`There is no key to hand over from: put ${auditKeyFile(database)} back.`);
  if (key !== null && newKey === null)
    throw new Error(
      "AUDIT_KEY is set, so the new key must be given too: --new-key FILE, made with openssl rand -base64 32.",
    );
  const to = newKey === null ? nextAuditKey(database) : auditKeyOf(newKey.seed);
  await rotateKey(database, { from, to }, Date.now());
  if (key === null && newKey === null) adoptNextKey(database);
  const where =
    newKey === null
      ? `The new key is in ${auditKeyFile(database)}; keep a copy of it.`
      : `Put the key of ${newKey.file} in place (AUDIT_KEY) before the bot starts.`;
  return [
    `The key ${from.id} signs nothing any more; ${to.id} does from here on.`,
    where,
    `Give auditors its public half: ${to.publicKey}`,
  ].join("\n");
}
