// Creates the audit entries about the start and the task of a run that no person submits.

import type { Context } from "../domain/context.ts";
import type { Run } from "../domain/run.ts";
import { aboutTask, type AuditEntry, auditEntry } from "./entry.ts";

export function auditOfStart(before: Run, after: Run, ctx: Context): AuditEntry[] {
  return [...startAnswered(before, after, ctx), ...taskTold(before, after, ctx)];
}

/**
 * Returns the entry for the result of a start. It stays when the run's record is deleted, so the requester stays barred if another person
 * watches the run.
 */
function startAnswered(before: Run, after: Run, { now: at }: Context): AuditEntry[] {
  const { creation, origin } = after;
  if (before.creation.type === creation.type) return [];
  switch (creation.type) {
    case "created": {
      // The record of an adopted run may begin again. The entry about that names the person who watches the run.
      if (origin === "adopted") return [];
      const outcome = "the service started the run";
      return [auditEntry(after, { at, what: "start-confirmed", outcome })];
    }
    case "unknown":
      return [auditEntry(after, { at, what: "start-unconfirmed", outcome: "a run may have started" })];
    case "taken": {
      // Such a run has no other entry with both our key and the service's id, and `requestersOf` needs one.
      const { id } = creation;
      return [auditEntry(after, { at, what: "start-unconfirmed", runId: id, outcome: "already followed" })];
    }
    default:
      return [];
  }
}

/** Returns the entry for an adopted run whose task the service has just named. */
function taskTold(before: Run, after: Run, ctx: Context): AuditEntry[] {
  if (before.input !== "" || after.input === "") return [];
  const about = aboutTask(after.input, ctx);
  return [auditEntry(after, { at: ctx.now, what: "task-told", outcome: "told by the service", ...about })];
}
