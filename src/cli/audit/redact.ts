// `npm run audit -- redact`: erases a text and writes an entry that says so. The bot must not be running.

import { hostname, userInfo } from "node:os";
import { auditKeyFile, auditKeyOf, readAuditKey } from "../../adapters/store/audit-key.ts";
import { lockAudit } from "../../adapters/store/redact.ts";
import type { Asked } from "./command-line.ts";
import { auditVerdict, verdictWords } from "./verify.ts";

type Where = { readonly database: string; readonly key: string | null };

/** Refuses to erase from a tampered database, because that could hide something. */
export type Done = { readonly tampered: boolean; readonly words: string };

/** Rejects with one line for people. */
export async function redactText(
  { database, key: given }: Where,
  { digest, reason }: Extract<Asked, { type: "redact" }>,
): Promise<Done> {
  const key = given === null ? readAuditKey(database) : auditKeyOf(given);
  if (key === null)
    throw new Error(`There is no key to sign with: set AUDIT_KEY, or put ${auditKeyFile(database)} back.`);
  const audit = await lockAudit(database, key);
  try {
    const verdict = await auditVerdict(audit, [key.publicKey], []);
    if (!verdict.ok) return { tampered: true, words: `${verdictWords(verdict, 0)}\nNothing was erased.` };
    const by = `${userInfo().username} on ${hostname()}`;
    const { entry, runs } = await audit.redact({ digest, reason, by, at: Date.now() });
    return { tampered: false, words: doneWords(digest, entry, runs) };
  } finally {
    await audit.close();
  }
}

function doneWords(digest: string, entry: number, runs: number): string {
  const forgotten =
    runs === 0
      ? ""
      : `\n${runs === 1 ? "1 run that was over is" : `${runs} runs that were over are`} deleted with it.`;
  return [
    `Erased: the text ${digest}. Audit entry ${entry} says so; the audit stays intact.${forgotten}`,
    "Copies elsewhere are not erased: messages and files in Slack, exports, evidence files, backups.",
  ].join("\n");
}
