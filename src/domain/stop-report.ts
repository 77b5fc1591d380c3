// What the thread's message about a stop reports: the requests that the stop denies, and the approvals that it came too late for.

import { onlyPeopleMayDeny } from "./applied-rule.ts";
import type { Approval, Decision } from "./approval.ts";
import { isFinal } from "./delivery-state.ts";
import { cardOf, isMissing, isStoppable, isWatched, type Run, stopRenderKey } from "./run.ts";
import { STOPPED } from "./slot.ts";

/**
 * Counts the requests that were denied because of the stop, the denials that the service confirmed, and those that are over without a
 * confirmation. Those whose denial the service did not accept do not count as denied: `refused` wait again, `expired` have expired here.
 */
export function deniedByStop(run: Run): {
  readonly denied: number;
  readonly confirmed: number;
  readonly notConfirmed: number;
  readonly refused: number;
  readonly expired: number;
} {
  const fates = run.approvals.map((approval) => fateOfDenial(run, approval));
  const countOf = (...counted: readonly DenialFate[]): number =>
    fates.filter((fate) => fate !== null && counted.includes(fate)).length;
  return {
    denied: countOf("under-way", "confirmed", "not-confirmed"),
    confirmed: countOf("confirmed"),
    notConfirmed: countOf("not-confirmed"),
    refused: countOf("refused"),
    expired: countOf("expired"),
  };
}

/** The most requests that the message about a stop names. */
const MAX_NAMED = 5;

/** The requests that the stop's message names: first those that need a person, then the others, each from the oldest on. */
export function namedByStop(run: Run): { readonly named: readonly DenialByStop[]; readonly more: number } {
  const all = run.approvals.flatMap((approval): DenialByStop[] => {
    const fate = fateOfDenial(run, approval);
    return fate === null ? [] : [{ approval, fate }];
  });
  const isForPerson = ({ fate }: DenialByStop): boolean => fate !== "under-way" && fate !== "confirmed";
  const sorted = [...all.filter(isForPerson), ...all.filter((each) => !isForPerson(each))];
  return { named: sorted.slice(0, MAX_NAMED), more: Math.max(0, sorted.length - MAX_NAMED) };
}

/** Stops counting at `max`, because it is asked about each of thousands of requests. */
export function hasDeniedMoreThan(max: number, run: Run): boolean {
  let denied = 0;
  for (const approval of run.approvals) {
    const fate = fateOfDenial(run, approval);
    if (fate !== null && fate !== "refused" && fate !== "expired") denied += 1;
    if (denied > max) return true;
  }
  return false;
}

export type DenialFate = "under-way" | "confirmed" | "not-confirmed" | "refused" | "expired";
export type DenialByStop = { readonly approval: Approval; readonly fate: DenialFate };

/** Returns null if the stop did not deny the request. */
function fateOfDenial(run: Run, approval: Approval): DenialFate | null {
  const { state, past } = approval;
  if (state.type === "pending") return onlyPeopleMayDeny({ past }) ? "refused" : null;
  const since = run.stop?.at ?? Number.POSITIVE_INFINITY;
  const isByStop = ({ stoppedBy, at }: Decision): boolean => stoppedBy !== undefined && at >= since;
  const isExpired = state.type === "closed" && state.cause === "expired" && isWatched(run);
  if (isExpired && past.some(({ decision, cause }) => cause === "refused" && isByStop(decision)))
    return "expired";
  const last = past.at(-1);
  if (state.type === "closed" && last?.cause === state.cause && isByStop(last.decision))
    return "not-confirmed";
  // A request that was denied and opened again is for people to decide.
  if (state.type !== "decided" || !isByStop(state.decision)) return null;
  const { delivery } = state;
  if (delivery.type === "confirmed") return "confirmed";
  // A refused denial of a request that is still listed is undone. If the request is no longer listed, or its run is over, nothing follows the refusal.
  const isOver = isFinal(delivery) || (delivery.type === "refused" && (delivery.absent || !isWatched(run)));
  return isOver ? "not-confirmed" : "under-way";
}

/** What is known about an approval that was sent before the stop. */
export type SentFate = "sent" | "sent-unconfirmed" | "sent-confirmed";
export type NotStopped = { readonly approval: Approval; readonly fate: SentFate };

/** The approvals that were sent before the stop, which takes none of them back: first those that are not confirmed, then the newest. */
export function notStopped(run: Run): { readonly named: readonly NotStopped[]; readonly more: number } {
  const all = run.approvals.flatMap((approval) => {
    const fate = fateOfSent(run, approval);
    return fate === null ? [] : [{ approval, fate }];
  });
  const isConfirmed = ({ fate }: NotStopped): boolean => fate === "sent-confirmed";
  const sorted = [...all.filter((each) => !isConfirmed(each)), ...all.filter(isConfirmed).toReversed()];
  return { named: sorted.slice(0, MAX_NAMED), more: Math.max(0, sorted.length - MAX_NAMED) };
}

/** Returns null if no approval was sent before the stop was lifted. While it holds, none is given. */
function fateOfSent({ stop }: Run, { state }: Approval): SentFate | null {
  if (state.type !== "decided" || state.decision.verdict === "deny") return null;
  if (state.decision.at > (stop?.lifted?.at ?? Number.POSITIVE_INFINITY)) return null;
  switch (state.delivery.type) {
    case "sending":
    case "unsure":
      return "sent";
    case "unconfirmed":
      return "sent-unconfirmed";
    case "confirmed":
      return "sent-confirmed";
    default:
      return null;
  }
}

/** Returns null if the run was never stopped. */
export function stoppedRenderKey(run: Run): string | null {
  const shown = stopRenderKey(run);
  if (shown === null) return null;
  if (run.watch.type === "tampered") return `${shown}, tampered`;
  const { denied, confirmed, notConfirmed, refused, expired } = deniedByStop(run);
  const over = isMissing(run) ? ", missing" : isStoppable(run) ? "" : ", over";
  const rest = notConfirmed === 0 ? "" : `, not ${notConfirmed}`;
  const sent = notStopped(run);
  const named = `${shown}${over}${namedRenderKey(run, [...namedByStop(run).named, ...sent.named])}`;
  return `${named}, ${confirmed} of ${denied}${rest}${refused === 0 ? "" : `, refused ${refused}`}${expired === 0 ? "" : `, expired ${expired}`}${sent.more === 0 ? "" : `, sent ${sent.more}`}`;
}

/** Returns whether the thread's message in Slack shows the run's stop as one that holds. False if we do not know what it shows. */
export function isStopShown({ stop, posts }: Pick<Run, "stop" | "posts">): boolean {
  const post = posts[STOPPED];
  const [, at] = /^stopped (?:before )?(\d+),/.exec(post?.type === "up" ? post.shows : "") ?? [];
  return stop !== undefined && at === String(stop.at);
}

/** The version stands for what the request says, and the message that is its card for the link to it. */
function namedRenderKey(run: Run, named: readonly (DenialByStop | NotStopped)[]): string {
  const names = named.map(({ approval, fate }) => [
    approval.id,
    approval.version,
    fate,
    cardOf(run, approval),
  ]);
  return names.length === 0 ? "" : `, ${JSON.stringify(names)}`;
}
