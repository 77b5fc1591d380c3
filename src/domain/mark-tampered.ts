// A run whose stored record was changed outside Countersign. Countersign neither believes nor repeats what the record says: its
// decisions do not count, nothing is sent for it, and its messages say so. Watching the run again begins a new record.

import { closeAsTampered } from "./approval-transitions.ts";
import type { PostedMessage } from "./posted-message.ts";
import type { Run } from "./run.ts";

/** Keeps what is needed to take the buttons off and to say why. */
export function markTampered(run: Run, now: number): Run {
  const { audited: _audited, untouched: _untouched, ...rest } = run;
  const { creation, posts } = run;
  return {
    ...rest,
    input: "",
    answer: null,
    creation:
      creation.type === "created" ? creation : { type: "refused", words: "its record was changed", at: now },
    watch: { type: "tampered", at: now },
    seen: null,
    context: null,
    unreadable: null,
    approvals: run.approvals.map((approval) => closeAsTampered(approval, now)),
    posts: Object.fromEntries(Object.entries(posts).filter(isUp)),
    uploads: {},
    notices: [],
    outage: null,
  };
}

const isUp = (entry: [string, PostedMessage]): boolean => entry[1].type === "up";
