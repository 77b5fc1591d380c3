// One run as we remember it, with its approvals, its messages and the notices in its thread.

import type { Approval, Decision, RunContext } from "./approval.ts";
import type { AuditMark } from "./audit/hash-chain.ts";
import type { Context } from "./context.ts";
import type { Gathered } from "./follow-up.ts";
import type { Freeze } from "./freeze.ts";
import type { ApprovalId, ChannelId, GroupId, RunId, RunKey, TeamId, UserId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { PostedMessage, Upload } from "./posted-message.ts";
import type { Absence, Ending, Unreadable } from "./snapshot.ts";
import { isBlank } from "./text/text.ts";

/** What we remember about a run: one value, loaded and saved whole. */
export type Run = {
  readonly key: RunKey;
  readonly team: TeamId;
  readonly channel: ChannelId;
  readonly requester: UserId;
  readonly origin: "started" | "adopted";
  /** The task as typed; for an adopted run the task that the service names, once it has named it. */
  readonly input: string;
  readonly askedAt: number;
  /** The `response_url`, to answer the requester privately even if the app is not in the channel. `until`: monotonic. */
  readonly answer: { readonly url: string; readonly until: number } | null;
  readonly creation: Creation;
  readonly watch: Watch;
  readonly seen: Seen | null;
  readonly approvals: readonly Approval[];
  /** Its own fields, as of the newest snapshot that listed an approval. */
  readonly context: RunContext | null;
  /** What the service lists in an unreadable form; null while everything is readable. See `unreadableNow`. */
  readonly unreadable: Unreadable | null;
  readonly posts: { readonly [slot: Slot]: PostedMessage };
  readonly uploads: { readonly [slot: Slot]: Upload };
  readonly notices: readonly PrivateNotice[];
  /** This run carries its channel's notice that the service is away since `since`. */
  readonly outage: { readonly since: number; readonly why: string; readonly until: number | null } | null;
  /** Left out: it never carried its channel's notice of many requests at once. */
  readonly storm?: Storm;
  /** Messages about several calls of the channel, oldest first. Left out: it never carried one. */
  readonly gathered?: readonly Gathered[];
  /** Left out: it was never stopped. */
  readonly stop?: Stop;
  /** The freeze that its cards show; left out: none. */
  readonly frozen?: Freeze;
  /** What Slack says about the requester. Left out: no rule of the policy asks. */
  readonly requesterGroups?: RequesterGroups;
  /**
   * Who, beside the requester, has asked for this run before, or may have: it was forgotten and watched again, or the answer to their start
   * was lost. Left out: no one.
   */
  readonly mayHaveAsked?: readonly UserId[];
  /** Left out: no approval was closed without a person recently. */
  readonly untouched?: Untouched;
  /** The newest entry of the audit about this run; left out until there is one. */
  readonly audited?: AuditMark;
};

export type RequesterGroups = {
  readonly asks: readonly GroupId[];
  /** A group that is missing here is unknown. */
  readonly in: { readonly [group: GroupId]: boolean };
  /** When Slack was asked (monotonic); null: not yet. */
  readonly at: number | null;
};

/** This run carries the notice of its channel. Moments: ms, of the wall clock. */
export type Storm = {
  readonly since: number;
  /** So many requests had no message with buttons yet, in the whole channel, at the moment `at`. */
  readonly waiting: number;
  readonly at: number;
  /** Null: it goes on. */
  readonly until: number | null;
};

/** A person stopped the run: everything that it asks is denied. `lifted`: its requests can be decided again. */
export type Stop = {
  readonly by: UserId;
  readonly at: number;
  readonly lifted?: { readonly by: UserId; readonly at: number };
};

/** Approvals that closed without a person since `since` (ms), and what the audit holds about them. */
export type Untouched = {
  readonly since: number;
  /** Entries by kind and approval. */
  readonly told: { readonly [kindAndApproval: string]: number };
  /** Characters of the texts that were stored with the entries. */
  readonly chars: number;
  /** Counted, but not yet in the audit. */
  readonly omitted: number;
};

/** Names a message of the run: `opening`, `card <approval>`, `outcome`; or a file: `output`, `request <approval> <version>`. */
export type Slot = string;

export const OPENING: Slot = "opening";
export const OUTCOME: Slot = "outcome";
export const OUTPUT: Slot = "output";
/** One message for all approvals that cannot be read. */
export const UNREADABLE: Slot = "unreadable";
export const cardSlot = (id: ApprovalId): Slot => `card ${id}`;
/** A digest lists several approvals. `page`: 1, 2 and so on. */
export const digestSlot = (page: number): Slot => `digest ${page}`;
export const requestSlot = (approval: Approval): Slot => `request ${approval.id} ${approval.version}`;

/** The POST that creates the run is sent at most once per intention. Monotonic: `notBefore`, and `at` of what was refused or lost. */
export type Creation =
  | { readonly type: "planned"; readonly notBefore: number; readonly tries: number; readonly why: string }
  | { readonly type: "sending"; readonly at: number; readonly tries: number }
  /** `reused`: the service has since given the id to another run. */
  | { readonly type: "created"; readonly id: RunId; readonly at: number; readonly reused?: true }
  /** The service answered with the id of a run that is followed already; one id has one thread. */
  | { readonly type: "taken"; readonly id: RunId; readonly at: number }
  | { readonly type: "refused"; readonly words: string; readonly at: number }
  /** A run with an unknown id may exist. `again`: whether the requester chose to start again or to leave it. */
  | {
      readonly type: "unknown";
      readonly words: string;
      readonly at: number;
      readonly again: "asked" | "started" | "left";
      /** The store was restored from a copy, so what happened to the start after that copy is unknown. */
      readonly restored?: true;
    };

/** Moments: monotonic. */
export type Watch =
  | { readonly type: "on" }
  /** The service says 404. `absence`: not null while we do not believe it yet; after that the run is polled ever more slowly for a day. */
  | { readonly type: "missing"; readonly since: number; readonly absence: Absence | null }
  | { readonly type: "over"; readonly at: number }
  | { readonly type: "given-up"; readonly at: number }
  /** The stored record was changed outside Countersign (end-run.ts). */
  | { readonly type: "tampered"; readonly at: number }
  | { readonly type: "dropped"; readonly at: number; readonly by: UserId };

export type Seen = {
  readonly status: string;
  /** When we first saw this status (ms). */
  readonly since: number;
  readonly ended: Ended | null;
  /** False: the newest snapshot did not say which approvals are pending. */
  readonly lists: boolean;
  /** Start of the newest fetch that was applied (monotonic). An older answer that arrives later is ignored. */
  readonly askedAt: number;
};

export type Ended = {
  readonly how: Ending;
  readonly completedAt: string | null;
  /** Kept until it is posted, then dropped. */
  readonly output: string | null;
  readonly outputChars: number;
  /** Too long for a message: posted as a file, with the first part in the message. */
  readonly asFile: boolean;
  readonly extra: { readonly [field: string]: Json };
};

/** A message that is sent at most once: privately to one person, or to another channel. */
export type PrivateNotice = {
  readonly id: string;
  readonly to: UserId | ChannelId;
  readonly says: NoticeContent;
  readonly state: "planned" | "sending";
  /** Monotonic. */
  readonly notBefore: number;
};

export type NoticeContent =
  | { readonly type: "cannot-post"; readonly words: string; readonly code?: string }
  | {
      readonly type: "decision-void";
      readonly approval: ApprovalId;
      /** "others-needed": this person's approval still counts, but is no longer enough. */
      readonly cause:
        | "request-changed"
        | "no-longer-listed"
        | "run-missing"
        | "unreadable"
        | "run-over"
        | "voter-may-not"
        | "rule-changed"
        | "others-needed"
        | "stopped"
        | "frozen"
        | "restored"
        | "tampered";
    }
  /** An approval whose answer was lost is not sent again, because it no longer counts. */
  | { readonly type: "decision-stopped"; readonly approval: ApprovalId }
  /** It was sent and never confirmed, and Countersign asks and sends no more. */
  | { readonly type: "decision-unconfirmed"; readonly approval: ApprovalId }
  | {
      readonly type: "nobody-can-approve";
      readonly approval: ApprovalId;
      readonly able: number;
      readonly needs: number;
      readonly grows: boolean;
    }
  | { readonly type: "decision-refused"; readonly approval: ApprovalId; readonly words: string }
  | { readonly type: "decision-elsewhere"; readonly approval: ApprovalId; readonly words: string };

export function newRun(
  facts: Pick<Run, "key" | "team" | "channel" | "requester" | "input" | "askedAt" | "answer">,
): Run {
  return {
    ...facts,
    origin: "started",
    creation: { type: "planned", notBefore: 0, tries: 0, why: "" },
    watch: { type: "on" },
    seen: null,
    approvals: [],
    context: null,
    unreadable: null,
    posts: {},
    uploads: {},
    notices: [],
    outage: null,
  };
}

export function adoptedRun(id: RunId, facts: Parameters<typeof newRun>[0]): Run {
  return { ...newRun(facts), origin: "adopted", creation: { type: "created", id, at: facts.askedAt } };
}

/** They may not approve what the run asks for, unless the rule lets requesters. */
export function mayHaveAsked({ requester, mayHaveAsked: others = [] }: Run, user: UserId): boolean {
  return user === requester || others.includes(user);
}

export function runId(run: Run): RunId | null {
  return run.creation.type === "created" ? run.creation.id : null;
}

/** The service's id, as long as it means this run and no later one. */
export function currentId({ creation }: Run): RunId | null {
  return creation.type === "created" && creation.reused !== true ? creation.id : null;
}

/** The service has used its id again. */
export function giveUpId(run: Run): Run {
  if (run.creation.type !== "created" || run.creation.reused === true) return run;
  return { ...run, creation: { ...run.creation, reused: true } };
}

export function findApproval(run: Run, id: ApprovalId): Approval | null {
  return run.approvals.find((approval) => approval.id === id) ?? null;
}

export function replaceApproval(run: Run, next: Approval): Run {
  return { ...run, approvals: run.approvals.map((approval) => (approval.id === next.id ? next : approval)) };
}

/** The same run when `change` returns each approval as it is. */
export function mapApprovals(run: Run, change: (approval: Approval) => Approval): Run {
  const approvals = run.approvals.map(change);
  return approvals.every((each, index) => each === run.approvals[index]) ? run : { ...run, approvals };
}

/** The service has said 404 often and long enough to be believed. */
export function isMissing(run: Run): boolean {
  return run.watch.type === "missing" && run.watch.absence === null;
}

/** What waits for a decision and cannot be read. Nothing waits for a run that is over or let go. */
export function unreadableNow(run: Run): Unreadable | null {
  return isWatched(run) ? run.unreadable : null;
}

/** The run is still asked for at the service. */
export function isWatched(run: Run): boolean {
  return runId(run) !== null && (run.watch.type === "on" || run.watch.type === "missing");
}

/** Something can still be asked in its name: it is followed, or its start is planned or under way. */
export function isStoppable(run: Run): boolean {
  const { creation, seen } = run;
  if (creation.type === "planned" || creation.type === "sending") return true;
  return isWatched(run) && (seen?.ended ?? null) === null;
}

/** It has ended or was not started, and its task is known and can be trusted. */
export function canRunAgain({ input, creation, seen, watch }: Run): boolean {
  const isOver = creation.type === "refused" || (seen?.ended ?? null) !== null;
  return isOver && !isBlank(input) && watch.type !== "tampered";
}

/** Everything it asks is denied until the stop is lifted. */
export function isStopped({ stop }: Pick<Run, "stop">): boolean {
  return stop !== undefined && stop.lifted === undefined;
}

/** Empty where no person decided. */
export function noticeToDecider({ by }: Decision, says: NoticeContent, ctx: Context): PrivateNotice[] {
  return by === null ? [] : [{ id: ctx.nonce(), to: by.user, says, state: "planned", notBefore: 0 }];
}
