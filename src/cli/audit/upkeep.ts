// The commands of `npm run audit` that write while the bot is stopped: `acknowledge`, `redact` and `rotate-key`.

import { performance } from "node:perf_hooks";
import { type AuditFile, entryIfReadable } from "../../adapters/store/audit-file.ts";
import {
  type AuditKey,
  auditKeyFile,
  auditKeyOf,
  digestOf,
  keptKeyFile,
} from "../../adapters/store/audit-key.ts";
import { openStore } from "../../adapters/store/open.ts";
import {
  type Keys,
  lockAudit,
  personAtShell,
  type Redacted,
  rotateKey,
  rotateKeyBeside,
} from "../../adapters/store/audit-upkeep.ts";
import { isServer, openSnapshot, refuseMissing, shown } from "../../adapters/store/database-copy.ts";
import { isDenied, unusable } from "../../adapters/store/faults.ts";
import { liveOwners } from "../../adapters/store/leases.ts";
import { refuseOtherSchema } from "../../adapters/store/schema.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import { createIntegrity, type IntegrityState, type NotAcknowledged } from "../../engine/integrity.ts";
import type { AuditCommand } from "./command-line.ts";
import { auditVerdict, neededKey, ownKey, verdictWords } from "./inspect.ts";

type Where = { readonly database: string; readonly key: string | null };

// `acknowledge`: lets approvals be sent again. It needs the key and the database. Admins can do the same in Slack.

/** Resolves to the message to print. Rejects with one line for the operator. */
export async function acknowledgeFindings(
  { database, key }: Where,
  { code, reason }: { readonly code: string; readonly reason: string },
): Promise<string> {
  refuseMissing(database);
  await refuseUnknown(database);
  const url = isServer(database) ? database : `sqlite:${database}`;
  const store = await openStore({ url, owner: "audit command", auditKey: key });
  try {
    // The bot checks rows as it reads them. It is stopped, so this command checks all of them.
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
    const done = await integrity.acknowledge(null, code, `${reason} (${personAtShell()})`);
    await integrity.stop();
    if (!done.ok) throw new Error(refusalWords(done.error, integrity.state()));
    return ["Acknowledged. Approvals are sent again once the bot starts.", ...listed(open)].join("\n");
  } finally {
    await store.release();
    await store.close();
  }
}

/**
 * Opening the store would create or migrate a database that is not this program's. On a server, a running replica would not notice the
 * acknowledgement and would keep holding approvals back.
 */
async function refuseUnknown(database: string): Promise<void> {
  const { db, engine, close } = await openSnapshot(database);
  try {
    await refuseOtherSchema(db, engine).catch((error: unknown) => {
      throw unusable(shown(database), error);
    });
    const live = isServer(database) ? await liveOwners(db) : [];
    if (live.length > 0)
      throw new Error(
        "Countersign is running, so nothing was acknowledged. Use /agent audit acknowledge in Slack, or stop all replicas first.",
      );
  } finally {
    await close();
  }
}

/** The findings of one entry share its words. */
const listed = (open: IntegrityState["open"]): readonly string[] => [
  ...new Set(open.map(({ words }) => `- ${printed(words)}`)),
];

function refusalWords(refusal: NotAcknowledged, { open, code }: IntegrityState): string {
  switch (refusal) {
    case "nothing-open":
      return "There is nothing to acknowledge: no approval is held back.";
    case "other-findings":
      return [
        `Nothing was acknowledged: this code is not for the current findings. ${code === null ? "There are no open findings." : `Their code is ${code}:`}`,
        ...listed(open),
      ].join("\n");
    case "no-reason":
      return "Nothing was acknowledged: say with --reason what you found.";
  }
}

// What was changed in the rest of the database: the bot's findings and, if the key is available, the seals that do not match.

export type Findings = {
  /** The findings that are not acknowledged yet, in words. */
  readonly open: readonly string[];
  readonly acknowledged: readonly string[];
};

