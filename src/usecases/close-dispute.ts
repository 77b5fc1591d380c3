// An admin closes the disputes of a run, and says what they found. This changes no decision. The card follows from the entry.

import { aboutSameRun, auditEntry, type KeptEntry, knowsRun } from "../audit/entry.ts";
import type { CommandRefusal } from "../domain/command-refusal.ts";
import type { RunId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import { nullIfUnreadable } from "../engine/change-runs.ts";
import type { AuditReaders } from "../ports/notification.ts";
import { type Asker, isAdmin, noteIfRefused, refusalToUse, type UseCaseDeps } from "./access.ts";

/** `isCardKept`: whether the decision is still in the record of its run, so that the card shows the words. */
export type ClosedDisputes = { readonly disputes: number; readonly isCardKept: boolean };

/** Only `ADMINS` may do this. */
export type CloseDispute = (
  by: Asker,
  id: RunId,
  words: string,
) => Promise<Result<ClosedDisputes, CommandRefusal>>;

type Deps = UseCaseDeps & { readonly audit: AuditReaders };

export function createCloseDispute(deps: Deps): CloseDispute {
  return async (by, id, words) =>
    noteIfRefused(deps, by, await close(deps, by, id, words.trim()), { step: "close", runId: id });
}

/** Two admins who close at the same moment leave one entry each. Both entries are true, and the card shows the first. */
async function close(
  deps: Deps,
  by: Asker,
  id: RunId,
  words: string,
): Promise<Result<ClosedDisputes, CommandRefusal>> {
  const refusal = await refusalToUse(deps, by);
  if (refusal !== null) return err(refusal);
  const { team, user } = by;
  if (!isAdmin(deps.audit, by)) return err({ type: "not-admin", asked: "close" });
  const entries = await deps.store.auditOfRun(id);
  if (!knowsRun(entries)) return err({ type: "unknown-run", in: "audit" });
  const open = openOnes(entries);
  if (open.length === 0) return err({ type: "nothing-disputed" });
  if (words === "") return err({ type: "close-why" });
  const facts = {
    at: deps.context().now,
    what: "dispute-closed",
    outcome: "closed",
    by: { team, user },
  } as const;
  const closed = open.map(({ seq, entry }) => {
    const { approval, verdict, digest, policy } = entry;
    const about = { ...aboutSameRun(entry), approval, verdict, digest, policy, refers: seq };
    return auditEntry(null, { ...facts, ...about, reason: words });
  });
  const isCardKept = await areKept(deps, open);
  await deps.store.audit(closed);
  return ok({ disputes: open.length, isCardKept });
}

async function areKept({ store }: Deps, disputes: readonly KeptEntry[]): Promise<boolean> {
  for (const { entry } of disputes) {
    const stored = entry.run === null ? null : await store.load(entry.run).catch(nullIfUnreadable);
    if (stored === null || !holdsDecision(stored.run, entry)) return false;
  }
  return true;
}

/** A run that began again, after its record was found changed, has lost its decisions. */
function holdsDecision(run: Run, { approval: id, digest }: KeptEntry["entry"]): boolean {
  const approval = run.approvals.find((each) => each.id === id);
  if (approval === undefined) return false;
  const { state, votes, past } = approval;
  const decisions = [
    ...votes,
    ...past.map(({ decision }) => decision),
    ...(state.type === "decided" ? [state.decision] : []),
  ];
  return decisions.some((decision) => decision.digest === digest);
}

function openOnes(entries: readonly KeptEntry[]): readonly KeptEntry[] {
  const closed = new Set(
    entries.flatMap(({ entry }) => (entry.what === "dispute-closed" ? [entry.refers] : [])),
  );
  return entries.filter(({ seq, entry }) => entry.what === "disputed" && !closed.has(seq));
}
