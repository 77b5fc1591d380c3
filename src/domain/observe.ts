// Applies a snapshot of the service to what we remember of a run, and says when to fetch the next one. Returns the same object when nothing
// is new, so a quiet poll writes nothing.

import { applyPolicy } from "./applied-rule.ts";
import { applySighting, type ApprovalSighting } from "./apply-snapshot.ts";
import { decidersOf, newApproval } from "./approval-transitions.ts";
import type { Approval, Request, RunContext } from "./approval.ts";
import type { Context } from "./context.ts";
import type { ApprovalId, RunId } from "./ids.ts";
import { canonicalJson } from "./json.ts";
import { volatileIn, withoutFields } from "./policy/policy.ts";
import { bearerOf, ownId } from "./reused-id.ts";
import { contextOf, ofRequests } from "./run-context.ts";
import { isWatched, type NoticeContent, type PrivateNotice, type Run, type Seen, type Watch } from "./run.ts";
import { ending, itemsUnreadable, type PendingApproval, type Snapshot } from "./snapshot.ts";
import { requestChars } from "./text/request-text.ts";
import { countedChars, visible } from "./text/text.ts";

/** A newer snapshot was applied already, so this one is ignored. */
export function isOutdated({ seen }: Run, askedAt: number): boolean {
  return seen !== null && askedAt < seen.askedAt;
}

export function observe(run: Run, snapshot: Snapshot, ctx: Context): Run {
  if (!isWatched(run) || isOutdated(run, snapshot.askedAt)) return run;
  return observeWithin(run, withinRoom(run, snapshot), ctx);
}

/** One run keeps at most so many approvals: it is stored whole at each change. */
export const MAX_APPROVALS = 5_000;

/** The same answer; approvals beyond those that a run may have are among what cannot be shown. */
function withinRoom({ approvals }: Run, snapshot: Snapshot): Snapshot {
  const { pending } = snapshot;
  let room = MAX_APPROVALS - approvals.length;
  if (pending === null || pending.length <= room) return snapshot;
  const known = new Set(approvals.map(({ serviceId }) => serviceId));
  const fits = pending.map(({ id }) => known.has(id) || (room -= 1) >= 0);
  const beyond = pending.filter((_, at) => fits[at] === false);
  if (beyond.length === 0) return snapshot;
  const why = "is beyond the 5,000 requests that one run can make here";
  const items = beyond.map(({ id }) => ({ ids: [id], code: "too-many", why, source: "", hidden: 0 }));
  return {
    ...snapshot,
    pending: pending.filter((_, at) => fits[at]),
    unreadable: [...snapshot.unreadable, ...items],
  };
}

function observeWithin(run: Run, snapshot: Snapshot, ctx: Context): Run {
  const over = ending(snapshot.status);
  const folded = applySightings(run, snapshot, ctx);
  const seen = withSeenStatus(run.seen, snapshot, ctx.now);
  const watch: Watch =
    over !== null
      ? { type: "over", at: ctx.monotonic }
      : run.watch.type === "on"
        ? run.watch
        : { type: "on" };
  const input =
    run.origin === "adopted" && run.input === "" && snapshot.input !== null ? snapshot.input : run.input;
  const { approvals, requesterGroups } = applyPolicy({ ...run, input, approvals: folded.approvals }, ctx);
  const unreadable = over === null ? itemsUnreadable(run.unreadable, snapshot, ctx.now) : null;
  const { context } = folded;
  const asks = requesterGroups === run.requesterGroups;
  const same = seen === run.seen && watch === run.watch && input === run.input && approvals === run.approvals;
  if (same && asks && unreadable === run.unreadable && context === run.context) return run;
  // An older answer that arrives later must not undo a newer one.
  const newest = { ...seen, askedAt: snapshot.askedAt };
  const { requesterGroups: _before, ...others } = run;
  return {
    ...others,
    ...(requesterGroups === undefined ? {} : { requesterGroups }),
    seen: newest,
    watch,
    input,
    approvals,
    context,
    unreadable,
    notices: addNotices(run, folded.says, ctx),
  };
}

/** Longer outputs (characters as Slack counts them) become a file; the thread holds the first part. */
export const OUTPUT_IN_THREAD_CHARS = 8_000;

/**
 * The digest that binds a decision to what was shown: the ids of run and approval, everything the service sent about the approval,
 * and the digest of the run's own fields; without the fields that the policy calls volatile.
 */
export function requestOf(
  run: RunId,
  item: PendingApproval,
  ctx: Context,
  context: RunContext | null = null,
): Request {
  const { action, content, requestedAt } = item;
  const volatile = volatileIn(content, ofRequests(ctx.policy.volatile));
  const around = context === null ? {} : { context: context.digest, contextChars: context.chars };
  const request = { action, content, ...(volatile.length === 0 ? {} : { volatile }), ...around };
  const digest = ctx.digest(digestedText(run, item.id, request));
  return { ...request, requestedAt, digest, chars: requestChars(request) };
}

/** The text that the digest is computed over. */
export function digestedText(
  run: RunId,
  approval: ApprovalId,
  { content, volatile = [], context }: Pick<Request, "content" | "volatile" | "context">,
): string {
  const decided = [run, approval, withoutFields(content, volatile)];
  return canonicalJson(context === undefined ? decided : [...decided, context]);
}

function withSeenStatus(before: Seen | null, snapshot: Snapshot, now: number): Seen {
  const lists = snapshot.pending !== null;
  if (before !== null && before.status === snapshot.status)
    return before.lists === lists ? before : { ...before, lists };
  const how = ending(snapshot.status);
  const { output, completedAt, extra, askedAt } = snapshot;
  const outputChars = output === null ? 0 : output.length;
  const asFile = output !== null && isLongOutput(output);
  const ended = how === null ? null : { how, completedAt, output, outputChars, asFile, extra };
  return { status: snapshot.status, since: now, ended, lists, askedAt };
}