/** With `key` null, seals are not checked. The caller must verify the audit first, because its entries are trusted here. */
async function findingsIn(audit: AuditFile, key: AuditKey | null): Promise<Findings> {
  const words = new Map<string, string>();
  const settled = new Set<string>();
  for (const { seq, entry } of await audit.tampering()) {
    const { what, findings = [], outcome } = entry;
    for (const id of findings) {
      if (what === "tampering-acknowledged") settled.add(id);
      else words.set(id, `${outcome} (reported in entry ${seq})`);
    }
  }
  const broken = key === null ? [] : await audit.brokenRows(key);
  for (const finding of broken) if (!words.has(finding.id)) words.set(finding.id, finding.words);
  const wordsOf = (isSettled: boolean): string[] => [
    ...new Set([...words].filter(([id]) => settled.has(id) === isSettled).map(([, text]) => text)),
  ];
  return { open: wordsOf(false), acknowledged: wordsOf(true) };
}

/** Resolves to what the bot found, as it stands in an audit that is not intact. So nothing of it is proven, and no acknowledgement counts. */
export async function unprovenFindings(audit: AuditFile): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const row of audit.rows()) {
    const kept = row.columns.what === "tampering-found" ? entryIfReadable(row, true) : null;
    if (kept !== null)
      lines.push(`REPORTED, not verified: ${printed(kept.entry.outcome)} (reported in entry ${row.seq})`);
  }
  return lines;
}

/** Returns an empty text if there is nothing to report. */
function findingsWords({ open, acknowledged }: Findings): string {
  return [
    ...open.map((finding) => `TAMPERED: ${printed(finding)}`),
    ...acknowledged.map((finding) => `Acknowledged by an admin: ${printed(finding)}`),
  ].join("\n");
}

const FINDING_CHARS = 4_000;
/** A finding may contain what someone wrote into the database. */
const printed = (finding: string): string => oneLine(finding, FINDING_CHARS);

/**
 * Returns the key that seals the rest of the database. Only the key that signs the newest entry does. Returns null if there is none yet, or
 * what was not checked, in words, if that key is not here. `isOther`: the key here is another one.
 */
async function sealingKey(
  audit: AuditFile,
  where: Where,
  isPinned: boolean,
): Promise<AuditKey | { readonly unchecked: string; readonly isOther: boolean } | null> {
  const inForce = await audit.headKey();
  if (inForce === null) return null;
  const own = keyHere(where, isPinned);
  if (typeof own === "string")
    return {
      unchecked: `${NOT_CHECKED} This user may not read the key: ${own}. To check them, run this as a user who may.`,
      isOther: false,
    };
  if (own?.id === inForce) return own;
  const here = own === null ? "There is no key here." : `The key here has the id ${own.id}.`;
  const unchecked = `${NOT_CHECKED} ${here} The audit is signed by the key with the id ${inForce} now: set AUDIT_KEY to that one.`;
  return { unchecked, isOther: own !== null };
}

const NOT_CHECKED = "NOT CHECKED: runs, forms and buttons.";

/** A person who pins a public key may rightly be kept from the key itself, so this returns in words why they may not read it. */
function keyHere(where: Where, isPinned: boolean): AuditKey | string | null {
  try {
    return ownKey(where);
  } catch (error) {
    if (!isPinned || !(error instanceof Error) || !isDenied(error.cause)) throw error;
    return error.message;
  }
}

/** What is known about the rows outside the audit, in words. `open`: some were changed. `isOther`: the key here is not the one in force. */
export type StateOfRows = { readonly open: boolean; readonly isOther: boolean; readonly words: string };

/** The caller must verify the audit first. `isPinned`: under given public keys. */
export async function stateOfRows(audit: AuditFile, where: Where, isPinned = false): Promise<StateOfRows> {
  const key = await sealingKey(audit, where, isPinned);
  const isMissing = key !== null && "unchecked" in key;
  const findings = await findingsIn(audit, isMissing ? null : key);
  const unchecked = isMissing ? [key.unchecked] : [];
  const words = [findingsWords(findings), ...unchecked].filter((line) => line !== "").join("\n");
  return { open: findings.open.length > 0, isOther: isMissing && key.isOther, words };
}

