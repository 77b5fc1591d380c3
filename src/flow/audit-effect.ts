// The audit's lines about what nobody submitted just now: one before a decision is sent, one when something became of it, one
// when an approval closes undecided.

import { type Approval, isFinal, isSettled } from "../core/approval.ts";
import type { AuditMark } from "../core/audit-chain.ts";
import type { ApprovalId } from "../core/ids.ts";
import type { Effect } from "../core/effect.ts";
import { findApproval, type Run } from "../core/run.ts";
import {
  aboutDecision,
  aboutRequest,
  type AuditEntry,
  auditEntry,
  momentsOf,
  type Moments,
} from "./audit-entry.ts";

/** For a decision that is about to leave us. Other effects leave no line. */
export function auditOfSending(run: Run, effect: Effect, at: number): AuditEntry[] {
  if (effect.do !== "send-decision") return [];
  const approval = findApproval(run, effect.approval);
  if (approval?.state.is !== "decided") return [];
  const moments = momentsOf(run, approval, { sent: at });
  const about = aboutDecision(approval.id, approval.state.decision);
  return [auditEntry(run, { at, what: "sent", outcome: "sending", moments, ...about })];
}

/** For every decision that was settled, refused or given up between two states of a run, and every approval that closed. */
export function auditOfChange(before: Run, after: Run, at: number): AuditEntry[] {
  if (before.approvals === after.approvals) return [];
  return before.approvals.flatMap((was): AuditEntry[] => {
    const is = findApproval(after, was.id);
    if (is === null || is === was) return [];
    return was.state.is === "decided" ? settled(after, was, is, at) : closed(after, was, is, at);
  });
}

function settled(run: Run, was: Approval, is: Approval, at: number): AuditEntry[] {
  if (was.state.is !== "decided") return [];
  const outcome = outcomeOf(was, is);
  if (outcome === null) return [];
  const { decision } = was.state;
  const moments = momentsOf(run, is, {
    submitted: decision.at,
    ...deliveryMoments(was),
    ...deliveryMoments(is),
  });
  return [auditEntry(run, { at, what: "settled", outcome, moments, ...aboutDecision(is.id, decision) })];
}

function closed(run: Run, was: Approval, is: Approval, at: number): AuditEntry[] {
  if (was.state.is !== "pending" || is.state.is !== "closed") return [];
  const about = aboutRequest(run, is.id, is.request);
  const moments = momentsOf(run, is);
  return [auditEntry(run, { at, what: "closed", outcome: is.state.because, moments, ...about })];
}

function deliveryMoments({ state }: Approval): Moments {
  if (state.is !== "decided") return {};
  if (state.delivery.is === "sending") return { sent: state.delivery.at };
  return state.delivery.is === "confirmed" ? { confirmed: state.delivery.at } : {};
}

/** Null: nothing that ends the decision, or its attempt, happened. */
function outcomeOf(was: Approval, is: Approval): string | null {
  if (was.state.is !== "decided") return null;
  if (is.state.is !== "decided") return `void: ${is.past.at(-1)?.because ?? "closed"}`;
  const { delivery } = is.state;
  if (delivery.is === was.state.delivery.is) return null;
  return isFinal(delivery) || delivery.is === "refused" || delivery.is === "unsure" ? delivery.is : null;
}

/** Each approval that came to an end keeps where the audit tells of it. `marks`: where the entries stand. */
export function withMarks(run: Run, entries: readonly AuditEntry[], marks: readonly AuditMark[]): Run {
  const ends = new Map<ApprovalId, AuditMark>();
  for (const [index, { what, approval }] of entries.entries()) {
    const mark = marks[index];
    if (approval !== null && mark !== undefined && (what === "settled" || what === "closed"))
      ends.set(approval, { seq: mark.seq, link: mark.link });
  }
  const approvals = run.approvals.map((approval) => {
    const audited = ends.get(approval.id);
    return audited === undefined || !isOver(approval) ? approval : { ...approval, audited };
  });
  return ends.size === 0 ? run : { ...run, approvals };
}

/** Settled for good, or refused by the service and not open again. */
function isOver(approval: Approval): boolean {
  const { state } = approval;
  return isSettled(approval) || (state.is === "decided" && state.delivery.is === "refused");
}
