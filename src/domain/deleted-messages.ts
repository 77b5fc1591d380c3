// Messages that people deleted, and messages that a channel refused while the app was not in it.

import type { MessageTs } from "./ids.ts";
import { POST_LINGER_MS, type PostedMessage } from "./posted-message.ts";
import { cardSlot, isWatched, type Run, type Slot, UNREADABLE } from "./run.ts";
import { renderKey } from "./render-key.ts";

/** The messages that must not be missing, because only they show that something waits. */
export function messagesToKeep(run: Run): { readonly slot: Slot; readonly ts: MessageTs }[] {
  if (!isWatched(run)) return [];
  const cards = run.approvals.filter(({ state }) => state.type === "pending").map(({ id }) => cardSlot(id));
  const slots = renderKey(run, UNREADABLE) === null ? cards : [...cards, UNREADABLE];
  return slots.flatMap((slot) => {
    const post = run.posts[slot];
    return post?.type === "up" ? [{ slot, ts: post.ts }] : [];
  });
}

/**
 * The message seems to be gone. The engine reads it back once more and posts it again only if it is not found, so there are never two.
 * The same object when the slot has another message by now. `now`: monotonic.
 */
export function markMaybeDeleted(run: Run, slot: Slot, ts: MessageTs, now: number): Run {
  const post = run.posts[slot];
  if (post?.type !== "up" || post.ts !== ts) return run;
  return { ...run, posts: { ...run.posts, [slot]: { type: "unsure", lookAt: now, tries: 1 } } };
}

/** The channel may accept our messages again, so those that it refused are due now. The same object when it refused none. */
export function afterRejoining(run: Run, now: number): Run {
  const posts = Object.entries(run.posts).map(([slot, post]) => [slot, dueAgain(post, now)] as const);
  const same = posts.every(([slot, post]) => post === run.posts[slot]);
  return same ? run : { ...run, posts: Object.fromEntries(posts) };
}

function dueAgain(post: PostedMessage, now: number): PostedMessage {
  switch (post.type) {
    case "refused":
      return post.retryAt <= now ? post : { ...post, retryAt: now };
    case "up":
      return post.notBefore <= now ? post : { ...post, notBefore: now };
    case "unsure":
      // A post whose answer was just lost may still arrive.
      return post.lookAt <= now + POST_LINGER_MS ? post : { ...post, lookAt: now + POST_LINGER_MS };
    case "planned":
    case "sending":
      return post;
  }
}
