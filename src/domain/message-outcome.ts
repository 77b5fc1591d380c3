// The state of a file after an attempt, and the state of messages that people deleted or a channel refused.

import { listingPages, linesOf } from "./listing.ts";
import { backoffMs, type Outcome, retryAfterOf } from "./effect.ts";
import type { MessageTs } from "./ids.ts";
import {
  FILE_LINGER_MS,
  FILE_LOOK_MS,
  FILE_TRIES,
  PLANNED,
  POST_LINGER_MS,
  type PostedMessage,
  REFUSED_RETRY_MS,
  REFUSED_TRIES,
  REQUEST_FILE_TRIES,
  type Upload,
  uploadedFile,
} from "./posted-message.ts";
import { renderKey } from "./render-key.ts";
import { cardSlot, listingSlot, isWatched, OUTPUT, type Run, type Slot, UNREADABLE } from "./run.ts";

export type UploadAct = "upload" | "share" | "find-file";

/** Returns the state of a file after an attempt to upload it, to share it, or to find it in the thread. */
export function applyUploadOutcome(
  run: Run,
  { type: act, slot }: { readonly type: UploadAct; readonly slot: Slot },
  outcome: Outcome,
  monotonic: number,
): Upload {
  const before = run.uploads[slot] ?? PLANNED;
  const next = afterAttempt(act, before, outcome, monotonic);
  if (outcome.type !== "later" && outcome.type !== "unsure" && outcome.type !== "gone") return next;
  if (next.type !== "planned" && next.type !== "uploaded") return next;
  // The card then says why. The file of a request is still tried again.
  const countsAsRefused =
    slot === OUTPUT
      ? isHopeless(run, next.tries, next.notBefore)
      : before.type === "refused" || next.tries >= REQUEST_FILE_TRIES;
  if (!countsAsRefused) return next;
  const retryAt = monotonic + backoffMs(REQUEST_FILE_TRIES, retryAfterOf(outcome));
  const words = outcome.type === "gone" ? "Slack does not have the file any more" : outcome.why;
  return { type: "refused", words, retryAt };
}

function afterAttempt(act: UploadAct, before: Upload, outcome: Outcome, monotonic: number): Upload {
  switch (act) {
    case "upload":
      if (before.type === "refused") return afterUploading(PLANNED, outcome, monotonic);
      return before.type === "planned" ? afterUploading(before, outcome, monotonic) : before;
    case "share":
      return before.type === "sharing" ? afterSharing(before, outcome, monotonic) : before;
    case "find-file":
      return before.type === "unsure" ? afterFindingFile(before, outcome, monotonic) : before;
  }
}

type UploadIn<Is extends Upload["type"]> = Extract<Upload, { type: Is }>;

function afterUploading(before: UploadIn<"planned">, outcome: Outcome, monotonic: number): Upload {
  if (outcome.type === "uploaded")
    return { type: "uploaded", ...uploadedFile(outcome), notBefore: 0, tries: before.tries };
  if (outcome.type === "refused") return refusedFile(outcome.words, monotonic);
  const tries = before.tries + 1;
  return { type: "planned", notBefore: monotonic + backoffMs(tries, retryAfterOf(outcome)), tries };
}

function afterSharing(before: UploadIn<"sharing">, outcome: Outcome, monotonic: number): Upload {
  const { tries } = before;
  const file = uploadedFile(before);
  switch (outcome.type) {
    case "shared":
      return {
        type: "unsure",
        ...file,
        lookAt: monotonic + FILE_LOOK_MS,
        until: monotonic + FILE_LINGER_MS,
        tries,
      };
    case "gone":
      return { type: "planned", notBefore: monotonic + backoffMs(tries, null), tries };
    case "refused":
      return refusedFile(outcome.words, monotonic);
    case "later":
      return { type: "uploaded", ...file, notBefore: monotonic + backoffMs(tries, outcome.afterMs), tries };
    default:
      return { type: "unsure", ...file, lookAt: monotonic + POST_LINGER_MS, tries };
  }
}

const refusedFile = (words: string, monotonic: number): Upload => ({
  type: "refused",
  words,
  retryAt: monotonic + REFUSED_RETRY_MS,
});

