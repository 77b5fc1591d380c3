// `/agent report`: who decided and who was refused in the last week, for an admin alone. Each delivery is an audit entry.

import { auditEntry } from "../audit/entry.ts";
import { type PersonFigures, weekByPerson } from "../audit/look-back.ts";
import { DEFAULT_LOOK_BACK, lastWeek, type Week } from "../domain/policy/hours.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Clock } from "../engine/clock.ts";
import { entriesOf } from "../notifications/look-back.ts";
import type { AuditReaders } from "../ports.ts";
import type { AuditEvidence } from "../ports/store.ts";
import { type Asker, type CommandRefusal, noteIfRefused, refusalToUse, type UseCaseDeps } from "./access.ts";

export type WeekReport = {
  readonly week: Week;
  readonly people: readonly PersonFigures[];
  /** Older entries of the week are archived and not counted. */
  readonly incomplete: boolean;
};

/** Without a look back in the policy: of the week that ends on Monday at 08:00 UTC. Rejects with PortError. */
export type ReportWeek = (by: Asker) => Promise<Result<WeekReport, CommandRefusal>>;

type Deps = UseCaseDeps & {
  readonly store: AuditEvidence;
  readonly audit: AuditReaders;
  readonly clock: Clock;
};

export function createReportWeek(deps: Deps): ReportWeek {
  return async (by) => noteIfRefused(deps, by, await report(deps, by), { step: "audit" });
}

async function report(deps: Deps, by: Asker): Promise<Result<WeekReport, CommandRefusal>> {
  const { store, audit, context } = deps;
  const no = await refusalToUse(deps, by);
  if (no !== null) return err(no);
  const { team, user, channel } = by;
  if (!audit.admins.includes(user) || team !== audit.team) return err({ type: "not-admin" });
  const { now, policy } = context();
  const week = lastWeek(policy.lookBack ?? DEFAULT_LOOK_BACK, now) ?? { from: now, to: now };
  const outcome = `who decided from ${new Date(week.from).toISOString()} to ${new Date(week.to).toISOString()}`;
  const facts = { at: now, what: "audit-read", outcome, by: { team, user }, channel } as const;
  await store.audit([auditEntry(null, facts)]);
  const { entries, incomplete } = await entriesOf(deps, week);
  return ok({ week, people: weekByPerson(entries), incomplete });
}
