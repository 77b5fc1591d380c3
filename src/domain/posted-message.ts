// One message of ours in Slack, from the intention to the message that is really there. chat.postMessage has no
// idempotency key, so a lost answer is followed by reading the thread back: adopt what is found, post again what is not.
//
//   planned ──► sending ──► up ──(message deleted)──► planned
//                 │  ▲
//        lost     ▼  │ not found
//               unsure            refused (no such channel, not a member) ──slowly──► sending

import type { MessageTs } from "./ids.ts";

// All moments here are monotonic, but for the mark `sending`.

export type PostedMessage =
  | { readonly type: "planned"; readonly notBefore: number; readonly tries: number }
  | { readonly type: "sending"; readonly at: number; readonly tries: number }
  /** Read back not before `lookAt`: until then a late request can still arrive. */
  | { readonly type: "unsure"; readonly lookAt: number; readonly tries: number }
  /** `shows` is what the message says, as `wanted` names it; `sweepAt`: when to look once for late extra copies. */
  | {
      readonly type: "up";
      readonly ts: MessageTs;
      readonly shows: string;
      readonly sweepAt: number | null;
      readonly notBefore: number;
      /** Failed updates in a row. */
      readonly tries: number;
    }
  /** Slack refuses it: we were removed from the channel, it is archived. Tried again now and then while the run lives. */
  | { readonly type: "refused"; readonly words: string; readonly retryAt: number; readonly tries: number };

/** A file that Slack has: its id, and which secrets are masked in it, so that the form can show them. */
export type UploadedFile = { readonly file: string; readonly masked?: readonly string[] };

/** A file of ours: uploaded first (its id is stored), then shared into the thread. */
export type Upload =
  | { readonly type: "planned"; readonly notBefore: number; readonly tries: number }
  | (UploadedFile & { readonly type: "uploaded"; readonly notBefore: number; readonly tries: number })
  | (UploadedFile & { readonly type: "sharing"; readonly at: number; readonly tries: number })
  | (UploadedFile & { readonly type: "unsure"; readonly lookAt: number; readonly tries: number })
  | (UploadedFile & { readonly type: "up" })
  | { readonly type: "refused"; readonly words: string };

/** How long a request whose answer was lost may still arrive late (ms). Ours: a TCP retransmission or two. */
export const POST_LINGER_MS = 4_000;
/** When to look for a copy that arrived even later than that (ms after the second attempt). */
export const SWEEP_AFTER_MS = 30_000;

/** How often a refused message is tried again while its run is watched (ms), and how many times after that. */
export const REFUSED_RETRY_MS = 5 * 60_000;
export const REFUSED_TRIES = 20;

export function uploadedFile({ file, masked }: UploadedFile): UploadedFile {
  return masked === undefined ? { file } : { file, masked };
}

export const PLANNED = { type: "planned", notBefore: 0, tries: 0 } as const;

/** Waits between attempts: 1, 2, 4 … 60 s; a longer `Retry-After` wins. */
export function backoffMs(tries: number, retryAfterMs: number | null): number {
  return Math.max(Math.min(1_000 * 2 ** Math.max(tries - 1, 0), 60_000), retryAfterMs ?? 0);
}
