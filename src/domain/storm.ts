// Many approvals at once. Slack takes about one message a second in a channel, so posting all cards would take minutes. Until then, the
// approvals of one run are listed in digests, and a channel with requests of many runs gets one notice.

import type { Approval } from "./approval.ts";
import { brakeRenderKey } from "./brake.ts";
import { isFresh, type PostedMessage } from "./posted-message.ts";
import { cardSlot, digestSlot, isWatched, type Run, type Slot, type Storm } from "./run.ts";
import { approvalMarks, riskRank } from "./text/card-layout.ts";
import { needsFile } from "./text/request-text.ts";

// Digests: messages with one line, with buttons, for each of several approvals. A digest follows the same state machine as every other
// message. What it lists is stored with the approvals.
//
// Only one message at a time holds the buttons of an approval: a card is wanted only once the digest no longer shows its line.
//
// A digest gets no new lines once it is posted, or may be. Slack does not notify people when a message is edited, so the approvers of a new
// line would not learn of it.

// These limits are our choice. Eight cards are posted within about five seconds, because Slack takes four at once.

/** A storm begins when more cards than this wait to be posted. While digests are up, their lines do not count. */
export const MAX_CARDS = 8;
/** A storm ends when at most this many lines are left in all digests. Each of them then becomes a card. */
export const CALM_AT = 4;
/** The most lines in a digest. Each line takes two of the fifty blocks of a message. */
export const LINES_OF_DIGEST = 24;

/** Puts approvals into digests or takes them out. Called at every save. Returns the same object if nothing changes. */
export function applyDigest(run: Run): Run {
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

/** Returns whether a digest lists the approval, or will. */
export const isListed = ({ listing }: Approval): boolean => listing !== undefined && listing.over !== true;

/** A request that is too long for a form needs a card, because the card says that it is attached to the thread as a file. */
const isListable = ({ state, request }: Approval): boolean => state.type === "pending" && !needsFile(request);

const isUnposted = ({ posts }: Run, { id, listing }: Approval): boolean =>
  listing === undefined && isFresh(posts[cardSlot(id)]);

/** Returns whether the digest can take more approvals, because its next post will notify their approvers. */
const isOpenPage = ({ posts }: Run, page: number): boolean => !mayBePosted(posts[digestSlot(page)]);

/** Assigns each approval to the first open digest with room, the riskiest first, and among equals the oldest first. */
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
    while (!isOpenPage(run, page) || (lines[page] ?? 0) >= LINES_OF_DIGEST) page += 1;
    lines[page] = (lines[page] ?? 0) + 1;
    pages.set(approval, page);
  }
  return pages;
}

/** Returns the approvals that a digest lists, in the order in which it shows them. */
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

/** Counts the approvals that the digest listed and that now wait on cards of their own. */
export const movedToCards = ({ approvals }: Run, page: number): number =>
  approvals.filter(
    ({ state, listing }) => state.type === "pending" && listing?.page === page && listing.over === true,
  ).length;

/** Returns the pages that the run has ever had. */
export function digestPages({ approvals }: Run): readonly number[] {
  const pages = approvals.flatMap(({ listing }) => (listing === undefined ? [] : [listing.page]));
  return [...new Set(pages)].toSorted((a, b) => a - b);
}

/** Counts the decided approvals that the digest once listed. Those that a stop denied are not counted, because they have no card. */
export function decidedOf({ approvals }: Run, page: number): { approved: number; denied: number } {
  const verdicts = approvals.flatMap(({ state, listing }) =>
    listing?.page === page && state.type === "decided" && state.decision.stoppedBy === undefined
      ? [state.decision.verdict]
      : [],
  );
  const approved = verdicts.filter((verdict) => verdict === "approve").length;
  return { approved, denied: verdicts.length - approved };
}

