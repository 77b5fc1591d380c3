// The state machine of one message in Slack: its next act, the mark before it is posted, and its state after an attempt. The messages of
// runs and the notifications both follow it. The same outcome means different things for different acts: a refused post was certainly not
// posted, but a refused read says nothing about what exists.

import { backoffMs, type Outcome, retryAfterOf } from "./effect.ts";
import {
  lostOf,
  PLANNED,
  POST_LINGER_MS,
  type PostedMessage,
  REFUSED_RETRY_MS,
  refusalsOf,
  SWEEP_AFTER_MS,
} from "./posted-message.ts";

export type PostAct = "post" | "find" | "update" | "sweep";

/** The outcome of an attempt during which the process died. */
export const LOST: Outcome = { type: "unsure", why: "Countersign stopped before the answer came" };

/**
 * Returns the next act for the message, and when it is due (monotonic), or null if there is none for now. `wanted`: the render key of what
 * the message should show, or null if it need not be posted or updated. `isPassing`: that state may be over within seconds.
 */
export function nextMessageAct(
  post: PostedMessage | undefined,
  wanted: string | null,
  isPassing = false,
): { readonly act: PostAct; readonly at: number } | null {
  const postAt = (at: number) => (wanted === null ? null : { act: "post" as const, at });
  switch (post?.type) {
    case undefined:
      return postAt(0);
    case "planned":
      return postAt(post.notBefore);
    case "sending":
      return null;
    case "refused":
      return postAt(post.retryAt);
    case "unsure":
      return { act: "find", at: post.lookAt };
    case "up":
      if (wanted !== null && wanted !== post.shows)
        return { act: "update", at: post.tries === 0 && !isPassing ? 0 : post.notBefore };
      return post.sweepAt === null ? null : { act: "sweep", at: post.sweepAt };
  }
}

/** Returns the mark of a post, which is stored before its first byte is sent. `at`: wall time, for the audit. */
export function markPosting(post: PostedMessage | undefined, at: number): PostedMessage {
  return { type: "sending", at, tries: triesOf(post) + 1, ...earlierOf(post) };
}

/** Returns the message after an attempt. */
export function applyMessageOutcome(
  act: PostAct,
  post: PostedMessage | undefined,
  outcome: Outcome,
  monotonic: number,
): PostedMessage {
  const before: PostedMessage = post ?? PLANNED;
  switch (act) {
    case "post":
      return before.type === "sending" ? afterPosting(before, outcome, monotonic) : before;
    case "find":
      return before.type === "unsure" ? afterFinding(before, outcome, monotonic) : before;
    case "update":
      return before.type === "up" ? afterUpdating(before, outcome, monotonic) : before;
    case "sweep":
      return before.type === "up" ? afterSweeping(before, outcome, monotonic) : before;
  }
}

function triesOf(post: PostedMessage | undefined): number {
  return post !== undefined && "tries" in post ? post.tries : 0;
}

/** What is remembered of earlier tries. */
function earlierOf(post: PostedMessage = PLANNED): { refusals?: number; lostAt?: number } {
  const refusals = refusalsOf(post);
  return { ...(refusals !== 0 && { refusals }), ...lostOf(post) };
}

/** Returns whether there was an earlier try that Slack did not refuse. Its message may still arrive. */
const mayArriveTwice = (post: MessageIn<"sending" | "unsure">): boolean => post.tries - refusalsOf(post) > 1;

type MessageIn<Is extends PostedMessage["type"]> = Extract<PostedMessage, { type: Is }>;

function afterPosting(before: MessageIn<"sending">, outcome: Outcome, monotonic: number): PostedMessage {
  const { tries } = before;
  const tried = { tries, ...earlierOf(before) };
  switch (outcome.type) {
    case "posted": {
      // An earlier attempt may still arrive, so we look for its copy once.
      const sweepAt = mayArriveTwice(before) ? monotonic + SWEEP_AFTER_MS : null;
      const { ts, shows } = outcome;
      return { type: "up", ts, shows, sweepAt, notBefore: 0, tries: 0, ...lostOf(before) };
    }
    case "refused":
      return {
        ...tried,
        type: "refused",
        words: outcome.words,
        retryAt: monotonic + REFUSED_RETRY_MS,
        refusals: refusalsOf(before) + 1,
      };
    case "later":
      return { type: "planned", notBefore: monotonic + backoffMs(tries, outcome.afterMs), ...tried };
    default:
      return {
        type: "unsure",
        lookAt: monotonic + POST_LINGER_MS,
        ...tried,
        lostAt: before.lostAt ?? before.at,
      };
  }
}

function afterFinding(before: MessageIn<"unsure">, outcome: Outcome, monotonic: number): PostedMessage {
  const tries = before.tries + 1;
  switch (outcome.type) {
    case "found": {
      const [first] = outcome.copies;
      if (first === undefined) {
        const wait = before.tries > 1 ? backoffMs(before.tries, null) : 0;
        return {
          type: "planned",
          notBefore: monotonic + wait,
          tries: before.tries,
          ...earlierOf(before),
        };
      }
      // We do not know what the found copy shows. The empty key causes a redraw.
      // After several attempts, a later one may still arrive, so the sweep waits for it.
      const sweepAt = mayArriveTwice(before) ? monotonic + SWEEP_AFTER_MS : monotonic;
      return { type: "up", ts: first, shows: "", sweepAt, notBefore: 0, tries: 0, ...lostOf(before) };
    }
    case "refused":
      return { ...before, lookAt: monotonic + REFUSED_RETRY_MS, tries };
    default:
      return { ...before, lookAt: monotonic + backoffMs(tries, retryAfterOf(outcome)), tries };
  }
}

function afterUpdating(before: MessageIn<"up">, outcome: Outcome, monotonic: number): PostedMessage {
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
      // With one try counted, the new message gets a sweep, because an earlier one may still arrive or exist after all.
      return { ...PLANNED, tries: 1 };
    case "refused":
      return { ...before, notBefore: monotonic + REFUSED_RETRY_MS, tries };
    case "unsure":
      // The message may show the old or the new state. The empty key causes a redraw with the newest one.
      // The lost update may also arrive after the next one, so a sweep follows.
      return {
        ...before,
        shows: "",
        sweepAt: before.sweepAt ?? monotonic + SWEEP_AFTER_MS,
        notBefore: monotonic + backoffMs(tries, null),
        tries,
      };
    default:
      return { ...before, notBefore: monotonic + backoffMs(tries, retryAfterOf(outcome)), tries };
  }
}

function afterSweeping(before: MessageIn<"up">, outcome: Outcome, monotonic: number): PostedMessage {
  // If a copy can arrive late, so can an update. Therefore the message is drawn once more.
  if (outcome.type === "swept") return { ...before, shows: "", sweepAt: null };
  if (outcome.type === "refused") return { ...before, sweepAt: null };
  return { ...before, sweepAt: monotonic + Math.max(SWEEP_AFTER_MS, retryAfterOf(outcome) ?? 0) };
}
