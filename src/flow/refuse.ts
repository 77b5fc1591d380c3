// How a decision is refused: an audit entry, a count, and a repaired card. The words are Slack's business.

import type { Request } from "../core/approval.ts";
import type { Context } from "../core/context.ts";
import type { Refusal } from "../core/decide.ts";
import type { ApprovalId, ChannelId, TeamId, UserId } from "../core/ids.ts";
import type { PolicyMark } from "../core/policy.ts";
import { err, type Result } from "../core/result.ts";
import type { Run } from "../core/run.ts";
import { aboutRequest, auditEntry } from "./audit-entry.ts";
import type { FlowMetrics } from "./flow-log.ts";
import { type AgentService, type AuditEntry, type Store } from "./ports.ts";
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

/** What was tried: at which step, and what is known of it. */
export type Attempt = Pick<AuditEntry, "step"> &
  Partial<Pick<AuditEntry, "verdict" | "reason" | "moments">> & {
    readonly approval?: ApprovalId;
    readonly saw?: Request;
  };

/** Who tried, and where, as far as that is known. */
export type Actor = { readonly team: TeamId; readonly user: UserId; readonly channel?: ChannelId | null };

/** Says no, leaves an audit entry, and has the card repaired if it was stale. */
export async function refused(
  deps: DecideDeps,
  no: No,
  by: Actor,
  attempt: Attempt,
): Promise<Result<never, No>> {
  deps.metrics.refusal(no.refusal.because);
  if (no.run === null) await deps.store.audit([refusalEntry(deps, no, by, attempt)]);
  else {
    const alongside = { audit: [refusalEntry(deps, no, by, attempt)] };
    await deps.rounds.change(no.run.key, (run) => ({ run, alongside }), { mustHold: false });
  }
  return err(no);
}

function refusalEntry(
  deps: DecideDeps,
  { refusal, run, policy = null }: No,
  { team, user, channel = null }: Actor,
  { approval, saw, ...tried }: Attempt,
): AuditEntry {
  const { because } = refusal;
  const facts = { at: deps.context().now, what: "refused", outcome: "refused", refusal: because } as const;
  const about =
    run === null || approval === undefined || saw === undefined ? {} : aboutRequest(run, approval, saw);
  const place = run === null ? { channel } : {};
  return auditEntry(run, { ...facts, by: { team, user }, policy, ...place, ...tried, ...about });
}

/** For what is refused before any use case is asked: leaves a count and an audit entry. Rejects with PortError. */
export type NoteRefusal = (
  by: Actor,
  because: NonNullable<AuditEntry["refusal"]>,
  tried: Tried,
) => Promise<void>;

/** `runId`, `run`: as they were given, so there may be no such run. */
export type Tried = Pick<AuditEntry, "step"> &
  Partial<Pick<AuditEntry, "run" | "runId" | "outcome" | "digest" | "text">>;

export function createNoteRefusal({
  store,
  metrics,
  context,
}: Pick<DecideDeps, "store" | "metrics" | "context">): NoteRefusal {
  return async ({ team, user, channel = null }, refusal, tried) => {
    metrics.refusal(refusal);
    const run = await runNamed(store, tried);
    const facts = { at: context().now, what: "refused", outcome: "refused", ...tried, refusal } as const;
    const place = run === null ? { channel } : {};
    await store.audit([auditEntry(run, { ...facts, by: { team, user }, ...place })]);
  };
}

/** The run that somebody named, if it is one of ours. */
async function runNamed(store: Store, { run = null, runId = null }: Tried): Promise<Run | null> {
  const key = run ?? (runId === null ? null : await store.byRunId(runId));
  return key === null ? null : ((await store.load(key))?.run ?? null);
}
