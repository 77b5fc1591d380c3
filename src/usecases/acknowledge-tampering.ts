// An admin has examined the findings in the database, and lets approvals leave again. This repairs nothing: `verify` still reports the
// tampering. It covers the findings that its code stands for; a further finding holds approvals back again.

import { err, ok, type Result } from "../domain/result.ts";
import type { Integrity, NotAcknowledged } from "../engine/integrity.ts";
import type { AuditReaders, EventLog } from "../ports.ts";
import { type Asker, type CommandRefusal, noteIfRefused, refusalToUse, type UseCaseDeps } from "./access.ts";

/** Resolves to how many findings are acknowledged. Only `ADMINS` may. */
export type Acknowledge = (
  by: Asker,
  code: string,
  reason: string,
) => Promise<Result<number, CommandRefusal>>;

type Deps = UseCaseDeps & {
  readonly audit: AuditReaders;
  readonly integrity: Pick<Integrity, "acknowledge">;
  /** Has what was held back leave at once. */
  readonly release: () => Promise<void>;
  readonly log: EventLog;
};

export function createAcknowledge(deps: Deps): Acknowledge {
  return async (by, code, reason) =>
    noteIfRefused(deps, by, await acknowledge(deps, by, code, reason), { step: "acknowledge" });
}

async function acknowledge(
  deps: Deps,
  by: Asker,
  code: string,
  reason: string,
): Promise<Result<number, CommandRefusal>> {
  const no = await refusalToUse(deps, by);
  if (no !== null) return err(no);
  const { team, user } = by;
  if (!deps.audit.admins.includes(user) || team !== deps.audit.team) return err({ type: "not-admin" });
  const done = await deps.integrity.acknowledge({ team, user }, code, reason);
  if (!done.ok) return err({ type: BECAUSE[done.error] });
  // What is not released now asks again by itself a few seconds later.
  await deps
    .release()
    .catch((error: unknown) => deps.log.warn({ error }, "what was held back waits a little longer"));
  return ok(done.value);
}

const BECAUSE = {
  "nothing-open": "nothing-to-acknowledge",
  "other-findings": "other-findings",
  "no-reason": "acknowledge-why",
} as const satisfies Record<NotAcknowledged, CommandRefusal["type"]>;
