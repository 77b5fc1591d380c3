// The queue of one person: the requests that they may decide now, and those that wait for others. Only `refusalToOpen` says who may decide.

import type { RuleMoment } from "./context.ts";
import { decidersOf } from "./approval-transitions.ts";
import { type Approval, isUndecided, type Verdict } from "./approval.ts";
import { endsAt, endsUnder, judgingRules, ruleOf } from "./applied-rule.ts";
import { type OpenRefusal, type Person, refusalToDecide, refusalToOpen } from "./authorization.ts";
import { isUndelivered, type Undelivered } from "./decision-delivery.ts";
import { type HoldEnd, holdEnd } from "./hold.ts";
import type { ChannelId, GroupId, UserId } from "./ids.ts";
import type { Rule } from "./policy/policy.ts";
import { isRequesterUnknown, type PolicyNow, membershipsToLookUp } from "./rule-facts.ts";
import { contextBehind } from "./run-context.ts";
import { type Run, unreadableNow } from "./run.ts";
import { type CardMarks, cardMarks, riskRank } from "./text/card-layout.ts";
import { needsFile } from "./text/request-text.ts";

/** What Slack says about the person who reads the queue. */
export type Reader = {
  readonly user: UserId;
  /** Null if Slack did not say who they are. `seesChannel` is ignored, because `channels` answers that for each request. */
  readonly person: Person | null;
  /** The person's channels, among those that the app is in. An escalation may show them requests of other channels. */
  readonly channels: ReadonlySet<ChannelId>;
  /** Channels of other people that this person can open as well. */
  readonly openChannels?: ReadonlySet<ChannelId>;
};

export type QueueItem = {
  readonly run: Run;
  readonly approval: Approval;
  /** The rule in force now. */
  readonly rule: Rule;
  readonly marks: CardMarks;
  /** The verdicts that the reader may give now, perhaps after reading the request. */
  readonly may: readonly Verdict[];
  /** Why the reader may not approve it. They may if this is null or "read-first". */
  readonly refusal: OpenRefusal | null;
  readonly waitedMs: number;
  /** When it expires (wall time). Null if it does not. */
  readonly deadline: number | null;
  /** When the held approval is sent unless someone stops it. Null if the request is pending. */
  readonly held: HoldEnd | null;
};

export type Queue = {
  /** The riskiest first, and among equal risks the oldest first. */
  readonly yours: readonly QueueItem[];
  readonly others: readonly QueueItem[];
  /** The decisions that the service has not confirmed yet, oldest first. */
  readonly undelivered: readonly UndeliveredItem[];
  /** Runs for which the service lists approvals that cannot be read. */
  readonly unreadable: readonly Run[];
  /** Why the reader sees no requests: they are a person who may never decide. Null for full members. */
  readonly closedTo: Exclude<Person["kind"], "member"> | null;
};

export type UndeliveredItem = { readonly run: Run; readonly approval: Undelivered };

export function queueOf(runs: readonly Run[], reader: Reader, ctx: RuleMoment): Queue {
  const kind = reader.person?.kind ?? "member";
  if (kind !== "member") return { yours: [], others: [], undelivered: [], unreadable: [], closedTo: kind };
  const visibleRuns = runs.filter(({ channel }) => reader.channels.has(channel));
  const items = runs
    .flatMap((run) =>
      run.approvals
        .filter((approval) => isUndecided(approval) && isShownTo(reader, run, approval, ctx))
        .map((approval) => itemOf(run, approval, reader, ctx)),
    )
    .toSorted((a, b) => byPlace(placeOf(a), placeOf(b)));
  return {
    yours: items.filter((item) => isYours(item, reader.user)),
    others: items.filter((item) => !isYours(item, reader.user)),
    undelivered: runs
      .flatMap((run) => run.approvals.filter(isUndelivered).map((approval) => ({ run, approval })))
      .filter(({ run, approval }) => isShownTo(reader, run, approval, ctx))
      .toSorted((a, b) => a.approval.state.decision.at - b.approval.state.decision.at),
    unreadable: visibleRuns.filter((run) => unreadableNow(run) !== null),
    closedTo: null,
  };
}

/** Returns whether the reader sees the request: it is in one of their channels, or an escalation has brought them in. */
function isShownTo({ channels, person }: Reader, run: Run, approval: Approval, ctx: RuleMoment): boolean {
  if (channels.has(run.channel)) return true;
  const rule = ruleOf(ctx, run, approval);
  return person !== null && refusalToDecide({ ...person, seesChannel: false }, run, rule) === null;
}

/**
 * Returns whether the request waits for this person: they may decide it, and have not approved it yet. A request that they have approved
 * waits for others, or for the end of its hold, although they may still deny it.
 */
function isYours({ approval, may }: QueueItem, user: UserId): boolean {
  return may.length > 0 && !decidersOf(approval).includes(user);
}

