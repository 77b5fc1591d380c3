// What became of an effect. `begin` marks it before its first byte leaves, `settle` folds in what came of it.

import { answeredBefore } from "./approval.ts";
import { withDelivery } from "./approval-moves.ts";
import { settleCount } from "./audience.ts";
import type { Context } from "./context.ts";
import type { Effect, Outcome } from "./effect.ts";
import { observe } from "./observe.ts";
import { backoffMs, type Post, type Upload, uploadedFile } from "./post.ts";
import {
  findApproval,
  OPENING,
  OUTCOME,
  OUTPUT,
  replaceApproval,
  type Run,
  type Slot,
  type Tell,
} from "./run.ts";
import { settleDecision } from "./settle-decision.ts";
import { type PostAct, settlePost, triesOf } from "./settle-post.ts";
import { settleUpload } from "./settle-upload.ts";
import { fileState, outcomeShows } from "./shows.ts";

/** Marks the effect as under way at `now` (wall time, for the audit). Reading and uploading need no mark. */
export function begin(run: Run, effect: Effect, now: number): Run {
  switch (effect.do) {
    case "create-run":
      if (run.creation.is !== "planned") return run;
      return { ...run, creation: { is: "sending", at: now, tries: run.creation.tries + 1 } };
    case "post": {
      const tries = triesOf(run.posts[effect.slot]) + 1;
      return withPost(run, effect.slot, { is: "sending", at: now, tries });
    }
    case "share": {
      const upload = run.uploads[effect.slot];
      if (upload?.is !== "uploaded") return run;
      return withUpload(run, effect.slot, {
        is: "sharing",
        ...uploadedFile(upload),
        at: now,
        tries: upload.tries + 1,
      });
    }
    case "send-decision":
      return changeDelivery(run, effect, now);
    case "tell":
      return {
        ...run,
        tells: run.tells.map((tell) => (tell.id === effect.tell ? { ...tell, state: "sending" } : tell)),
      };
    case "update": {
      // Until the answer is in, nobody knows what the message shows: an empty key makes it drawn anew, even after a crash.
      const post = run.posts[effect.slot];
      return post?.is === "up" ? withPost(run, effect.slot, { ...post, shows: "" }) : run;
    }
    case "find":
    case "sweep":
    case "upload":
    case "find-file":
    case "count-approvers":
      return run;
  }
}

function changeDelivery(run: Run, effect: Extract<Effect, { do: "send-decision" }>, now: number): Run {
  const approval = findApproval(run, effect.approval);
  if (approval?.state.is !== "decided") return run;
  const { decision, delivery } = approval.state;
  const before = delivery.is === "retry" ? delivery : { tries: 0, lost: false };
  const { tries, lost } = before;
  const sending = { is: "sending", at: now, tries: tries + 1, lost, ...answeredBefore(delivery) } as const;
  return replaceApproval(run, withDelivery(approval, decision, sending));
}

export function settle(run: Run, effect: Effect, outcome: Outcome, ctx: Context): Run {
  switch (effect.do) {
    case "create-run":
      return settleCreation(run, outcome, ctx);
    case "post":
    case "find":
    case "update":
    case "sweep":
      return dropOutput(settleMessage(run, effect, outcome, ctx));
    case "upload":
    case "share":
    case "find-file": {
      const upload = settleUpload(effect.do, run.uploads[effect.slot], outcome, ctx.monotonic);
      return dropOutput(withUpload(run, effect.slot, upload));
    }
    case "send-decision":
      return settleDecision(run, effect.approval, outcome, ctx);
    case "count-approvers":
      return settleCount(run, effect.approval, outcome, ctx);
    case "tell":
      return settleTell(run, effect.tell, outcome, ctx.monotonic);
  }
}

