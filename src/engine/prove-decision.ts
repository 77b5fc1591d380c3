// A decision is sent only if its signed entry in the audit says the same. So somebody who can write the database but has no key can
// neither make nor change a decision, nor restore one that was undone.

import type { AuditEntry } from "../audit/entry.ts";
import { earlierVotes, withoutVotes } from "../domain/approval-transitions.ts";
import type { Approval, Decision } from "../domain/approval.ts";
import { FAULT_WORDS } from "../domain/audit/verify-chain.ts";
import { type Run, runId } from "../domain/run.ts";
import type { AuditLog, Finding } from "../ports/store.ts";

type AuditLookup = Pick<AuditLog, "provenEntry" | "settledAfter">;

/** Equal only for the same decision. Null: the approval is not decided. */
export function decisionFingerprint({ state }: Approval): string | null {
  if (state.type !== "decided") return null;
  return JSON.stringify([...earlierVotes(state.decision), withoutVotes(state.decision)]);
}

/** Null: the audit confirms all of it. A few look-ups by index, however long the audit is. */
export async function findDisproof(
  audit: AuditLookup,
  run: Run,
  approval: Approval,
): Promise<Finding | null> {
  if (approval.state.type !== "decided") return null;
  const { decision } = approval.state;
  for (const each of [...earlierVotes(decision), decision]) {
    const kinds = each === decision ? DECIDED : GIVEN;
    const why = await doubt(audit, { run, approval, decision: each, kinds });
    if (why !== null) return finding(run, approval, each, why);
  }
  return null;
}

const DECIDED = ["decided"] as const;
/** The entry of an earlier approval: "voted", or "decided" if it was once the last one and another was undone. */
const GIVEN = ["voted", "decided"] as const;

type Asked = {
  readonly run: Run;
  readonly approval: Approval;
  readonly decision: Decision;
  readonly kinds: readonly AuditEntry["what"][];
};

async function doubt(audit: AuditLookup, { run, approval, decision, kinds }: Asked): Promise<string | null> {
  const { entry: seq } = decision;
  if (seq === undefined) return "no entry of the audit decides it";
  const proven = await audit.provenEntry(seq);
  if (!proven.ok) return `audit entry ${seq}: ${FAULT_WORDS[proven.fault]}`;
  const { entry } = proven.kept;
  if (!kinds.includes(entry.what) || !says(entry, run, approval, decision))
    return `audit entry ${seq} says something else`;
  const settled = await audit.settledAfter(seq, run.key, approval.id);
  const over = settled.find(({ entry: each }) => each.refers === seq && isOver(each.outcome));
  return over === undefined ? null : `by audit entry ${over.seq} it is over: ${over.entry.outcome}`;
}

/** Same run, approval, request, verdict, reason and person. */
function says(
  entry: Omit<AuditEntry, "text">,
  run: Run,
  approval: Approval,
  { by, verdict, reason, digest }: Decision,
): boolean {
  const place = entry.run === run.key && entry.runId === runId(run) && entry.approval === approval.id;
  const words = entry.verdict === verdict && entry.reason === reason && entry.digest === digest;
  return place && words && entry.by?.user === by?.user && entry.by?.team === by?.team;
}

const isOver = (outcome: string): boolean =>
  outcome.startsWith("void") || ["confirmed", "elsewhere", "unconfirmed"].includes(outcome);

function finding(run: Run, approval: Approval, { entry = 0 }: Decision, why: string): Finding {
  const where = `run ${run.key}, approval ${approval.id}`;
  const words = `a stored decision (${where}) is not confirmed by the audit and was not sent: ${why}`;
  return { id: `${run.key} ${approval.id} ${approval.version} decision ${entry}`, words, run: run.key };
}
