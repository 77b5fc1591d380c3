// Runs with a history, created by the domain's own functions.

import type { Verdict } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import type { Context } from "#src/domain/context.ts";
import { decide } from "#src/domain/decide.ts";
import { ApprovalId, Nonce } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { observe } from "#src/domain/observe.ts";
import { BUILT_IN, type Policy } from "#src/domain/policy/policy.ts";
import { replaceApproval, type Run, runId } from "#src/domain/run.ts";
import type { PendingApproval, Snapshot } from "#src/domain/snapshot.ts";
import { APPROVER, aWatchedRun, NOON, TEAM } from "./run.ts";

let nonces = 0;

/** A context at this many ms after noon. Its digest is the text itself, so digests never collide. Its nonces are numbered. */
export function contextAt(ms = 0, policy: Policy = BUILT_IN): Context {
  return {
    policy,
    slowestRetryMs: 15_000,
    freezes: [],
    now: NOON + ms,
    monotonic: NOON + ms,
    process: "this one",
    digest: (text) => text,
    nonce: () => {
      nonces += 1;
      return Nonce(`nonce-${String(nonces).padStart(12, "0")}`);
    },
  };
}

/** The action is "delete it" unless another is named. */
export type ListedApproval =
  | string
  | { readonly id: string; readonly content: Json; readonly action?: string | null };

/** A snapshot of a run at noon. `pending` is the listed approvals, or null if the service does not list them. */
export function aSnapshot(
  run: Run,
  pending: readonly ListedApproval[] | null = [],
  facts: Partial<Snapshot> = {},
): Snapshot {
  const id = runId(run);
  if (id === null) throw new Error("the service does not know this run");
  const items = pending?.map((listed): PendingApproval => {
    const item = typeof listed === "string" ? { id: listed, content: { action: "delete it" } } : listed;
    const { id, content, action = "delete it" }: Exclude<ListedApproval, string> = item;
    return { id: ApprovalId(id), action, requestedAt: null, content };
  });
  return {
    id,
    status: (pending ?? []).length === 0 ? "running" : "awaiting_approval",
    input: "task",
    output: null,
    completedAt: null,
    pending: items ?? null,
    unreadable: [],
    extra: {},
    askedAt: NOON,
    ...facts,
  };
}

/** A watched run with these approvals pending since noon. */
export function listedRun(...ids: readonly string[]): Run {
  const run = aWatchedRun();
  return observe(run, aSnapshot(run, ids), contextAt());
}

/** A run whose first approval was decided at noon. The decision is not sent yet. */
export function decidedRun(verdict: Verdict = "approve", reason = "it is time"): Run {
  const run = listedRun("apr_1");
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("the run has no approvals");
  const { id, version, request } = approval;
  const by = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true } as const;
  const submission = { approval: id, version, digest: request.digest, was: request, verdict, reason, by };
  const result = decide(run, submission, contextAt());
  if (!result.ok) throw new Error(`refused: ${result.error.type}`);
  return result.value;
}

/** Like `decidedRun`, with this delivery of the decision. */
export function deliveredRun(delivery: Delivery, verdict: Verdict = "approve"): Run {
  const run = decidedRun(verdict);
  const [approval] = run.approvals;
  if (approval?.state.type !== "decided") throw new Error("the approval is not decided");
  return replaceApproval(run, withDelivery(approval, approval.state.decision, delivery));
}
