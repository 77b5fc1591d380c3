// One entry of the audit: who did what to which approval, when, why, under which policy, and with what result.

import type { Approval, Decision, Request, Verdict } from "../domain/approval.ts";
import { type AuditPlace, type KeyChange, voidOutcome } from "../domain/audit/hash-chain.ts";
import type { Context } from "../domain/context.ts";
import type { ApprovalId, ChannelId, RunId, RunKey, PersonId } from "../domain/ids.ts";
import { canonicalJson, type Json } from "../domain/json.ts";
import { digestedText } from "../domain/observe.ts";
import type { Policy, RuleRef } from "../domain/policy/policy.ts";
import { contextBehind, contextText } from "../domain/run-context.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import { cardSlot } from "../domain/slot.ts";

export type AuditEntry = {
  readonly at: number;
  readonly what:
    | "opened" // a click opened a form to decide; or a person read the request in full, as its rule requires
    | "voted" // one of several approvals that the rule requires
    | "decided"
    | "refused" // a person tried something in vain; `refusal` says why
    | "sent" // a decision is about to be sent
    | "settled" // the result of sending
    | "closed" // closed without a decision here
    | "reopened" // listed again after it had closed
    | "reminded" // a message calls people to a request that still waits
    | "escalated" // a request has reached a stage of its rule
    | "too-few-approvers" // Slack names too few people who can approve it
    | "coalesced" // a count of events that no person caused and that have no entry of their own
    | "claimed" // a person looks at it; `other`: the person whose claim this replaced
    | "claim-ended" // the person released it
    | "snoozed" // they want no reminder for a time
    | "handed-over" // the person asked `other` to look at it instead
    | "asked" // a question to the requester
    | "answered" // the requester's answer
    | "extended" // more time to decide
    | "disputed" // "This was not me"
    | "dispute-closed" // an admin says what they found
    | "stopped" // everything that the run asks for is denied from here on
    | "stop-lifted"
    | "frozen" // no run starts and no approval is sent from here on, in a channel or everywhere
    | "freeze-lifted"
    | "started"
    | "start-confirmed" // the service started the run; the first entry with both our key of the run and the service's id
    | "start-unconfirmed" // a run may exist whose id we do not know; with `by`, they answered; with `runId`, another already watched it
    | "watched"
    | "task-told" // the service named the task of a run that was started outside Countersign
    | "unwatched"
    | "audit-read" // a person received evidence or figures from the audit
    | "redacted" // the text of this digest was erased
    | "week-ended" // AUDIT_CHANNEL looks back at the time from `since` to `until`
    | "archived" // from here on, the oldest entries are in a file and no longer in the database
    | "program-started"
    | "restored" // this is a copy of the database that a back-up made; what was recorded after `since` is lost
    | "policy-loaded" // the policy is in force from here on
    | "key-changed" // the last entry of the previous key; a new key signs from here on
    | "key-accepted" // the first entry of the new key
    | "tampering-found" // the database contains something that this program did not write
    | "tampering-acknowledged"; // an admin has examined it, and approvals leave again
  readonly run: RunKey | null;
  /** The service's id, once it is known. */
  readonly runId: RunId | null;
  /** The run's channel or, without a run, the channel in which the person acted. */
  readonly channel: ChannelId | null;
  /** The run's requester. */
  readonly requester: PersonId | null;
  readonly approval: ApprovalId | null;
  readonly by: PersonId | null;
  /** The second person of a claim or a hand-over. */
  readonly other?: PersonId;
  readonly verdict: Verdict | null;
  readonly reason: string | null;
  /** Digest of the request as shown, of the task of a run, of a question or an answer, of the configuration or of the
   * policy. */
  readonly digest: string | null;
  /** The full text of `digest`. The store keeps it separately, once for each digest. */
  readonly text?: string;
  /** Digest of the run's own fields, as shown with the request. */
  readonly context?: string;
  /** The full text of `context`. Stored like `text`. */
  readonly contextText?: string;
  /** True if the text is stored. The store sets this field. */
  readonly textKept?: true;
  /** The policy's version, and the applied rule. Null if there is no policy file, or if no rule was applied. */
  readonly policy: RuleRef;
  readonly moments?: Moments;
  readonly outcome: string;
  /** The step at which the attempt was refused. */
  readonly step?:
    | "click"
    | "read"
    | "submit"
    | "undo"
    | "start"
    | "watch"
    | "unwatch"
    | "command"
    | "status"
    | "audit"
    | "acknowledge"
    | "receipt"
    | "close"
    | "stop"
    | "lift"
    | "freeze"
    | "claim"
    | "release"
    | "snooze"
    | "hand-over"
    | "ask"
    | "answer"
    | "extend";
  readonly refusal?: string;
  /** The earlier approvals that a decision rests on, each with its own reason. */
  readonly votes?: readonly VoteFacts[];
  /** The reason that is sent, if it combines the reasons of several people. */
  readonly sentReason?: string;
  /** For "started": the name of the saved task that was filled in. */
  readonly savedTask?: string;
  /** The number of the entry that this entry is about. */
  readonly refers?: number;
  /** For a person's decision that the service confirmed: the digest of what was asked. See domain/same-request.ts. */
  readonly asked?: string;
  /** For "coalesced": the number of events, and since when they are counted (ms since 1970). */
  readonly times?: number;
  readonly since?: number;
  /** For "escalated": the age of the request (ms) at which the stage begins. */
  readonly stageMs?: number;
  /** For "escalated" and "reminded": the people, groups and channels that are named. */
  readonly mentioned?: readonly string[];
  /** For "week-ended": the first moment after the week (ms). */
  readonly until?: number;
  /** For "key-changed": the key that signs from here on. */
  readonly keys?: KeyChange;
  /** For "archived": the last entry in the file, and the SHA-256 of the file's lines. */
  readonly archive?: AuditPlace & { readonly file: string };
  /** The new or acknowledged findings, as ids that cover the place and its content. */
  readonly findings?: readonly string[];
};

