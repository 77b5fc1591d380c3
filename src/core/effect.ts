// Work is data: what is to be done in the outside world, and what came of it.

import type { ApprovalId, MessageTs, RunId } from "./ids.ts";
import type { UploadedFile } from "./post.ts";
import type { Slot } from "./run.ts";
import type { Snapshot } from "./snapshot.ts";

export type Effect =
  | { readonly do: "create-run" }
  | { readonly do: "post"; readonly slot: Slot }
  /** Read back whether a post whose answer was lost is there. */
  | { readonly do: "find"; readonly slot: Slot }
  | { readonly do: "update"; readonly slot: Slot }
  /** Remove copies of a message that arrived later than anybody waits. */
  | { readonly do: "sweep"; readonly slot: Slot }
  | { readonly do: "upload"; readonly slot: Slot }
  | { readonly do: "share"; readonly slot: Slot }
  | { readonly do: "find-file"; readonly slot: Slot }
  | { readonly do: "send-decision"; readonly approval: ApprovalId }
  | { readonly do: "tell"; readonly tell: string }
  /** Can enough people approve it? */
  | { readonly do: "count-approvers"; readonly approval: ApprovalId };

/** The same work has the same key: it is never under way twice. */
export function effectKey(effect: Effect): string {
  switch (effect.do) {
    case "create-run":
      return effect.do;
    case "send-decision":
    case "count-approvers":
      return `${effect.do} ${effect.approval}`;
    case "tell":
      return `${effect.do} ${effect.tell}`;
    case "post":
    case "find":
    case "update":
    case "sweep":
    case "upload":
    case "share":
    case "find-file":
      return `${effect.do} ${effect.slot}`;
  }
}

export type Outcome =
  | { readonly is: "created"; readonly snapshot: Snapshot }
  /** It was created under the id of a run that is followed already. */
  | { readonly is: "taken"; readonly id: RunId }
  | { readonly is: "posted"; readonly ts: MessageTs; readonly shows: string }
  /** All copies of the message that are there, the oldest first. */
  | { readonly is: "found"; readonly copies: readonly MessageTs[] }
  | { readonly is: "updated"; readonly shows: string }
  /** The message or the file is no longer there. */
  | { readonly is: "gone" }
  | { readonly is: "swept" }
  | (UploadedFile & { readonly is: "uploaded" })
  | { readonly is: "shared" }
  | { readonly is: "file-found"; readonly there: boolean }
  | { readonly is: "confirmed" }
  | { readonly is: "elsewhere"; readonly words: string }
  | { readonly is: "told" }
  /** `of`: what was counted for. */
  | { readonly is: "counted"; readonly of: string; readonly able: number | null; readonly grows: boolean }
  /** Surely not applied; may be tried again. */
  /** `heldBack`: it could be sent, and we will not for now. */
  | (Because & {
      readonly is: "later";
      readonly afterMs: number | null;
      readonly why: string;
      readonly heldBack?: true;
    })
  /** A decision that the audit does not bear out: it must not be sent at all. */
  | { readonly is: "unproven"; readonly why: string }
  /** Surely not applied, and the same would be refused again. */
  | (Because & { readonly is: "refused"; readonly words: string })
  /** It may have been applied: the answer was lost, or it is `answered` and says neither yes nor no. */
  | (Because & {
      readonly is: "unsure";
      readonly why: string;
      readonly afterMs?: number | null;
      /** In the service's own words. Untrusted text, for people only. */
      readonly answered?: string;
    });

/** A stable word for the log. The words beside it are for people: the service's own may repeat a request. */
type Because = { readonly code?: string };
