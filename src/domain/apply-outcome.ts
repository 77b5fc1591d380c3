// The life cycle of an effect in the run. `markSending` marks it before its first byte is sent, `applyOutcome` records its outcome, and
// `recover` settles the marks that a dead process left.

import { withDelivery } from "./approval-transitions.ts";
import { answeredBefore } from "./delivery-state.ts";
import { applyApproverCount, applyPolicy } from "./applied-rule.ts";
import { answerCall, isAnnouncement } from "./call.ts";
import { applyRequesterGroups } from "./rule-facts.ts";
import type { Context } from "./context.ts";
import { backoffMs, type Effect, markedEffects, type Outcome, retryAfterOf } from "./effect.ts";
import { isHopeless } from "./kept-messages.ts";
import { observe } from "./observe.ts";
import {
  SWEEP_AFTER_MS,
  type PostedMessage,
  type Upload,
  uploadedFile,
  PASSING_MS,
  refusalsOf,
} from "./posted-message.ts";
import { addNotices, isAboutDecision, type PrivateNotice } from "./notice.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";
import { OPENING, OUTCOME, OUTPUT, type Slot } from "./slot.ts";
import { applyDecisionOutcome, isUndelivered, lingerAgain } from "./decision-delivery.ts";
import { applyMessageOutcome, LOST, markPosting, type PostAct } from "./message-transitions.ts";
import { applyPrecedents } from "./same-request.ts";
import { fileState, outcomeRenderKey } from "./render-key.ts";
import { applyUploadOutcome } from "./upload-transitions.ts";

/** Marks the effect as under way at `now` (wall time, for the audit). Reads and uploads need no mark, because repeating them is harmless. */
export function markSending(run: Run, effect: Effect, now: number): Run {
  switch (effect.type) {
    case "create-run":
      if (run.creation.type !== "planned") return run;
      return { ...run, creation: { type: "sending", at: now, tries: run.creation.tries + 1 } };
    case "post":
      return withPost(run, effect.slot, markPosting(run.posts[effect.slot], now));
    case "share": {
      const upload = run.uploads[effect.slot];
      if (upload?.type !== "uploaded") return run;
      return withUpload(run, effect.slot, {
        type: "sharing",
        ...uploadedFile(upload),
        at: now,
        tries: upload.tries + 1,
      });
    }
    case "send-decision":
      return markDecisionSending(run, effect, now);
    case "send-notice":
      return changeNotice(run, effect.notice, (notice) => ({ ...notice, state: "sending" }));
    case "update": {
      // Until the answer arrives, we do not know what the message shows. The empty key causes a redraw, even after a crash.
      const post = run.posts[effect.slot];
      return post?.type === "up" ? withPost(run, effect.slot, { ...post, shows: "" }) : run;
    }
    case "find":
    case "sweep":
    case "upload":
    case "find-file":
    case "count-approvers":
    case "look-up-precedents":
    case "look-up-requester":
    case "find-people":
      return run;
  }
}

function markDecisionSending(run: Run, effect: Extract<Effect, { type: "send-decision" }>, now: number): Run {
  const approval = findApproval(run, effect.approval);
  if (approval?.state.type !== "decided") return run;
  const { decision, delivery } = approval.state;
  const { tries, lost } = delivery.type === "retry" ? delivery : { tries: 0, lost: false };
  const wasNotSent =
    delivery.type === "held" ||
    delivery.type === "recorded" ||
    (delivery.type === "retry" && delivery.notSent === true);
  const sending = {
    type: "sending",
    at: now,
    tries: tries + 1,
    lost,
    ...(wasNotSent ? { notSent: true as const } : {}),
    ...answeredBefore(delivery),
  } as const;
  return replaceApproval(run, withDelivery(approval, decision, sending));
}

export function applyOutcome(run: Run, effect: Effect, outcome: Outcome, ctx: Context): Run {
  switch (effect.type) {
    case "create-run":
      return applyCreationOutcome(run, outcome, ctx);
    case "post":
    case "find":
    case "update":
    case "sweep":
      return dropOutput(applyMessageOutcomeToRun(run, effect, outcome, ctx));
    case "upload":
    case "share":
    case "find-file": {
      const upload = applyUploadOutcome(run, effect, outcome, ctx.monotonic);
      return dropOutput(withUpload(run, effect.slot, upload));
    }
    case "send-decision":
      return dropOutput(applyDecisionOutcome(run, effect.approval, outcome, ctx));
    case "count-approvers":
      return applyApproverCount(run, effect.approval, outcome, ctx);
    case "look-up-precedents":
      return applyPrecedents(run, effect.approval, outcome);
    case "look-up-requester":
      return applyPolicy(applyRequesterGroups(run, outcome, ctx), ctx);
    case "find-people":
      return applyPeopleOutcome(run, effect, outcome, ctx.monotonic);
    case "send-notice":
      return applyNoticeOutcome(run, effect.notice, outcome, ctx.monotonic);
  }
}

