// Applies a snapshot of the service to what we remember about a run. `observe` returns the same object if nothing is new, so a quiet poll
// writes nothing.

import { applyPolicy } from "./applied-rule.ts";
import { applySighting, type ApprovalSighting } from "./apply-snapshot.ts";
import { decidersOf, newApproval } from "./approval-transitions.ts";
import type { Approval, Request, RunContext } from "./approval.ts";
import type { Context } from "./context.ts";
import type { ApprovalId, RunId } from "./ids.ts";
import { canonicalJson } from "./json.ts";
import { volatileIn, withoutFields } from "./policy/policy.ts";
import { approvalOfRequest, ownIds } from "./reused-id.ts";
import { contextOf, ofRequests } from "./run-context.ts";
import { addNotices, type DecisionNotice } from "./notice.ts";
import {
  deniesNext,
  findApproval,
  isMissing,
  isStopped,
  isWatched,
  type Run,
  type Seen,
  type Watch,
} from "./run.ts";
import { ending, itemsUnreadable, type PendingApproval, type Snapshot } from "./snapshot.ts";
import { requestChars } from "./text/request-text.ts";
import { channelText, countedChars } from "./text/text.ts";

/** Returns whether a newer snapshot was applied before this one. */
export function isOutdated({ seen }: Run, askedAt: number): boolean {
  return seen !== null && askedAt < seen.askedAt;
}

export function observe(run: Run, snapshot: Snapshot, ctx: Context): Run {
  if (!isWatched(run) || isOutdated(run, snapshot.askedAt)) return run;
  const all = listedIn(run, snapshot, ctx);
  const { fitting, excess } = withinRoom(run, all.listed);
  const context = fitting.length === 0 ? run.context : all.context;
  return observeWithin(run, withUnreadable(snapshot, excess), { ...all, listed: fitting, context }, ctx);
}

/** The most approvals that one run may have, because a run is stored as a whole at every change. */
export const MAX_APPROVALS = 5_000;

/** Separates the requests that would take more approvals than `MAX_APPROVALS`. */
function withinRoom(
  { approvals }: Run,
  listed: readonly Listed[],
): { readonly fitting: readonly Listed[]; readonly excess: readonly Listed[] } {
  let room = MAX_APPROVALS - approvals.length;
  const [fitting, excess]: [Listed[], Listed[]] = [[], []];
  for (const each of listed) {
    const fits = each.approval !== null || (room -= 1) >= 0;
    (fits ? fitting : excess).push(each);
  }
  return { fitting, excess };
}

function withUnreadable(snapshot: Snapshot, excess: readonly Listed[]): Snapshot {
  if (excess.length === 0) return snapshot;
  const why = "it is beyond the 5,000 requests that one run can have here";
  const items = excess.map(({ item: { id } }) => ({
    ids: [id],
    code: "too-many",
    why,
    source: "",
    hidden: 0,
  }));
  return { ...snapshot, unreadable: [...snapshot.unreadable, ...items] };
}

function observeWithin(run: Run, snapshot: Snapshot, listing: Listing, ctx: Context): Run {
  const over = ending(snapshot.status);
  const sighted = applySightings(run, snapshot, listing, ctx);
  const { context } = sighted;
  const seen = withSeenStatus(run.seen, snapshot, ctx.now);
  const watch = watchAfter(run.watch, over !== null, ctx);
  const input =
    run.origin === "adopted" && run.input === "" && snapshot.input !== null ? snapshot.input : run.input;
  const { approvals, requesterGroups } = applyPolicy({ ...run, input, approvals: sighted.approvals }, ctx);
  const unreadable = over === null ? itemsUnreadable(run.unreadable, snapshot, ctx.now) : null;
  const isUnchanged =
    seen === run.seen &&
    watch === run.watch &&
    input === run.input &&
    approvals === run.approvals &&
    requesterGroups === run.requesterGroups &&
    unreadable === run.unreadable &&
    context === run.context;
  if (isUnchanged) return run;
  // An older answer that arrives later must not undo a newer one.
  const newest = { ...seen, askedAt: snapshot.askedAt };
  const { requesterGroups: _before, ...others } = addNoticesToDeciders(run, sighted.says, ctx);
  return {
    ...others,
    ...stopAfter(run, over !== null),
    ...(requesterGroups === undefined ? {} : { requesterGroups }),
    seen: newest,
    watch,
    input,
    approvals,
    context,
    unreadable,
  };
}

/** The run was found, so it is watched, or over if it has ended. Returns the same object if nothing changes. */
function watchAfter(before: Watch, hasEnded: boolean, { monotonic }: Context): Watch {
  if (hasEnded) return { type: "over", at: monotonic };
  return before.type === "on" ? before : { type: "on" };
}

/** A run that the service had forgotten may be another run with the same id, so an earlier stop denies nothing more. */
function stopAfter(before: Run, hasEnded: boolean): Pick<Run, "stop"> {
  const { stop } = before;
  const mayBeAnother = isMissing(before) && !hasEnded;
  return stop !== undefined && isStopped(before) && mayBeAnother
    ? { stop: { ...stop, ofEarlierRecord: true } }
    : {};
}

/** The longest output that is shown in full in the thread (characters as Slack counts them). A longer one becomes a file. */
export const OUTPUT_IN_THREAD_CHARS = 8_000;

/**
 * Returns the request with the digest that binds a decision to what was shown. The digest covers the ids of run and approval, everything
 * the service sent about the approval, and the digest of the run's own fields. Fields that the policy calls volatile are excluded.
 */
