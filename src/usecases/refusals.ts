// Refuses a decision: counts the refusal, writes an audit entry, and repairs the card. The Slack adapter has the words.

import type { Request } from "../domain/approval.ts";
import type { Context } from "../domain/context.ts";
import type { Refusal } from "../domain/authorization.ts";
import type { RefusalReason } from "../domain/command-refusal.ts";
import type { ApprovalId, ChannelId, PersonId } from "../domain/ids.ts";
import type { RuleRef } from "../domain/policy/policy.ts";
import { err, type Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import { aboutRequest, auditEntry, type AuditEntry } from "../audit/entry.ts";
import type { AgentService, Counters, People } from "../ports.ts";
import type { FormStore, RunStore } from "../ports/store.ts";
import type { AuditLog } from "../ports/audit-store.ts";
import type { Clock, CountedTime } from "../engine/clock.ts";
import type { RunEngine } from "../engine/run-engine.ts";

/** A refusal, and its run if we know it. */
export type RefusedAttempt = {
  readonly refusal: Refusal;
  readonly run: Run | null;
  readonly policy?: RuleRef;
};

export type DecideDeps = {
  store: RunStore & FormStore & AuditLog;
  agents: Pick<AgentService, "fetchRun">;
  people: Pick<People, "lookUp" | "memberOf" | "channelsOf" | "isPublic">;
  clock: Clock;
  engine: Pick<RunEngine, "transactAnywhere" | "changeAnywhere">;
  context: () => Context;
  metrics: Counters;
  /** A click or a form is judged only after `makeUp`. Otherwise, it may be refused because of time in which no one could act. */
  time: Pick<CountedTime, "makeUp">;
};

/** The step that was tried, and the known details of the attempt. */
export type Attempt = Pick<AuditEntry, "step"> &
  Partial<Pick<AuditEntry, "verdict" | "reason" | "moments">> & {
    readonly approval?: ApprovalId;
    readonly saw?: Request;
  };

/** The person who tried, and the channel if it is known. */
export type Actor = PersonId & { readonly channel?: ChannelId | null };

/** Counts the refusal, writes its audit entry, and reconciles the run so that a stale card is repaired. */
export async function refused(
  deps: DecideDeps,
  attempted: RefusedAttempt,
  by: Actor,
  attempt: Attempt,
): Promise<Result<never, RefusedAttempt>> {
  deps.metrics.refusal(attempted.refusal.type);
  const entry = refusalEntry(deps, attempted, by, attempt);
  if (attempted.run === null || !(await recordWith(deps, attempted.run, entry)))
    await deps.store.audit([entry]);
  return err(attempted);
}

/** Resolves to false if the run is gone, because it was deleted since it was loaded. */
async function recordWith({ engine }: DecideDeps, { key }: Run, entry: AuditEntry): Promise<boolean> {
  const sideWrites = { audit: [entry] };
  return (await engine.changeAnywhere(key, (run) => ({ run, sideWrites }))) !== null;
}

function refusalEntry(
  deps: DecideDeps,
  { refusal, run, policy = null }: RefusedAttempt,
  { team, user, channel = null }: Actor,
  { approval, saw, ...tried }: Attempt,
): AuditEntry {
  const { type } = refusal;
  const facts = { at: deps.context().now, what: "refused", outcome: "refused", refusal: type } as const;
  const about =
    run === null || approval === undefined || saw === undefined ? {} : aboutRequest(run, approval, saw);
  const place = run === null ? { channel } : {};
  return auditEntry(run, { ...facts, by: { team, user }, policy, ...place, ...tried, ...about });
}

/** Counts a refusal that did not come from a use case, and writes its audit entry. Rejects with PortError. */
export type NoteRefusal = (by: Actor, refusal: RefusalReason, tried: AttemptDetails) => Promise<void>;

/** `runId` and `run` are what the person named, so the run may not exist. */
export type AttemptDetails = Pick<AuditEntry, "step"> &
  Partial<Pick<AuditEntry, "run" | "runId" | "outcome" | "digest" | "text" | "refers">>;

type NoteDeps = Pick<DecideDeps, "metrics" | "context"> & { readonly store: RunStore & AuditLog };

export function createNoteRefusal({ store, metrics, context }: NoteDeps): NoteRefusal {
  return async ({ team, user, channel = null }, refusal, tried) => {
    metrics.refusal(refusal);
    const run = await runNamed(store, tried);
    const facts = { at: context().now, what: "refused", outcome: "refused", ...tried, refusal } as const;
    const place = run === null ? { channel } : {};
    await store.audit([auditEntry(run, { ...facts, by: { team, user }, ...place })]);
  };
}

/** Resolves to the run that the person named, if we know it. */
async function runNamed(store: RunStore, { run = null, runId = null }: AttemptDetails): Promise<Run | null> {
  const key = run ?? (runId === null ? null : await store.byRunId(runId));
  return key === null ? null : ((await store.load(key))?.run ?? null);
}
