// Folds what the service says of a run into what we remember. Returns the very same object when nothing new was learnt:
// that is how a quiet poll comes to write nothing.

import type { Approval, Request, RunContext } from "./approval.ts";
import { newApproval } from "./approval-moves.ts";
import type { Context } from "./context.ts";
import { foldApproval, type Sight } from "./fold-approval.ts";
import type { ApprovalId, RunId } from "./ids.ts";
import { canonicalJson } from "./json.ts";
import { bearerOf, ownId } from "./reused-id.ts";
import { requestChars } from "./request-text.ts";
import { contextOf, ofRequests } from "./run-context.ts";
import { volatileIn, without } from "./volatile.ts";
import { underPolicy } from "./ruling.ts";
import type { Run, Said, Seen, Tell, Watch } from "./run.ts";
import { isWatched } from "./run.ts";
import { ending, type PendingApproval, type Snapshot } from "./snapshot.ts";
import { itemsUnreadable } from "./unreadable.ts";
import { deciders } from "./vote.ts";
import { countedChars, visible } from "./text.ts";

/** A newer look was taken in already, so this one teaches nothing. */
export function isOutdated({ seen }: Run, askedAt: number): boolean {
  return seen !== null && askedAt < seen.askedAt;
}

export function observe(run: Run, snapshot: Snapshot, ctx: Context): Run {
  if (!isWatched(run) || isOutdated(run, snapshot.askedAt)) return run;
  const over = ending(snapshot.status);
  const folded = foldAll(run, snapshot, ctx);
  const seen = see(run.seen, snapshot, ctx.now);
  const watch: Watch =
    over !== null ? { is: "over", at: ctx.monotonic } : run.watch.is === "on" ? run.watch : { is: "on" };
  const input =
    run.origin === "adopted" && run.input === "" && snapshot.input !== null ? snapshot.input : run.input;
  const { approvals } = underPolicy({ ...run, input, approvals: folded.approvals }, ctx);
  const unreadable = over === null ? itemsUnreadable(run.unreadable, snapshot, ctx.now) : null;
  const { context } = folded;
  const same = seen === run.seen && watch === run.watch && input === run.input && approvals === run.approvals;
  if (same && unreadable === run.unreadable && context === run.context) return run;
  // Whatever was learnt, an older answer that comes later must not unlearn it.
  const newest = { ...seen, askedAt: snapshot.askedAt };
  return {
    ...run,
    seen: newest,
    watch,
    input,
    approvals,
    context,
    unreadable,
    tells: tell(run, folded.says, ctx),
  };
}

/** Longer outputs (characters as Slack counts them) are attached as a file; the thread holds the first part. */
export const OUTPUT_IN_THREAD_CHARS = 8_000;

/**
 * The digest that binds a decision to what was shown: everything the service sent, and for which run and approval, and by its
 * own digest what it said of the run; without the fields that the operator lets change.
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

/** What the digest is taken of. */
export function digestedText(
  run: RunId,
  approval: ApprovalId,
  { content, volatile = [], context }: Pick<Request, "content" | "volatile" | "context">,
): string {
  const decided = [run, approval, without(content, volatile)];
  return canonicalJson(context === undefined ? decided : [...decided, context]);
}

function see(before: Seen | null, snapshot: Snapshot, now: number): Seen {
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

/** Drawn it is at least half as long as it was sent. */
function isLongOutput(output: string): boolean {
  if (output.length > 2 * OUTPUT_IN_THREAD_CHARS) return true;
  return countedChars(visible(output)) > OUTPUT_IN_THREAD_CHARS;
}

function foldAll(
  run: Run,
  snapshot: Snapshot,
  ctx: Context,
): { approvals: readonly Approval[]; says: Said[]; context: RunContext | null } {
  const over = ending(snapshot.status) !== null;
  if (snapshot.pending === null && !over) return { approvals: run.approvals, says: [], context: run.context };
  const items = over ? [] : (snapshot.pending ?? []);
  // A terminal state is final, whenever the look began.
  const askedAt = over ? ctx.monotonic : snapshot.askedAt;
  const context = items.length === 0 ? run.context : contextOf(run.context, snapshot, ctx);
  const listed = items.map((item) => {
    const request = requestOf(snapshot.id, item, ctx, context);
    return { item, request, bearer: bearerOf(run.approvals, item.id, { request, askedAt }) };
  });
  const requests = new Map(listed.map(({ bearer, request }) => [bearer?.id, request]));
  const folded = run.approvals.map((approval) => {
    const request = requests.get(approval.id);
    const sight: Sight =
      request === undefined
        ? unlisted(approval.serviceId, snapshot, askedAt)
        : { is: "listed", request, askedAt };
    return foldApproval(approval, sight, ctx);
  });
  const fresh = listed.flatMap(({ item: { id }, request, bearer }) =>
    bearer === null
      ? [newApproval(ownId(run.approvals, id), request, ctx.nonce(), { ...ctx, serviceId: id })]
      : [],
  );
  const unchanged =
    fresh.length === 0 && folded.every((each, index) => each.approval === run.approvals[index]);
  const approvals = unchanged ? run.approvals : [...folded.map((each) => each.approval), ...fresh];
  return { approvals, says: told(folded), context };
}

function unlisted(id: ApprovalId, { status, unreadable }: Snapshot, askedAt: number): Sight {
  if (ending(status) !== null) return { is: "absent", because: "run-over", askedAt };
  if (unreadable.some(({ ids }) => ids.includes(id))) return { is: "unreadable", askedAt };
  return unreadable.some(({ ids }) => ids.length === 0)
    ? { is: "in-doubt", askedAt }
    : { is: "absent", because: "no-longer-listed", askedAt };
}

export function told(folded: readonly { says: Said | null }[]): Said[] {
  return folded.flatMap((each) => (each.says === null ? [] : [each.says]));
}

/** Whoever decided is told privately what became of it. */
export function tell(run: Run, says: readonly Said[], ctx: Context): readonly Tell[] {
  const more = says.flatMap((said): Tell[] => {
    if (said.is === "cannot-post" || said.is === "nobody-can-approve") return [];
    const approval = run.approvals.find((each) => each.id === said.approval);
    const people = approval === undefined ? [] : deciders(approval);
    return people.map((to) => ({ id: ctx.nonce(), to, says: said, state: "planned", notBefore: 0 }));
  });
  return more.length === 0 ? run.tells : [...run.tells, ...more];
}
