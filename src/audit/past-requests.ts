// Gathers past requests from the audit's entries. A request is one approval of one run, as its newest entry describes it.

import type { Verdict } from "../domain/approval.ts";
import type { ApprovalId, ChannelId, RunId, RunKey, UserId } from "../domain/ids.ts";
import type { AuditEntry, KeptEntry } from "./entry.ts";

/** The digest of the text of the policy that was in force. "built-in" if there was no file. Null if no entry says it. */
export type PastPolicy = { readonly digest: string } | "built-in" | null;

export type KeyedRequest = {
  readonly run: RunKey;
  readonly approval: ApprovalId;
  readonly channel: ChannelId;
  readonly requester: UserId;
  /** The digest of the request's text. */
  readonly digest: string | null;
  /** The digest of the run's task. Null if no entry names a task. */
  readonly task: string | null;
};

export type PastRequest = KeyedRequest & {
  readonly runId: RunId | null;
  /** The time of the newest entry. */
  readonly at: number;
  /** When the newest entry's rule applied, and the policy that was in force then. */
  readonly judgedAt: number;
  readonly policy: PastPolicy;
  /** The rule that the newest entry names. Null if it names none. */
  readonly rule: string | null;
  /** The age (ms) of the newest stage that this request has reached. Stages up to this age count. 0 if it has reached none. */
  readonly escalatedMs: number;
  /** The newest decision that was sent. */
  readonly sent: SentDecision | null;
};

export type SentDecision = {
  readonly verdict: Verdict | null;
  /** The people on whose approval the decision rests, with their reasons. Empty if no person decided. */
  readonly approvals: readonly { readonly user: UserId; readonly reason: string }[];
};

export type PastRequests = {
  /** Takes the entries in order. */
  add(kept: KeptEntry): void;
  /** Returns the requests in the order of their first entries. */
  all(): readonly PastRequest[];
  /** Returns the number of events that the audit only counts. One approval may count several times. */
  counted(): number;
};

/** `from`: requests whose newest entry is older than this (ms since 1970) are left out. */
export function gatherRequests(from: number): PastRequests {
  const requests = new Map<string, PastRequest>();
  const tasks = new Map<RunKey, string>();
  const stages = new Map<string, Pick<KeptEntry["entry"], "digest"> & { readonly stageMs: number }>();
  let policy: PastPolicy = null;
  let counted = 0;
  return {
    add({ entry }) {
      const { what, at, run, approval, digest, times = 0, stageMs = 0 } = entry;
      if (what === "policy-loaded") policy = digest === null ? "built-in" : { digest };
      if (what === "coalesced" && at >= from) counted += times;
      if (run !== null && approval === null && isTask(entry) && digest !== null) tasks.set(run, digest);
      if (run === null || approval === null) return;
      const key = JSON.stringify([run, approval]);
      if (what === "escalated") stages.set(key, { digest, stageMs });
      if (!SAW_IT.has(what)) return;
      const next = withEntry(requests.get(key) ?? null, { entry, policy });
      if (next !== null) requests.set(key, next);
    },
    all: () =>
      [...requests]
        .filter(([, { at }]) => at >= from)
        .map(([key, each]) => {
          const stage = stages.get(key);
          const escalatedMs = stage?.digest === each.digest ? stage.stageMs : 0;
          return { ...each, escalatedMs, task: tasks.get(each.run) ?? null };
        }),
    counted: () => counted,
  };
}

/** The kinds of entries that contain a request as a person or Countersign saw it. */
const SAW_IT = new Set<AuditEntry["what"]>([
  "opened",
  "voted",
  "decided",
  "refused",
  "sent",
  "closed",
  "reopened",
]);

const isTask = ({ what }: KeptEntry["entry"]): boolean =>
  what === "started" || what === "watched" || what === "task-told";

type Seen = Pick<KeptEntry, "entry"> & { readonly policy: PastPolicy };

/** Returns null if the entry does not say enough about a request. */
function withEntry(known: PastRequest | null, { entry, policy }: Seen): PastRequest | null {
  const { run, runId, approval, channel, requester, digest, at, what, moments } = entry;
  if (run === null || approval === null || channel === null || requester === null) return known;
  // A refusal may be about an older version of the card, or not about a request at all.
  const stale = what === "refused" && (digest === null || known !== null);
  if (stale) return known;
  // A decision may leave long after it was made, and another policy may be in force by then.
  const isMadeBefore = what === "sent" && known !== null && known.digest === digest;
  return {
    run,
    runId: runId ?? known?.runId ?? null,
    approval,
    channel,
    requester: requester.user,
    digest: digest ?? known?.digest ?? null,
    task: null,
    escalatedMs: 0,
    at,
    judgedAt: what === "sent" ? (moments?.submitted ?? at) : at,
    policy: isMadeBefore ? known.policy : policy,
    rule: entry.policy?.rule ?? null,
    sent: what === "sent" ? sentOf(entry) : (known?.sent ?? null),
  };
}

function sentOf({ verdict, by, reason, votes = [] }: KeptEntry["entry"]): SentDecision {
  const given = [...votes, { by, reason }];
  return {
    verdict,
    approvals: given.flatMap((each) =>
      each.by === null ? [] : [{ user: each.by.user, reason: each.reason ?? "" }],
    ),
  };
}
