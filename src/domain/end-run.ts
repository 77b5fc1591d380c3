// How a run ends without the service reporting its end: the service no longer knows it, another run takes its id, people stop watching it,
// or its record was tampered with.

import { outcomeAtDeadline } from "./applied-rule.ts";
import { applySighting, type ApprovalSighting } from "./apply-snapshot.ts";
import { close, closeAsTampered, unconfirmed, voidAndClose, withDelivery } from "./approval-transitions.ts";
import type { Approval } from "./approval.ts";
import { isFinal, isLost } from "./delivery-state.ts";
import type { Context, Times } from "./context.ts";
import type { UserId } from "./ids.ts";
import { addNoticesToDeciders, isOutdated, noticesOf } from "./observe.ts";
import type { PostedMessage } from "./posted-message.ts";
import type { DecisionNotice } from "./notice.ts";
import { giveUpId, hasGivenUpId, isMissing, isWatched, type Run, type Watch } from "./run.ts";
import { isGone, withMissedFetch } from "./snapshot.ts";

/** How long we continue to poll a missing run (ms). */
export const GIVE_UP_AFTER_MS = 24 * 60 * 60_000;

/** Records that the service answered 404 for a run that it once knew. */
export function observeMissing(run: Run, askedAt: number, ctx: Context): Run {
  if (!isWatched(run) || isOutdated(run, askedAt)) return run;
  const seen = run.seen === null ? null : { ...run.seen, askedAt };
  if (isMissing(run)) return isLongMissing(run, ctx) ? giveUp({ ...run, seen }, ctx) : run;
  const before = run.watch.type === "missing" ? run.watch : { since: ctx.monotonic, absence: null };
  const absence = withMissedFetch(before.absence, ctx);
  if (!isGone(absence, askedAt)) {
    if (absence === before.absence) return run;
    return { ...run, seen, watch: { type: "missing", since: before.since, absence } };
  }
  const watch: Watch = { type: "missing", since: before.since, absence: null };
  return { ...withoutRun(run, askedAt, ctx), seen, watch };
}

/** Returns whether the run can be looked up at the service by its id, as far as we know. */
export function isKnownToService(run: Run): boolean {
  return !isMissing(run) && !wasMissing(run) && !hasGivenUpId(run);
}

/** Returns whether the service no longer knew the run when we stopped asking. */
export const wasMissing = ({ watch }: Pick<Run, "watch">): boolean =>
  watch.type === "given-up" || (watch.type === "dropped" && watch.missing === true);

function isLongMissing({ watch }: Run, { monotonic }: Context): boolean {
  return watch.type === "missing" && monotonic - watch.since >= GIVE_UP_AFTER_MS;
}

function giveUp(run: Run, ctx: Context): Run {
  const contents: DecisionNotice[] = [];
  const approvals = run.approvals.map((approval): Approval => {
    const { state } = approval;
    if (state.type === "pending") return close(approval, "run-missing", ctx.now);
    if (state.type === "decided" && state.delivery.type === "retry" && !state.delivery.lost) {
      contents.push({ type: "decision-void", approval: approval.id, cause: "given-up" });
      return voidAndClose(approval, state.decision, "run-missing", ctx.now);
    }
    if (state.type !== "decided" || !isLost(state.delivery)) return approval;
    contents.push({ type: "decision-unconfirmed", approval: approval.id });
    const delivery = unconfirmed(state.delivery, "run-missing", ctx.monotonic);
    return withDelivery(approval, state.decision, delivery);
  });
  const told = addNoticesToDeciders(run, contents, ctx);
  return { ...told, watch: { type: "given-up", at: ctx.monotonic }, approvals };
}

/** Applies the absence of the run to each of its approvals. */
function withoutRun(run: Run, askedAt: number, ctx: Context): Run {
  const absent: ApprovalSighting = { type: "absent", cause: "run-missing", askedAt };
  const results = run.approvals.map((approval) => applySighting(approval, absent, ctx));
  const told = addNoticesToDeciders(run, noticesOf(results), ctx);
  return { ...told, approvals: results.map(({ approval }) => approval) };
}

/**
 * Gives up the run's id, because the service gave it to a run that was just created. A missing run is given up with it. A run that is
 * still listed is returned as the same object.
 */
export function supersede(run: Run, ctx: Context): Run {
  if (!isWatched(run)) return giveUpId(run);
  return run.watch.type === "missing" ? giveUpId(giveUp(withoutRun(run, ctx.monotonic, ctx), ctx)) : run;
}

// Unwatching a run, if nothing would be lost.

/**
 * Returns why the run must stay watched: a decision is not settled, a vote would be lost, or the policy must deny a request when it
 * expires. Returns null if the run can be unwatched.
 */
export function reasonToKeepWatching({ approvals }: Run): "deciding" | "voted" | "denial-due" | null {
  const isBeingDecided = ({ state }: Approval): boolean =>
    state.type === "decided" && !isFinal(state.delivery) && state.delivery.type !== "refused";
  if (approvals.some(isBeingDecided)) return "deciding";
  const pending = approvals.filter(({ state }) => state.type === "pending");
  if (pending.some(({ votes }) => votes.length > 0)) return "voted";
  return pending.some((approval) => outcomeAtDeadline(approval) === "deny") ? "denial-due" : null;
}

/** Marks the run as unwatched by this person, and closes its pending approvals. */
export function stopWatching(run: Run, by: UserId, { now, monotonic }: Times): Run {
  const approvals = run.approvals.map((approval) =>
    approval.state.type === "pending" ? close(approval, "unwatched", now) : approval,
  );
  const missing = isMissing(run) ? ({ missing: true } as const) : {};
  return { ...run, watch: { type: "dropped", at: monotonic, by, ...missing }, approvals };
}

// A run whose stored record was changed outside Countersign. Countersign neither believes nor repeats what the record says: its decisions
// do not count, nothing is sent for it, and its messages say so. Watching the run again starts a new record.

/** Keeps only what is needed to remove the buttons and to say why. A field that is not named here is dropped. */
export function markTampered(run: Run, monotonic: number): Run {
  const { key, team, channel, requester, origin, askedAt, creation, posts } = run;
  const { stop, frozen, gathered, requesterGroups, mayHaveAsked } = run;
  return {
    key,
    team,
    channel,
    requester,
    origin,
    askedAt,
    ...(stop === undefined ? {} : { stop }),
    ...(frozen === undefined ? {} : { frozen }),
    ...(gathered === undefined ? {} : { gathered }),
    ...(requesterGroups === undefined ? {} : { requesterGroups }),
    ...(mayHaveAsked === undefined ? {} : { mayHaveAsked }),
    input: "",
    answer: null,
    creation:
      creation.type === "created"
        ? creation
        : { type: "refused", words: "its record was changed", at: monotonic },
    watch: { type: "tampered", at: monotonic },
    seen: null,
    context: null,
    unreadable: null,
    approvals: run.approvals.map((approval) => closeAsTampered(approval, monotonic)),
    posts: Object.fromEntries(Object.entries(posts).filter(isUp)),
    uploads: {},
    notices: [],
    outage: null,
  };
}

const isUp = (entry: [string, PostedMessage]): boolean => entry[1].type === "up";
