// Stores a run that a person started or adopted, so that it is followed even if the answer to the commit is lost.

import { aboutTask, auditEntry, type AuditEntry } from "../audit/entry.ts";
import type { Context } from "../domain/context.ts";
import type { RunKey } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import { PortError } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import type { Asker, UseCaseDeps } from "./access.ts";

/**
 * Stores the run, and reconciles it if this process holds its channel. Resolves to the key of the stored run: if the intention was used
 * before, this is the run that it created then.
 */
export async function storeRun(deps: UseCaseDeps, run: Run, sideWrites: RunWrites): Promise<RunKey> {
  const stored = await insertSurely(deps, run, sideWrites);
  if (stored === "stored") await deps.engine.resume({ run, revision: 1 });
  if (typeof stored !== "object") return run.key;
  // The answer to its commit may have been lost. In that case no process follows the run yet.
  try {
    const existing = await deps.store.load(stored.known);
    if (existing !== null) await deps.engine.resume(existing);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.engine.followIfStored(stored.known);
  }
  return stored.known;
}

type RunWrites = { intention?: string; audit: AuditEntry[] };

/**
 * Inserts the run. If the answer to the commit is lost, the same insert shows whether the run is stored. If that fails as well, this
 * rejects, and the engine looks for the run later.
 */
async function insertSurely(
  { store, engine }: Pick<UseCaseDeps, "store" | "engine">,
  run: Run,
  sideWrites: RunWrites,
): ReturnType<RunStore["insert"]> {
  const insert = async (): ReturnType<RunStore["insert"]> => store.insert(run, sideWrites);
  try {
    return await insert();
  } catch (error) {
    if (!(error instanceof PortError) || error.applied === "no") throw error;
    return insert().catch((again: unknown) => {
      engine.followIfStored(run.key);
      throw again;
    });
  }
}

/** The audit entry of a run that was started, watched or unwatched. */
export function runEntry(
  run: Run,
  by: Asker,
  what: "started" | "watched" | "unwatched",
  ctx: Context,
): AuditEntry {
  const { team, user } = by;
  const about = aboutTask(run.input, ctx);
  return auditEntry(run, { at: ctx.now, what, by: { team, user }, outcome: what, ...about });
}
