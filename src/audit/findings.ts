// What others changed in the rest of the database: as the bot found it, and as its seals tell whoever has the key.

import type { AuditFile } from "../store/audit-file.ts";
import type { AuditKey } from "../store/audit-key.ts";

export type Findings = {
  /** Those that nobody has acknowledged, in words. */
  readonly open: readonly string[];
  readonly acknowledged: readonly string[];
};

/** `key` null: seals cannot be checked. The audit must have been verified: its entries are believed. */
export async function findingsIn(audit: AuditFile, key: AuditKey | null): Promise<Findings> {
  const words = new Map<string, string>();
  const settled = new Set<string>();
  for (const { seq, entry } of await audit.tampering()) {
    const { what, findings = [], outcome } = entry;
    for (const id of findings) {
      if (what === "tampering-acknowledged") settled.add(id);
      else words.set(id, `${outcome} (found: entry ${seq})`);
    }
  }
  const broken = key === null ? [] : await audit.brokenRows(key);
  for (const finding of broken) if (!words.has(finding.id)) words.set(finding.id, finding.words);
  const told = (done: boolean): string[] => [
    ...new Set([...words].filter(([id]) => settled.has(id) === done).map(([, each]) => each)),
  ];
  return { open: told(false), acknowledged: told(true) };
}

/** Empty: there is nothing to tell. */
export function findingsWords({ open, acknowledged }: Findings): string {
  return [
    ...open.map((each) => `TAMPERED: ${each}`),
    ...acknowledged.map((each) => `Acknowledged by an admin: ${each}`),
  ].join("\n");
}
