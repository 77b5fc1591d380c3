// The state machine of one message in Slack: what is next for it, the mark before it is posted, and its state after the outcome of an
// attempt. A run's messages and the notifications both follow it. An outcome means something else for each kind of attempt: a refused
// post was surely not posted, while a refused read says nothing about what exists.

import type { Outcome } from "./effect.ts";
import {
  backoffMs,
  PLANNED,
  POST_LINGER_MS,
  type PostedMessage,
  REFUSED_RETRY_MS,
  refusalsOf,
  SWEEP_AFTER_MS,
} from "./posted-message.ts";

export type PostAct = "post" | "find" | "update" | "sweep";

/** The outcome of an attempt whose process died. */
export const LOST: Outcome = { type: "unsure", why: "Countersign stopped before the answer came" };

/**
 * What is next for the message, and when (monotonic). Null: nothing, for now. `want`: the render key of what it should show; null: it
 * need not be posted or updated. `passing`: that state may be over within seconds.
 */
export function nextMessageAct(
  post: PostedMessage | undefined,
  want: string | null,
  passing = false,
): { readonly act: PostAct; readonly at: number } | null {
  const wanted = (act: "post" | "update", at: number) => (want === null ? null : { act, at });
  switch (post?.type) {
    case undefined:
      return wanted("post", 0);
    case "planned":
      return wanted("post", post.notBefore);
    case "sending":
      return null;
    case "refused":
      return wanted("post", post.retryAt);
    case "unsure":
      return { act: "find", at: post.lookAt };
    case "up":
      if (want !== null && want !== post.shows)
        return { act: "update", at: post.tries === 0 && !passing ? 0 : post.notBefore };
      return post.sweepAt === null ? null : { act: "sweep", at: post.sweepAt };
  }
}

/** The mark of a post, stored before its first byte leaves. `at`: wall time, for the audit. */
export function markPosting(post: PostedMessage | undefined, at: number): PostedMessage {
  return { type: "sending", at, tries: triesOf(post) + 1, ...refusedBefore(post) };
}

/** The mark of a process that is dead: the answer is lost. The same object where there is no mark. */
export function recoverMessage(post: PostedMessage, now: number): PostedMessage {
  return post.type === "sending" ? applyMessageOutcome("post", post, LOST, now) : post;
}

/** `now`: monotonic, like all moments of a post. */
export function applyMessageOutcome(
  act: PostAct,
  post: PostedMessage | undefined,
  outcome: Outcome,
  now: number,
): PostedMessage {
  const before: PostedMessage = post ?? PLANNED;
  switch (act) {
    case "post":
      return before.type === "sending" ? afterPosting(before, outcome, now) : before;
    case "find":
      return before.type === "unsure" ? afterFinding(before, outcome, now) : before;
    case "update":
      return before.type === "up" ? afterUpdating(before, outcome, now) : before;
    case "sweep":
      return before.type === "up" ? afterSweeping(before, outcome, now) : before;
  }
}

function triesOf(post: PostedMessage | undefined): number {
  return post !== undefined && "tries" in post ? post.tries : 0;
}

function refusedBefore(post: PostedMessage | undefined): { refusals?: number } {
  const refusals = refusalsOf(post);
  return refusals === 0 ? {} : { refusals };
}

type MessageIn<Is extends PostedMessage["type"]> = Extract<PostedMessage, { type: Is }>;

function afterPosting(before: MessageIn<"sending">, outcome: Outcome, now: number): PostedMessage {
  const { tries } = before;
  const tried = { tries, ...refusedBefore(before) };
  switch (outcome.type) {
    case "posted": {
      // An earlier attempt may still arrive: look for its copy once.
      const sweepAt = tries > 1 ? now + SWEEP_AFTER_MS : null;
      return { type: "up", ts: outcome.ts, shows: outcome.shows, sweepAt, notBefore: 0, tries: 0 };
    }
    case "refused":
      return {
        type: "refused",
        words: outcome.words,
        retryAt: now + REFUSED_RETRY_MS,
        tries,
        refusals: refusalsOf(before) + 1,
      };
    case "later":
      return { type: "planned", notBefore: now + backoffMs(tries, outcome.afterMs), ...tried };
    default:
      return { type: "unsure", lookAt: now + POST_LINGER_MS, ...tried };
  }
}

function afterFinding(before: MessageIn<"unsure">, outcome: Outcome, now: number): PostedMessage {
  const tries = before.tries + 1;
  switch (outcome.type) {
    case "found": {
      const [first] = outcome.copies;
      if (first === undefined) {
        const wait = before.tries > 1 ? backoffMs(before.tries, null) : 0;
        return { type: "planned", notBefore: now + wait, tries: before.tries, ...refusedBefore(before) };
      }
      // We do not know what the found copy shows. An empty key has it drawn again.
      // After several attempts a later one may still arrive, so the sweep waits for it.
      const sweepAt = before.tries > 1 ? now + SWEEP_AFTER_MS : now;
      return { type: "up", ts: first, shows: "", sweepAt, notBefore: 0, tries: 0 };
    }
    case "refused":
      return { ...before, lookAt: now + REFUSED_RETRY_MS, tries };
    default:
      return { ...before, lookAt: now + backoffMs(tries, messageRetryAfter(outcome)), tries };
  }
}

function afterUpdating(before: MessageIn<"up">, outcome: Outcome, now: number): PostedMessage {
  const tries = before.tries + 1;
  switch (outcome.type) {
    case "updated":
      return {
        ...before,
        shows: outcome.shows,
        notBefore: before.tries === 0 ? before.notBefore : 0,
        tries: 0,
      };
    case "gone":
      // The new message gets a sweep, as after a lost answer: an earlier one may still arrive, or exist after all.
      return { ...PLANNED, tries: 1 };
    case "refused":
      return { ...before, notBefore: now + REFUSED_RETRY_MS, tries };
    case "unsure":
      // The message may show the new or the old state. An empty key has it drawn again with the newest.
      // The lost update may also arrive after the next one.
      return {
        ...before,
        shows: "",
        sweepAt: before.sweepAt ?? now + SWEEP_AFTER_MS,
        notBefore: now + backoffMs(tries, null),
        tries,
      };
    default:
      return { ...before, notBefore: now + backoffMs(tries, messageRetryAfter(outcome)), tries };
  }
}

function afterSweeping(before: MessageIn<"up">, outcome: Outcome, now: number): PostedMessage {
  // Where a copy can arrive late, an update can too, so the message is drawn once more.
  if (outcome.type === "swept") return { ...before, shows: "", sweepAt: null };
  if (outcome.type === "refused") return { ...before, sweepAt: null };
  return { ...before, sweepAt: now + Math.max(SWEEP_AFTER_MS, messageRetryAfter(outcome) ?? 0) };
}

function messageRetryAfter(outcome: Outcome): number | null {
  return outcome.type === "later" ? outcome.afterMs : null;
}
