// Why somebody may not start, watch, answer for or let go of a run.

import type { Run } from "../core/run.ts";

export type NoRun =
  | { readonly because: "empty-task" }
  | { readonly because: "guest" | "outsider" | "bot" | "deactivated" | "not-in-channel" }
  | { readonly because: "unverified" }
  /** The policy lets nobody start runs in this channel, or not this person. */
  | { readonly because: "no-runs-here" | "not-starter" }
  /** We can't see the channel: private, and nobody invited us. */
  | { readonly because: "hidden-channel" }
  /** A direct message, to us or among people. */
  | { readonly because: "not-a-channel" }
  /** No such run, or one that this person may not know of. */
  | { readonly because: "unknown-run" }
  | { readonly because: "service-silent"; readonly words: string }
  | { readonly because: "already-watched"; readonly run: Run }
  /** The run of this id has ended, and the service tells of another one under it. */
  | { readonly because: "id-used-again"; readonly run: Run }
  | { readonly because: "not-watched"; readonly run: Run }
  | { readonly because: "deciding" | "voted" | "denial-due"; readonly run: Run }
  | { readonly because: "answered" }
  /** The audit is for others to read; and here, for others than those who took part. */
  | { readonly because: "not-auditor" | "own-audit" }
  /** The audit itself was tampered with, so nobody is given it as evidence. `words`: where and how. */
  | { readonly because: "tampered"; readonly words: string }
  /** To let approvals leave again after tampering. */
  | {
      readonly because: "not-admin" | "nothing-to-acknowledge" | "other-findings" | "acknowledge-why";
    }
  /** It was allowed, and Slack did not take it. */
  | { readonly because: "not-sent" };
