// Creates the audit entries about the start and the task of a run that no person submits.

import type { Context } from "../domain/context.ts";
import type { Run } from "../domain/run.ts";
import { aboutTask, type AuditEntry, auditEntry } from "./entry.ts";

export function auditOfStart(before: Run, after: Run, ctx: Context): AuditEntry[] {
  return [...unconfirmed(before, after, ctx), ...taskTold(before, after, ctx)];
}

/** The entry stays when the run's record is deleted. It bars the requester if another person watches the run that may have started. */
function unconfirmed(before: Run, after: Run, { now: at }: Context): AuditEntry[] {
  const { creation } = after;
  if (before.creation.type === creation.type) return [];
  const facts = { at, what: "start-unconfirmed" } as const;
  if (creation.type === "unknown")
    return [auditEntry(after, { ...facts, outcome: "a run may have started" })];
  // Such a run has no other entry with both our key and the service's id, and `requestersOf` needs one.
  return creation.type === "taken"
    ? [auditEntry(after, { ...facts, runId: creation.id, outcome: "already followed" })]
    : [];
}

/** Returns the entry for an adopted run whose task the service has just named. */
function taskTold(before: Run, after: Run, ctx: Context): AuditEntry[] {
  if (before.input !== "" || after.input === "") return [];
  const about = aboutTask(after.input, ctx);
  return [auditEntry(after, { at: ctx.now, what: "task-told", outcome: "told by the service", ...about })];
}
