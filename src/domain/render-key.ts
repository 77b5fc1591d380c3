// Render keys: short names of what each message of a run should show now. A message that shows another key is stale and is drawn again.
// The card builders draw from the same state, so a key must change whenever the drawing would.

import { type Approval, openDisputes } from "./approval.ts";
import { answeredBefore, type Delivery, isFinal } from "./delivery-state.ts";
import { brakeRenderKey } from "./brake.ts";
import { shownWaitingReason } from "./decision-gate.ts";
import { precedentsRenderKey } from "./same-request.ts";
import { mayBePosted, type PostedMessage } from "./posted-message.ts";
import { deadlineOf, outcomeAtDeadline, tooFewApprovers } from "./applied-rule.ts";
import { followUpMessageKey, followUpRenderKey, isFollowUpSlot } from "./handling.ts";
import { isKnownToService } from "./end-run.ts";
import { listingPageOf, listingRenderKey, mayHaveCard } from "./listing.ts";
import { isStormSlot, stormRenderKey } from "./storm.ts";
import { stoppedRenderKey } from "./stop-report.ts";
import { callIn, callRenderKey } from "./call.ts";
import { gatheredRenderKey, isGatheredSlot } from "./gathered-call.ts";
import { escalatedMs, reachedStages } from "./escalation.ts";
import { hasClock } from "./follow-up-due.ts";
import { holdEnd } from "./hold.ts";
import {
  hasGivenUpId,
  isMissing,
  isStopped,
  isWatched,
  type Run,
  stopRenderKey,
  unreadableNow,
} from "./run.ts";
import { endWithoutDecision } from "./service-word.ts";
import {
  cardSlot,
  OPENING,
  OUTCOME,
  OUTPUT,
  requestSlot,
  type Slot,
  UNREADABLE,
  MISSING,
  STOPPED,
} from "./slot.ts";
import { unreadableMeaning } from "./snapshot.ts";
import { oneLine } from "./text/excerpt.ts";
import { needsFile } from "./text/request-text.ts";

export function openingRenderKey(run: Run): string {
  const disputed = isDisputed(run) ? ", disputed" : "";
  // The service may report the task of a watched run later.
  const task = run.input === "" ? ", no task" : "";
  const stop = stopRenderKey(run);
  const stopped = stop === null ? "" : `, ${stop}`;
  return `${statusRenderKey(run)}${disputed}${stopped}${task}`;
}

/** The most characters of the reason why a run has not started yet that its opening shows. */
export const WHY_CHARS = 200;

function statusRenderKey(run: Run): string {
  switch (run.creation.type) {
    case "planned":
      return run.creation.why === ""
        ? "starting"
        : `starting, waiting: ${oneLine(run.creation.why, WHY_CHARS)}`;
    case "sending":
      return "starting";
    case "refused":
    case "unknown":
    case "taken":
      return run.creation.type;
    case "created":
      if (run.watch.type === "missing" && isMissing(run)) return "missing";
      if (unreadableNow(run)?.what === "answer") return "unreadable";
      if (run.watch.type === "given-up" || run.watch.type === "dropped" || run.watch.type === "tampered")
        return run.watch.type;
      return `run ${run.seen?.status ?? "not seen"}${deniedRenderKey(run)}`;
  }
}

/** Returns whether the state that the opening shows may be over within seconds, so that an update is useful only if it lasts. */
export function isPassing({ creation, watch, seen }: Run): boolean {
  const isRunning =
    creation.type === "created" && watch.type === "on" && seen !== null && seen.ended === null;
  return isRunning && seen.status !== "awaiting_approval";
}

/** Returns null if no outcome message is wanted. */
export function outcomeRenderKey(run: Run): string | null {
  if (run.creation.type === "refused") return "not started";
  const stopped = isStopped(run) ? ", stopped" : "";
  if (run.creation.type === "taken") return `taken${stopped}`;
  if (run.creation.type === "unknown") return `unknown, ${run.creation.again}${stopped}`;
  if (run.seen?.ended === undefined || run.seen.ended === null) return null;
  const file = run.seen.ended.asFile ? `, file ${fileState(run, OUTPUT)}` : "";
  return `ended${file}${deniedRenderKey(run)}`;
}

/** Counts the confirmed denials of the run. "Succeeded" alone would hide that something was not done. */
export function denials({ approvals }: Pick<Run, "approvals">): number {
  return approvals.filter(
    ({ state }) =>
      state.type === "decided" && state.decision.verdict === "deny" && state.delivery.type === "confirmed",
  ).length;
}

function deniedRenderKey(run: Run): string {
  const denied = run.seen?.status === "succeeded" ? denials(run) : 0;
  return denied === 0 ? "" : `, ${denied} of ${run.approvals.length} denied`;
}

