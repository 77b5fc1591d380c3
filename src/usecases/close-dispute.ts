// An admin closes the disputes of a run, and says what they found. It changes no decision. The card follows from the entry.

import { aboutSameRun, auditEntry, type KeptEntry } from "../audit/entry.ts";
import type { RunId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { AuditReaders } from "../ports.ts";
import { type Asker, type CommandRefusal, noteIfRefused, refusalToUse, type UseCaseDeps } from "./access.ts";

/** Resolves to how many disputes are closed. Only `ADMINS` may. */
export type CloseDispute = (by: Asker, id: RunId, words: string) => Promise<Result<number, CommandRefusal>>;

type Deps = UseCaseDeps & { readonly audit: AuditReaders };

export function createCloseDispute(deps: Deps): CloseDispute {
  return async (by, id, words) =>
    noteIfRefused(deps, by, await close(deps, by, id, words.trim()), { step: "close", runId: id });
}

/** Two admins who close at the same moment leave an entry each: both are true, and the card shows the first. */
async function close(
  deps: Deps,
  by: Asker,
  id: RunId,
  words: string,
): Promise<Result<number, CommandRefusal>> {
  const no = await refusalToUse(deps, by);
  if (no !== null) return err(no);
  const { team, user } = by;
  if (!deps.audit.admins.includes(user) || team !== deps.audit.team) return err({ type: "not-admin" });
  const open = openOnes(await deps.store.auditOfRun(id));
  if (open.length === 0) return err({ type: "nothing-disputed" });
  if (words === "") return err({ type: "close-why" });
  const facts = {
    at: deps.context().now,
    what: "dispute-closed",
    outcome: "closed",
    by: { team, user },
  } as const;
  const entries = open.map(({ seq, entry }) => {
    const { approval, verdict, digest, policy } = entry;
    const about = { ...aboutSameRun(entry), approval, verdict, digest, policy, refers: seq };
    return auditEntry(null, { ...facts, ...about, reason: words });
  });
  await deps.store.audit(entries);
  return ok(open.length);
}

function openOnes(entries: readonly KeptEntry[]): readonly KeptEntry[] {
  const closed = new Set(
    entries.flatMap(({ entry }) => (entry.what === "dispute-closed" ? [entry.refers] : [])),
  );
  return entries.filter(({ seq, entry }) => entry.what === "disputed" && !closed.has(seq));
}