export function requestOf(
  run: RunId,
  item: PendingApproval,
  ctx: Context,
  context: RunContext | null = null,
): Request {
  const { action, content, requestedAt } = item;
  const volatile = volatileIn(content, ofRequests(ctx.policy.volatile));
  const contextFields = context === null ? {} : { context: context.digest, contextChars: context.chars };
  const request = { action, content, ...(volatile.length === 0 ? {} : { volatile }), ...contextFields };
  const digest = ctx.digest(digestedText(run, item.id, request));
  return { ...request, requestedAt, digest, chars: requestChars(request) };
}

/** Returns the text that the digest is computed over. */
export function digestedText(
  run: RunId,
  approval: ApprovalId,
  { content, volatile = [], context }: Pick<Request, "content" | "volatile" | "context">,
): string {
  const parts = [run, approval, withoutFields(content, volatile)];
  return canonicalJson(context === undefined ? parts : [...parts, context]);
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

function isLongOutput(output: string): boolean {
  // Few outputs of this length are drawn at half of it, so the costlier count is not needed.
  if (output.length > 2 * OUTPUT_IN_THREAD_CHARS) return true;
  return countedChars(channelText(output)) > OUTPUT_IN_THREAD_CHARS;
}

type Listed = {
  readonly item: PendingApproval;
  readonly request: Request;
  readonly approval: Approval | null;
};
/** `askedAt`: when the fetch counts as begun. */
type Listing = {
  readonly listed: readonly Listed[];
  readonly context: RunContext | null;
  readonly askedAt: number;
};

/** Returns the listed requests, each with its approval, or with null if it is new. */
function listedIn(run: Run, snapshot: Snapshot, ctx: Context): Listing {
  const over = ending(snapshot.status) !== null;
  const items = over ? [] : (snapshot.pending ?? []);
  // A terminal state is final, no matter when the fetch began.
  const askedAt = over ? ctx.monotonic : snapshot.askedAt;
  const context = items.length === 0 ? run.context : contextOf(run.context, snapshot, ctx);
  // Grouped once, because a run may have thousands of approvals.
  const byServiceId = Map.groupBy(run.approvals, ({ serviceId }) => serviceId);
  const listed = items.map((item) => {
    const request = requestOf(snapshot.id, item, ctx, context);
    const sameId = byServiceId.get(item.id) ?? [];
    return { item, request, approval: approvalOfRequest(sameId, { request, askedAt }) };
  });
  return { listed, context, askedAt };
}

function applySightings(
  run: Run,
  snapshot: Snapshot,
  { listed, context, askedAt }: Listing,
  ctx: Context,
): { approvals: readonly Approval[]; says: DecisionNotice[]; context: RunContext | null } {
  if (snapshot.pending === null && ending(snapshot.status) === null)
    return { approvals: run.approvals, says: [], context: run.context };
  const requests = new Map(listed.map(({ approval, request }) => [approval?.id, request]));
  const unlisted = createUnlisted(snapshot, askedAt);
  const isDenied = deniesNext(run);
  const results = run.approvals.map((approval) => {
    const request = requests.get(approval.id);
    const sighting: ApprovalSighting =
      request === undefined
        ? unlisted(approval.serviceId)
        : { type: "listed", request, askedAt, isDenied, posts: run.posts };
    return applySighting(approval, sighting, ctx);
  });
  const added = listed.filter(({ approval }) => approval === null);
  const taken = new Set(run.approvals.map(({ id }) => id));
  const ids = ownIds(
    taken,
    added.map(({ item }) => item.id),
  );
  const fresh = added.map(({ item: { id }, request }, nth) =>
    newApproval(ids[nth] ?? id, request, ctx.nonce(), { ...ctx, serviceId: id }),
  );
  const unchanged =
    fresh.length === 0 && results.every(({ approval }, index) => approval === run.approvals[index]);
  const approvals = unchanged ? run.approvals : [...results.map(({ approval }) => approval), ...fresh];
  return { approvals, says: noticesOf(results), context };
}

/** The function returns what the snapshot says about an approval that it does not list. */
function createUnlisted(
  { status, unreadable, resolved = [] }: Snapshot,
  askedAt: number,
): (id: ApprovalId) => ApprovalSighting {
  const isOver = ending(status) !== null;
  // Collected once, because there may be thousands of approvals and of unreadable items.
  const unreadableIds = new Set(unreadable.flatMap(({ ids }) => ids));
  const isInDoubt = unreadable.some(({ ids }) => ids.length === 0);
  const words = Map.groupBy(resolved, ({ id }) => id);
  return (id) => {
    if (isOver) return { type: "absent", cause: "run-over", askedAt };
    if (unreadableIds.has(id)) return { type: "unreadable", askedAt };
    if (isInDoubt) return { type: "in-doubt", askedAt };
    const said = [...new Set(words.get(id)?.map((item) => item.said))].toSorted().join(", ");
    return { type: "absent", cause: "no-longer-listed", askedAt, ...(said === "" ? {} : { said }) };
  };
}

export function noticesOf(results: readonly { says: DecisionNotice | null }[]): DecisionNotice[] {
  return results.flatMap(({ says }) => (says === null ? [] : [says]));
}

/**
 * Tells the people who decided, or gave an approval, what happened to it. Returns the same run if there is no one to tell. If no person
 * decided, and the run may wait for ever, the requester is told, but not of thousands of requests one by one: the cards show the others.
 */
export function addNoticesToDeciders(run: Run, contents: readonly DecisionNotice[], ctx: Context): Run {
  return contents.reduce((told, content) => {
    const approval = findApproval(run, content.approval);
    if (approval === null) return told;
    const deciders = decidersOf(approval);
    if (deciders.length > 0 || content.type !== "decision-still-listed")
      return addNotices(told, deciders, content, ctx);
    const waits = told.notices.some(({ to, says }) => to === run.requester && says.type === content.type);
    return waits ? told : addNotices(told, [run.requester], content, ctx);
  }, run);
}
