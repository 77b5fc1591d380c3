// Two subcommands of `/agent audit`. An auditor gets the evidence of one run. An audit entry says so before the evidence is sent, so none
// leaves without an entry. If Slack does not confirm the file, a refusal follows. An admin acknowledges findings of tampering. The third
// subcommand is in close-dispute.ts.

import { aboutSameRun, auditEntry, type KeptEntry, knowsRun } from "../audit/entry.ts";
import { AROUND_A_RUN, momentWords, type Names, peopleIn, runStory } from "../audit/narrative.ts";
import { headWords } from "../domain/audit/hash-chain.ts";
import type { CommandRefusal } from "../domain/command-refusal.ts";
import type { RunId, UserId } from "../domain/ids.ts";
import { plainJson } from "../domain/json.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { oneLine } from "../domain/text/excerpt.ts";
import { SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import type { Integrity, NotAcknowledged } from "../engine/integrity.ts";
import { type EventLog, PortError } from "../ports.ts";
import type { AuditReaders, NotificationSender } from "../ports/notification.ts";
import type { AuditEvidence, AuditLog } from "../ports/audit-store.ts";
import { type Asker, isAdmin, isAmongAny, noteIfRefused, refusalToUse, type UseCaseDeps } from "./access.ts";

/** Resolves to the number of entries in the file. */
export type ExportEvidence = (by: Asker, id: RunId) => Promise<Result<number, CommandRefusal>>;

type ExportDeps = UseCaseDeps & {
  readonly store: AuditEvidence;
  readonly notificationSender: NotificationSender;
  readonly audit: AuditReaders;
};

export function createExportEvidence(deps: ExportDeps): ExportEvidence {
  return async (by, id) => noteIfRefused(deps, by, await give(deps, by, id), { step: "audit", runId: id });
}

async function give(deps: ExportDeps, by: Asker, id: RunId): Promise<Result<number, CommandRefusal>> {
  const { store, notificationSender, context } = deps;
  const refusal = await refusalToRead(deps, by, id);
  if (refusal !== null) return err(refusal);
  const finding = await store.walkAudit();
  if (finding !== null) {
    deps.integrity.found(finding);
    return err({ type: "tampered", words: finding.words });
  }
  const [first] = await store.auditOfRun(id);
  if (first === undefined) return err({ type: "unknown-run", in: "audit" });
  const { team, user } = by;
  const about = aboutSameRun(first.entry);
  const facts = { at: context().now, what: "audit-read", outcome: "sending", by: { team, user } } as const;
  await store.audit([auditEntry(null, { ...facts, ...about, runId: about.runId ?? id })]);
  const entries = await store.auditOfRun(id);
  const unproven = await firstUnproven(deps, entries);
  if (unproven !== null) return err(unproven);
  const names = await namesOf(deps, entries);
  const evidence = await evidenceOf(store, entries, { id, user, at: facts.at, names });
  try {
    await notificationSender.file(user, evidence);
    return ok(entries.length);
  } catch (error) {
    if (error instanceof PortError) return err({ type: "not-sent" });
    throw error;
  }
}

async function namesOf({ people }: ExportDeps, entries: readonly KeptEntry[]): Promise<Names> {
  const found = await Promise.all(
    peopleIn(entries).map(async (user) => [user, await people.nameOf(user)] as const),
  );
  return new Map(found.flatMap(([user, name]) => (name === null ? [] : [[user, name]])));
}

/** Each entry in the file must be proven, because it has its own signature there. */
async function firstUnproven(
  { store, integrity }: ExportDeps,
  entries: readonly KeptEntry[],
): Promise<CommandRefusal | null> {
  for (const { seq } of entries) {
    const proven = await store.provenEntry(seq);
    if (proven.ok) continue;
    integrity.found(proven.finding);
    return { type: "tampered", words: proven.finding.words };
  }
  return null;
}

/** Resolves to null for the admins of the configuration and the policy's auditors. */
async function refusalToRead(deps: ExportDeps, by: Asker, id: RunId): Promise<CommandRefusal | null> {
  const refusal = await refusalToUse(deps, by);
  if (refusal !== null) return refusal;
  if (isAdmin(deps.audit, by)) return null;
  const { auditors } = deps.context().policy;
  const auditorRefusal =
    auditors === null
      ? { type: "not-auditor" as const }
      : await isAmongAny(deps, by, [auditors], { otherwise: "not-auditor" });
  if (auditorRefusal?.type !== "not-auditor") return auditorRefusal;
  // "own-audit" reveals that the run exists, so it is only for people who know about the run anyway.
  return (await hasTakenPart(deps, by.user, id)) ? { type: "own-audit" } : auditorRefusal;
}

/** Resolves to whether this person has asked for the run, or has decided on one of its approvals. */
async function hasTakenPart({ store }: ExportDeps, user: UserId, id: RunId): Promise<boolean> {
  const isTheirs = ({ entry }: KeptEntry): boolean =>
    entry.by?.user === user && ["started", "watched", "voted", "decided"].includes(entry.what);
  return (await store.auditOfRun(id)).some(isTheirs);
}

// The evidence: a file with everything known about one run, in words and entry by entry with proof.

export type Evidence = { readonly name: string; readonly text: string; readonly says: string };

const ID_CHARS = 512;
/** The maximum number of entries about policies and erasures in the file. They are rare, so this is more than enough. */
const MAX_AROUND = 1_000_000;

const NO_SUCH_RUN =
  "The audit knows no run with this id. These are only attempts with the id, and readings of this audit. Check the id.";

type Heading = {
  readonly id: RunId;
  readonly user: UserId;
  readonly at: number;
  readonly names: Names;
};

async function evidenceOf(
  store: AuditLog & AuditEvidence,
  entries: readonly KeptEntry[],
  { id, user, at, names }: Heading,
): Promise<Evidence> {
  const shown = oneLine(id, ID_CHARS);
  const last = entries.at(-1);
  const around = await store.auditAfter(0, AROUND_A_RUN, MAX_AROUND);
  const story = await runStory(entries, (digest) => store.auditText(digest), around, names);
  const proofs = await Promise.all(entries.map((each) => proofLine(store, each)));
  const head = last === undefined ? "(none)" : headWords(last);
  const unknown = knowsRun(entries) ? [] : [NO_SUCH_RUN];
  const text = [
    ...unknown,
    `Evidence of run ${shown}`,
    `Written ${momentWords(at)} for ${user} · ${entries.length} entries · head when it was written: ${head}`,
    "",
    "1. What happened, in words",
    story,
    "",
    "2. The entries as they stand in the audit, a JSON record on each line",
    `Signed with Ed25519; the newest public key is ${store.auditPublicKey()} (base64, raw). docs/audit.md says how to check them.`,
    "That no entry of the run is missing is proven by the whole audit alone:",
    `  npm run audit -- verify --head "${head}"`,
    ...proofs,
    "",
  ].join("\n");
  const says = [...unknown, `Evidence of run ${shown}: ${entries.length} entries, up to ${head}.`].join(" ");
  return { name: `evidence-${id.replace(/[^A-Za-z0-9_-]/g, "").slice(0, 40)}.txt`, text, says };
}

async function proofLine(store: AuditLog & AuditEvidence, { seq, link }: KeptEntry): Promise<string> {
  const previous = await store.auditLink(seq - 1);
  return plainJson({ seq, previous, link, ...(await store.auditProof(seq)) });
}

// After examining the findings in the database, an admin lets approvals leave again. This repairs nothing: `verify` still reports the
// tampering. The acknowledgement covers only the findings behind its code. A further finding holds approvals back again.

/** Resolves to the number of acknowledged findings. Only `ADMINS` may do this. */
export type Acknowledge = (
  by: Asker,
  code: string,
  reason: string,
) => Promise<Result<number, CommandRefusal>>;

type AcknowledgeDeps = UseCaseDeps & {
  readonly audit: AuditReaders;
  readonly integrity: Pick<Integrity, "acknowledge">;
  /** Releases the decisions that were held back at once. */
  readonly release: () => Promise<void>;
  readonly log: EventLog;
};

export function createAcknowledge(deps: AcknowledgeDeps): Acknowledge {
  return async (by, code, reason) =>
    noteIfRefused(deps, by, await acknowledge(deps, by, code, reason), { step: "acknowledge" });
}

async function acknowledge(
  deps: AcknowledgeDeps,
  by: Asker,
  code: string,
  reason: string,
): Promise<Result<number, CommandRefusal>> {
  // Approvals can be sent again after this, so it needs fresh facts about the person.
  const refusal = await refusalToUse(deps, by, SUBMIT_AGE_MS);
  if (refusal !== null) return err(refusal);
  const { team, user } = by;
  if (!isAdmin(deps.audit, by)) return err({ type: "not-admin", asked: "acknowledge" });
  const done = await deps.integrity.acknowledge({ team, user }, code, reason);
  if (!done.ok) return err({ type: BECAUSE[done.error] });
  // If this fails, each held-back decision is tried again by itself a few seconds later.
  await deps
    .release()
    .catch((error: unknown) =>
      deps.log.warn(
        { error },
        "could not release the held-back approvals at once; they leave at their next try",
      ),
    );
  return ok(done.value);
}

const BECAUSE = {
  "nothing-open": "nothing-to-acknowledge",
  "other-findings": "other-findings",
  "no-reason": "acknowledge-why",
} as const satisfies Record<NotAcknowledged, CommandRefusal["type"]>;
