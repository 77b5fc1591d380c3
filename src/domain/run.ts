import type { Absence } from "./absence.ts";
import type { Approval, RunContext } from "./approval.ts";
import type { AuditMark } from "./audit/hash-chain.ts";
import type { ApprovalId, ChannelId, RunId, RunKey, TeamId, UserId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { PostedMessage, Upload } from "./posted-message.ts";
import type { Ending } from "./snapshot.ts";
import type { Unreadable } from "./unreadable-approvals.ts";

/** What we remember of a run: one value, loaded and saved whole. */
export type Run = {
  readonly key: RunKey;
  readonly team: TeamId;
  readonly channel: ChannelId;
  readonly requester: UserId;
  readonly origin: "started" | "adopted";
  /** The task as typed; for an adopted run what the service says it is, once it has said so. */
  readonly input: string;
  readonly askedAt: number;
  /** Where the requester can be answered privately even when the channel is closed to us (monotonic: until when). */
  readonly answer: { readonly url: string; readonly until: number } | null;
  readonly creation: Creation;
  readonly watch: Watch;
  readonly seen: Seen | null;
  readonly approvals: readonly Approval[];
  /** Its own fields, as of the newest look that listed an approval. */
  readonly context: RunContext | null;
  /** What the service lists so that nobody can read it; null while all of it is readable. See `unreadableNow`. */
  readonly unreadable: Unreadable | null;
  readonly posts: { readonly [slot: Slot]: PostedMessage };
  readonly uploads: { readonly [slot: Slot]: Upload };
  readonly notices: readonly PrivateNotice[];
  /** This run carries its channel's notice that the service was away from `since` on. */
  readonly outage: { readonly since: number; readonly why: string; readonly until: number | null } | null;
  /** Left out: nothing was closed without a person of late. */
  readonly untouched?: Untouched;
  /** The newest entry of the audit about this run; left out until there is one. */
  readonly audited?: AuditMark;
};

/** Approvals that closed without a person, as the audit has told of them since `since` (ms). */
export type Untouched = {
  readonly since: number;
  /** Entries by approval. */
  readonly told: { readonly [approval: string]: number };
  /** Of the texts that were kept with them. */
  readonly chars: number;
  /** Counted, and not yet told. */
  readonly omitted: number;
};

/** Names a message of the run: `opening`, `card <approval>`, `outcome`; or a file: `output`, `request <approval> <version>`. */
export type Slot = string;

export const OPENING: Slot = "opening";
export const OUTCOME: Slot = "outcome";
export const OUTPUT: Slot = "output";
/** Approvals that cannot be read; one message for all of them. */
export const UNREADABLE: Slot = "unreadable";
export const cardSlot = (id: ApprovalId): Slot => `card ${id}`;
export const requestSlot = (approval: Approval): Slot => `request ${approval.id} ${approval.version}`;

/** The POST that creates the run is sent at most once per intention. `notBefore`, and when it was refused or lost: monotonic. */
export type Creation =
  | { readonly type: "planned"; readonly notBefore: number; readonly tries: number; readonly why: string }
  | { readonly type: "sending"; readonly at: number; readonly tries: number }
  /** `reused`: the service has given the id to another run since. */
  | { readonly type: "created"; readonly id: RunId; readonly at: number; readonly reused?: true }
  /** The service answered with the id of a run that is followed already. One id has one thread. */
  | { readonly type: "taken"; readonly id: RunId; readonly at: number }
  | { readonly type: "refused"; readonly words: string; readonly at: number }
  /** A run may exist that nobody can name. `again`: the requester chose to start anew, or to leave it. */
  | {
      readonly type: "unknown";
      readonly words: string;
      readonly at: number;
      readonly again: "asked" | "started" | "left";
    };

/** Moments: monotonic. */
export type Watch =
  | { readonly type: "on" }
  /** The service says 404. `absence`: while that is not believed yet; after that, asked more and more slowly for a day. */
  | { readonly type: "missing"; readonly since: number; readonly absence: Absence | null }
  | { readonly type: "over"; readonly at: number }
  | { readonly type: "given-up"; readonly at: number }
  /** The stored record was changed outside Countersign (mark-tampered.ts). */
  | { readonly type: "tampered"; readonly at: number }
  | { readonly type: "dropped"; readonly at: number; readonly by: UserId };

export type Seen = {
  readonly status: string;
  /** When we first saw this status (ms). */
  readonly since: number;
  readonly ended: Ended | null;
  /** False: the newest look did not tell which approvals are pending. */
  readonly lists: boolean;
  /** Begin of the newest look taken in (monotonic); an older answer that comes later is ignored. */
  readonly askedAt: number;
};

export type Ended = {
  readonly how: Ending;
  readonly completedAt: string | null;
  /** Kept until it is posted, then dropped. */
  readonly output: string | null;
  readonly outputChars: number;
  /** Too long for a message: posted as a file, with a first part. */
  readonly asFile: boolean;
  readonly extra: { readonly [field: string]: Json };
};

/** Something to say at most once: privately to one person, or in another channel. */
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
      /** «others-needed»: the approval of whoever hears it still counts, and is not enough any more. */
      readonly cause:
        | "request-changed"
        | "no-longer-listed"
        | "run-missing"
        | "unreadable"
        | "run-over"
        | "voter-may-not"
        | "rule-changed"
        | "others-needed"
        | "tampered";
    }
  /** An approval whose answer was lost is not sent again, since it would not count any more. */
  | { readonly type: "decision-stopped"; readonly approval: ApprovalId }
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
