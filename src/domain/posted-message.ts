// One message of ours in Slack, from the intention to the posted message. chat.postMessage has no idempotency key, so after a lost
// answer we read the thread back: a message that is found is adopted, one that is not is posted again.
//
//   planned ──► sending ──► up ──(message deleted)──► planned
//                 │  ▲
//        lost     ▼  │ not found
//               unsure            refused (no such channel, not a member) ──slowly──► sending

import type { MessageTs } from "./ids.ts";

// All moments here are monotonic, except that of `sending`.

export type PostedMessage =
  | ({ readonly type: "planned"; readonly notBefore: number } & Tries)
  | ({ readonly type: "sending"; readonly at: number } & Tries)
  /** Read back no earlier than `lookAt`; until then a late request can still arrive. */
  | ({ readonly type: "unsure"; readonly lookAt: number } & Tries)
  /** `shows`: the render key of what the message shows. `sweepAt`: when to look once for late extra copies. */
  | {
      readonly type: "up";
      readonly ts: MessageTs;
      readonly shows: string;
      readonly sweepAt: number | null;
      /** Before this, no failed update is tried again; where none has failed, no state is drawn that may be over within seconds. */
      readonly notBefore: number;
      /** Failed updates in a row. */
      readonly tries: number;
    }
  /** Slack refuses it, for example because the app is not in the channel. Tried again at intervals while the run lives. */
  | ({ readonly type: "refused"; readonly words: string; readonly retryAt: number } & Tries);

/** `refusals`: how many of the tries Slack refused. Left out: none; in an older document unknown. */
type Tries = { readonly tries: number; readonly refusals?: number };

/** A file at Slack: its id, and the secrets masked in it, so that the form can show them. */
export type UploadedFile = { readonly file: string; readonly masked?: readonly string[] };

/** A file of ours: uploaded first (its id is stored), then shared into the thread. */
export type Upload =
  | { readonly type: "planned"; readonly notBefore: number; readonly tries: number }
  | (UploadedFile & { readonly type: "uploaded"; readonly notBefore: number; readonly tries: number })
  | (UploadedFile & { readonly type: "sharing"; readonly at: number; readonly tries: number })
  | (UploadedFile & { readonly type: "unsure"; readonly lookAt: number; readonly tries: number })
  | (UploadedFile & { readonly type: "up" })
  | { readonly type: "refused"; readonly words: string };

/** How long a request whose answer was lost may still arrive (ms). Our estimate: a TCP retransmission or two. */
export const POST_LINGER_MS = 4_000;
/** When to look for a copy that arrived even later (ms after the second attempt). */
export const SWEEP_AFTER_MS = 30_000;

/** For so long after its opening a run is not drawn as queued or working (ms): often that is over before Slack has drawn it. */
export const PASSING_MS = 5_000;

/** The interval at which a refused message is tried again while its run is watched (ms), and how many times after that. */
export const REFUSED_RETRY_MS = 5 * 60_000;
export const REFUSED_TRIES = 20;

export function uploadedFile({ file, masked }: UploadedFile): UploadedFile {
  return masked === undefined ? { file } : { file, masked };
}

/** How often Slack has refused it. An outage before must not use up the tries of a message that Slack refuses. */
export function refusalsOf(post: PostedMessage | undefined): number {
  if (post === undefined || post.type === "up") return 0;
  return post.refusals ?? (post.type === "refused" ? post.tries : 0);
}

/** No byte of it has left. */
export const isFresh = (post: PostedMessage | undefined): boolean =>
  post === undefined || (post.type === "planned" && post.tries === 0);

export const PLANNED = { type: "planned", notBefore: 0, tries: 0 } as const;

/** Waits between attempts: 1, 2, 4 … 60 s; a longer `Retry-After` takes precedence. */
export function backoffMs(tries: number, retryAfterMs: number | null): number {
  return Math.max(Math.min(1_000 * 2 ** Math.max(tries - 1, 0), 60_000), retryAfterMs ?? 0);
}
