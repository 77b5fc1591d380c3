// What makes two requests the same one, and what a card keeps of the decisions that were made on it before.

import type { Approval } from "./approval.ts";
import { countKeyOf } from "./applied-rule.ts";
import type { Outcome } from "./effect.ts";
import type { ApprovalId, RunId } from "./ids.ts";
import { canonicalJson, isRecord, type Json } from "./json.ts";
import { withoutFields } from "./policy/policy.ts";
import { NO_PRECEDENTS, type Precedent, type Precedents } from "./precedent.ts";
import { contextBehind } from "./run-context.ts";
import { findApproval, replaceApproval, type Run, runId } from "./run.ts";

/** Named in lower case, without underscores. They differ in every request and say nothing about what is asked. */
const TIMES = new Set(["requestedat", "createdat", "updatedat", "resolvedat"]);

/**
 * The text whose digest two requests share only if the same is asked under the same rule: what the service sent about the approval and
 * its run, without the run's task, which a person types, and without ids and times of this very request. Null: what is asked is not
 * known in full.
 */
export function askedText(
  run: Run,
  { serviceId, request }: Pick<Approval, "serviceId" | "request">,
  rule: string,
): string | null {
  const id = runId(run);
  const context = contextBehind(run.context, request);
  const isWhole = request.context === undefined || context !== null;
  if (id === null || request.action === null || !isWhole) return null;
  const content = withoutFields(request.content, request.volatile ?? []);
  const asked = isRecord(content) ? withoutOwn(content, id, serviceId) : content;
  const { input: _task, ...around } = context?.fields ?? {};
  return canonicalJson(["asked 1", rule, asked, withoutFields(around, context?.volatile ?? [])]);
}

/** An id is left out only where it names this very request or run: elsewhere it may say what is asked. */
function withoutOwn(content: { readonly [name: string]: Json }, run: RunId, approval: ApprovalId): Json {
  const own: { readonly [name: string]: Json } = {
    id: approval,
    approvalid: approval,
    runid: run,
    status: "pending",
  };
  const isOwn = ([name, value]: [string, Json]): boolean => {
    const plain = name.replace(/[_-]/g, "").toLowerCase();
    return TIMES.has(plain) || (Object.hasOwn(own, plain) && own[plain] === value);
  };
  return Object.fromEntries(Object.entries(content).filter((field) => !isOwn(field)));
}

/** Whether they are still to be looked up. A card never waits for it. */
export function wantsPrecedents(approval: Approval): boolean {
  const { state, request, precedents } = approval;
  return state.type === "pending" && request.action !== null && precedents?.of !== countKeyOf(approval);
}

/** Those of this rule and card version. */
export function precedentsOf(approval: Approval): Precedents {
  const { precedents } = approval;
  return precedents === undefined || precedents.of !== countKeyOf(approval) ? NO_PRECEDENTS : precedents;
}

export function applyPrecedents(run: Run, id: ApprovalId, outcome: Outcome): Run {
  const approval = findApproval(run, id);
  if (outcome.type !== "precedents" || approval === null || outcome.of !== countKeyOf(approval)) return run;
  const { of, denied, approved } = outcome;
  return replaceApproval(run, { ...approval, precedents: { of, denied, approved } });
}

/** Changes whenever what a card says of them would. */
export function precedentsRenderKey(approval: Approval): string {
  const { denied, approved } = precedentsOf(approval);
  const all = [
    ...(denied === null ? [] : [`denied ${countOf(denied)} ${denied.entry}`]),
    ...(approved === null ? [] : [`approved ${countOf(approved)} ${approved.entry}`]),
  ];
  return all.length === 0 ? "" : ` before ${all.join(" ")}`;
}

const countOf = ({ times, more }: Precedent): string => `${times}${more ? "+" : ""}`;