function afterFindingFile(before: UploadIn<"unsure">, outcome: Outcome, monotonic: number): Upload {
  const { until = monotonic } = before;
  const tries = before.tries + 1;
  const isFound = outcome.type === "file-found" && outcome.there;
  // A thread may be too long to read back. Then only Slack's answer says that the file is there.
  const cannotLook = outcome.type !== "file-found" && before.until !== undefined && monotonic >= until;
  const isTrusted = before.until !== undefined && tries > FILE_TRIES;
  if (isFound || cannotLook || isTrusted) return { type: "up", ...uploadedFile(before) };
  if (outcome.type === "file-found") {
    if (monotonic < until) return { ...before, lookAt: monotonic + backoffMs(tries, null), tries };
    return { type: "uploaded", ...uploadedFile(before), notBefore: 0, tries: before.tries };
  }
  const at =
    monotonic + (outcome.type === "refused" ? REFUSED_RETRY_MS : backoffMs(tries, retryAfterOf(outcome)));
  // A second copy of the file does less harm than a request that no one can decide.
  if (tries % FILE_TRIES === 0) return { type: "uploaded", ...uploadedFile(before), notBefore: at, tries };
  return { ...before, lookAt: at, tries };
}

/** Returns whether the run has been over for a day and many tries to update, find or attach something have failed. */
export function isHopeless(run: Run, tries: number, nextTryAt: number): boolean {
  const endedAt = endOf(run);
  return endedAt !== null && tries >= REFUSED_TRIES && nextTryAt > endedAt + GIVE_UP_AFTER_END_MS;
}
const NEVER_FOLLOWED: ReadonlySet<Run["creation"]["type"]> = new Set(["refused", "unknown", "taken"]);
const GIVE_UP_AFTER_END_MS = 24 * 60 * 60_000;

/** Returns when we stopped following the run, or when its start failed (monotonic). Returns null while neither has happened. */
function endOf({ creation, watch }: Run): number | null {
  if ("at" in watch) return watch.at;
  return NEVER_FOLLOWED.has(creation.type) && "at" in creation ? creation.at : null;
}

// Messages that people deleted, and messages and files that a channel refused while the app was not in it.

/** Returns the messages that must not be missing, because only they show that something waits. */
export function messagesToKeep(run: Run): { readonly slot: Slot; readonly ts: MessageTs }[] {
  if (!isWatched(run)) return [];
  const cards = run.approvals.filter(({ state }) => state.type === "pending").map(({ id }) => cardSlot(id));
  const listings = listingPages(run).filter((page) => linesOf(run, page).length > 0);
  const all = [...cards, ...listings.map(listingSlot)];
  const slots = renderKey(run, UNREADABLE) === null ? all : [...all, UNREADABLE];
  return slots.flatMap((slot) => {
    const post = run.posts[slot];
    return post?.type === "up" ? [{ slot, ts: post.ts }] : [];
  });
}

/**
 * Records that the message seems to be gone. The engine reads it back once more and posts it again only if it is not found, so there are
 * never two. Returns the same object if the slot has another message by now.
 */
export function markMaybeDeleted(run: Run, slot: Slot, ts: MessageTs, monotonic: number): Run {
  const post = run.posts[slot];
  if (post?.type !== "up" || post.ts !== ts) return run;
  return { ...run, posts: { ...run.posts, [slot]: { type: "unsure", lookAt: monotonic, tries: 1 } } };
}

/** Makes refused messages and files due now, because the channel may accept them again. Returns the same object if nothing changes. */
export function afterRejoining(run: Run, monotonic: number): Run {
  const posts = mapSlots(run.posts, (post) => withRetryDue(post, monotonic));
  const uploads = mapSlots(run.uploads, (upload) => withUploadDue(upload, monotonic));
  return posts === run.posts && uploads === run.uploads ? run : { ...run, posts, uploads };
}

type BySlot<Value> = { readonly [slot: Slot]: Value };

/** Returns the same object if nothing changes. */
function mapSlots<Value>(before: BySlot<Value>, change: (value: Value) => Value): BySlot<Value> {
  const after = Object.entries(before).map(([slot, value]) => [slot, change(value)] as const);
  return after.every(([slot, value]) => value === before[slot]) ? before : Object.fromEntries(after);
}

function withUploadDue(upload: Upload, monotonic: number): Upload {
  if (upload.type !== "refused" || (upload.retryAt ?? monotonic) <= monotonic) return upload;
  return { ...upload, retryAt: monotonic };
}

function withRetryDue(post: PostedMessage, monotonic: number): PostedMessage {
  switch (post.type) {
    case "refused":
      return post.retryAt <= monotonic ? post : { ...post, retryAt: monotonic };
    case "up":
      return post.notBefore <= monotonic ? post : { ...post, notBefore: monotonic };
    case "unsure":
      // A post whose answer was just lost may still arrive.
      return post.lookAt <= monotonic + POST_LINGER_MS
        ? post
        : { ...post, lookAt: monotonic + POST_LINGER_MS };
    case "planned":
    case "sending":
      return post;
  }
}
