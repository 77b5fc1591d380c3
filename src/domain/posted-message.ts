// One of our messages in Slack, from the plan to the posted message. chat.postMessage has no idempotency key, so after a lost answer we
// read the thread back. If we find the message, we adopt it; if not, we post it again.
//
//   planned ──► sending ──► up ──(message deleted)──► planned
//                 │  ▲
//        lost     ▼  │ not found
//               unsure            refused (no such channel, not a member) ──slowly──► sending

import type { MessageTs } from "./ids.ts";

// All times here are monotonic, except `at` of `sending`, and `lostAt`.

export type PostedMessage =
  | ({ readonly type: "planned"; readonly notBefore: number } & Tries)
  | ({ readonly type: "sending"; readonly at: number } & Tries)
  /** The answer was lost. We read the thread back at `lookAt`, because until then a late request can still arrive. */
  | ({ readonly type: "unsure"; readonly lookAt: number } & Tries)
  /** Posted. `shows`: the render key of what the message shows. `sweepAt`: when to look once for late extra copies. */
  | ({
      readonly type: "up";
      readonly ts: MessageTs;
      readonly shows: string;
      readonly sweepAt: number | null;
      /** When a failed update may be tried again. If none has failed: when a state may be drawn that may be over within seconds. */
      readonly notBefore: number;
      /** The number of failed updates in a row. */
      readonly tries: number;
    } & Lost)
  /** Slack refuses the message, for example because the app is not in the channel. Tried again at intervals while the run lives. */
  | ({ readonly type: "refused"; readonly words: string; readonly retryAt: number } & Tries);

/** `refusals`: the number of tries that Slack refused. Absent if none; in older documents, absent means unknown. */
type Tries = { readonly tries: number; readonly refusals?: number } & Lost;

/** `lostAt`: when the first try began whose answer was lost, so no copy is older. Absent if none was; in older documents, absent means unknown. */
type Lost = { readonly lostAt?: number };

/** `losses`: how often Slack has lost an earlier upload of the file before it was shared. Absent if never. */
type Losses = { readonly losses?: number };

/** An uploaded file: Slack's id, and the secrets masked in it, so that the form can show them. */
export type UploadedFile = { readonly file: string; readonly masked?: readonly string[] } & Losses;

/**
 * One of our files. It is uploaded first, and shared into the thread once its id is stored. `tries`: of a planned file, the failures so far;
 * of an uploaded one, the tries to share and to find it, which begin again at 0 with each upload.
 */
export type Upload =
  | ({ readonly type: "planned"; readonly notBefore: number; readonly tries: number } & Losses)
  | (UploadedFile & { readonly type: "uploaded"; readonly notBefore: number; readonly tries: number })
  | (UploadedFile & { readonly type: "sharing"; readonly at: number; readonly tries: number })
  /**
   * The answer was lost, or Slack accepted the file, which then appears in the thread some time later. We read the thread back at `lookAt`.
   * `until`: when an accepted file should have appeared. Absent if the answer was lost.
   */
  | (UploadedFile & {
      readonly type: "unsure";
      readonly lookAt: number;
      readonly tries: number;
      readonly until?: number;
    })
  | (UploadedFile & { readonly type: "up" })
  /**
   * Slack refuses the file, or too many tries failed. `retryAt`: when the file of a request is tried again (monotonic). Absent in documents
   * of earlier versions, which means at once.
   */
  | { readonly type: "refused"; readonly words: string; readonly retryAt?: number };

/** How long a request whose answer was lost may still arrive (ms). Our estimate: one or two TCP retransmissions. */
export const POST_LINGER_MS = 4_000;
/** When to look first for a file that Slack accepted (ms). Slack's staff: a file appears some time after the answer (bolt-js#2115). */
export const FILE_LOOK_MS = 500;
/** How long a file that Slack accepted may take to appear (ms). After that, it is shared again. Our estimate. */
export const FILE_LINGER_MS = 60_000;
/**
 * After this many tries to share a file and to find it, Slack's answer is enough. Our choice: about five shares. If that answer was lost, and
 * the thread cannot be read, the file of an output is shared again. The file of a request is uploaded again, and its card says why.
 */
export const FILE_TRIES = 16;
/** After this many failed tries to attach its file, the card of a request says why. Our choice: after about two minutes. */
export const REQUEST_FILE_TRIES = 8;
/** When to look for a copy that arrived even later (ms after the second attempt). */
export const SWEEP_AFTER_MS = 30_000;

/** How long after its opening a run is not drawn as queued or working (ms). These states are often over before Slack has drawn them. */
export const PASSING_MS = 5_000;

/** The interval at which a refused message is tried again (ms). */
export const REFUSED_RETRY_MS = 5 * 60_000;
/** The number of failed tries after which we give a message up, unless its run is still watched. */
export const REFUSED_TRIES = 20;

export function uploadedFile({ file, masked, losses }: UploadedFile): UploadedFile {
  return { file, ...(masked !== undefined && { masked }), ...lostBefore({ losses }) };
}

export const lostBefore = ({ losses = 0 }: { readonly losses?: number | undefined }): Losses =>
  losses === 0 ? {} : { losses };

/** Counts how often Slack has refused the message. Tries that failed in an outage do not count, so they use up no retries. */
export function refusalsOf(post: PostedMessage | undefined): number {
  if (post === undefined || post.type === "up") return 0;
  return post.refusals ?? (post.type === "refused" ? post.tries : 0);
}

export function lostOf({ lostAt }: PostedMessage): Lost {
  return lostAt === undefined ? {} : { lostAt };
}

/** Returns whether no byte of the message has been sent. */
export const isFresh = (post: PostedMessage | undefined): boolean =>
  post === undefined || (post.type === "planned" && post.tries === 0);

/** Returns whether Slack may have the message. */
export const mayBePosted = (
  post: PostedMessage | undefined,
): post is Exclude<PostedMessage, { type: "planned" | "refused" }> =>
  post !== undefined && post.type !== "planned" && post.type !== "refused";

export const PLANNED = { type: "planned", notBefore: 0, tries: 0 } as const;
