// The service may reuse the id of an approval for another request once the first is settled. Each request gets its own approval and card,
// and an id of our own to distinguish them. The service's id is still used to address it.

import { type Approval, isSettled, type Request } from "./approval.ts";
import { ApprovalId, MAX_SERVICE_ID_CHARS } from "./ids.ts";
import { isSameJson } from "./json.ts";
import { withoutFields } from "./policy/policy.ts";
import { DECISION_LINGER_MS } from "./snapshot.ts";

/**
 * Returns the approval that a listed request belongs to, or null if the request is new. `sameId`: approvals with its id, oldest first.
 *  1. Shortly after the service accepted its decision, the newest, because a lagging replica may still list it.
 *  2. The newest, if it has this request, unless its decision was given up because of this very change: then null. Null also if the newest
 *     is decided for good.
 *  3. While the newest is open: an earlier approval with this request, perhaps listed by a lagging replica. The newest then counts as
 *     absent; once its absence has lasted long enough, it may become this request.
 *  4. Otherwise the newest, whose request has changed.
 */
export function approvalOfRequest(
  sameId: readonly Approval[],
  { request, askedAt }: { readonly request: Request; readonly askedAt: number },
): Approval | null {
  const newest = sameId.at(-1);
  if (newest === undefined) return null;
  if (mayStillBeListed(newest, askedAt)) return newest;
  if (hasRequest(newest, request)) return isGivenUpFor(newest, request) ? null : newest;
  if (isSettled(newest) && newest.state.type === "decided") return null;
  const earlier = sameId.findLast((approval) => hasRequest(approval, request));
  return earlier !== undefined && isOpen(newest) ? earlier : newest;
}

/**
 * Returns whether the approval has this request. The run's own fields may have changed. So may the policy's volatile fields: a field that
 * was volatile before or is now makes no request a new one.
 */
function hasRequest({ request: before }: Approval, request: Request): boolean {
  if (before.digest === request.digest) return true;
  // Each path once: a second time, a path with dots would remove another field.
  const volatile = [...new Set([...(before.volatile ?? []), ...(request.volatile ?? [])])];
  return isSameJson(withoutFields(before.content, volatile), withoutFields(request.content, volatile));
}

/**
 * Returns whether a decision, whose answer was lost, was given up because its request differs from this one. Nothing more is sent for it, so
 * this one needs an approval of its own, even if only the run's own fields or the policy's volatile fields differ.
 */
function isGivenUpFor({ state, request }: Approval, { digest }: Request): boolean {
  if (state.type !== "decided" || state.delivery.type !== "unconfirmed") return false;
  return state.delivery.cause === "request-changed" && request.digest !== digest;
}

/** Returns whether a lagging replica may still list the approval as it was before the service accepted its decision. */
function mayStillBeListed({ state }: Approval, askedAt: number): boolean {
  if (state.type !== "decided") return false;
  const { delivery } = state;
  const isAccepted =
    delivery.type === "confirmed" || (delivery.type === "unconfirmed" && delivery.accepted === true);
  return isAccepted && askedAt < delivery.at + DECISION_LINGER_MS;
}

/** Returns whether the approval can still end in another way. One that is closed, or refused and absent, is over. */
function isOpen({ state }: Approval): boolean {
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
export function repeatsId(approvals: readonly Approval[], { id, serviceId }: Approval): boolean {
  const first = approvals.find((approval) => approval.serviceId === serviceId);
  return first !== undefined && first.id !== id;
}
