// What becomes of a message or a file when an attempt at it ended so. Each kind of attempt reads its outcome in its own way:
// a refused post was surely not posted, while a refused look says nothing about what is there.

import type { Outcome } from "./effect.ts";
import { backoffMs, PLANNED, type Post, POST_LINGER_MS, REFUSED_RETRY_MS, SWEEP_AFTER_MS } from "./post.ts";

export type PostAct = "post" | "find" | "update" | "sweep";

/** `now`: monotonic, as all moments of a post. */
export function settlePost(act: PostAct, post: Post | undefined, outcome: Outcome, now: number): Post {
  const before: Post = post ?? PLANNED;
  switch (act) {
    case "post":
      return before.is === "sending" ? afterPosting(before, outcome, now) : before;
    case "find":
      return before.is === "unsure" ? afterFinding(before, outcome, now) : before;
    case "update":
      return before.is === "up" ? afterUpdating(before, outcome, now) : before;
    case "sweep":
      return before.is === "up" ? afterSweeping(before, outcome, now) : before;
  }
}

export function triesOf(post: Post | undefined): number {
  return post !== undefined && "tries" in post ? post.tries : 0;
}

type Of<Is extends Post["is"]> = Extract<Post, { is: Is }>;

function afterPosting(before: Of<"sending">, outcome: Outcome, now: number): Post {
  const { tries } = before;
  switch (outcome.is) {
    case "posted": {
      // An earlier attempt may still arrive: look for its copy once.
      const sweepAt = tries > 1 ? now + SWEEP_AFTER_MS : null;
      return { is: "up", ts: outcome.ts, shows: outcome.shows, sweepAt, notBefore: 0, tries: 0 };
    }
    case "refused":
      return { is: "refused", words: outcome.words, retryAt: now + REFUSED_RETRY_MS, tries };
    case "later":
      return { is: "planned", notBefore: now + backoffMs(tries, outcome.afterMs), tries };
    default:
      return { is: "unsure", lookAt: now + POST_LINGER_MS, tries };
  }
}

function afterFinding(before: Of<"unsure">, outcome: Outcome, now: number): Post {
  const tries = before.tries + 1;
  switch (outcome.is) {
    case "found": {
      const [first] = outcome.copies;
      if (first === undefined) {
        const wait = before.tries > 1 ? backoffMs(before.tries, null) : 0;
        return { is: "planned", notBefore: now + wait, tries: before.tries };
      }
      // What the found copy says is not known: an empty key makes it drawn anew.
      // After several attempts a later one may still arrive: the sweep waits for it.
      const sweepAt = before.tries > 1 ? now + SWEEP_AFTER_MS : now;
      return { is: "up", ts: first, shows: "", sweepAt, notBefore: 0, tries: 0 };
    }
    case "refused":
      return { ...before, lookAt: now + REFUSED_RETRY_MS, tries };
    default:
      return { ...before, lookAt: now + backoffMs(tries, afterOf(outcome)), tries };
  }
}

function afterUpdating(before: Of<"up">, outcome: Outcome, now: number): Post {
  const tries = before.tries + 1;
  switch (outcome.is) {
    case "updated":
      return { ...before, shows: outcome.shows, notBefore: 0, tries: 0 };
    case "gone":
      // The new message is swept, as after a lost answer: an earlier one may still arrive, or be there after all.
      return { ...PLANNED, tries: 1 };
    case "refused":
      return { ...before, notBefore: now + REFUSED_RETRY_MS, tries };
    case "unsure":
      // It may say the new or the old: an empty key makes it drawn anew, whatever it should show by then.
      // And it may still arrive after the next one.
      return {
        ...before,
        shows: "",
        sweepAt: before.sweepAt ?? now + SWEEP_AFTER_MS,
        notBefore: now + backoffMs(tries, null),
        tries,
      };
    default:
      return { ...before, notBefore: now + backoffMs(tries, afterOf(outcome)), tries };
  }
}

function afterSweeping(before: Of<"up">, outcome: Outcome, now: number): Post {
  // What sends a copy late sends an update late too: the message is drawn once more.
  if (outcome.is === "swept") return { ...before, shows: "", sweepAt: null };
  if (outcome.is === "refused") return { ...before, sweepAt: null };
  return { ...before, sweepAt: now + Math.max(SWEEP_AFTER_MS, afterOf(outcome) ?? 0) };
}

function afterOf(outcome: Outcome): number | null {
  return outcome.is === "later" ? outcome.afterMs : null;
}
