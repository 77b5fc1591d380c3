// Runs, approvals and errors in the wire format, in the variants that the profile selects.

import type { Answer } from "./exchange.ts";
import type { Profile, SuccessStatus } from "./profile.ts";
import { isOver, pendingOf } from "./service-run.ts";
import type { Approval, Run } from "./service-run.ts";

function timestamp(at: number, { timestamps }: Profile): string {
  const whole = new Date(at).toISOString();
  switch (timestamps) {
    case "milliseconds":
      return whole;
    case "seconds":
      return whole.replace(/\.\d+Z$/, "Z");
    case "offset":
      return whole.replace("Z", "+00:00");
  }
}

export function success(profile: Profile, status: SuccessStatus, record: object): Answer {
  if (status === 204) return { status, body: null };
  if (profile.successBody === "json") return { status, body: JSON.stringify(record) };
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body: "OK, thank you.\n" };
}

export function createdRecord(run: Run, profile: Profile): object {
  const created_at = timestamp(run.createdAt, profile);
  return { id: run.id, status: "queued", input: run.input, created_at };
}

export function runRecord(run: Run, profile: Profile): object {
  return {
    id: run.id,
    status: statusOf(run, profile),
    ...(profile.readEchoesInput ? { input: run.input, created_at: timestamp(run.createdAt, profile) } : {}),
    ...(run.phase === "awaiting_approval"
      ? { pending_approvals: pendingField(pendingOf(run), profile) }
      : {}),
    ...endingFields(run, profile),
  };
}

function statusOf(run: Run, profile: Profile): string {
  if (run.phase !== "working") return run.phase;
  const before = profile.runningState ?? "queued";
  return run.resumed ? (profile.resumedState ?? before) : before;
}

function endingFields({ ending, completedAt }: Run, profile: Profile): object {
  if (ending === null || completedAt === null) return {};
  const completed_at = timestamp(completedAt, profile);
  if (ending.type === "succeeded") return { output: ending.output, completed_at };
  if (!profile.tellsWhyItEnded) return { completed_at };
  return ending.type === "failed"
    ? { error: { code: ending.code, message: ending.message }, completed_at }
    : { reason: ending.reason, completed_at };
}

function pendingField(approvals: readonly Approval[], profile: Profile): unknown {
  const items = approvals.map((approval) => pendingItem(approval, profile));
  switch (profile.pendingList) {
    case "list":
      return items;
    case "list with nulls":
      return [null, ...items, null];
    case "items":
      return { count: items.length, items };
    case "by id":
      return Object.fromEntries(approvals.map(({ id }, at) => [id, items[at]]));
  }
}

function pendingItem(approval: Approval, profile: Profile): unknown {
  const { id, action, requestedAt, details } = approval;
  switch (profile.pendingShape) {
    case "full":
      return { id, action, status: "pending", requested_at: timestamp(requestedAt, profile) };
    case "extra":
      return { id, action, status: "pending", requested_at: timestamp(requestedAt, profile), ...details };
    case "id and action":
      return { id, action };
    case "lacking":
      return { id, requested_at: timestamp(requestedAt, profile) };
    case "bare id":
      return id;
    case "nested":
      return { approval: approvalRecord(approval, profile) };
    case "approval_id":
      return { approval_id: id, action, status: "pending" };
  }
}

export function approvalRecord({ id, action, requestedAt, state }: Approval, profile: Profile): object {
  const record = { id, action, requested_at: timestamp(requestedAt, profile) };
  switch (state.type) {
    case "pending":
      return { ...record, status: "pending" };
    case "withdrawn":
      return { ...record, status: "withdrawn", resolved_at: timestamp(state.at, profile) };
    case "decided": {
      const status = state.verdict === "approve" ? profile.approvedStatus : profile.deniedStatus;
      return { ...record, status, resolved_at: timestamp(state.at, profile) };
    }
  }
}

/** Says why an approval cannot be decided now, for the error record. */
export function noLongerPending(run: Run, approval: Approval): string {
  const { state } = approval;
  if (state.type === "decided") return `Approval '${approval.id}' is already resolved.`;
  if (state.type === "withdrawn") return `Approval '${approval.id}' is no longer asked for.`;
  return isOver(run) ? `Run '${run.id}' is over.` : `Approval '${approval.id}' cannot be resolved.`;
}
