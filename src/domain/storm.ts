// Many approvals at once. Slack takes about one message a second in a channel, so their cards would come for minutes. Those of one run are
// listed in digests meanwhile; those of many runs in a channel get one notice there.

import type { Approval } from "./approval.ts";
import { isFresh, type PostedMessage } from "./posted-message.ts";
import { cardSlot, digestSlot, isWatched, type Run, type Slot, type Storm } from "./run.ts";
import { approvalMarks, riskRank } from "./text/card-layout.ts";
import { needsFile } from "./text/request-text.ts";

// Digests: messages of several lines, each line with the buttons of its approval. A digest follows the state machine of every other
// message, and what it lists is stored with the approvals.
//
// One message at a time holds the buttons of an approval: a card is wanted only once the digest shows its line no more.

// Our choices. Eight cards are up within about five seconds, because Slack takes four at once.

/** More cards than this that wait to be posted are a storm. */
export const MAX_CARDS = 8;
/** With so few lines left, a storm is over: they become cards. */
export const CALM_AT = 4;
/** Each line takes two of the fifty blocks of a message. */
export const LINES_OF_DIGEST = 24;

/** Applied to a run at every save. The same object when nothing changes. */
export function applyDigest(run: Run): Run {
  const listed = run.approvals.filter(isListed);
  const staying = listed.filter(isListable);
  const fresh = run.approvals.filter((approval) => isUnposted(run, approval) && isListable(approval));
  const storm = staying.length === 0 ? fresh.length > MAX_CARDS : staying.length + fresh.length > CALM_AT;
  const pages = storm ? pagesFor(run, staying, fresh) : new Map<Approval, number>();
  const keeps = new Set(storm ? staying : []);
  if (pages.size === 0 && keeps.size === listed.length) return run;
  const approvals = run.approvals.map((approval): Approval => {
    const page = pages.get(approval);
    if (page !== undefined) return { ...approval, listing: { page } };
    const { listing } = approval;
    return listing === undefined || listing.over || keeps.has(approval)
      ? approval
      : { ...approval, listing: { ...listing, over: true } };
  });
  return { ...run, approvals };
}

/** Its line is in a digest, or will be. */
export const isListed = ({ listing }: Approval): boolean => listing !== undefined && listing.over !== true;

/** What is too long for a form needs a file in the thread, which its card tells of. */
const isListable = ({ state, request }: Approval): boolean => state.type === "pending" && !needsFile(request);

const isUnposted = ({ posts }: Run, { id, listing }: Approval): boolean =>
  listing === undefined && isFresh(posts[cardSlot(id)]);

/** Riskiest first, then the oldest, into the first digest that has room. */
function pagesFor(
  run: Run,
  staying: readonly Approval[],
  fresh: readonly Approval[],
): ReadonlyMap<Approval, number> {
  const lines: number[] = [];
  for (const { listing } of staying)
    if (listing !== undefined) lines[listing.page] = (lines[listing.page] ?? 0) + 1;
  const pages = new Map<Approval, number>();
  for (const approval of inOrder(run, fresh)) {
    let page = 1;
    while ((lines[page] ?? 0) >= LINES_OF_DIGEST) page += 1;
    lines[page] = (lines[page] ?? 0) + 1;
    pages.set(approval, page);
  }
  return pages;
}

/** The lines of a digest, as they are to be shown. */
export function linesOf(run: Run, page: number): readonly Approval[] {
  return inOrder(
    run,
    run.approvals.filter((each) => isListed(each) && each.listing?.page === page),
  );
}

function inOrder(run: Run, approvals: readonly Approval[]): readonly Approval[] {
  const ranked = approvals.map((approval) => ({ approval, rank: riskRank(approvalMarks(run, approval)) }));
  return ranked
    .toSorted((a, b) => a.rank - b.rank || a.approval.since - b.approval.since)
    .map(({ approval }) => approval);
}

/** The pages that the run has ever had. */
export function digestPages({ approvals }: Run): readonly number[] {
  const pages = approvals.flatMap(({ listing }) => (listing === undefined ? [] : [listing.page]));
  return [...new Set(pages)].toSorted((a, b) => a - b);
}

/** Of those that a digest once listed: how many people or the policy decided. Their cards say how. What a stop denied has no card. */
export function decidedOf({ approvals }: Run, page: number): { approved: number; denied: number } {
  const verdicts = approvals.flatMap(({ state, listing }) =>
    listing?.page === page && state.type === "decided" && state.decision.stoppedBy === undefined
      ? [state.decision.verdict]
      : [],
  );
  const approved = verdicts.filter((verdict) => verdict === "approve").length;
  return { approved, denied: verdicts.length - approved };
}

/** Null: no digest is wanted. */
export function digestRenderKey(run: Run, page: number): string | null {
  // Not in their order, which follows from the requests.
  const lines = run.approvals.filter((each) => isListed(each) && each.listing?.page === page);
  if (lines.length === 0 && isFresh(run.posts[digestSlot(page)])) return null;
  const keys = lines.map(({ id, version, votes, appliedRule }) => [
    id,
    version,
    votes.length,
    appliedRule.version,
    appliedRule.rule.name,
  ]);
  const { approved, denied } = decidedOf(run, page);
  const frozen = run.frozen === undefined ? "" : ` frozen ${run.frozen.entry}`;
  return `digest ${approved} ${denied}${frozen} ${JSON.stringify(keys)}`;
}

/** Whether its card may be posted: no digest lists it, or may still show its line. */
export function mayHaveCard(run: Run, approval: Approval): boolean {
  const { listing, id } = approval;
  if (listing === undefined) return true;
  if (listing.over !== true) return false;
  return !mayShowLine(run.posts[digestSlot(listing.page)], id);
}

function mayShowLine(post: PostedMessage | undefined, id: Approval["id"]): boolean {
  if (post === undefined || post.type === "planned" || post.type === "refused") return false;
  return post.type !== "up" || post.shows === "" || post.shows.includes(`[${JSON.stringify(id)},`);
}

// The notice in a channel says how many requests of its runs wait. Its Review opens the reader's own queue, so people can decide before a
// card is posted. The notice decides nothing: it has no buttons of a request.
//
// A run of the channel carries the notice, as with an outage, so it is posted, found again and updated like every other message.

const STORM = "storm ";
export const isStormSlot = (slot: Slot): boolean => slot.startsWith(STORM);
/** Since when the storm of this notice goes on. */
export const stormSince = (slot: Slot): number => Number(slot.slice(STORM.length));
const slotOf = ({ since }: Storm): Slot => `${STORM}${since}`;

/** Its requests that wait for a message with buttons because Slack takes no more messages. One that Slack refuses waits for no turn. */
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

/** The notices that the run carries, and those that it has carried. */
export function stormSlots({ storm, posts }: Run): readonly Slot[] {
  const before = Object.keys(posts).filter(isStormSlot);
  return storm === undefined ? before : [...new Set([...before, slotOf(storm)])];
}

/** The storm that this notice tells of, as long as it goes on. */
export function stormIn({ storm }: Pick<Run, "storm">, slot: Slot): Storm | null {
  return storm !== undefined && storm.until === null && slotOf(storm) === slot ? storm : null;
}

/** Null: no notice is wanted. */
export function stormRenderKey(run: Run, slot: Slot): string | null {
  const storm = stormIn(run, slot);
  if (storm !== null) return `waiting ${storm.waiting} at ${storm.at}`;
  return isFresh(run.posts[slot]) ? null : "over";
}