/** At most once: only what was surely not said is said again. */
function settleTell(run: Run, id: string, outcome: Outcome, now: number): Run {
  if (outcome.is !== "later") return { ...run, tells: run.tells.filter((tell) => tell.id !== id) };
  const notBefore = now + backoffMs(3, outcome.afterMs);
  const again = (tell: Tell): Tell => (tell.id === id ? { ...tell, state: "planned", notBefore } : tell);
  return { ...run, tells: run.tells.map(again) };
}

function settleCreation(run: Run, outcome: Outcome, ctx: Context): Run {
  if (run.creation.is !== "sending") return run;
  const { tries } = run.creation;
  switch (outcome.is) {
    case "created":
      return observe(
        { ...run, creation: { is: "created", id: outcome.snapshot.id, at: ctx.now } },
        outcome.snapshot,
        ctx,
      );
    case "taken":
      return { ...run, creation: { is: "taken", id: outcome.id, at: ctx.monotonic } };
    case "later": {
      const notBefore = ctx.monotonic + backoffMs(tries, outcome.afterMs);
      return { ...run, creation: { is: "planned", notBefore, tries, why: outcome.why } };
    }
    case "refused":
      return { ...run, creation: { is: "refused", words: outcome.words, at: ctx.monotonic } };
    case "unsure":
      return { ...run, creation: { is: "unknown", words: outcome.why, at: ctx.monotonic, again: "asked" } };
    default:
      return run;
  }
}

function settleMessage(run: Run, effect: { do: PostAct; slot: Slot }, outcome: Outcome, ctx: Context): Run {
  const post = settlePost(effect.do, run.posts[effect.slot], outcome, ctx.monotonic);
  const next = withPost(run, effect.slot, post);
  const code = outcome.is === "refused" ? outcome.code : undefined;
  const firstNo = post.is === "refused" && run.posts[effect.slot]?.is === "sending" && post.tries === 1;
  if (effect.slot !== OPENING || run.creation.is !== "planned") {
    return firstNo ? cannotPost(next, { words: post.words, code }, ctx) : next;
  }
  const opening = next.posts[OPENING];
  if (opening?.is === "up") return next.answer === null ? next : { ...next, answer: null };
  if (opening?.is !== "refused" || run.creation.is !== "planned") return next;
  // No thread, no run: a task whose approvals nobody could see is not started.
  const creation = { is: "refused", words: opening.words, at: ctx.monotonic } as const;
  return cannotPost({ ...next, creation }, { words: opening.words, code }, ctx);
}

function cannotPost(run: Run, why: { words: string; code: string | undefined }, ctx: Context): Run {
  const { words, code } = why;
  const says = { is: "cannot-post", words, ...(code === undefined ? {} : { code }) } as const;
  const tell = { id: ctx.nonce(), to: run.requester, says, state: "planned", notBefore: 0 } as const;
  return { ...run, tells: [...run.tells, tell] };
}

/** An output is not kept once it is posted in full. */
function dropOutput(run: Run): Run {
  const ended = run.seen?.ended;
  const post = run.posts[OUTCOME];
  if (
    run.seen === null ||
    ended?.output === undefined ||
    ended.output === null ||
    post?.is !== "up" ||
    post.sweepAt !== null
  )
    return run;
  const whole = !ended.asFile || fileState(run, OUTPUT) !== "coming";
  if (!whole || post.shows !== outcomeShows(run)) return run;
  return { ...run, seen: { ...run.seen, ended: { ...ended, output: null } } };
}

function withPost(run: Run, slot: Slot, post: Post): Run {
  return { ...run, posts: { ...run.posts, [slot]: post } };
}

function withUpload(run: Run, slot: Slot, upload: Upload): Run {
  return { ...run, uploads: { ...run.uploads, [slot]: upload } };
}

/** The requester's answer to «a run may have started; start again?». Null when it was answered already. */
export function answerUnknown(run: Run, again: "started" | "left"): Run | null {
  if (run.creation.is !== "unknown" || run.creation.again !== "asked") return null;
  return { ...run, creation: { ...run.creation, again } };
}
