// One entry of the audit: who did what to which approval, when, why, under which policy, and what came of it.

import type { Approval, Decision, Request, Verdict } from "../domain/approval.ts";
import type { AuditMark } from "../domain/audit/hash-chain.ts";
import type { KeyChange } from "../domain/audit/key-order.ts";
import type { Context } from "../domain/context.ts";
import type { ApprovalId, ChannelId, RunId, RunKey, TeamId, UserId } from "../domain/ids.ts";
import { canonicalJson, type Json } from "../domain/json.ts";
import { digestedText } from "../domain/observe.ts";
import type { Policy, RuleRef } from "../domain/policy/policy.ts";
import { contextBehind, contextText } from "../domain/run-context.ts";
import { cardSlot, findApproval, type Run, runId } from "../domain/run.ts";

export type AuditEntry = {
  readonly at: number;
  readonly what:
    | "opened" // a form to decide was opened by a click
    | "voted" // one of several approvals that the rule wants
    | "decided"
    | "refused" // somebody tried and was not allowed to
    | "sent" // a decision is about to leave us
    | "settled" // what became of it
    | "closed" // nobody decided it here
    | "coalesced" // so many approvals closed undecided, besides those that are told one by one
    | "disputed" // «This was not me»
    | "started"
    | "watched"
    | "task-told" // the service named the task of a run that was started elsewhere
    | "unwatched"
    | "audit-read" // somebody was given the audit of a run
    | "redacted" // the text of this digest was erased
    | "program-started"
    | "policy-loaded" // it is in force from here on
    | "key-changed" // from here on another key signs; the last entry of the key before
    | "key-accepted" // the first entry of the new key
    | "tampering-found" // the database holds what this program did not write
    | "tampering-acknowledged"; // an admin has looked at it, and approvals leave again
  readonly run: RunKey | null;
  /** The service's, once it has named one. */
  readonly runId: RunId | null;
  /** Of the run; where there is none, the channel in which the person acted. */
  readonly channel: ChannelId | null;
  /** Who asked for the run. */
  readonly requester: { readonly team: TeamId; readonly user: UserId } | null;
  readonly approval: ApprovalId | null;
  readonly by: { readonly team: TeamId; readonly user: UserId } | null;
  readonly verdict: Verdict | null;
  readonly reason: string | null;
  /** Of the request as it was shown; of the task, where a run was asked for; of the configuration or the policy. */
  readonly digest: string | null;
  /** What `digest` was taken of, in full. The store keeps it apart, once for each digest. */
  readonly text?: string;
  /** Of the run's own fields, as they were shown beside the request. */
  readonly context?: string;
  /** What `context` was taken of. Kept as `text` is. */
  readonly contextText?: string;
  /** The text is kept. Written by the store. */
  readonly textKept?: true;
  /** The policy's version, and the rule of it that was asked. Null: there is no policy, or none was asked. */
  readonly policy: RuleRef;
  readonly moments?: Moments;
  readonly outcome: string;
  /** At which step it was refused. */
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
    | "receipt";
  readonly refusal?: string;
  /** The earlier approvals that a decision rests on, each with its person's own words. */
  readonly votes?: readonly VoteFacts[];
  /** The reason as it leaves us, where it is not the decider's alone. */
  readonly sentReason?: string;
  /** The number of the entry that this one is about. */
  readonly refers?: number;
  /** Of «coalesced»: how many, and from when on (ms). */
  readonly times?: number;
  readonly since?: number;
  /** Of «key-changed»: who signs from here on. */
  readonly keys?: KeyChange;
  /** What was found, or is acknowledged: ids that name the place and what stands there. */
  readonly findings?: readonly string[];
};

export type VoteFacts = Pick<AuditEntry, "by" | "reason" | "at"> & {
  /** The number of its own entry. */
  readonly entry: number | null;
};

/** Of the decision that the entry is about (ms), as far as they are known. */
export type Moments = {
  /** First seen pending. */
  readonly asked?: number;
  /** When Slack took the card, by its own clock. */
  readonly shown?: number;
  readonly clicked?: number;
  readonly submitted?: number;
  readonly sent?: number;
  readonly confirmed?: number;
};

/** An entry as it stands in the chain. `text` is left out; `auditText` has it. */
export type KeptEntry = AuditMark & { readonly entry: Omit<AuditEntry, "text" | "contextText"> };

type Facts = Pick<AuditEntry, "at" | "what" | "outcome"> & Partial<AuditEntry>;

/** What is not said is null; without a run it is about none. */
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

/** The fields of an entry about this request, as somebody saw it. */
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

/** The fields of an entry that asks for this task. */
export function aboutTask(
  input: string,
  { digest }: Pick<Context, "digest">,
): Pick<AuditEntry, "digest" | "text"> {
  return input === "" ? { digest: null } : { digest: digest(input), text: input };
}

/** The fields of an entry that is about the same run as this one. */
export function aboutSameRun({
  run,
  runId,
  channel,
  requester,
}: KeptEntry["entry"]): Pick<AuditEntry, "run" | "runId" | "channel" | "requester"> {
  return { run, runId, channel, requester };
}

/** The fields of an entry about this decision. */
export function aboutDecision(
  approval: ApprovalId,
  { by, verdict, reason, digest, policy = null, entry }: Decision,
): Pick<AuditEntry, "approval" | "by" | "verdict" | "reason" | "digest" | "policy" | "refers"> {
  const refers = entry === undefined ? {} : { refers: entry };
  return { approval, by, verdict, reason, digest, policy, ...refers };
}

export function momentsOf(run: Run, { id, seenAt, state }: Approval, later: Moments = {}): Moments {
  const post = run.posts[cardSlot(id)];
  // A message's name begins with the second at which Slack took it.
  const shown = post?.type === "up" ? { shown: Math.floor(Number(post.ts) * 1_000) } : {};
  const submitted = state.type === "decided" ? { submitted: state.decision.at } : {};
  return { asked: seenAt, ...shown, ...submitted, ...later };
}

// The audit's entries about the program itself: that it started, with which configuration, and which policy is in force.

/** A policy with the text that it was read from; null: the built-in one. */
export type LoadedPolicy = { readonly policy: Policy; readonly text: string | null };

export type Program = {
  readonly version: string;
  /** Of the runtime. */
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

/** The version of a policy is the beginning of the digest of its text. */
export function policyLoadedEntry({ policy, text }: LoadedPolicy, ctx: Now): AuditEntry {
  const facts = { at: ctx.now, what: "policy-loaded" } as const;
  if (text === null) return auditEntry(null, { ...facts, outcome: "no policy file: the built-in policy" });
  const outcome = `policy ${policy.version ?? ""}`;
  return auditEntry(null, { ...facts, outcome, digest: ctx.digest(text), text });
}
