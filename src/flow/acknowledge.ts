// An admin has looked at what was found in the database, and lets approvals leave again. It makes nothing whole: `verify` goes on
// to say what was tampered with. It covers the findings that its code names; a further one holds approvals back anew.

import { err, ok, type Result } from "../core/result.ts";
import type { Integrity, NotAcknowledged } from "./integrity.ts";
import type { AuditReaders } from "./letter.ts";
import { answered, type Asker, mayUse, type UseDeps } from "./may-use.ts";
import type { NoRun } from "./no-run.ts";

/** Resolves to how many findings are acknowledged. Only `ADMINS` may. */
export type Acknowledge = (by: Asker, code: string, reason: string) => Promise<Result<number, NoRun>>;

type Deps = UseDeps & {
  readonly audit: AuditReaders;
  readonly integrity: Pick<Integrity, "acknowledge">;
};

export function createAcknowledge(deps: Deps): Acknowledge {
  return async (by, code, reason) =>
    answered(deps, by, await acknowledge(deps, by, code, reason), { step: "acknowledge" });
}

async function acknowledge(
  deps: Deps,
  by: Asker,
  code: string,
  reason: string,
): Promise<Result<number, NoRun>> {
  const no = await mayUse(deps, by);
  if (no !== null) return err(no);
  const { team, user } = by;
  if (!deps.audit.admins.includes(user) || team !== deps.audit.team) return err({ because: "not-admin" });
  const done = await deps.integrity.acknowledge({ team, user }, code, reason);
  return done.ok ? ok(done.value) : err({ because: BECAUSE[done.error] });
}

const BECAUSE = {
  "nothing-open": "nothing-to-acknowledge",
  "other-findings": "other-findings",
  "no-reason": "acknowledge-why",
} as const satisfies Record<NotAcknowledged, NoRun["because"]>;
