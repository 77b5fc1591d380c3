// Listings: messages with one line, with buttons, for each of several approvals of a run. Slack takes about one message a second in a
// channel, so posting a card for each of many approvals would take minutes. A listing follows the same state machine as every other
// message. What it lists is stored with the approvals.
//
// Only one message at a time holds the buttons of an approval: a card is wanted only once the listing no longer shows its line.
//
// A listing gets no new lines once it is posted, or may be. Slack does not notify people when a message is edited, so the approvers of a
// new line would not learn of it.

import { deadlineOf } from "./applied-rule.ts";
import type { Approval, ClosedCause } from "./approval.ts";
import { brakeRenderKey } from "./brake.ts";
import { isFresh, mayBePosted, type PostedMessage } from "./posted-message.ts";
import type { Run } from "./run.ts";
import { cardSlot, listingSlot, requestSlot, type Slot } from "./slot.ts";
import { approvalMarks, riskRank } from "./text/card-layout.ts";
import { needsFile } from "./text/request-text.ts";

// These limits are our choice. Eight cards are posted within about five seconds, because Slack takes four at once.

/** A storm begins when more cards than this wait to be posted. While listings are up, their lines do not count. */
export const MAX_CARDS = 8;
/** A storm ends when at most this many lines are left in all listings. Each of them then becomes a card. */
export const CALM_AT = 4;
/** The most lines in a listing. Each line takes two of the fifty blocks of a message. */
export const LINES_OF_LISTING = 24;

/** Puts approvals into listings or takes them out. Called at every save. Returns the same object if nothing changes. */
export function applyListing(run: Run): Run {
  const listed = run.approvals.filter(isListed);
  const staying = listed.filter(isListable);
  const fresh = run.approvals.filter((approval) => isUnposted(run, approval) && isListable(approval));
  const unposted = staying.filter(({ listing }) => listing !== undefined && isOpenPage(run, listing.page));
  const isStorm = unposted.length + fresh.length > MAX_CARDS;
  const pages = isStorm ? pagesFor(run, unposted, fresh) : new Map<Approval, number>();
  const kept = new Set(staying.length + pages.size > CALM_AT ? staying : []);
  if (pages.size === 0 && kept.size === listed.length) return run;
  const approvals = run.approvals.map((approval): Approval => {
    const page = pages.get(approval);
    if (page !== undefined) return { ...approval, listing: { page } };
    const { listing } = approval;
    return listing === undefined || listing.over || kept.has(approval)
      ? approval
      : { ...approval, listing: { ...listing, over: true } };
  });
  return { ...run, approvals };
}

/** Returns whether a listing lists the approval, or will. */
export const isListed = ({ listing }: Approval): boolean => listing !== undefined && listing.over !== true;

/** A request that is too long for a form needs a card, because the card says that it is attached to the thread as a file. */
const isListable = ({ state, request }: Approval): boolean => state.type === "pending" && !needsFile(request);

const isUnposted = ({ posts }: Run, { id, listing }: Approval): boolean =>
  listing === undefined && isFresh(posts[cardSlot(id)]);

/** Returns whether the listing can take more approvals, because its next post will notify their approvers. */
const isOpenPage = ({ posts }: Run, page: number): boolean => !mayBePosted(posts[listingSlot(page)]);

/** Assigns each approval to the first open listing with room, the riskiest first, and among equals the oldest first. */
function pagesFor(
  run: Run,
  unposted: readonly Approval[],
  fresh: readonly Approval[],
): ReadonlyMap<Approval, number> {
  const lines: number[] = [];
  for (const { listing } of unposted)
    if (listing !== undefined) lines[listing.page] = (lines[listing.page] ?? 0) + 1;
  const pages = new Map<Approval, number>();
  for (const approval of byRiskThenAge(run, fresh)) {
    let page = 1;
    while (!isOpenPage(run, page) || (lines[page] ?? 0) >= LINES_OF_LISTING) page += 1;
    lines[page] = (lines[page] ?? 0) + 1;
    pages.set(approval, page);
  }
  return pages;
}

/** Returns the approvals that a listing lists, in the order in which it shows them. */
export function linesOf(run: Run, page: number): readonly Approval[] {
  return byRiskThenAge(run, listedOn(run, page));
}

const listedOn = ({ approvals }: Run, page: number): readonly Approval[] =>
  approvals.filter((approval) => isListed(approval) && approval.listing?.page === page);

