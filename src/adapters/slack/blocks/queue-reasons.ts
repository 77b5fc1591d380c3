// Why the reader of the queue can't approve a request, in a few words for its row. refusal-words.ts has the full words.

import type { OpenRefusal } from "../../../domain/authorization.ts";

/** Null if `queueOf` never lists a request with this refusal, or if its row says it already. */
export const REFUSAL_REASONS: { readonly [Type in OpenRefusal["type"]]: string | null } = {
  requester: "you started, watch or once watched this run, or may have started it",
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
