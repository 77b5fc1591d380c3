// Builders of runs and approvals, using the domain's own functions. Each call creates new ids, unless ids are given.

import { createHash, randomUUID } from "node:crypto";
import { type Approval, type Request } from "#src/domain/approval.ts";
import { newApproval } from "#src/domain/approval-transitions.ts";
import { ApprovalId, ChannelId, Nonce, RunId, RunKey, TeamId, UserId } from "#src/domain/ids.ts";
import { canonicalJson, type Json } from "#src/domain/json.ts";
import { requestText } from "#src/domain/text/request-text.ts";
import { adoptedRun, newRun, type Run } from "#src/domain/run.ts";
import type { AuditEntry } from "#src/audit/entry.ts";
import type { FormTicket } from "#src/ports/store.ts";

export const TEAM = TeamId("T0ACME");
export const CHANNEL = ChannelId("C0OPS");
export const REQUESTER = UserId("U0REQUESTER");
export const APPROVER = UserId("U0APPROVER");
/** 2026-11-20 12:00 UTC. */
export const NOON = Date.UTC(2026, 10, 20, 12);

const fresh = (): string => randomUUID().replaceAll("-", "");
export const aRunKey = (): RunKey => RunKey(fresh());
export const aRunId = (): RunId => RunId(`run_${fresh()}`);
export const aNonce = (): Nonce => Nonce(fresh());

type RunFacts = Partial<Parameters<typeof newRun>[0]>;

function runFacts(facts: RunFacts): Parameters<typeof newRun>[0] {
  return {
    key: aRunKey(),
    team: TEAM,
    channel: CHANNEL,
    requester: REQUESTER,
    input: "Rotate the staging certificates",
    askedAt: NOON,
    answer: null,
    ...facts,
  };
}

/** A run that was requested but not yet created. */
export function aRun(facts: RunFacts = {}): Run {
  return newRun(runFacts(facts));
}

/** A run that the service knows. */
export function aWatchedRun(id: RunId = aRunId(), facts: RunFacts = {}): Run {
  return adoptedRun(id, runFacts(facts));
}

export function aRequest(content: Json = { action: "delete the old certificate" }): Request {
  const action = "delete the old certificate";
  const digest = createHash("sha256").update(canonicalJson(content)).digest("hex");
  return {
    action,
    content,
    requestedAt: null,
    digest,
    chars: requestText({ action, content }, "open").length,
  };
}

/** A pending approval whose card has version 1. */
export function anApproval(id = `apr_${fresh()}`): Approval {
  return newApproval(ApprovalId(id), aRequest(), aNonce(), { now: NOON, monotonic: NOON });
}

export function withApprovals(run: Run, ...approvals: readonly Approval[]): Run {
  return { ...run, approvals: [...run.approvals, ...approvals] };
}

export function aTicket(run: Run, approval: Approval): FormTicket {
  return {
    nonce: aNonce(),
    team: run.team,
    approval: approval.id,
    version: approval.version,
    user: APPROVER,
    run: run.key,
    verdict: "approve",
    saw: approval.request,
    at: NOON,
  };
}

export function anAuditEntry(run: Run, facts: Partial<AuditEntry> = {}): AuditEntry {
  return {
    at: NOON,
    what: "started",
    run: run.key,
    runId: null,
    channel: run.channel,
    requester: { team: run.team, user: run.requester },
    approval: null,
    by: { team: run.team, user: run.requester },
    verdict: null,
    reason: null,
    digest: null,
    policy: null,
    outcome: "stored",
    ...facts,
  };
}