function byRiskThenAge(run: Run, approvals: readonly Approval[]): readonly Approval[] {
  const ranked = approvals.map((approval) => ({ approval, rank: riskRank(approvalMarks(run, approval)) }));
  return ranked
    .toSorted((a, b) => a.rank - b.rank || a.approval.since - b.approval.since)
    .map(({ approval }) => approval);
}

/** Counts the approvals that the listing listed and that now wait on cards of their own. */
export const movedToCards = ({ approvals }: Run, page: number): number =>
  approvals.filter(
    ({ state, listing }) => state.type === "pending" && listing?.page === page && listing.over === true,
  ).length;

/** Returns the pages that the run has ever had. */
export function listingPages({ approvals }: Run): readonly number[] {
  const pages = approvals.flatMap(({ listing }) => (listing === undefined ? [] : [listing.page]));
  return [...new Set(pages)].toSorted((a, b) => a - b);
}

/** Returns the page of the listing in this slot. Returns null if the slot is another message's. */
export const listingPageOf = (run: Run, slot: Slot): number | null =>
  listingPages(run).find((page) => listingSlot(page) === slot) ?? null;

/** Counts the decided approvals that the listing once listed. Those that a stop denied are not counted, because they have no card. */
export function decidedOf({ approvals }: Run, page: number): { approved: number; denied: number } {
  const verdicts = approvals.flatMap(({ state, listing }) =>
    listing?.page === page && state.type === "decided" && state.decision.stoppedBy === undefined
      ? [state.decision.verdict]
      : [],
  );
  const approved = verdicts.filter((verdict) => verdict === "approve").length;
  return { approved, denied: verdicts.length - approved };
}

/** Counts the approvals that the listing once listed and that closed without a decision, by cause. They may never get a card. */
export function closedOf({ approvals }: Run, page: number): ReadonlyMap<ClosedCause, number> {
  const causes = approvals.flatMap(({ state, listing }) =>
    listing?.page === page && state.type === "closed" ? [state.cause] : [],
  );
  return new Map([...Map.groupBy(causes, (cause) => cause)].map(([cause, each]) => [cause, each.length]));
}

/** Returns null if no listing is wanted. */
export function listingRenderKey(run: Run, page: number): string | null {
  // Not in the order in which they are shown, because that follows from the requests.
  const lines = listedOn(run, page);
  if (lines.length === 0 && isFresh(run.posts[listingSlot(page)])) return null;
  const keys = lines.map((approval) => {
    const { id, version, votes, appliedRule } = approval;
    const deadline = deadlineOf(approval);
    const ends = deadline === null ? [] : [deadline];
    return [id, version, votes.length, appliedRule.version, appliedRule.rule.name, ...ends];
  });
  const { approved, denied } = decidedOf(run, page);
  const moved = lines.length === 0 ? movedToCards(run, page) : 0;
  const cards = moved === 0 ? "" : ` cards ${moved}`;
  const closed = [...closedOf(run, page)].map(([cause, many]) => ` ${cause} ${many}`).join("");
  // Stored with the message. Another first word would draw all listings again.
  return `digest ${approved} ${denied}${closed}${brakeRenderKey(run)}${cards} ${JSON.stringify(keys)}`;
}

/** Returns whether the card may be posted: no listing lists the approval, and none may still show its line. */
export function mayHaveCard(run: Run, approval: Approval): boolean {
  const { listing, id } = approval;
  if (listing === undefined) return true;
  if (listing.over !== true) return false;
  return !mayShowLine(run.posts[listingSlot(listing.page)], id);
}

function mayShowLine(post: PostedMessage | undefined, id: Approval["id"]): boolean {
  if (!mayBePosted(post)) return false;
  return post.type !== "up" || post.shows === "" || post.shows.includes(`[${JSON.stringify(id)},`);
}

/** Returns whether Slack shows the approval with buttons: on its card, which first needs the request's file, or as a line of a listing. */
export function isShown({ posts, uploads }: Run, approval: Approval): boolean {
  const { id, listing, request } = approval;
  if (posts[cardSlot(id)]?.type === "up")
    return !needsFile(request) || uploads[requestSlot(approval)]?.type === "up";
  const post = listing === undefined ? undefined : posts[listingSlot(listing.page)];
  return post?.type === "up" && mayShowLine(post, id);
}
