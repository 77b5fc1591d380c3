// The state of a file after an attempt to upload it, to share it, or to find it in the thread.

import { backoffMs, type Outcome, retryAfterOf } from "./effect.ts";
import { isHopeless } from "./kept-messages.ts";
import {
  FILE_LINGER_MS,
  FILE_LOOK_MS,
  FILE_TRIES,
  lostBefore,
  PLANNED,
  POST_LINGER_MS,
  REFUSED_RETRY_MS,
  REQUEST_FILE_TRIES,
  type Upload,
  uploadedFile,
} from "./posted-message.ts";
import type { Run } from "./run.ts";
import { OUTPUT, type Slot } from "./slot.ts";

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
    return { type: "uploaded", ...uploadedFile(outcome), ...lostBefore(before), notBefore: 0, tries: 0 };
  if (outcome.type === "refused") return refusedFile(outcome.words, monotonic);
  const tries = before.tries + 1;
  const notBefore = monotonic + backoffMs(tries, retryAfterOf(outcome));
  return { type: "planned", notBefore, tries, ...lostBefore(before) };
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
    case "gone": {
      const losses = (before.losses ?? 0) + 1;
      return { type: "planned", notBefore: monotonic + backoffMs(losses, null), tries: losses, losses };
    }
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