/** Drawn, it is at least half as long as it was sent. */
function isLongOutput(output: string): boolean {
  if (output.length > 2 * OUTPUT_IN_THREAD_CHARS) return true;
  return countedChars(visible(output)) > OUTPUT_IN_THREAD_CHARS;
}

function applySightings(
  run: Run,
  snapshot: Snapshot,
  ctx: Context,
): { approvals: readonly Approval[]; says: NoticeContent[]; context: RunContext | null } {
  const over = ending(snapshot.status) !== null;
  if (snapshot.pending === null && !over) return { approvals: run.approvals, says: [], context: run.context };
  const items = over ? [] : (snapshot.pending ?? []);
  // A terminal state is final, whenever the fetch began.
  const askedAt = over ? ctx.monotonic : snapshot.askedAt;
  const context = items.length === 0 ? run.context : contextOf(run.context, snapshot, ctx);
  // A run may have thousands.
  const byServiceId = Map.groupBy(run.approvals, ({ serviceId }) => serviceId);
  const taken = new Set(run.approvals.map(({ id }) => id));
  const listed = items.map((item) => {
    const request = requestOf(snapshot.id, item, ctx, context);
    return { item, request, bearer: bearerOf(byServiceId.get(item.id) ?? [], { request, askedAt }) };
  });
  const requests = new Map(listed.map(({ bearer, request }) => [bearer?.id, request]));
  const folded = run.approvals.map((approval) => {
    const request = requests.get(approval.id);
    const sighting: ApprovalSighting =
      request === undefined
        ? unlisted(approval.serviceId, snapshot, askedAt)
        : { type: "listed", request, askedAt };
    return applySighting(approval, sighting, ctx);
  });
  const fresh = listed.flatMap(({ item: { id }, request, bearer }) =>
    bearer === null ? [newApproval(ownId(taken, id), request, ctx.nonce(), { ...ctx, serviceId: id })] : [],
  );
  const unchanged =
    fresh.length === 0 && folded.every((each, index) => each.approval === run.approvals[index]);
  const approvals = unchanged ? run.approvals : [...folded.map((each) => each.approval), ...fresh];
  return { approvals, says: noticesOf(folded), context };
}

function unlisted(id: ApprovalId, { status, unreadable }: Snapshot, askedAt: number): ApprovalSighting {
  if (ending(status) !== null) return { type: "absent", cause: "run-over", askedAt };
  if (unreadable.some(({ ids }) => ids.includes(id))) return { type: "unreadable", askedAt };
  return unreadable.some(({ ids }) => ids.length === 0)
    ? { type: "in-doubt", askedAt }
    : { type: "absent", cause: "no-longer-listed", askedAt };
}

export function noticesOf(folded: readonly { says: NoticeContent | null }[]): NoticeContent[] {
  return folded.flatMap((each) => (each.says === null ? [] : [each.says]));
}

/** Tells the people who decided, privately, what happened to the decision. */
export function addNotices(run: Run, says: readonly NoticeContent[], ctx: Context): readonly PrivateNotice[] {
  const more = says.flatMap((said): PrivateNotice[] => {
    if (said.type === "cannot-post" || said.type === "nobody-can-approve") return [];
    const approval = run.approvals.find((each) => each.id === said.approval);
    const people = approval === undefined ? [] : decidersOf(approval);
    return people.map((to) => ({ id: ctx.nonce(), to, says: said, state: "planned", notBefore: 0 }));
  });
  return more.length === 0 ? run.notices : [...run.notices, ...more];
}

// When to fetch a run again.

/** A run is polled after a tenth of the time it has been quiet: soon after news, seldom after hours. */
const QUIET_SHARE = 10;
/** Each wait is shortened by up to this share, so that runs started together drift apart. None is stretched: a request is seen at most
 * `maxMs` after the agent asked. */
const JITTER = 0.15;
/** A run that the service no longer knows is polled less and less often, up to this interval (ms). */
const MISSING_EVERY_MS = 60_000;

/** When we last saw something about the run change (wall time). */
export function lastNewsAt(run: Run): number {
  // As arguments of one call, the times of a hundred thousand approvals would be too many.
  return newsTimes(run).reduce((newest, time) => Math.max(newest, time), 0);
}

/** A different number whenever something about the run changes, even after the clock was set back. */
export function newsMark(run: Run): number {
  const missing = run.watch.type === "missing" ? run.watch.since : 0;
  return newsTimes(run).reduce((sum, time) => sum + time, missing);
}

function newsTimes(run: Run): number[] {
  const times = run.approvals.map(({ seenAt, state }) =>
    state.type === "decided" ? state.decision.at : seenAt,
  );
  return [run.askedAt, run.seen?.since ?? 0, ...times];
}

/** `random` is in [0, 1). Failures double the wait. */
export function nextPollMs(
  facts: { quietMs: number; fails: number; missing: boolean },
  limits: { minMs: number; maxMs: number },
  random: number,
): number {
  const { minMs, maxMs } = limits;
  const slowest = facts.missing ? Math.max(maxMs, MISSING_EVERY_MS) : maxMs;
  const calm = Math.min(Math.max(facts.quietMs / QUIET_SHARE, minMs), slowest);
  const failed =
    facts.fails === 0 ? calm : Math.max(calm, Math.min(minMs * 2 ** facts.fails, Math.max(maxMs, 5_000)));
  return failed * (1 - JITTER * random);
}
