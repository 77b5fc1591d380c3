// The service may reuse the id of an approval for another request, once the first is settled. Each request gets its own approval and
// card, with our own id to tell them apart; the service's id remains its address.

import { type Approval, isSettled, type Request } from "./approval.ts";
import { ApprovalId, MAX_SERVICE_ID_CHARS } from "./ids.ts";
import { isSameJson, type Json } from "./json.ts";
import { withoutFields } from "./policy/policy.ts";

/**
 * How long a service that reads from a replica may still list what it listed before a decision (ms). A decision whose answer was lost is
 * sent again only if the approval is listed after that, and a settled id belongs to another request only after that.
 */
export const DECISION_LINGER_MS = 5_000;

/** The approval that a listed request belongs to. Null: the request is new. `same`: those with its id at the service, oldest first. */
export function bearerOf(
  same: readonly Approval[],
  { request, askedAt }: { readonly request: Request; readonly askedAt: number },
): Approval | null {
  const newest = same.at(-1);
  if (newest === undefined) return null;
  if (isAlike(newest, request)) return newest;
  if (isSettled(newest) && newest.state.type === "decided") return isOver(newest, askedAt) ? null : newest;
  // An earlier, decided request is listed again, perhaps by a replica that lags behind. The newest approval is not listed; once its
  // absence has lasted, it may become this request.
  const earlier = same.findLast((each) => isAlike(each, request));
  return earlier !== undefined && waits(newest) ? earlier : newest;
}

/** The request is the same, whatever changed in the run meanwhile. */
function isAlike({ request: before }: Approval, request: Request): boolean {
  return before.digest === request.digest || isSameJson(asked(before), asked(request));
}

const asked = ({ content, volatile = [] }: Request): Json => withoutFields(content, volatile);

/** The request listed now under the id of a settled approval is another one. */
function isOver({ state }: Approval, askedAt: number): boolean {
  const confirmed = state.type === "decided" && state.delivery.type === "confirmed" ? state.delivery : null;
  return confirmed === null || askedAt >= confirmed.at + DECISION_LINGER_MS;
}

/** The approval can still change. */
function waits({ state }: Approval): boolean {
  if (state.type !== "decided") return state.type === "pending";
  return !(state.delivery.type === "refused" && state.delivery.absent);
}

/** The service's id, unless the run has used it before. */
export function ownId(taken: ReadonlySet<ApprovalId>, serviceId: ApprovalId): ApprovalId {
  const short = serviceId.slice(0, MAX_SERVICE_ID_CHARS - SUFFIX_CHARS);
  let id = serviceId;
  for (let times = 2; taken.has(id); times += 1) id = ApprovalId(`${short} (${times})`);
  return id;
}
const SUFFIX_CHARS = 12;

/** An earlier approval of the run had the same id at the service. */
export function isReused(approvals: readonly Approval[], { id, serviceId }: Approval): boolean {
  const first = approvals.find((each) => each.serviceId === serviceId);
  return first !== undefined && first.id !== id;
}