export type VoteFacts = Pick<AuditEntry, "by" | "reason" | "at"> & {
  /** The number of the vote's entry. */
  readonly entry: number | null;
};

/** The known moments of the decision that the entry is about (ms since 1970). */
export type Moments = {
  /** When this request was first seen pending. A changed request counts as a new one. */
  readonly asked?: number;
  /** When Slack accepted the card, by Slack's clock. Absent if the card is older than this request. */
  readonly shown?: number;
  readonly clicked?: number;
  readonly submitted?: number;
  readonly sent?: number;
  readonly confirmed?: number;
};

/** The outcome of "opened" for a reading that the rule requires. */
export const READ_IN_FULL = "read in full";

/** An entry as it is stored in the chain. It has no `text`; `auditText` returns that. */
export type KeptEntry = AuditPlace & { readonly entry: Omit<AuditEntry, "text" | "contextText"> };

type Facts = Pick<AuditEntry, "at" | "what" | "outcome"> & Partial<AuditEntry>;

/** Returns an entry in which missing fields are null. `run` is null if the entry is not about a run. */
export function auditEntry(run: Run | null, facts: Facts): AuditEntry {
  return {
    run: run?.key ?? null,
    runId: run === null ? null : runId(run),
    channel: run?.channel ?? null,
    requester: run === null ? null : { team: run.team, user: run.requester },
    approval: null,
    by: null,
    verdict: null,
    reason: null,
    digest: null,
    policy: null,
    ...facts,
  };
}

/** Returns the fields of an entry about this request as a person saw it. */
export function aboutRequest(
  run: Run,
  approval: ApprovalId,
  request: Request,
): Pick<AuditEntry, "approval" | "digest" | "text" | "context" | "contextText"> {
  const id = runId(run);
  const { digest } = request;
  if (id === null) return { approval, digest };
  const { serviceId } = findApproval(run, approval) ?? { serviceId: approval };
  const context = contextBehind(run.context, request);
  const around = context === null ? {} : { context: context.digest, contextText: contextText(context) };
  return { approval, digest, text: digestedText(id, serviceId, request), ...around };
}

