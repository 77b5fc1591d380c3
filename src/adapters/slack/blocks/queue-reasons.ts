// Why the reader of the queue can't approve a request, in a few words for its row. refusal-words.ts has the full words.

import type { OpenRefusal } from "../../../domain/authorization.ts";
import type { Run } from "../../../domain/run.ts";

/** Null if `queueOf` never lists a request with this refusal, or if its row says it already. */
const REASONS: { readonly [Type in Exclude<OpenRefusal["type"], "requester">]: string | null } = {
  outsider: "your account belongs to another workspace",
  "not-approver": "the rule lists others",
  "part-filled": "your approval can't count for a missing part",
  "already-voted": "you approved it, others must too",
  "not-all-shown": "can only be denied",
  "file-not-seen": "deny only: the full request is a file in a channel you are not in",
  "read-first": "read it first",
  unverified: "⚠️ Slack did not say whether you may decide it",
  closed: "its deadline has passed",
  stopped: "its run is stopped, so it can only be denied",
  frozen: "frozen, so it can only be denied",
  // A held approval. The row says until when it is held.
  "already-decided": null,
  // Such people see no list.
  guest: null,
  bot: null,
  deactivated: null,
  // A request of a channel that the reader is not in is listed only if an escalation lets them decide it.
  "not-in-channel": null,
  // The queue reads the approval as it is now, so it compares the card version with itself.
  unknown: null,
  changed: null,
  undone: null,
  reopened: null,
};

/** Null if the row needs no reason. `origin`: that of the request's run. */
export function refusalReason(refusal: OpenRefusal, origin: Run["origin"]): string | null {
  if (refusal.type !== "requester") return REASONS[refusal.type];
  if (refusal.perhaps === true) return "you may have started this run, or watched it before";
  return origin === "started" ? "you asked for this run" : "you watch this run";
}
