import type { Outcome } from "./effect.ts";
import { backoffMs, PLANNED, POST_LINGER_MS, REFUSED_RETRY_MS, type Upload, uploadedFile } from "./post.ts";

export type UploadAct = "upload" | "share" | "find-file";

/** What becomes of a file when an attempt to upload it, to share it or to find it in the thread ended so. `now`: monotonic. */
export function settleUpload(
  act: UploadAct,
  upload: Upload | undefined,
  outcome: Outcome,
  now: number,
): Upload {
  const before: Upload = upload ?? PLANNED;
  switch (act) {
    case "upload":
      return before.is === "planned" ? afterUploading(before, outcome, now) : before;
    case "share":
      return before.is === "sharing" ? afterSharing(before, outcome, now) : before;
    case "find-file":
      return before.is === "unsure" ? afterFinding(before, outcome, now) : before;
  }
}

type Of<Is extends Upload["is"]> = Extract<Upload, { is: Is }>;

function afterUploading(before: Of<"planned">, outcome: Outcome, now: number): Upload {
  if (outcome.is === "uploaded") return { is: "uploaded", ...uploadedFile(outcome), notBefore: 0, tries: 0 };
  if (outcome.is === "refused") return { is: "refused", words: outcome.words };
  const tries = before.tries + 1;
  return { is: "planned", notBefore: now + backoffMs(tries, afterOf(outcome)), tries };
}

function afterSharing(before: Of<"sharing">, outcome: Outcome, now: number): Upload {
  const { tries } = before;
  const file = uploadedFile(before);
  switch (outcome.is) {
    case "shared":
      return { is: "up", ...file };
    case "gone":
      return PLANNED;
    case "refused":
      return { is: "refused", words: outcome.words };
    case "later":
      return { is: "uploaded", ...file, notBefore: now + backoffMs(tries, outcome.afterMs), tries };
    default:
      return { is: "unsure", ...file, lookAt: now + POST_LINGER_MS, tries };
  }
}

function afterFinding(before: Of<"unsure">, outcome: Outcome, now: number): Upload {
  const tries = before.tries + 1;
  if (outcome.is === "file-found") {
    if (outcome.there) return { is: "up", ...uploadedFile(before) };
    return { is: "uploaded", ...uploadedFile(before), notBefore: 0, tries: before.tries };
  }
  if (outcome.is === "refused") return { ...before, lookAt: now + REFUSED_RETRY_MS, tries };
  return { ...before, lookAt: now + backoffMs(tries, afterOf(outcome)), tries };
}

function afterOf(outcome: Outcome): number | null {
  return outcome.is === "later" ? outcome.afterMs : null;
}
