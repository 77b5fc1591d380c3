// The requests of the past, gathered from the audit's entries. A request is one approval of one run, as its newest entry saw it.

import type { Verdict } from "../domain/approval.ts";
import type { ApprovalId, ChannelId, RunId, RunKey, UserId } from "../domain/ids.ts";
import type { AuditEntry, KeptEntry } from "./entry.ts";

/** The policy that was in force: the digest of its text. "built-in": there was no file. Null: no entry says it. */
export type PastPolicy = { readonly digest: string } | "built-in" | null;

export type KeyedRequest = {
  readonly run: RunKey;
  readonly approval: ApprovalId;
  readonly channel: ChannelId;
  readonly requester: UserId;
  /** Of the request's text. */
  readonly digest: string | null;
  /** The digest of the run's task; null: no entry names a task. */
  readonly task: string | null;
};

export type PastRequest = KeyedRequest & {
  readonly runId: RunId | null;
  /** Of the newest entry. */
  readonly at: number;
  readonly seq: number;
  readonly policy: PastPolicy;
  /** The rule that an entry names; null: none does. */
  readonly rule: string | null;
  /** The newest decision that was sent. */
  readonly sent: SentDecision | null;
};

export type SentDecision = {
  readonly verdict: Verdict | null;
  /** Of each person whose approval it rests on; empty where no person decided. */
  readonly approvals: readonly { readonly user: UserId; readonly reason: string }[];
};

export type PastRequests = {
  /** Takes entries in their order. */
  add(kept: KeptEntry): void;
  /** The requests, the one with the oldest first entry first. */
  all(): readonly PastRequest[];
  /** How many further approvals the audit only counts. */
  counted(): number;
};

/** `from`: requests whose newest entry is older (ms) are left out. */
export function gatherRequests(from: number): PastRequests {
  const requests = new Map<string, PastRequest>();
  const tasks = new Map<RunKey, string>();
  let policy: PastPolicy = null;
  let counted = 0;
  return {
    add({ seq, entry }) {
      const { what, at, run, approval, digest, times = 0 } = entry;
      if (what === "policy-loaded") policy = digest === null ? "built-in" : { digest };
      if (what === "coalesced" && at >= from) counted += times;
      if (run !== null && approval === null && isTask(entry) && digest !== null) tasks.set(run, digest);
      if (run === null || approval === null || !SAW_IT.has(what)) return;
      const key = JSON.stringify([run, approval]);
      const next = withEntry(requests.get(key) ?? null, { seq, entry, policy });
      if (next !== null) requests.set(key, next);
    },
    all: () =>
      [...requests.values()]
        .filter(({ at }) => at >= from)
        .map((each) => ({ ...each, task: tasks.get(each.run) ?? null })),
    counted: () => counted,
  };
}

/** The kinds of entries that hold a request as someone, or Countersign, saw it. */
const SAW_IT = new Set<AuditEntry["what"]>(["opened", "voted", "decided", "refused", "sent", "closed"]);

const isTask = ({ what }: KeptEntry["entry"]): boolean =>
  what === "started" || what === "watched" || what === "task-told";

type Seen = Pick<KeptEntry, "seq" | "entry"> & { readonly policy: PastPolicy };

/** Null: the entry does not say enough to be about a request. */
function withEntry(known: PastRequest | null, { seq, entry, policy }: Seen): PastRequest | null {
  const { run, runId, approval, channel, requester, digest, at, what } = entry;
  if (run === null || approval === null || channel === null || requester === null) return known;
  // A refusal may be about an older drawing of the card, or about no request at all.
  const stale = what === "refused" && (digest === null || known !== null);
  if (stale) return known;
  return {
    run,
    runId: runId ?? known?.runId ?? null,
    approval,
    channel,
    requester: requester.user,
    digest: digest ?? known?.digest ?? null,
    task: null,
    at,
    seq,
    policy,
    rule: entry.policy?.rule ?? (known?.digest === digest ? (known?.rule ?? null) : null),
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
