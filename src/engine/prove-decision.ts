// A decision is sent only if its signed audit entry says the same. A person who can write to the database but has no key can therefore
// neither make nor change a decision. Nor can they restore one that was undone, unless an admin acknowledges the damage that this needs
// (docs/audit.md names this risk).

import { type AuditEntry, saysSameVote } from "../audit/entry.ts";
import { earlierVotes } from "../domain/approval-transitions.ts";
import type { Approval, Decision } from "../domain/approval.ts";
import { isFinalOutcome, voidCause } from "../domain/audit/hash-chain.ts";
import { reachedStages } from "../domain/escalation.ts";
import { type Run, runId } from "../domain/run.ts";
import { oneLine } from "../domain/text/excerpt.ts";
import type { AuditLog, Finding } from "../ports/audit-store.ts";

type AuditLookup = Pick<AuditLog, "provenEntry" | "settledAfter">;

/**
 * Resolves to null if the audit confirms the decision, every vote that it rests on, and the stages that the request has reached. Calls
 * `onDamage` for each damaged entry after them. Such an entry may hide that an approval was taken back, but it disproves nothing.
 */
export async function findDisproof(
  audit: AuditLookup,
  run: Run,
  approval: Approval,
  onDamage: (finding: Finding) => void,
): Promise<Finding | null> {
  if (approval.state.type !== "decided") return null;
  const { decision } = approval.state;
  for (const vote of [...earlierVotes(decision), decision]) {
    const kinds = vote === decision ? KINDS_OF_LAST_VOTE : KINDS_OF_EARLIER_VOTE;
    const why = await disproveVote(audit, { run, approval, vote, kinds }, onDamage);
    if (why !== null) return voteFinding(run, approval, vote, why);
  }
  return decision.verdict === "approve" ? findUnprovenStage(audit, run, approval) : null;
}

/** The people of a stage may decide, so a forged stage would let other people decide. */
async function findUnprovenStage(audit: AuditLookup, run: Run, approval: Approval): Promise<Finding | null> {
  for (const { afterMs, entry: seq = 0 } of reachedStages(approval)) {
    const proven = await audit.provenEntry(seq);
    const why = proven.ok
      ? disproveStage(proven.kept.entry, { run, approval, afterMs })
      : proven.finding.words;
    if (why === null) continue;
    const words = `a stored escalation (${where(run, approval)}) is not confirmed by audit entry ${seq}, and the decision was not sent: ${why}`;
    return { id: `${run.key} ${approval.id} ${approval.version} stage ${afterMs}`, words, run: run.key };
  }
  return null;
}

function disproveStage(
  { what, run: key, approval: id, digest, stageMs }: Omit<AuditEntry, "text">,
  { run, approval, afterMs }: { readonly run: Run; readonly approval: Approval; readonly afterMs: number },
): string | null {
  const isSameStage = what === "escalated" && key === run.key && id === approval.id && stageMs === afterMs;
  return isSameStage && digest === approval.request.digest ? null : "it says something else";
}

const KINDS_OF_LAST_VOTE = ["decided"] as const;
/** An earlier vote has the entry "voted", or "decided" if it was once the last vote and another vote was undone. */
const KINDS_OF_EARLIER_VOTE = ["voted", "decided"] as const;

type VoteToProve = {
  readonly run: Run;
  readonly approval: Approval;
  readonly vote: Decision;
  /** The kinds of audit entry that may record the vote. */
  readonly kinds: readonly AuditEntry["what"][];
};

/** Resolves to the reason why the audit does not confirm the vote, or to null if it does. */
async function disproveVote(
  audit: AuditLookup,
  { run, approval, vote, kinds }: VoteToProve,
  onDamage: (finding: Finding) => void,
): Promise<string | null> {
  const { entry: seq } = vote;
  if (seq === undefined) return "the record names no audit entry for it";
  const proven = await audit.provenEntry(seq);
  if (!proven.ok) return proven.finding.words;
  const { entry } = proven.kept;
  if (!kinds.includes(entry.what) || !isAbout(entry, run, approval) || !saysSameVote(entry, vote))
    return `audit entry ${seq} says something else`;
  const { entries, damage } = await audit.settledAfter({ seq, link: proven.kept.link });
  for (const finding of damage) onDamage(finding);
  // If an entry lies, no approval is sent, which is safe. A forged entry must not stop a denial.
  const end = entries.find(
    ({ outcome, isIntact }) => endsDecision(outcome) && (isIntact || vote.verdict === "approve"),
  );
  return end === undefined ? null : `audit entry ${end.seq} says that it is over: ${end.outcome}`;
}

const isAbout = (entry: Omit<AuditEntry, "text">, run: Run, { id }: Approval): boolean =>
  entry.run === run.key && entry.runId === runId(run) && entry.approval === id;

const endsDecision = (outcome: string): boolean => voidCause(outcome) !== null || isFinalOutcome(outcome);

function voteFinding(run: Run, approval: Approval, { entry = 0 }: Decision, why: string): Finding {
  const words = `a stored decision (${where(run, approval)}) is not confirmed by the audit and was not sent: ${why}`;
  return { id: `${run.key} ${approval.id} ${approval.version} decision ${entry}`, words, run: run.key };
}

/** The most characters of an id of the service, which may be almost any text. */
const ID_CHARS = 120;

const where = (run: Run, approval: Approval): string =>
  `run ${run.key}, approval ${oneLine(approval.id, ID_CHARS)}`;
