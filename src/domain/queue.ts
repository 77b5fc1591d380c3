// The queue of one person: the requests that they may decide now, and those that wait for others. Pure; `refusalToOpen` alone says who
// may decide.

import { decidersOf } from "./approval-transitions.ts";
import { type Approval, isUndecided, type Verdict } from "./approval.ts";
import { endsUnder, ruleOf } from "./applied-rule.ts";
import { type Person, type Refusal, refusalToDecide, refusalToOpen } from "./authorization.ts";
import type { Context } from "./context.ts";
import type { ChannelId, GroupId, UserId } from "./ids.ts";
import type { Rule } from "./policy/policy.ts";
import { type PolicyNow, setsToAskFor } from "./rule-facts.ts";
import { contextBehind } from "./run-context.ts";
import { type Run, unreadableNow } from "./run.ts";
import { type CardMarks, cardMarks, riskRank } from "./text/card-layout.ts";
import { needsFile } from "./text/request-text.ts";

/** What Slack says about the person who reads. */
export type Reader = {
  readonly user: UserId;
  /** Null: Slack did not say who they are. `seesChannel` is not read: `channels` says it for each request. */
  readonly person: Person | null;
  /** Their channels, among those that the app is in. An escalation may show them requests of others. */
  readonly channels: ReadonlySet<ChannelId>;
};

export type QueueItem = {
  readonly run: Run;
  readonly approval: Approval;
  /** The rule of now. */
  readonly rule: Rule;
  readonly marks: CardMarks;
  /** What the reader may decide now, perhaps after reading the request. */
  readonly may: readonly Verdict[];
  /** Why they may not approve it; null or "read-first": they may. */
  readonly refusal: Refusal | null;
  readonly waitedMs: number;
  /** Until when (wall time) it can be decided; null: it does not expire. */
  readonly deadline: number | null;
  /** Approved, and sent at this moment (wall time) unless someone stops it; null: it is pending. */
  readonly heldUntil: number | null;
};

export type Queue = {
  /** The riskiest first, of the same risk the oldest. */
  readonly yours: readonly QueueItem[];
  readonly others: readonly QueueItem[];
  /** Runs in whose list the service has something that cannot be read. */
  readonly unreadable: readonly Run[];
  /** A person who may decide nothing is shown nothing, and told why. */
  readonly closedTo: Exclude<Person["kind"], "member"> | null;
};

type Now = Pick<Context, "policy" | "now" | "monotonic">;

export function queueOf(runs: readonly Run[], reader: Reader, ctx: Now): Queue {
  const kind = reader.person?.kind ?? "member";
  if (kind !== "member") return { yours: [], others: [], unreadable: [], closedTo: kind };
  const seen = runs.filter(({ channel }) => reader.channels.has(channel));
  const items = runs
    .flatMap((run) =>
      run.approvals
        .filter((approval) => isUndecided(approval) && isShownTo(reader, run, approval, ctx))
        .map((approval) => itemOf(run, approval, reader, ctx)),
    )
    .toSorted(byRiskThenAge);
  return {
    yours: items.filter((item) => isYours(item, reader.user)),
    others: items.filter((item) => !isYours(item, reader.user)),
    unreadable: seen.filter((run) => unreadableNow(run) !== null),
    closedTo: null,
  };
}

/** In their channels, and where an escalation has brought them in. */
function isShownTo({ channels, person }: Reader, run: Run, approval: Approval, ctx: Now): boolean {
  if (channels.has(run.channel)) return true;
  const rule = ruleOf(ctx, run, approval);
  return person !== null && refusalToDecide({ ...person, seesChannel: false }, run, rule) === null;
}

/**
 * They may decide it now. It does not wait for people who have approved it, although they may still deny it: it waits for others, or
 * for the end of the hold.
 */
function isYours({ approval, may }: QueueItem, user: UserId): boolean {
  return may.length > 0 && !decidersOf(approval).includes(user);
}

