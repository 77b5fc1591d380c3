import type { Outcome } from "./effect.ts";
import {
  backoffMs,
  PLANNED,
  REFUSED_RETRY_MS,
  type Post,
  POST_LINGER_MS,
  SWEEP_AFTER_MS,
  type Upload,
} from "./post.ts";

/** What becomes of a message when an attempt to post, find, update or sweep it ended so. */
export function settlePost(post: Post | undefined, outcome: Outcome, now: number): Post {
  const before: Post = post ?? PLANNED;
  switch (outcome.is) {
    case "posted": {
      // An earlier attempt may still arrive: look for its copy once.
      const sweepAt = triesOf(before) > 1 ? now + SWEEP_AFTER_MS : null;
      return { is: "up", ts: outcome.ts, shows: outcome.shows, sweepAt, notBefore: 0 };
    }
    case "found": {
      const [first] = outcome.copies;
      if (first === undefined) return { is: "planned", notBefore: 0, tries: triesOf(before) };
      // What the found copy says is not known: an empty key makes it drawn anew.
      return { is: "up", ts: first, shows: "", sweepAt: now, notBefore: 0 };
    }
    case "updated":
      return before.is === "up" ? { ...before, shows: outcome.shows, notBefore: 0 } : before;
    case "gone":
      return before.is === "up" ? PLANNED : before;
    case "swept":
      return before.is === "up" ? { ...before, sweepAt: null } : before;
    case "later":
      return later(before, outcome.afterMs, now);
    case "unsure":
      return before.is === "sending"
        ? { is: "unsure", lookAt: now + POST_LINGER_MS, tries: before.tries }
        : later(before, null, now);
    case "refused":
      // A message that can't be changed is followed by a new one.
      if (before.is === "up") return PLANNED;
      return { is: "refused", words: outcome.words, retryAt: now + REFUSED_RETRY_MS, tries: triesOf(before) };
    default:
      return before;
  }
}

export function triesOf(post: Post | undefined): number {
  return post !== undefined && "tries" in post ? post.tries : 0;
}

function later(before: Post, afterMs: number | null, now: number): Post {
  switch (before.is) {
    case "sending":
    case "planned":
      return { is: "planned", notBefore: now + backoffMs(before.tries, afterMs), tries: before.tries };
    case "unsure":
      return { ...before, lookAt: now + backoffMs(before.tries + 1, afterMs) };
    case "up": {
      const at = now + backoffMs(2, afterMs);
      return { ...before, notBefore: at, sweepAt: before.sweepAt === null ? null : at };
    }
    case "refused":
      return before;
  }
}

export function settleUpload(upload: Upload | undefined, outcome: Outcome, now: number): Upload {
  const before: Upload = upload ?? PLANNED;
  switch (outcome.is) {
    case "uploaded":
      return { is: "uploaded", file: outcome.file, notBefore: 0, tries: 0 };
    case "shared":
      return "file" in before ? { is: "up", file: before.file } : before;
    case "file-found":
      if (before.is !== "unsure") return before;
      if (outcome.there) return { is: "up", file: before.file };
      return { is: "uploaded", file: before.file, notBefore: 0, tries: before.tries };
    case "gone":
      return PLANNED;
    case "later":
      return uploadLater(before, outcome.afterMs, now);
    case "unsure":
      if (before.is !== "sharing") return uploadLater(before, null, now);
      return { is: "unsure", file: before.file, lookAt: now + POST_LINGER_MS, tries: before.tries };
    case "refused":
      return { is: "refused", words: outcome.words };
    default:
      return before;
  }
}

function uploadLater(before: Upload, afterMs: number | null, now: number): Upload {
  const at = now + backoffMs("tries" in before ? before.tries + 1 : 1, afterMs);
  switch (before.is) {
    case "planned":
    case "uploaded":
      return { ...before, notBefore: at, tries: before.tries + 1 };
    case "sharing":
      return { is: "uploaded", file: before.file, notBefore: at, tries: before.tries };
    case "unsure":
      return { ...before, lookAt: at };
    case "up":
    case "refused":
      return before;
  }
}
