// How a decision is refused: an audit entry, a count, and a repaired card. The words are Slack's business.

import type { Verdict } from "../core/approval.ts";
import type { Context } from "../core/context.ts";
import type { Person, Refusal } from "../core/decide.ts";
import type { TeamId, UserId } from "../core/ids.ts";
import { type Circle, type PolicyMark, setsOf } from "../core/policy.ts";
import { err, type Result } from "../core/result.ts";
import { type Run, runId } from "../core/run.ts";
import type { FlowMetrics } from "./flow-log.ts";
import { type AgentService, type AuditEntry, PortError, type Store } from "./ports.ts";
import type { People } from "./people.ts";
import type { Rounds } from "./rounds.ts";

/** A refusal, and the run it concerns where we know it. */
export type No = { readonly refusal: Refusal; readonly run: Run | null; readonly policy?: PolicyMark };

export type DecideDeps = {
  store: Store;
  agents: Pick<AgentService, "look">;
  people: Pick<People, "lookUp" | "memberOf">;
  rounds: Pick<Rounds, "change">;
  context: () => Context;
  metrics: FlowMetrics;
};

/** Says no, leaves an audit entry, and has the card repaired if it was stale. */
export async function refused(
  deps: DecideDeps,
  no: No,
  by: { team: TeamId; user: UserId },
  verdict: Verdict | null,
): Promise<Result<never, No>> {
  deps.metrics.refusal(no.refusal.because);
  if (no.run === null) await deps.store.audit([refusalEntry(deps, no, by, verdict)]);
  else {
    const alongside = { audit: [refusalEntry(deps, no, by, verdict)] };
    await deps.rounds.change(no.run.key, (run) => ({ run, alongside }), { mustHold: false });
  }
  return err(no);
}

function refusalEntry(
  deps: DecideDeps,
  { refusal, run, policy = null }: No,
  { team, user }: { team: TeamId; user: UserId },
  verdict: Verdict | null,
): AuditEntry {
  const at = deps.context().now;
  const nothing = { approval: null, reason: null, digest: null };
  const outcome = run === null ? "" : (runId(run) ?? "");
  return {
    at,
    what: "refused",
    run: run?.key ?? null,
    by: { team, user },
    verdict,
    ...nothing,
    outcome,
    refusal: refusal.because,
    policy,
  };
}

export type Asked = { readonly user: UserId; readonly circle: Circle; readonly maxAgeMs: number };

/** Facts about the person, or the refusal that nobody can say who they are. */
export async function lookUp(
  { people }: Pick<DecideDeps, "people">,
  run: Run,
  { user, circle, maxAgeMs }: Asked,
): Promise<Person | Refusal> {
  try {
    const [person, memberOf] = await Promise.all([
      people.lookUp(run.team, user, run.channel, maxAgeMs),
      people.memberOf(user, setsOf(circle), maxAgeMs),
    ]);
    return { ...person, memberOf };
  } catch (error) {
    if (error instanceof PortError) return { because: "unverified" };
    throw error;
  }
}

/** For what is refused before any use case is asked: leaves a count and an audit entry. Rejects with PortError. */
export type NoteRefusal = (
  by: { team: TeamId; user: UserId },
  because: NonNullable<AuditEntry["refusal"]>,
  about: string,
) => Promise<void>;

export function createNoteRefusal({
  store,
  metrics,
  context,
}: Pick<DecideDeps, "store" | "metrics" | "context">): NoteRefusal {
  return async ({ team, user }, refusal, outcome) => {
    metrics.refusal(refusal);
    const nothing = { run: null, approval: null, verdict: null, reason: null, digest: null, policy: null };
    const at = context().now;
    await store.audit([{ at, what: "refused", ...nothing, by: { team, user }, outcome, refusal }]);
  };
}
