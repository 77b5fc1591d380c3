// The service may use the id of an approval again for another request, once the first is settled. Each request has an approval and
// a card of its own, with an id of ours that tells them apart; the service's id is what its address is made of.

import { type Approval, isSettled, type Request } from "./approval.ts";
import { ApprovalId, MAX_SERVICE_ID_CHARS } from "./ids.ts";
import { isSameJson, type Json } from "./json.ts";
import { without } from "./volatile-fields.ts";

/**
 * A service that reads from a replica may go on listing what it listed before a decision for so long (ms). A decision whose answer was
 * lost goes again only when it is listed after that, and an id that is settled is another request's only after that.
 */
export const DECISION_LINGER_MS = 5_000;

/** The approval that a listed request belongs to. Null: it is one that was not there before. */
export function bearerOf(
  approvals: readonly Approval[],
  serviceId: ApprovalId,
  { request, askedAt }: { readonly request: Request; readonly askedAt: number },
): Approval | null {
  const same = approvals.filter((each) => each.serviceId === serviceId);
  const newest = same.at(-1);
  if (newest === undefined) return null;
  if (isAlike(newest, request)) return newest;
  if (isSettled(newest) && newest.state.type === "decided") return isOver(newest, askedAt) ? null : newest;
  // What was decided before is listed once more: perhaps by a replica that lags behind. The newest one is not listed, and when that
  // has lasted it may become this request.
  const earlier = same.findLast((each) => isAlike(each, request));
  return earlier !== undefined && waits(newest) ? earlier : newest;
}

/** The same is asked, whatever else has become of the run meanwhile. */
function isAlike({ request: before }: Approval, request: Request): boolean {
  return before.digest === request.digest || isSameJson(asked(before), asked(request));
}

const asked = ({ content, volatile = [] }: Request): Json => without(content, volatile);

/** What is listed now under the id of a settled approval is another request. */
function isOver({ state }: Approval, askedAt: number): boolean {
  const confirmed = state.type === "decided" && state.delivery.type === "confirmed" ? state.delivery : null;
  return confirmed === null || askedAt >= confirmed.at + DECISION_LINGER_MS;
}

/** Something is still to come of it. */
function waits({ state }: Approval): boolean {
  if (state.type !== "decided") return state.type === "pending";
  return !(state.delivery.type === "refused" && state.delivery.absent);
}

/** The service's own, as long as it is used once in a run. */
export function ownId(approvals: readonly Approval[], serviceId: ApprovalId): ApprovalId {
  const taken = new Set(approvals.map(({ id }) => id));
  const short = serviceId.slice(0, MAX_SERVICE_ID_CHARS - SUFFIX_CHARS);
  let id = serviceId;
  for (let times = 2; taken.has(id); times += 1) id = ApprovalId(`${short} (${times})`);
  return id;
}
const SUFFIX_CHARS = 12;

/** An approval before it in the run had the same id at the service. */
export function isReused(approvals: readonly Approval[], { id, serviceId }: Approval): boolean {
  const first = approvals.find((each) => each.serviceId === serviceId);
  return first !== undefined && first.id !== id;
}
