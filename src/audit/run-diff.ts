// Creates the audit entries that no person submits: before a decision is sent, for its result, when an approval closes undecided or opens
// again, and when the policy or a stop denies.

import { earlierVotes, mapDecisions, sentReason } from "../domain/approval-transitions.ts";
import { type Approval, type Decision, isSettled, type PastDecision } from "../domain/approval.ts";
import { isFinal } from "../domain/delivery-state.ts";
import { hasDeniedMoreThan } from "../domain/stop-report.ts";
import { type AuditPlace, voidOutcome } from "../domain/audit/hash-chain.ts";
import type { Context } from "../domain/context.ts";
import type { Effect } from "../domain/effect.ts";
import type { ApprovalId } from "../domain/ids.ts";
import { tooFewApprovers } from "../domain/applied-rule.ts";
import { BUILT_IN_RULE } from "../domain/policy/policy.ts";
import { askedText } from "../domain/same-request.ts";
import { findApproval, isWatched, replaceApproval, type Run, type UncausedEntries } from "../domain/run.ts";
import { auditOfFollowUp, withStageEntry } from "./follow-up-entries.ts";
import {
  aboutDecision,
  aboutRequest,
  type AuditEntry,
  auditEntry,
  type Moments,
  momentsOf,
  saysSameVote,
} from "./entry.ts";
import { VOTE_WAITS } from "./result-words.ts";
import { auditOfStart } from "./start-entries.ts";

/** Returns the entry for a decision that is about to be sent. Other effects have no entry. */
export function auditOfSending(run: Run, effect: Effect, at: number): AuditEntry[] {
  if (effect.type !== "send-decision") return [];
  const approval = findApproval(run, effect.approval);
  if (approval?.state.type !== "decided") return [];
  const { decision } = approval.state;
  const moments = momentsOf(run, approval, { sent: at });
  const about = { ...aboutDecision(approval.id, decision), ...aboutVotes(decision) };
  return [auditEntry(run, { at, what: "sent", outcome: "sending", moments, ...about })];
}

/** Returns the earlier approvals with their own reasons, and the combined reason that is sent. */
function aboutVotes(decision: Decision): Pick<AuditEntry, "votes" | "sentReason"> {
  const votes = earlierVotes(decision).map(({ entry = null, by, reason, at }) => ({ entry, by, reason, at }));
  return votes.length === 0 ? {} : { votes, sentReason: sentReason(decision) };
}

/**
 * Returns the entries for all decisions that were settled, refused or voided between two states of a run, for all approvals that closed or
 * opened again, and for its start.
 */
export function auditOfChange(before: Run, after: Run, ctx: Context): AuditEntry[] {
  return [...auditOfStart(before, after, ctx), ...approvalsChanged(before, after, ctx)];
}

function approvalsChanged(before: Run, after: Run, ctx: Context): AuditEntry[] {
  const { now: at } = ctx;
  if (before.approvals === after.approvals) return [];
  const earlier = new Map(before.approvals.map((approval) => [approval.id, approval]));
  return after.approvals.flatMap((next): AuditEntry[] => {
    const previous = earlier.get(next.id);
    if (previous === undefined)
      return [...deniedByNoPerson(after, next, at), ...auditOfFollowUp(after, null, next, at)];
    if (next === previous) return [];
    const voided = next.past
      .slice(previous.past.length)
      .map((past) => voidedEntry(after, previous, next, { past, at }));
    return [
      ...voided,
      ...stillWaiting(after, previous, next, at),
      ...settled(after, previous, next, ctx),
      ...deniedByNoPerson(after, next, at),
      ...closedOrReopened(after, previous, next, at),
      ...auditOfFollowUp(after, previous, next, at),
      ...tooFew(after, previous, next, at),
    ];
  });
}

function voidedEntry(
  run: Run,
  previous: Approval,
  next: Approval,
  { past: { decision, cause }, at }: { past: PastDecision; at: number },
): AuditEntry {
  // The request may have changed since, and the new one was asked later.
  const moments = momentsOf(run, previous, { submitted: decision.at, ...deliveryMoments(previous) });
  const outcome = voidOutcome(cause);
  return auditEntry(run, { at, what: "settled", outcome, moments, ...aboutDecision(next.id, decision) });
}

/** Returns the entries for the votes that still count although their decision no longer stands. */
function stillWaiting(run: Run, previous: Approval, next: Approval, at: number): AuditEntry[] {
  if (previous.state.type !== "decided" || next.state.type !== "pending") return [];
  const moments = momentsOf(run, next, deliveryMoments(previous));
  return next.votes.map((vote) => {
    const about = aboutDecision(next.id, vote);
    return auditEntry(run, { at, what: "settled", outcome: VOTE_WAITS, moments, ...about });
  });
}

