// Messages that people deleted, and messages and files that a channel refused: which must come back, and when we give up.

import type { MessageTs } from "./ids.ts";
import { linesOf, listingPages } from "./listing.ts";
import { POST_LINGER_MS, type PostedMessage, REFUSED_TRIES, type Upload } from "./posted-message.ts";
import { renderKey } from "./render-key.ts";
import { isWatched, type Run } from "./run.ts";
import { cardSlot, listingSlot, type Slot, UNREADABLE } from "./slot.ts";

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
