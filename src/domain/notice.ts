// Private notices of a run: what the requester or an approver is told outside the thread.

import type { Context } from "./context.ts";
import type { ApprovalId, ChannelId, UserId } from "./ids.ts";
import type { OtherOutcome } from "./service-word.ts";

/** A message to one person, or to another channel. */
export type PrivateNotice = {
  readonly id: string;
  readonly to: UserId | ChannelId;
  readonly says: NoticeContent;
  readonly state: "planned" | "sending";
  /** When it may be sent (monotonic). */
  readonly notBefore: number;
  /** The number of failed tries. Absent if there was none. */
  readonly tries?: number;
};

export type NoticeContent =
  | { readonly type: "cannot-post"; readonly words: string; readonly code?: string }
  | {
      readonly type: "decision-void";
      readonly approval: ApprovalId;
      /** "others-needed": this person's approval still counts, but the others that it needed no longer do. */
      readonly cause:
        | "request-changed"
        | "no-longer-listed"
        | "run-missing"
        /** The run was missing for so long that Countersign stopped asking for it. */
        | "given-up"
        | "unreadable"
        | "run-over"
        | "voter-may-not"
        | "rule-changed"
        | "others-needed"
        /** Someone else denied the request while the approval was on hold. */
        | "denied"
        | "stopped"
        | "frozen"
        | "restored"
        | "tampered";
    }
  /** An approval was sent, its answer was lost, and we do not send it again because it no longer counts. */
  | { readonly type: "decision-stopped"; readonly approval: ApprovalId }
  /** A decision was sent but never confirmed, and Countersign has stopped checking and sending. */
  | { readonly type: "decision-unconfirmed"; readonly approval: ApprovalId }
  /** Nothing more is sent for the decision, but the service still lists the approval as pending. To the requester if no person decided. */
  | { readonly type: "decision-still-listed"; readonly approval: ApprovalId }
  | {
      readonly type: "nobody-can-approve";
      readonly approval: ApprovalId;
      readonly able: number;
      readonly needs: number;
      readonly grows: boolean;
    }
  | { readonly type: "decision-refused"; readonly approval: ApprovalId; readonly words: string }
  | (OtherOutcome & { readonly type: "decision-elsewhere"; readonly approval: ApprovalId });

/** A notice that tells people what became of their own decision. */
export type DecisionNotice = Extract<NoticeContent, { type: `decision-${string}` }>;

export const isAboutDecision = ({ type }: NoticeContent): boolean => type.startsWith("decision-");

/** Plans the notice for each of them. Returns the same run if there is no one to tell. */
export function addNotices<Noticed extends { readonly notices: readonly PrivateNotice[] }>(
  run: Noticed,
  addressees: readonly (UserId | ChannelId)[],
  says: NoticeContent,
  ctx: Pick<Context, "nonce">,
): Noticed {
  if (addressees.length === 0) return run;
  const planned = addressees.map((to): PrivateNotice => ({
    id: ctx.nonce(),
    to,
    says,
    state: "planned",
    notBefore: 0,
  }));
  return { ...run, notices: [...run.notices, ...planned] };
}