function settled(run: Run, previous: Approval, next: Approval, ctx: Context): AuditEntry[] {
  const { now: at } = ctx;
  if (previous.state.type !== "decided" || next.state.type !== "decided") return [];
  const { delivery, decision } = next.state;
  if (delivery.type === previous.state.delivery.type || !hasEntry(delivery.type, isFinal(delivery)))
    return [];
  const confirmed = delivery.type === "confirmed" ? { confirmed: at } : {};
  const times = { submitted: decision.at, ...deliveryMoments(previous), ...confirmed };
  const moments = momentsOf(run, next, times);
  return [
    auditEntry(run, {
      at,
      what: "settled",
      outcome: delivery.type,
      moments,
      ...aboutDecision(next.id, decision),
      ...(delivery.type === "confirmed" ? askedIn(run, next, decision, ctx) : {}),
    }),
  ];
}

/** Returns the digest by which the decision is found when the same is asked again. Empty if the request has changed since the decision. */
function askedIn(run: Run, next: Approval, decision: Decision, ctx: Context): Pick<AuditEntry, "asked"> {
  const { by, policy } = decision;
  if (by === null || decision.digest !== next.request.digest) return {};
  const text = askedText(run, next, policy?.rule ?? BUILT_IN_RULE.name);
  return text === null ? {} : { asked: ctx.digest(text) };
}

const hasEntry = (type: string, final: boolean): boolean => final || type === "refused" || type === "unsure";

/** The number of requests denied by a stop that are kept in full for a run. Further entries have only the digest. Our choice. */
const STOPPED_TEXTS = 100;

/** Returns the entry for a denial by the policy or by a stop that has no entry yet. */
function deniedByNoPerson(run: Run, next: Approval, at: number): AuditEntry[] {
  const decision: Decision | null = next.state.type === "decided" ? next.state.decision : null;
  if (decision === null || decision.by !== null || decision.entry !== undefined) return [];
  const stopped = decision.stoppedBy !== undefined;
  const kept = !stopped || !hasDeniedMoreThan(STOPPED_TEXTS, run);
  const about = {
    ...(kept ? aboutRequest(run, next.id, next.request) : {}),
    ...aboutDecision(next.id, decision),
  };
  const outcome = stopped ? "the run is stopped" : "no decision in time";
  return [auditEntry(run, { at, what: "decided", outcome, moments: momentsOf(run, next), ...about })];
}

/** Both entries say why the approval closed. */
function closedOrReopened(run: Run, { state: from }: Approval, next: Approval, at: number): AuditEntry[] {
  const { state: to } = next;
  const about = () => ({ at, moments: momentsOf(run, next), ...aboutRequest(run, next.id, next.request) });
  if (from.type === "pending" && to.type === "closed")
    return [auditEntry(run, { ...about(), what: "closed", outcome: to.cause })];
  if (from.type === "closed" && to.type === "pending")
    return [auditEntry(run, { ...about(), what: "reopened", outcome: from.cause })];
  return [];
}

/** Written at the first count for each version of the card, and after someone was barred, but not at others: people come and go. */
function tooFew(run: Run, previous: Approval, next: Approval, at: number): AuditEntry[] {
  const shortage = tooFewApprovers(next);
  if (shortage === null || previous.approverCount?.of === next.approverCount?.of) return [];
  const { id: approval, request } = next;
  const outcome = `${shortage.able} of ${shortage.needs}`;
  return [auditEntry(run, { at, what: "too-few-approvers", outcome, approval, digest: request.digest })];
}

const deliveryMoments = ({ state }: Approval): Moments =>
  state.type === "decided" && state.delivery.type === "sending" ? { sent: state.delivery.at } : {};

/** Stores the place of its audit entry in each decision and in each ended approval. `places`: the places of the entries. */
export function withPlaces(run: Run, entries: readonly AuditEntry[], places: readonly AuditPlace[]): Run {
  return withEnds(withEntries(run, entries, places), entries, places);
}

/** Gives a newly stored decision the number of its entry. Only what that entry says may ever be sent. */
function withEntries(run: Run, entries: readonly AuditEntry[], places: readonly AuditPlace[]): Run {
  return entries.reduce((numbered, entry, index) => {
    const mark = places[index];
    const isVote = entry.what === "decided" || entry.what === "voted";
    const approval = entry.approval === null ? null : findApproval(numbered, entry.approval);
    if (entry.what === "escalated" && mark !== undefined && approval !== null)
      return replaceApproval(numbered, withStageEntry(approval, entry, mark.seq));
    if (!isVote || mark === undefined || approval === null) return numbered;
    return replaceApproval(numbered, withEntry(approval, entry, mark.seq));
  }, run);
}

function withEntry(approval: Approval, entry: AuditEntry, seq: number): Approval {
  return mapDecisions(approval, (decision) =>
    decision.entry === undefined && saysSameVote(entry, decision) ? { ...decision, entry: seq } : decision,
  );
}

