// One run as we remember it, with its approvals, its messages in Slack and the notices to people.

import type { Approval, RunContext } from "./approval.ts";
import type { AuditPlace } from "./audit/hash-chain.ts";
import type { Gathered } from "./follow-up.ts";
import type { Freeze } from "./freeze.ts";
import type { ApprovalId, ChannelId, GroupId, MessageTs, RunId, RunKey, TeamId, UserId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { PrivateNotice } from "./notice.ts";
import type { PostedMessage, Upload } from "./posted-message.ts";
import type { Absence, Ending, Unreadable } from "./snapshot.ts";
import { isBlank } from "./text/text.ts";
import { cardSlot, type Slot } from "./slot.ts";

/** A long outage of the service. Times are wall clock. */
export type Outage = {
  readonly since: number;
  readonly why: string;
  /** Null while it lasts. */
  readonly until: number | null;
  /** The service had not answered at `until`: Countersign stopped asking it then, because its runs were no longer watched. */
  readonly unchecked?: true;
};

/** Everything we remember about a run. It is one value, loaded and saved as a whole. */
export type Run = {
  readonly key: RunKey;
  readonly team: TeamId;
  readonly channel: ChannelId;
  readonly requester: UserId;
  readonly origin: "started" | "adopted";
  /** The task as typed. For an adopted run: the task that the service reports, or empty until it reports one. */
  readonly input: string;
  /** When the person asked for the run, or for watching it (wall time, ms). */
  readonly askedAt: number;
  /** The `response_url`, for a private answer to the requester even if the app is not in the channel. Valid until `until` (monotonic). */
  readonly answer: { readonly url: string; readonly until: number } | null;
  readonly creation: Creation;
  readonly watch: Watch;
  readonly seen: Seen | null;
  readonly approvals: readonly Approval[];
  /** The run's own fields, from the newest snapshot that listed an approval. */
  readonly context: RunContext | null;
  /** Approvals that the service lists in an unreadable form. Null while everything is readable. Read it through `unreadableNow`. */
  readonly unreadable: Unreadable | null;
  readonly posts: { readonly [slot: Slot]: PostedMessage };
  readonly uploads: { readonly [slot: Slot]: Upload };
  readonly notices: readonly PrivateNotice[];
  /** The notice that the service is down, if this run carries it for its channel. */
  readonly outage: Outage | null;
  /** The notice of many requests at once. Absent if this run has never carried it for its channel. */
  readonly storm?: Storm;
  /** Messages that combine several calls of the channel, oldest first. Absent if this run has never carried one. */
  readonly gathered?: readonly Gathered[];
  /** The newest stop. Absent if the run was never stopped. */
  readonly stop?: Stop;
  /** The freeze that the cards show. Absent if none applies, or if no approval was open when it began. */
  readonly frozen?: Freeze;
  /** The requester's user groups, as Slack reports them. Absent if no rule of the policy depends on them. */
  readonly requesterGroups?: RequesterGroups;
  /**
   * Other people who asked for this run, or may have: it was forgotten and watched again, or the answer to their start was lost or named
   * this run.
   */
  readonly mayHaveAsked?: readonly UserId[];
  /** The entries that no person caused recently. Absent if there were none. */
  readonly untouched?: UncausedEntries;
  /** The newest audit entry about this run. Absent until there is one. */
  readonly audited?: AuditPlace;
};

export type RequesterGroups = {
  /** The groups that the policy's rules depend on. */
  readonly asks: readonly GroupId[];
  /** Whether the requester is a member, by group. Unknown for a group that is missing here. */
  readonly in: { readonly [group: GroupId]: boolean };
  /** When we asked Slack (monotonic). Null if we have not asked yet. */
  readonly at: number | null;
};

/** The channel's notice of many requests at once. All times are wall time (ms). */
export type Storm = {
  readonly since: number;
  /** The number of requests in the whole channel that had no message with buttons at the time `at`. */
  readonly waiting: number;
  readonly at: number;
  /** When the storm ended. Null while it lasts. */
  readonly until: number | null;
};

/** A person's order to deny everything that the run asks for. Once it is `lifted`, requests can be decided again. */
export type Stop = {
  readonly by: UserId;
  readonly at: number;
  /**
   * The order may have been for another run with this id: for an earlier record of it, for a run that the service has forgotten and found
   * again, or for a start that the service answered with this run's id. Denials are final, so nothing is denied then, but nothing is
   * approved either.
   */
  readonly ofEarlierRecord?: true;
  readonly lifted?: { readonly by: UserId; readonly at: number };
};

/** Counts the audit entries that no person caused since `since` (ms), to cap them. */
export type UncausedEntries = {
  readonly since: number;
  /** The number of entries written, by kind and approval. */
  readonly told: { readonly [kindAndApproval: string]: number };
  /** The total length of the texts stored with these entries (characters). */
  readonly chars: number;
  /** The number of omitted entries that the audit does not mention yet. */
  readonly omitted: number;
};

/**
 * The POST that creates the run; sent again only if it certainly created nothing. `notBefore` is monotonic, as is `at` of "taken", "refused"
 * and "unknown". `at` of "sending" and "created" is wall time.
 */
export type Creation =
  | { readonly type: "planned"; readonly notBefore: number; readonly tries: number; readonly why: string }
  | { readonly type: "sending"; readonly at: number; readonly tries: number }
  /** `reused`: the service has since given the id to a later run. */
  | { readonly type: "created"; readonly id: RunId; readonly at: number; readonly reused?: true }
  /** The service answered with the id of a run that we already follow. One id has one thread, so this run gets none. */
  | { readonly type: "taken"; readonly id: RunId; readonly at: number }
  | { readonly type: "refused"; readonly words: string; readonly at: number }
  /** The answer was lost, so a run whose id we do not know may exist. `again`: the requester's choice to start again or to leave it. */
  | {
      readonly type: "unknown";
      readonly words: string;
      readonly at: number;
      readonly again: "asked" | "started" | "left";
      /** The store was restored from a copy, and we do not know what happened to the start after the copy was made. */
      readonly restored?: true;
    };

/** Whether we still ask the service about the run. All times are monotonic. */
export type Watch =
  | { readonly type: "on" }
  /** The service answers 404. `absence` is null once we believe it; then the run is polled ever more slowly for a day. */
  | { readonly type: "missing"; readonly since: number; readonly absence: Absence | null }
  | { readonly type: "over"; readonly at: number }
  | { readonly type: "given-up"; readonly at: number }
  /** The stored record was changed outside Countersign (see end-run.ts). */
  | { readonly type: "tampered"; readonly at: number }
  /** People stopped watching the run. `missing`: the service no longer knew it then. */
  | { readonly type: "dropped"; readonly at: number; readonly by: UserId; readonly missing?: true };

/** What the newest snapshot of the service said. */
export type Seen = {
  readonly status: string;
  /** When we first saw this status (ms). */
  readonly since: number;
  readonly ended: Ended | null;
  /** Whether the newest snapshot said which approvals are pending. */
  readonly lists: boolean;
  /** When the newest applied fetch began (monotonic). Older answers that arrive later are ignored. */
  readonly askedAt: number;
};

export type Ended = {
  readonly how: Ending;
  readonly completedAt: string | null;
  /** Kept only until it is posted and its message is final. */
  readonly output: string | null;
  readonly outputChars: number;
  /** The output is too long for a message, so it is posted as a file. The message shows the first part. */
  readonly asFile: boolean;
  readonly extra: { readonly [field: string]: Json };
};

/** Returns whether the output was forgotten after it was posted. Its message has the only copy outside the service. */
export const isOutputForgotten = ({ output, outputChars }: Ended): boolean =>
  output === null && outputChars > 0;

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

/** Returns whether the person started the run, or may have. Such a person may approve its requests only if the rule lets requesters. */
export function mayHaveAsked({ requester, mayHaveAsked: others = [] }: Run, user: UserId): boolean {
  return user === requester || others.includes(user);
}

/** Records that this person may have asked for the run, so the approvers are counted again. Returns the same run if that is known. */
export function addPossibleRequester(run: Run, user: UserId): Run {
  if (mayHaveAsked(run, user)) return run;
  const approvals = run.approvals.map((approval) => ({ ...approval, approverCount: null }));
  return { ...run, mayHaveAsked: [...(run.mayHaveAsked ?? []), user], approvals };
}

export function runId(run: Run): RunId | null {
  return run.creation.type === "created" ? run.creation.id : null;
}

/** Returns the service's id of the run. Returns null if there is none, or if the service has since given it to a later run. */
export function currentId({ creation }: Run): RunId | null {
  return creation.type === "created" && creation.reused !== true ? creation.id : null;
}

/** Returns whether the service has since given the run's id to a later run. */
export const hasGivenUpId = ({ creation }: Pick<Run, "creation">): boolean =>
  creation.type === "created" && creation.reused === true;

/** Records that the service has given the run's id to a later run. */
export function giveUpId(run: Run): Run {
  if (run.creation.type !== "created" || run.creation.reused === true) return run;
  return { ...run, creation: { ...run.creation, reused: true } };
}

export function findApproval(run: Run, id: ApprovalId): Approval | null {
  return run.approvals.find((approval) => approval.id === id) ?? null;
}

/** Returns the message that is the approval's card. Null if none is posted. */
export function cardOf({ posts }: Pick<Run, "posts">, { id }: Pick<Approval, "id">): MessageTs | null {
  const post = posts[cardSlot(id)];
  return post?.type === "up" ? post.ts : null;
}

export function replaceApproval(run: Run, next: Approval): Run {
  return { ...run, approvals: run.approvals.map((approval) => (approval.id === next.id ? next : approval)) };
}

/** Applies `change` to each approval. Returns the same run if nothing changed. */
export function mapApprovals(run: Run, change: (approval: Approval) => Approval): Run {
  const approvals = run.approvals.map(change);
  const isUnchanged = approvals.every((approval, index) => approval === run.approvals[index]);
  return isUnchanged ? run : { ...run, approvals };
}

/** Returns whether the service has answered 404 often and long enough to be believed. */
export function isMissing(run: Run): boolean {
  return run.watch.type === "missing" && run.watch.absence === null;
}

/** Returns the unreadable approvals that wait for a decision. Returns null if there are none, or if the run is no longer watched. */
export function unreadableNow(run: Run): Unreadable | null {
  return isWatched(run) ? run.unreadable : null;
}

/** Returns whether we still ask the service about the run. */
export function isWatched(run: Run): boolean {
  return runId(run) !== null && (run.watch.type === "on" || run.watch.type === "missing");
}

/** Returns whether the run can still ask for something: it has not ended, or its start is planned or under way. */
export function isStoppable(run: Run): boolean {
  const { creation, seen } = run;
  if (creation.type === "planned" || creation.type === "sending") return true;
  return isWatched(run) && (seen?.ended ?? null) === null;
}

/** Returns whether "run again" can be offered: the run ended or was refused, and its task is known and can be trusted. */
export function canRunAgain({ input, creation, seen, watch }: Run): boolean {
  const isOver = creation.type === "refused" || (seen?.ended ?? null) !== null;
  return isOver && !isBlank(input) && watch.type !== "tampered";
}

/** Returns whether a stop is in force. Nothing that the run asks for is then approved until the stop is lifted. */
export function isStopped({ stop }: Pick<Run, "stop">): boolean {
  return stop !== undefined && stop.lifted === undefined;
}

/** Returns whether everything that the run asks for is denied until the stop is lifted. */
export const deniesAll = (run: Pick<Run, "stop">): boolean =>
  isStopped(run) && run.stop?.ofEarlierRecord !== true;

/** Names the newest stop, for the keys of the messages that show it or that have a Stop button. Null if the run was never stopped. */
export function stopRenderKey(run: Pick<Run, "stop">): string | null {
  if (run.stop === undefined) return null;
  const how = !isStopped(run) ? "lifted" : deniesAll(run) ? "stopped" : "stopped before";
  return `${how} ${run.stop.at}`;
}

/** Returns whether what the run asks for next is denied. A run that the service does not know now may be another run when it knows it again. */
export const deniesNext = (run: Run): boolean => deniesAll(run) && !isMissing(run);

/** Returns whether a stop, or a freeze that the cards show, is in force. Then nothing of the run may be approved, here or at the service. */
export const isBraked = (run: Pick<Run, "stop" | "frozen">): boolean =>
  isStopped(run) || run.frozen !== undefined;