/** The wait after a failed look-up of people (ms). */
const PEOPLE_RETRY_MS = 8_000;

function applyPeopleOutcome(
  run: Run,
  { approval, call }: Extract<Effect, { type: "find-people" }>,
  outcome: Outcome,
  monotonic: number,
): Run {
  const found =
    outcome.type === "people-found"
      ? { users: outcome.users, groups: outcome.groups, more: outcome.more }
      : null;
  const wait = Math.max(PEOPLE_RETRY_MS, retryAfterOf(outcome) ?? 0);
  return answerCall(run, approval, call, { found, retryAt: monotonic + wait });
}

// Our choice: a notice whose answers are lost is sent soon again this many times, and then once in this time (ms), because Slack may deliver
// each of them.
const SENT_AGAIN_SOON = 5;
const SENT_AGAIN_LATER_MS = 60 * 60_000;

/**
 * A notice about a decision is sent again after a lost answer, like a receipt: it may arrive twice, but is not lost. Any other notice is
 * delivered at most once. None is sent again once the run has been over for a day.
 */
function applyNoticeOutcome(run: Run, id: string, outcome: Outcome, monotonic: number): Run {
  const notice = run.notices.find((each) => each.id === id);
  // Without a mark, no byte of it was sent.
  if (notice === undefined || (outcome.type === "unsure" && notice.state === "planned")) return run;
  const tries = (notice.tries ?? 0) + 1;
  const mayArriveTwice = outcome.type === "unsure" && isAboutDecision(notice.says);
  const least = mayArriveTwice && tries > SENT_AGAIN_SOON ? SENT_AGAIN_LATER_MS : 0;
  const notBefore = monotonic + Math.max(backoffMs(tries, retryAfterOf(outcome)), least);
  const isAgain = outcome.type === "later" || mayArriveTwice;
  if (!isAgain || isHopeless(run, tries, notBefore))
    return { ...run, notices: run.notices.filter((each) => each.id !== id) };
  return changeNotice(run, id, (each) => ({ ...each, state: "planned", notBefore, tries }));
}

function changeNotice(run: Run, id: string, change: (notice: PrivateNotice) => PrivateNotice): Run {
  return { ...run, notices: run.notices.map((notice) => (notice.id === id ? change(notice) : notice)) };
}

function applyCreationOutcome(run: Run, outcome: Outcome, ctx: Context): Run {
  if (run.creation.type !== "sending") return run;
  const { tries } = run.creation;
  switch (outcome.type) {
    case "created":
      return observe(
        { ...run, creation: { type: "created", id: outcome.snapshot.id, at: ctx.now } },
        outcome.snapshot,
        ctx,
      );
    case "taken":
      return { ...run, creation: { type: "taken", id: outcome.id, at: ctx.monotonic } };
    case "later": {
      const notBefore = ctx.monotonic + backoffMs(tries, outcome.afterMs);
      return { ...run, creation: { type: "planned", notBefore, tries, why: outcome.why } };
    }
    case "refused":
      return { ...run, creation: { type: "refused", words: outcome.words, at: ctx.monotonic } };
    case "unsure":
      return { ...run, creation: { type: "unknown", words: outcome.why, at: ctx.monotonic, again: "asked" } };
    default:
      return run;
  }
}

function applyMessageOutcomeToRun(
  run: Run,
  effect: { type: PostAct; slot: Slot },
  outcome: Outcome,
  ctx: Context,
): Run {
  const post = withFirstUpdateDelay(
    effect,
    applyMessageOutcome(effect.type, run.posts[effect.slot], outcome, ctx.monotonic),
    ctx,
  );
  const next = withPost(run, effect.slot, post);
  const code = outcome.type === "refused" ? outcome.code : undefined;
  const isFirstRefusal =
    post.type === "refused" && run.posts[effect.slot]?.type === "sending" && refusalsOf(post) === 1;
  if (effect.slot !== OPENING || run.creation.type !== "planned") {
    return isFirstRefusal && !isAnnouncement(effect.slot)
      ? cannotPost(next, { words: post.words, code }, ctx)
      : next;
  }
  const opening = next.posts[OPENING];
  if (opening?.type === "up") return next.answer === null ? next : { ...next, answer: null };
  if (opening?.type !== "refused") return next;
  // The task is not started, because without a thread the run's approvals would be invisible.
  const creation = { type: "refused", words: opening.words, at: ctx.monotonic } as const;
  return cannotPost({ ...next, creation }, { words: opening.words, code }, ctx);
}