function itemOf(
  run: Run,
  approval: Approval,
  { person, channels, openChannels }: Reader,
  ctx: RuleMoment,
): QueueItem {
  const { policy, now, monotonic } = ctx;
  const { request, version, waitsSince } = approval;
  const { rule, inDoubt } = judgingRules(ctx, run, approval);
  const seesChannel = channels.has(run.channel) || openChannels?.has(run.channel) === true;
  const by = person === null ? null : { ...person, seesChannel };
  const refusalTo = (verdict: Verdict): OpenRefusal | null =>
    by === null
      ? { type: "unverified" }
      : refusalToOpen(approval, { run, rule, by, verdict, monotonic, inDoubt }, { version, was: null });
  const refusal = refusalTo("approve");
  const may: Verdict[] = refusal === null || refusal.type === "read-first" ? ["approve"] : [];
  if (refusalTo("deny") === null) may.push("deny");
  const held = holdEnd(approval);
  const ends = isRequesterUnknown(run, approval, ctx) ? endsAt(approval) : endsUnder(approval, rule);
  const expires = held === null ? ends : null;
  return {
    run,
    approval,
    rule,
    marks: cardMarks(request, contextBehind(run.context, request), policy.card ?? undefined),
    may,
    refusal,
    waitedMs: Math.max(0, monotonic - waitsSince),
    deadline: expires === null ? null : now + expires - monotonic,
    held,
  };
}

/** Where a request stands in the queue. A place stays valid after its request changes or leaves the queue. */
export type QueuePlace = readonly [rank: number, waitsSince: number, approval: string, run: string];

export const placeOf = ({ run, approval, marks }: QueueItem): QueuePlace => [
  riskRank(marks),
  approval.waitsSince,
  approval.id,
  run.key,
];

function byPlace(a: QueuePlace, b: QueuePlace): number {
  const compared = (x: string, y: string): number => (x === y ? 0 : x < y ? -1 : 1);
  return a[0] - b[0] || a[1] - b[1] || compared(a[2], b[2]) || compared(a[3], b[3]);
}

/** Returns the items after the place, in the queue's order, and then those up to it. */
export function rotatedAfter(place: QueuePlace, items: readonly QueueItem[]): readonly QueueItem[] {
  const isAfter = (item: QueueItem): boolean => byPlace(placeOf(item), place) > 0;
  return [...items.filter(isAfter), ...items.filter((item) => !isAfter(item))];
}

/** Returns the groups and channels whose members the rules of these runs depend on. */
export function setsToAsk(runs: readonly Run[], ctx: PolicyNow): ReadonlySet<GroupId | ChannelId> {
  const sets = runs.flatMap((run) =>
    run.approvals.filter(isUndecided).flatMap((approval) => membershipsToLookUp(run, approval, ctx)),
  );
  return new Set(sets);
}

// Filters that a person chooses.

/** A condition that is absent excludes nothing. */
export type QueueFilter = {
  readonly channel?: ChannelId;
  /** Only runs that this person requested. */
  readonly askedBy?: UserId;
  /** Only requests under the rules whose name passes. */
  readonly rule?: (name: string) => boolean;
};

export function filtered(queue: Queue, { channel, askedBy, rule }: QueueFilter): Queue {
  const isWantedRun = (run: Run): boolean =>
    (channel === undefined || run.channel === channel) &&
    (askedBy === undefined || run.requester === askedBy);
  const isWanted = (item: QueueItem): boolean =>
    isWantedRun(item.run) && (rule === undefined || rule(item.rule.name));
  return {
    ...queue,
    yours: queue.yours.filter(isWanted),
    others: queue.others.filter(isWanted),
    undelivered: rule === undefined ? queue.undelivered.filter(({ run }) => isWantedRun(run)) : [],
    unreadable: rule === undefined ? queue.unreadable.filter(isWantedRun) : [],
  };
}

// Requests that can be reviewed together: those of one run, or of one rule in one channel.

export type ReviewGroup = {
  readonly kind: "run" | "rule";
  /** In the queue's order; at least two of them can be decided together. */
  readonly items: readonly QueueItem[];
};

/**
 * Returns whether the request keeps a form of its own: its rule has friction or a hold, a file shows it, it can only be denied, or it is
 * already approved.
 */
export function needsOwnForm({ approval, rule, may, refusal, held }: QueueItem): boolean {
  const { friction, holdMs } = rule;
  const hasFriction = friction.readFirst || friction.word !== null || holdMs > 0;
  return hasFriction || held !== null || refusal !== null || may.length < 2 || needsFile(approval.request);
}

/** Returns the groups that can be reviewed together, the largest first. A group by rule must cover more than one run. */
export function reviewGroups(yours: readonly QueueItem[]): readonly ReviewGroup[] {
  const byRun = Map.groupBy(yours, ({ run }) => run.key);
  const byRule = Map.groupBy(yours, ({ run, rule }) => `${run.channel} ${rule.name}`);
  const coversSeveralRuns = (items: readonly QueueItem[]): boolean =>
    new Set(items.map(({ run }) => run.key)).size > 1;
  const groups: ReviewGroup[] = [
    ...[...byRun.values()].map((items) => ({ kind: "run" as const, items })),
    ...[...byRule.values()].filter(coversSeveralRuns).map((items) => ({ kind: "rule" as const, items })),
  ];
  return groups
    .filter(({ items }) => items.filter((item) => !needsOwnForm(item)).length > 1)
    .toSorted((a, b) => b.items.length - a.items.length);
}

/** Returns the items of the group of this kind that the approval belongs to. Returns an empty list if there are none. */
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