/** Returns null if no digest is wanted. */
export function digestRenderKey(run: Run, page: number): string | null {
  // Not in the order in which they are shown, because that follows from the requests.
  const lines = listedOn(run, page);
  if (lines.length === 0 && isFresh(run.posts[digestSlot(page)])) return null;
  const keys = lines.map(({ id, version, votes, appliedRule }) => [
    id,
    version,
    votes.length,
    appliedRule.version,
    appliedRule.rule.name,
  ]);
  const { approved, denied } = decidedOf(run, page);
  const moved = lines.length === 0 ? movedToCards(run, page) : 0;
  const cards = moved === 0 ? "" : ` cards ${moved}`;
  return `digest ${approved} ${denied}${brakeRenderKey(run)}${cards} ${JSON.stringify(keys)}`;
}

/** Returns whether the card may be posted: no digest lists the approval, and none may still show its line. */
export function mayHaveCard(run: Run, approval: Approval): boolean {
  const { listing, id } = approval;
  if (listing === undefined) return true;
  if (listing.over !== true) return false;
  return !mayShowLine(run.posts[digestSlot(listing.page)], id);
}

type MayBePosted = Exclude<PostedMessage, { type: "planned" | "refused" }>;
const mayBePosted = (post: PostedMessage | undefined): post is MayBePosted =>
  post !== undefined && post.type !== "planned" && post.type !== "refused";

function mayShowLine(post: PostedMessage | undefined, id: Approval["id"]): boolean {
  if (!mayBePosted(post)) return false;
  return post.type !== "up" || post.shows === "" || post.shows.includes(`[${JSON.stringify(id)},`);
}

/** Returns whether the approval's own card is posted, or a digest that shows its line. */
export function isShown({ posts }: Run, { id, listing }: Approval): boolean {
  if (posts[cardSlot(id)]?.type === "up") return true;
  const digest = listing === undefined ? undefined : posts[digestSlot(listing.page)];
  return digest?.type === "up" && mayShowLine(digest, id);
}

// The notice in a channel says how many requests of its runs wait. Its Review button opens the reader's own queue, so people can decide
// before a card is posted. The notice itself has no buttons of a request.
//
// A run of the channel carries the notice, as with an outage, so it is posted, found again and updated like every other message.

const STORM = "storm ";
export const isStormSlot = (slot: Slot): boolean => slot.startsWith(STORM);
/** Returns when the storm of this notice began. */
export const stormSince = (slot: Slot): number => Number(slot.slice(STORM.length));
const slotOf = ({ since }: Storm): Slot => `${STORM}${since}`;

/** Counts the pending requests whose message with buttons is not posted yet. A message that Slack refused does not wait for its turn. */
export function waitingForCards(run: Run): number {
  if (!isWatched(run)) return 0;
  return run.approvals.filter((approval) => approval.state.type === "pending" && !hasMessage(run, approval))
    .length;
}

function hasMessage({ posts }: Run, approval: Approval): boolean {
  const card = posts[cardSlot(approval.id)];
  const { listing } = approval;
  const post =
    isListed(approval) && listing !== undefined && isFresh(card) ? posts[digestSlot(listing.page)] : card;
  return post?.type === "up" || post?.type === "refused";
}

export const isStorming = ({ storm }: Pick<Run, "storm">): boolean =>
  storm !== undefined && storm.until === null;

/** Returns the slots of the notices that the run carries or has carried. */
export function stormSlots({ storm, posts }: Run): readonly Slot[] {
  const posted = Object.keys(posts).filter(isStormSlot);
  return storm === undefined ? posted : [...new Set([...posted, slotOf(storm)])];
}

/** Returns the storm that this notice is about. Returns null once the storm is over. */
export function activeStorm({ storm }: Pick<Run, "storm">, slot: Slot): Storm | null {
  return storm !== undefined && storm.until === null && slotOf(storm) === slot ? storm : null;
}

/** Returns null if no notice is wanted. */
export function stormRenderKey(run: Run, slot: Slot): string | null {
  const storm = activeStorm(run, slot);
  if (storm !== null) return `waiting ${storm.waiting} at ${storm.at}`;
  return isFresh(run.posts[slot]) ? null : "over";
}
