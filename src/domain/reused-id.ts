// The service may reuse the id of an approval for another request once the first is settled. Each request gets its own approval and card,
// and an id of our own to distinguish them. The service's id is still used to address it.

import { type Approval, isSettled, type Request } from "./approval.ts";
import { ApprovalId, MAX_SERVICE_ID_CHARS } from "./ids.ts";
import { isSameJson } from "./json.ts";
import { withoutFields } from "./policy/policy.ts";

/**
 * How long a service that reads from a lagging replica may still list what it listed before a decision (ms). Only after that time do we
 * send a decision again whose answer was lost, or believe that a settled id belongs to another request.
 */
export const DECISION_LINGER_MS = 5_000;

/** Returns the approval that a listed request belongs to, or null if the request is new. `sameId`: approvals with its id, oldest first. */
export function approvalOfRequest(
  sameId: readonly Approval[],
  { request, askedAt }: { readonly request: Request; readonly askedAt: number },
): Approval | null {
  const newest = sameId.at(-1);
  if (newest === undefined) return null;
  if (isAlike(newest, request)) return newest;
  if (isSettled(newest) && newest.state.type === "decided") return isOver(newest, askedAt) ? null : newest;
  // An earlier, decided request may be listed again, perhaps by a lagging replica. Then the newest approval is not listed; once its absence
  // has lasted long enough, it may become this request.
  const earlier = sameId.findLast((approval) => isAlike(approval, request));
  return earlier !== undefined && canChange(newest) ? earlier : newest;
}

/**
 * Returns whether the request itself is the same. The run's own fields may have changed. So may the policy's volatile fields: a field that
 * was volatile before or is now makes no request a new one.
 */
function isAlike({ request: before }: Approval, request: Request): boolean {
  if (before.digest === request.digest) return true;
  // Each path once: a second time, a path with dots would remove another field.
  const volatile = [...new Set([...(before.volatile ?? []), ...(request.volatile ?? [])])];
  return isSameJson(withoutFields(before.content, volatile), withoutFields(request.content, volatile));
}

/** Returns whether a request that is now listed under the id of this settled approval must be a new one. */
function isOver({ state }: Approval, askedAt: number): boolean {
  const confirmed = state.type === "decided" && state.delivery.type === "confirmed" ? state.delivery : null;
  return confirmed === null || askedAt >= confirmed.at + DECISION_LINGER_MS;
}

/** Returns whether the approval can still change. */
function canChange({ state }: Approval): boolean {
  if (state.type !== "decided") return state.type === "pending";
  return !(state.delivery.type === "refused" && state.delivery.absent);
}

/**
 * Returns our ids for new requests: the service's id, with a number appended if the run has used it before. `taken`: the ids of the run's
 * approvals. A service's id may look like one of ours.
 */
export function ownIds(taken: ReadonlySet<ApprovalId>, serviceIds: readonly ApprovalId[]): ApprovalId[] {
  const given = new Set([...taken, ...serviceIds]);
  return serviceIds.map((serviceId) => {
    if (!taken.has(serviceId)) return serviceId;
    const id = ownId(given, serviceId);
    given.add(id);
    return id;
  });
}

function ownId(taken: ReadonlySet<ApprovalId>, serviceId: ApprovalId): ApprovalId {
  const short = serviceId.slice(0, MAX_SERVICE_ID_CHARS - SUFFIX_CHARS);
  let id = serviceId;
  for (let times = 2; taken.has(id); times += 1) id = ApprovalId(`${short} (${times})`);
  return id;
}
const SUFFIX_CHARS = 12;

/** Returns whether an earlier approval of the run had the same id at the service. */
export function isReused(approvals: readonly Approval[], { id, serviceId }: Approval): boolean {
  const first = approvals.find((approval) => approval.serviceId === serviceId);
  return first !== undefined && first.id !== id;
}