function withEnds(run: Run, entries: readonly AuditEntry[], places: readonly AuditPlace[]): Run {
  const ends = new Map<ApprovalId, AuditPlace>();
  for (const [index, { what, approval }] of entries.entries()) {
    const mark = places[index];
    if (approval !== null && mark !== undefined && (what === "settled" || what === "closed"))
      ends.set(approval, { seq: mark.seq, link: mark.link });
  }
  const approvals = run.approvals.map((approval) => {
    const audited = ends.get(approval.id);
    return audited === undefined || !isOver(approval) ? approval : { ...approval, audited };
  });
  return ends.size === 0 ? run : { ...run, approvals };
}

/** Returns whether the approval is final, or was refused by the service and not reopened. */
const isOver = (approval: Approval): boolean =>
  isSettled(approval) || (approval.state.type === "decided" && approval.state.delivery.type === "refused");

// Approvals that no person touched must not make the audit grow without bound. A request that comes and goes gets a few full entries an
// hour. After that its events are only counted, and the count becomes an entry when the hour or the run is over.

const WINDOW_MS = 60 * 60_000;
/** The maximum number of entries of one kind in each window, for one approval and for one run. Our choice. */
export const MAX_ENTRIES_PER_APPROVAL = 4;
export const MAX_ENTRIES_PER_RUN = 60;
/** Once the texts of a window have this many characters, further entries have only digests. Our choice. */
const TEXT_CHARS_PER_RUN = 1024 * 1024;

type Limited = { readonly run: Run; readonly audit: readonly AuditEntry[] };

/** Limits the entries that no person caused, such as reminders. Returns the entries to write, and the run with the new counts. */
export function limitUncausedEntries(
  before: Run,
  after: Run,
  entries: readonly AuditEntry[],
  at: number,
): Limited {
  const audit: AuditEntry[] = [];
  let count = after.untouched ?? null;
  for (const entry of entries) {
    if (!isUntouched(before, entry)) {
      audit.push(entry);
      continue;
    }
    if (count !== null && at - count.since >= WINDOW_MS) {
      audit.push(...summaryOf(after, count, at));
      count = null;
    }
    const counted = countEntry(before, count ?? { since: at, told: {}, chars: 0, omitted: 0 }, entry);
    count = counted.count;
    audit.push(...counted.entries);
  }
  if (count !== null && !isWatched(after)) {
    audit.push(...summaryOf(after, count, at));
    count = null;
  }
  return { run: withCount(after, count), audit };
}

/** Returns whether no person caused the entry. A stage always has its entry, because its people's decisions rest on it. */
function isUntouched(before: Run, { what, outcome, approval }: AuditEntry): boolean {
  if (what === "reminded" || what === "too-few-approvers") return true;
  if (outcome === "unwatched" || approval === null) return false;
  return what === "reopened" || (what === "closed" && findApproval(before, approval)?.votes.length === 0);
}

type Counted = { readonly count: UncausedEntries; readonly entries: readonly AuditEntry[] };

function countEntry(run: Run, count: UncausedEntries, entry: AuditEntry): Counted {
  // Each kind is limited separately, so that the reminders of a request do not displace the entry about its end.
  const kind = `${entry.what} `;
  const key = kind + (entry.approval ?? "");
  const before = count.told[key] ?? 0;
  const ofKind = Object.entries(count.told).filter(([name]) => name.startsWith(kind));
  const all = ofKind.reduce((sum, [, times]) => sum + times, 0);
  const isFull = before >= MAX_ENTRIES_PER_APPROVAL || all >= MAX_ENTRIES_PER_RUN;
  // A report would call an approval closed if it had an entry only for its end. So closings also bound reopenings.
  if (entry.what === "reopened" ? !isEndTold(run, entry) : isFull) {
    // A reminder changes nothing about the approval.
    const further = entry.what === "reminded" ? 0 : 1;
    return { count: { ...count, omitted: count.omitted + further }, entries: [] };
  }
  // The digest of the request covers the run's own fields as well, so the entry needs nothing else about them.
  const { text = "", context: _digest, contextText = "", ...bare } = entry;
  const kept = count.chars < TEXT_CHARS_PER_RUN;
  const chars = count.chars + (kept ? text.length + contextText.length : 0);
  const told = entry.what === "reopened" ? count.told : { ...count.told, [key]: before + 1 };
  return { count: { ...count, told, chars }, entries: [kept ? entry : bare] };
}

const isEndTold = (run: Run, { approval }: AuditEntry): boolean =>
  approval !== null && findApproval(run, approval)?.audited !== undefined;

function summaryOf(run: Run, { since, omitted }: UncausedEntries, at: number): AuditEntry[] {
  if (omitted === 0) return [];
  const outcome = "only the first of each hour are told one by one";
  return [auditEntry(run, { at, what: "coalesced", outcome, times: omitted, since })];
}

function withCount(run: Run, count: UncausedEntries | null): Run {
  if (count === (run.untouched ?? null)) return run;
  const { untouched: _before, ...rest } = run;
  return count === null ? rest : { ...rest, untouched: count };
}