export function missingRenderKey(run: Run): string | null {
  if (run.watch.type === "given-up") return "given up";
  if (run.watch.type === "tampered") return "tampered";
  if (isMissing(run)) return "missing";
  if (run.posts[MISSING] === undefined) return null;
  if (run.watch.type === "dropped") {
    const key = hasGivenUpId(run) ? "unwatched, given to another" : "unwatched";
    return run.watch.missing === true ? key : null;
  }
  return "back";
}

export function unreadableRenderKey(run: Run): string | null {
  const unreadable = unreadableNow(run);
  if (unreadable !== null) return `unreadable ${unreadableMeaning(unreadable)}`;
  if (run.posts[UNREADABLE] === undefined) return null;
  return isWatched(run) ? "readable" : "over";
}

/** Returns the slots of the outage notices: one for when the service is down, one for when it is back. Both go to the channel itself. */
export function outageSlots(run: Run): Slot[] {
  if (run.outage === null) return [];
  const down = `${DOWN} ${run.outage.since}`;
  return run.outage.until === null ? [down] : [down, `${BACK} ${run.outage.since}`];
}

export const DOWN = "service-down";
export const BACK = "service-back";

export function cardRenderKey(run: Run, approval: Approval): string | null {
  const { state } = approval;
  if (!mayBePosted(run.posts[cardSlot(approval.id)])) {
    if (state.type === "closed" || !mayHaveCard(run, approval)) return null;
    // A stopped run may ask again and again. Its denials get no cards; the thread's message about the stop counts them.
    if (state.type === "decided" && state.decision.stoppedBy !== undefined) return null;
  }
  const file = needsFile(approval.request) ? ` file ${requestFileState(run, approval)}` : "";
  const audited = approval.audited === undefined ? "" : ` audit ${approval.audited.seq}`;
  return `v${approval.version}${file} ${stateRenderKey(run, approval)}${disputesRenderKey(approval)}${audited}`;
}

/** Returns whether the card in Slack may still have buttons. True if we do not know what it shows. */
export function mayShowButtons(post: PostedMessage | undefined): boolean {
  return post?.type === "up" && (post.shows === "" || /^v\d+( file \w+)? (pending|held) /.test(post.shows));
}

function disputesRenderKey(approval: Approval): string {
  const { disputes = [] } = approval;
  return disputes.length === 0 ? "" : ` disputed ${disputes.length}, open ${openDisputes(approval).length}`;
}

/** Returns whether one of the run's decisions has an open dispute. */
export const isDisputed = ({ approvals }: Pick<Run, "approvals">): boolean =>
  approvals.some((approval) => openDisputes(approval).length > 0);

/** Returns the state of a file as messages show it. */
export function fileState(run: Run, slot: Slot): "coming" | "there" | "refused" {
  const type = run.uploads[slot]?.type;
  if (type === "up") return "there";
  return type === "refused" ? "refused" : "coming";
}

/**
 * Like `fileState`, for the file of the request. No file is due for a request that no longer waits: it keeps the file of an earlier release,
 * which was named by the version, and if none is there, none is coming.
 */
export function requestFileState(run: Run, approval: Approval): ReturnType<typeof fileState> {
  const slot = requestSlot(approval);
  if (approval.state.type === "pending") return fileState(run, slot);
  const earlier = `request ${approval.id} ${approval.version}`;
  const isThere = fileState(run, run.uploads[slot] === undefined ? earlier : slot) === "there";
  return isThere ? "there" : "refused";
}

function stateRenderKey(run: Run, approval: Approval): string {
  const { state, past, votes, appliedRule, version, requestVersion } = approval;
  switch (state.type) {
    case "pending": {
      const rule = appliedRule.version === null ? "" : ` ${appliedRule.version} ${appliedRule.rule.name}`;
      const voted = votes.map(({ by }) => ` vote ${by?.user}`).join("");
      const few = tooFewApprovers(approval);
      const able = few === null ? "" : ` only ${few.able}${few.grows ? " yet" : ""}`;
      const changed = version > 1 && version === requestVersion ? " changed" : "";
      const meanwhile = `${precedentsRenderKey(approval)}${waitingRenderKey(approval)}${followUpRenderKey(approval)}`;
      return `pending ${past.length}${changed}${voted}${able}${brakeRenderKey(run)}${rule}${meanwhile}${refusedFileKey(run, approval)}`;
    }
    case "closed":
      return `closed ${state.cause}${saidKey(state)}`;
    case "decided":
      return deliveryRenderKey(run, approval, state.delivery);
  }
}

