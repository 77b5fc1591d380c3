// The commands of `npm run audit` that write, while the bot is not running: `acknowledge`, `redact` and `rotate-key`.

import { hostname, userInfo } from "node:os";
import { performance } from "node:perf_hooks";
import type { AuditFile } from "../../adapters/store/audit-file.ts";
import {
  adoptNextKey,
  type AuditKey,
  auditKeyFile,
  auditKeyOf,
  digestOf,
  nextAuditKey,
} from "../../adapters/store/audit-key.ts";
import { openStore } from "../../adapters/store/open.ts";
import { lockAudit, rotateKey } from "../../adapters/store/audit-upkeep.ts";
import { isServer, liveOwners, openSnapshot } from "../../adapters/store/database-copy.ts";
import { createIntegrity, type NotAcknowledged } from "../../engine/integrity.ts";
import type { Asked } from "./command-line.ts";
import { auditVerdict, howToGiveKey, ownKey, verdictWords } from "./inspect.ts";

type Where = { readonly database: string; readonly key: string | null };

// `acknowledge`: with the key and the database, lets approvals leave again. In Slack the admins can do the same.

/** Resolves to the message to print. Rejects with one line for people. */
export async function acknowledgeFindings(
  { database, key }: Where,
  { code, reason }: { readonly code: string; readonly reason: string },
): Promise<string> {
  if (isServer(database)) await refuseReplicas(database);
  const url = isServer(database) ? database : `sqlite:${database}`;
  const store = await openStore({ url, owner: "audit command", auditKey: key });
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

/** A replica that runs would not hear of it, and hold approvals back as before. */
async function refuseReplicas(url: string): Promise<void> {
  const { db, close } = await openSnapshot(url);
  try {
    const live = await liveOwners(db);
    if (live.length > 0)
      throw new Error("Countersign runs: use /agent audit acknowledge in Slack, or stop all replicas first.");
  } finally {
    await close();
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
  const wordsOf = (done: boolean): string[] => [
    ...new Set([...words].filter(([id]) => settled.has(id) === done).map(([, each]) => each)),
  ];
  return { open: wordsOf(false), acknowledged: wordsOf(true) };
}

/** Empty: there is nothing to report. */
export function findingsWords({ open, acknowledged }: Findings): string {
  return [
    ...open.map((each) => `TAMPERED: ${each}`),
    ...acknowledged.map((each) => `Acknowledged by an admin: ${each}`),
  ].join("\n");
}

// `redact`: erases a text and writes an entry that says so.

/** Refuses to erase from a tampered database, because that could hide something. */
export type Done = { readonly tampered: boolean; readonly words: string };

/** Rejects with one line for people. */
export async function redactText(
  { database, key: given }: Where,
  { digest, reason }: Extract<Asked, { type: "redact" }>,
): Promise<Done> {
  const key = ownKey({ database, key: given });
  if (key === null) throw new Error(`There is no key to sign with: ${howToGiveKey(database)}.`);
  const audit = await lockAudit(database, key);
  try {
    const verdict = await auditVerdict(audit, [key.publicKey], []);
    if (!verdict.ok) return { tampered: true, words: `${verdictWords(verdict, 0)}\nNothing was erased.` };
    const by = `${userInfo().username} on ${hostname()}`;
    const { entry, runs } = await audit.redact({ digest, reason, by, at: Date.now() });
    const words = doneWords(digest, entry, runs);
    return { tampered: false, words: isServer(database) ? `${words}\n${OLD_BYTES}` : words };
  } finally {
    await audit.close();
  }
}

const OLD_BYTES =
  "The files of the server keep the old bytes until VACUUM FULL rewrites audit_texts, runs and long_texts, which stops the bots meanwhile; its write-ahead log and its standbys, until they are recycled.";

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

// `rotate-key`: the old key signs the hand-over to the new one.

/** The key in the operator's file: 32 bytes in base64. */
export type NewKey = { readonly file: string; readonly seed: string };

/** Resolves to the message to print. Rejects with one line for people. */
export async function rotateKeys({ database, key }: Where, newKey: NewKey | null): Promise<string> {
  const from = ownKey({ database, key });
  if (from === null) throw new Error(`There is no key to hand over from: ${howToGiveKey(database)}.`);
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