// `redact`: erases a text and writes an entry that records it.

/** `tampered`: nothing was erased, because erasing from a tampered database could hide something. */
export type Done = { readonly tampered: boolean; readonly words: string };

/** Resolves to the message to print. Rejects with one line for the operator. */
export async function redactText(
  where: Where,
  { digest, reason }: Extract<AuditCommand, { type: "redact" }>,
): Promise<Done> {
  const { database } = where;
  const key = neededKey(where, "key to sign with");
  const audit = await lockAudit(database, key);
  try {
    const verdict = await auditVerdict(audit, [key.publicKey], []);
    if (!verdict.ok) return { tampered: true, words: `${verdictWords(verdict, 0)}\nNothing was erased.` };
    const by = personAtShell();
    const redacted = await audit.redact({ digest, reason, by, at: Date.now() });
    const words = doneWords(digest, redacted, isServer(database));
    return { tampered: false, words: isServer(database) ? `${words}\n${OLD_BYTES}` : words };
  } finally {
    await audit.close();
  }
}

const OLD_BYTES =
  "The server's files keep the old bytes until VACUUM FULL rewrites audit_texts, runs and long_texts; it blocks the bots while it runs. The write-ahead log and the standbys keep them until they are recycled.";

function doneWords(digest: string, { entry, runs, again }: Redacted, onServer: boolean): string {
  const deleted =
    runs === 0
      ? ""
      : `\n${runs === 1 ? "1 finished run was" : `${runs} finished runs were`} deleted with it.`;
  return [
    again
      ? `The text ${digest} was erased before, as audit entry ${entry} records.${onServer ? "" : " What was left of its bytes in the database file is gone now."}`
      : `Erased: the text ${digest}. Audit entry ${entry} records this, and the audit stays intact.${deleted}`,
    "Copies elsewhere are not erased: messages and files in Slack, exports, evidence files, backups.",
  ].join("\n");
}

// `rotate-key`: the old key signs the handover to the new one.

/** The key in the operator's file. The seed is 32 bytes in base64. */
export type NewKey = { readonly file: string; readonly seed: string };

/** Resolves to the message to print. Rejects with one line for the operator. */
export async function rotateKeys({ database, key }: Where, newKey: NewKey | null): Promise<string> {
  const own = neededKey({ database, key }, "current key to sign the change with");
  if (newKey === null) {
    if (key !== null)
      throw new Error(
        "AUDIT_KEY is set, so give the new key in a file too: --new-key FILE. To make one: openssl rand -base64 32 > FILE",
      );
    const keys = await rotateKeyBeside(database, Date.now());
    const kept = `The old key stays in ${keptKeyFile(database, keys.from)}, because back-ups from before the rotation need it. Delete it when you delete the last of them.`;
    return rotatedWords(keys, [
      `The new key is in ${auditKeyFile(database)}. Keep a copy of it elsewhere.`,
      kept,
    ]);
  }
  const keys = { from: own, to: auditKeyOf(newKey.seed) };
  if (keys.to.id === own.id)
    throw new Error(
      `${newKey.file} holds the current key, so nothing was changed. To make a new one: openssl rand -base64 32 > FILE`,
    );
  const done = await rotateKey(database, keys, Date.now());
  if (done === "already")
    return `The key in ${newKey.file}, ${keys.to.id}, already signs the audit, so nothing was changed. Set AUDIT_KEY to it before you start the bot.`;
  return rotatedWords(keys, [
    `Set AUDIT_KEY to the key in ${newKey.file} before you start the bot.`,
    "Keep the old key as long as you keep back-ups from before the rotation: they cannot be restored without it.",
  ]);
}

const rotatedWords = ({ from, to }: Keys, where: readonly string[]): string =>
  [
    `The key ${to.id} replaces ${from.id}. From now on it signs the audit.`,
    ...where,
    `Give auditors its public half: ${to.publicKey}`,
  ].join("\n");