/** Delays the first update of a new opening, because its state may be over within seconds. */
function withFirstUpdateDelay(
  { type, slot }: { type: PostAct; slot: Slot },
  post: PostedMessage,
  { monotonic }: Context,
): PostedMessage {
  const isNew = type === "post" && slot === OPENING && post.type === "up";
  return isNew ? { ...post, notBefore: monotonic + PASSING_MS } : post;
}

function cannotPost(run: Run, why: { words: string; code: string | undefined }, ctx: Context): Run {
  const { words, code } = why;
  const says = { type: "cannot-post", words, ...(code === undefined ? {} : { code }) } as const;
  return addNotices(run, [run.requester], says, ctx);
}

/** Forgets the output once it is posted in full, and no decision that the service may still confirm can change its message. */
function dropOutput(run: Run): Run {
  const ended = run.seen?.ended;
  const post = run.posts[OUTCOME];
  if (
    run.seen === null ||
    ended?.output === undefined ||
    ended.output === null ||
    post?.type !== "up" ||
    post.sweepAt !== null
  )
    return run;
  const isComplete = !ended.asFile || fileState(run, OUTPUT) !== "coming";
  const mayChange = run.approvals.some(isUndelivered) || post.shows !== outcomeRenderKey(run);
  if (!isComplete || mayChange) return run;
  return { ...run, seen: { ...run.seen, ended: { ...ended, output: null } } };
}

function withPost(run: Run, slot: Slot, post: PostedMessage): Run {
  return { ...run, posts: { ...run.posts, [slot]: post } };
}

function withUpload(run: Run, slot: Slot, upload: Upload): Run {
  return { ...run, uploads: { ...run.uploads, [slot]: upload } };
}

/** Records the requester's answer to "A run may have started. Start again?". Returns null if it was answered before. */
export function answerUnknownStart(run: Run, again: "started" | "left"): Run | null {
  if (run.creation.type !== "unknown") return null;
  return run.creation.again === "asked" ? { ...run, creation: { ...run.creation, again } } : null;
}

// Recovery after a crash or a lost lease. We do not know whether the effects that a dead process had marked took place.

/**
 * Settles the marked effects, except those that `isExecuting` names. Returns the same run if there are none. Only the process that holds
 * the run may call it, because any other mark may be of an effect that the holder is executing.
 */
export function settleMarks(run: Run, ctx: Context, isExecuting: (effect: Effect) => boolean): Run {
  return markedEffects(run)
    .filter((effect) => !isExecuting(effect))
    .reduce((next, effect) => applyOutcome(next, effect, LOST, ctx), run);
}

/**
 * Like `settleMarks`, for a run that another process may have followed until now. Also plans to look again at the messages that the other
 * process may still be updating, and lets decisions whose answer was lost wait again.
 */
export function recover(run: Run, ctx: Context, isExecuting: (effect: Effect) => boolean = () => false): Run {
  return lingerAgain(lookAgain(settleMarks(run, ctx, isExecuting), ctx.monotonic), ctx.monotonic);
}

/**
 * Plans a sweep of each message with an update in progress. That update may arrive after ours, so we draw once more when it no longer can. A
 * planned sweep waits its whole time again: if the wall clock was set forward before the restart, the time was not really over.
 */
function lookAgain(run: Run, monotonic: number): Run {
  const sweepAt = monotonic + SWEEP_AFTER_MS;
  const uncertain = Object.entries(run.posts).flatMap(([slot, post]) => {
    if (post.type !== "up" || (post.shows !== "" && post.sweepAt === null)) return [];
    return post.sweepAt !== null && post.sweepAt >= sweepAt ? [] : [[slot, { ...post, sweepAt }] as const];
  });
  return uncertain.length === 0 ? run : { ...run, posts: { ...run.posts, ...Object.fromEntries(uncertain) } };
}