/** Names why the file of the request is not attached, because the reason may change while the file is tried again. */
function refusedFileKey({ uploads }: Run, approval: Approval): string {
  const upload = uploads[requestSlot(approval)];
  return upload?.type === "refused" ? ` because ${upload.words}` : "";
}

/** Names the deadline of the request, its stages and its pauses. */
function waitingRenderKey(approval: Approval): string {
  const { rule } = approval.appliedRule;
  const ends = rule.expiry === null ? "" : ` ends ${deadlineOf(approval)} ${outcomeAtDeadline(approval)}`;
  const pauses = hasClock(approval) ? (approval.followUp?.pauses ?? []) : [];
  const { length: stages } = reachedStages(approval);
  const paused = pauses.map(
    ({ why, from, until }) => `${why} ${(until ?? from) - from}${until === null ? "+" : ""}`,
  );
  return `${ends}${stages === 0 ? "" : ` stages ${stages} up to ${escalatedMs(approval)}`}${paused.length === 0 ? "" : ` paused ${paused.join(", ")}`}`;
}

function deliveryRenderKey(run: Run, approval: Approval, delivery: Delivery): string {
  const { answered, failedWith } = answeredBefore(delivery);
  const failed = failedWith === undefined ? "" : `, failed with ${failedWith}`;
  const answer = answered === undefined ? failed : `, answered ${answered}`;
  const reason = shownWaitingReason(run, approval);
  const waits = reason === null ? "" : ` ${reason}`;
  const listed = isFinal(delivery) && delivery.stillListed === true ? ", still listed" : "";
  switch (delivery.type) {
    case "held":
      return `held ${holdEnd(approval)?.until ?? "while paused"}${waits}`;
    case "recorded":
      return `recorded${waits}`;
    case "sending":
      return delivery.lost ? `sending again${answer}` : "recorded";
    case "retry":
      return delivery.lost
        ? `sending again${reason === null ? holdUpRenderKey(delivery) : waits}${answer}`
        : `${delivery.notSent ? "unsent" : "waiting"} ${reason ?? delivery.why}`;
    case "confirmed":
      return `confirmed${listed}`;
    case "elsewhere": {
      const end = endWithoutDecision(delivery);
      return `elsewhere${end === null ? "" : ` ${end}`}${listed}`;
    }
    case "unconfirmed": {
      const isAbsent = delivery.cause === "run-missing" && delivery.stillListed === false;
      const accepted = delivery.accepted ? ", accepted" : "";
      return `unconfirmed ${delivery.cause}${accepted}${saidKey(delivery)}${answer}${listed}${isAbsent && isKnownToService(run) ? ", not listed" : ""}`;
    }
    case "refused":
      return `refused ${delivery.absent ? "absent" : ""} ${refusedRenderKey(run)}${saidKey(delivery)}`;
    case "unsure":
      return `unsure${waits}${answer}`;
  }
}

const saidKey = ({ said }: { readonly said?: string }): string => (said === undefined ? "" : ` as ${said}`);

/** Names whether the request can still be decided here after the refusal. */
function refusedRenderKey(run: Run): string {
  // "over" is what earlier releases stored. Another word would draw all these cards again.
  return isWatched(run) ? "" : run.watch.type === "over" ? "run ended" : "over";
}

/** Names what keeps a decision whose answer was lost from being sent again. */
function holdUpRenderKey({ heldBack, notSent, why }: Extract<Delivery, { type: "retry" }>): string {
  if (heldBack) return ` held back ${why}`;
  return notSent ? ` unsent ${why}` : "";
}

/** Returns what a slot should show. Returns null if it should be empty, or is not a message's slot. */
export function renderKey(run: Run, slot: Slot): string | null {
  if (slot === OPENING) return openingRenderKey(run);
  if (slot === OUTCOME) return outcomeRenderKey(run);
  if (slot === MISSING) return missingRenderKey(run);
  if (slot === STOPPED) return stoppedRenderKey(run);
  if (slot === UNREADABLE) return unreadableRenderKey(run);
  if (outageSlots(run).includes(slot)) return slot;
  if (isStormSlot(slot)) return stormRenderKey(run, slot);
  if (isGatheredSlot(slot)) return gatheredRenderKey(run, slot);
  const call = callIn(run, slot);
  if (call !== null) return callRenderKey(run, call);
  if (isFollowUpSlot(slot)) return followUpMessageKey(run, slot);
  const page = listingPageOf(run, slot);
  if (page !== null) return listingRenderKey(run, page);
  const approval = run.approvals.find(({ id }) => cardSlot(id) === slot);
  return approval === undefined ? null : cardRenderKey(run, approval);
}
