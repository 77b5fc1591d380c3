import type { KeptEntry } from "../flow/audit-entry.ts";
import { AROUND_A_RUN, runStory } from "../flow/audit-story.ts";
import { type AuditFile, entryOf } from "../store/audit-file.ts";

/** Null: no entry is about a run with this id of the service's, or this key of ours. */
export async function shown(audit: AuditFile, run: string): Promise<string | null> {
  const keys = new Set<string>([run]);
  for await (const { columns } of audit.rows())
    if (columns.runId === run && columns.run !== null) keys.add(columns.run);
  const kinds = new Set<string>(AROUND_A_RUN);
  const found: KeptEntry[] = [];
  const around: KeptEntry[] = [];
  for await (const row of audit.rows()) {
    if (row.columns.runId === run || keys.has(row.columns.run ?? "")) found.push(entryOf(row));
    if (kinds.has(row.columns.what)) around.push(entryOf(row));
  }
  return found.length === 0 ? null : runStory(found, audit.textOf, around);
}