function itemOf(run: Run, approval: Approval, { person, channels }: Reader, ctx: Now): QueueItem {
  const { policy, now, monotonic } = ctx;
  const { request, state, version, waitsSince } = approval;
  const rule = ruleOf(ctx, run, approval);
  const by = person === null ? null : { ...person, seesChannel: channels.has(run.channel) };
  const refusalTo = (verdict: Verdict): Refusal | null =>
    by === null
      ? { type: "unverified" }
      : refusalToOpen(approval, { run, rule, by, verdict, monotonic }, { version, was: null });
  const refusal = refusalTo("approve");
  const may: Verdict[] = refusal === null || refusal.type === "read-first" ? ["approve"] : [];
  if (refusalTo("deny") === null) may.push("deny");
  const held = state.type === "decided" && state.delivery.type === "held" ? state.delivery : null;
  const expires = held === null ? endsUnder(approval, rule) : null;
  return {
    run,
    approval,
    rule,
    marks: cardMarks(request, contextBehind(run.context, request), policy.card ?? undefined),
    may,
    refusal,
    waitedMs: Math.max(0, monotonic - waitsSince),
    deadline: expires === null ? null : now + expires - monotonic,
    heldUntil: held?.until ?? null,
  };
}

function byRiskThenAge(a: QueueItem, b: QueueItem): number {
  return (
    riskRank(a.marks) - riskRank(b.marks) ||
    b.waitedMs - a.waitedMs ||
    (a.approval.id < b.approval.id ? -1 : 1)
  );
}

/** The groups and channels whose members Slack must tell us, for the rules of these runs. */
export function setsToAsk(runs: readonly Run[], ctx: PolicyNow): ReadonlySet<GroupId | ChannelId> {
  const sets = runs.flatMap((run) =>
    run.approvals.filter(isUndecided).flatMap((approval) => setsToAskFor(run, approval, ctx)),
  );
  return new Set(sets);
}

// Filters, as a person chooses them.

/** Each left out: all. */
export type QueueFilter = {
  readonly channel?: ChannelId;
  /** Only what this person asked for. */
  readonly askedBy?: UserId;
  /** Of these rules, by name. */
  readonly rule?: (name: string) => boolean;
};

export function filtered(queue: Queue, { channel, askedBy, rule }: QueueFilter): Queue {
  const isRun = (run: Run): boolean =>
    (channel === undefined || run.channel === channel) &&
    (askedBy === undefined || run.requester === askedBy);
  const fits = (item: QueueItem): boolean => isRun(item.run) && (rule === undefined || rule(item.rule.name));
  return {
    ...queue,
    yours: queue.yours.filter(fits),
    others: queue.others.filter(fits),
    unreadable: rule === undefined ? queue.unreadable.filter(isRun) : [],
  };
}

// Requests that can be reviewed together: those of one run, or of one rule in one channel.

export type ReviewGroup = {
  readonly kind: "run" | "rule";
  /** In the queue's order; at least two of them can be decided together. */
  readonly items: readonly QueueItem[];
};

/**
 * A request with friction or a hold, or one that a file shows, keeps its own form. So does one that can only be denied, and one that
 * is approved already.
 */
export function needsOwnForm({ approval, rule, may, refusal, heldUntil }: QueueItem): boolean {
  const { friction, holdMs } = rule;
  const hasFriction = friction.readFirst || friction.word !== null || holdMs > 0;
  return (
    hasFriction || heldUntil !== null || refusal !== null || may.length < 2 || needsFile(approval.request)
  );
}

/** The largest first. A rule in a channel counts where it covers more than one run. */
export function reviewGroups(yours: readonly QueueItem[]): readonly ReviewGroup[] {
  const byRun = Map.groupBy(yours, ({ run }) => run.key);
  const byRule = Map.groupBy(yours, ({ run, rule }) => `${run.channel} ${rule.name}`);
  const several = (items: readonly QueueItem[]): boolean => new Set(items.map(({ run }) => run.key)).size > 1;
  const groups: ReviewGroup[] = [
    ...[...byRun.values()].map((items) => ({ kind: "run" as const, items })),
    ...[...byRule.values()].filter(several).map((items) => ({ kind: "rule" as const, items })),
  ];
  return groups
    .filter(({ items }) => items.filter((each) => !needsOwnForm(each)).length > 1)
    .toSorted((a, b) => b.items.length - a.items.length);
}

/** The group of this kind that the approval belongs to; empty: there is none. */
export function groupAround(
  yours: readonly QueueItem[],
  kind: ReviewGroup["kind"],
  { run, rule }: { readonly run: Run; readonly rule: Rule },
): readonly QueueItem[] {
  return yours.filter((item) =>
    kind === "run"
      ? item.run.key === run.key
      : item.run.channel === run.channel && item.rule.name === rule.name,
  );
}