/** Returns the fields of an entry about this task. */
export function aboutTask(
  input: string,
  { digest }: Pick<Context, "digest">,
): Pick<AuditEntry, "digest" | "text"> {
  return input === "" ? { digest: null } : { digest: digest(input), text: input };
}

/** Returns whether any entry names a run of ours. A refused attempt with an unknown id leaves an entry without one. */
export const knowsRun = (entries: readonly KeptEntry[]): boolean =>
  entries.some(({ entry }) => entry.run !== null);

/** Returns the fields of a new entry about the same run as this entry. */
export function aboutSameRun({
  run,
  runId,
  channel,
  requester,
}: KeptEntry["entry"]): Pick<AuditEntry, "run" | "runId" | "channel" | "requester"> {
  return { run, runId, channel, requester };
}

/** Returns whether the entry has the verdict, reason, request and person of the vote. By these a vote gets its entry, and is proven later. */
export function saysSameVote(
  entry: Pick<AuditEntry, "verdict" | "reason" | "digest" | "by">,
  { by, verdict, reason, digest }: Decision,
): boolean {
  const isSameVote = entry.verdict === verdict && entry.reason === reason && entry.digest === digest;
  return isSameVote && entry.by?.user === by?.user && entry.by?.team === by?.team;
}

/** Returns the fields of an entry about this decision. */
export function aboutDecision(
  approval: ApprovalId,
  { by, verdict, reason, digest, policy = null, entry }: Decision,
): Pick<AuditEntry, "approval" | "by" | "verdict" | "reason" | "digest" | "policy" | "refers"> {
  const refers = entry === undefined ? {} : { refers: entry };
  return { approval, by, verdict, reason, digest, policy, ...refers };
}

export function momentsOf(run: Run, { id, seenAt, since, state }: Approval, later: Moments = {}): Moments {
  const post = run.posts[cardSlot(id)];
  // A message's `ts` begins with the second at which Slack accepted it.
  const posted = post?.type === "up" ? Math.floor(Number(post.ts) * 1_000) : null;
  // A card that is older than a changed request showed another one first. Slack does not say when it showed the change.
  const showedAnother = posted !== null && since !== seenAt && posted < since;
  const shown = posted === null || showedAnother ? {} : { shown: posted };
  const submitted = state.type === "decided" ? { submitted: state.decision.at } : {};
  return { asked: since, ...shown, ...submitted, ...later };
}

/** Returns whether a person took their own approval back while it was held. `by` is that person. */
export const isUndo = ({ what, outcome }: Pick<AuditEntry, "what" | "outcome">): boolean =>
  what === "settled" && outcome === voidOutcome("undone");

// The entries about the program itself: its start, its configuration, and the policy in force.

/** A policy with its text. Null stands for the built-in policy. */
export type LoadedPolicy = { readonly policy: Policy; readonly text: string | null };

export type Program = {
  readonly version: string;
  /** The version of Node. */
  readonly node: string;
  /** Without secrets. */
  readonly config: { readonly [variable: string]: Json };
};

type Now = Pick<Context, "now" | "digest">;

export function programStartedEntry({ version, node, config }: Program, ctx: Now): AuditEntry {
  const text = canonicalJson(config);
  const outcome = `Countersign ${version} on Node ${node}`;
  return auditEntry(null, { at: ctx.now, what: "program-started", outcome, digest: ctx.digest(text), text });
}

/** The version of a policy is the first part of the digest of its text. */
export function policyLoadedEntry({ policy, text }: LoadedPolicy, ctx: Now): AuditEntry {
  const facts = { at: ctx.now, what: "policy-loaded" } as const;
  if (text === null) return auditEntry(null, { ...facts, outcome: "no policy file: the built-in policy" });
  const outcome = `policy ${policy.version ?? ""}`;
  return auditEntry(null, { ...facts, outcome, digest: ctx.digest(text), text });
}
