// When two requests are the same, and what a card stores about earlier decisions on the same request.

import type { Approval } from "./approval.ts";
import { lookUpKeyOf } from "./applied-rule.ts";
import type { Outcome } from "./effect.ts";
import type { ApprovalId, RunId } from "./ids.ts";
import { canonicalJson, isRecord, type Json, numberText, plainName } from "./json.ts";
import { withoutFields } from "./policy/policy.ts";
import { NO_PRECEDENTS, type Precedent, type Precedents } from "./precedent.ts";
import { contextBehind } from "./run-context.ts";
import { findApproval, replaceApproval, type Run, runId } from "./run.ts";

/** Fields that differ in every request and do not say what is asked. In lower case, without underscores. */
const TIME_FIELDS = new Set(["requestedat", "createdat", "updatedat", "resolvedat"]);
/** A date or a time, also without a time zone. Nothing else fits in, so these fields cannot say what is asked. */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
/** A time as a number, in seconds, milliseconds or smaller units since 1970. The first is in 2001. */
const TIME_NUMBER = /^\d{10,19}(?:\.\d{1,9})?$/;

/**
 * Returns a text whose digest two requests share only if they ask the same under the same rule. It covers what the service sent about the
 * approval and its run, without the run's task (typed by a person) and without ids and times of this request itself. Returns null if we do
 * not know the full request.
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
  const asked = isRecord(content) ? withoutOwnIdsAndTimes(content, id, serviceId) : content;
  const { input: _task, ...contextFields } = context?.fields ?? {};
  return canonicalJson(["asked 1", rule, asked, withoutFields(contextFields, context?.volatile ?? [])]);
}

/** Removes an id only if it names this request or run. Any other id may say what is asked. */
function withoutOwnIdsAndTimes(
  content: { readonly [name: string]: Json },
  run: RunId,
  approval: ApprovalId,
): Json {
  const own: { readonly [name: string]: Json } = {
    id: approval,
    approvalid: approval,
    runid: run,
    status: "pending",
  };
  const isOwn = ([name, value]: [string, Json]): boolean => {
    const plain = plainName(name);
    return (TIME_FIELDS.has(plain) && isTime(value)) || (Object.hasOwn(own, plain) && own[plain] === value);
  };
  return Object.fromEntries(Object.entries(content).filter((field) => !isOwn(field)));
}

/** Null is the time of what has not happened yet. */
function isTime(value: Json): boolean {
  if (value === null) return true;
  return typeof value === "string" ? TIME.test(value) : TIME_NUMBER.test(numberText(value) ?? "");
}

/** Returns whether the precedents must still be looked up. A card never waits for that. */
export function wantsPrecedents(approval: Approval): boolean {
  const { state, request, precedents } = approval;
  return state.type === "pending" && request.action !== null && precedents?.of !== lookUpKeyOf(approval);
}

/** Returns the precedents, if they were looked up for the current rule and card version. */
export function precedentsOf(approval: Approval): Precedents {
  const { precedents } = approval;
  return precedents === undefined || precedents.of !== lookUpKeyOf(approval) ? NO_PRECEDENTS : precedents;
}

export function applyPrecedents(run: Run, id: ApprovalId, outcome: Outcome): Run {
  const approval = findApproval(run, id);
  if (outcome.type !== "precedents" || approval === null || outcome.of !== lookUpKeyOf(approval)) return run;
  const { type: _type, ...precedents } = outcome;
  return replaceApproval(run, { ...approval, precedents });
}

/** Returns a key that changes whenever the card would say something else about the precedents. */
export function precedentsRenderKey(approval: Approval): string {
  const { denied, approved, unread } = precedentsOf(approval);
  const keys = [
    ...(denied === null ? [] : [`denied ${countOf(denied)} ${denied.entry}`]),
    ...(approved === null ? [] : [`approved ${countOf(approved)} ${approved.entry}`]),
    ...(unread === undefined ? [] : ["unread"]),
  ];
  return keys.length === 0 ? "" : ` before ${keys.join(" ")}`;
}

const countOf = ({ times, more }: Precedent): string => `${times}${more ? "+" : ""}`;
