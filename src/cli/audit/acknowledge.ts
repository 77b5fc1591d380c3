// `npm run audit -- acknowledge`: with the key and the database, lets approvals leave again. In Slack the admins can do the same.

import { hostname, userInfo } from "node:os";
import { performance } from "node:perf_hooks";
import { createIntegrity, type NotAcknowledged } from "../../engine/integrity.ts";
import type { AuditFile } from "../../adapters/store/audit-file.ts";
import type { AuditKey } from "../../adapters/store/audit-key.ts";
import { digestOf } from "../../adapters/store/digest.ts";
import { openStore } from "../../adapters/store/open.ts";

type Where = { readonly database: string; readonly key: string | null };

/** Resolves to the message to print. Rejects with one line for people. */
export async function acknowledgeFindings(
  { database, key }: Where,
  { code, reason }: { readonly code: string; readonly reason: string },
): Promise<string> {
  const store = await openStore({ url: `sqlite:${database}`, owner: "audit command", auditKey: key });
  try {
    // The bot checks rows as it reads them. It is stopped, so all rows are read here.
    const checkAudit = async () => [...(await store.checkAudit()), ...(await store.checkSeals())];
    const checked = { ...store, checkAudit };
    const context = () => ({ now: Date.now(), digest: digestOf });
    const nothing = (): void => undefined;
    const clock = { now: Date.now, monotonic: () => performance.now(), after: () => nothing };
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const integrity = createIntegrity({
      store: checked,
      context,
      clock,
      log,
      metrics: { tampered: nothing },
    });
    await integrity.start();
    const { open } = integrity.state();
    const done = await integrity.acknowledge(
      null,
      code,
      `${reason} (${userInfo().username} at ${hostname()})`,
    );
    await integrity.stop();
    if (!done.ok) throw new Error(notAcknowledged(done.error, integrity.state().code));
    return [
      "Acknowledged. Approvals leave again when the bot starts.",
      ...open.map(({ words }) => `- ${words}`),
    ].join("\n");
  } finally {
    await store.release();
    await store.close();
  }
}

function notAcknowledged(why: NotAcknowledged, code: string | null): string {
  switch (why) {
    case "nothing-open":
      return "There is nothing to acknowledge: no approval is held back.";
    case "other-findings":
      return `This code does not stand for the current findings; the current code is ${code ?? "none"}. Nothing was acknowledged.`;
    case "no-reason":
      return "Say with --reason what you found.";
  }
}

// What was changed in the rest of the database: the findings of the bot, and the seals that do not match (with the key).

export type Findings = {
  /** The findings that are not acknowledged, in words. */
  readonly open: readonly string[];
  readonly acknowledged: readonly string[];
};

/** `key` null: seals cannot be checked. The audit must be verified before, because its entries are trusted here. */
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

/** Empty: there is nothing to report. */
export function findingsWords({ open, acknowledged }: Findings): string {
  return [
    ...open.map((each) => `TAMPERED: ${each}`),
    ...acknowledged.map((each) => `Acknowledged by an admin: ${each}`),
  ].join("\n");
}
