// The names of the messages and files of a run. They are stored, so they never change.

import type { Approval } from "./approval.ts";
import type { ApprovalId } from "./ids.ts";

/** The name of a message (`opening`, `card <approval>`, `outcome`) or a file (`output`, `request <approval> <digest>`) of the run. */
export type Slot = string;

export const OPENING: Slot = "opening";
export const OUTCOME: Slot = "outcome";
export const OUTPUT: Slot = "output";
/** The one message about all approvals that cannot be read. */
export const UNREADABLE: Slot = "unreadable";
export const MISSING: Slot = "missing";
/** The thread's message about a stop. */
export const STOPPED: Slot = "stopped";

const CARD = "card ";
export const cardSlot = (id: ApprovalId): Slot => `${CARD}${id}`;
/** Returns the approval's id in the slot of a card, or null for other slots. */
export const approvalOfCard = (slot: Slot): string | null =>
  slot.startsWith(CARD) ? slot.slice(CARD.length) : null;

/** The older word for a listing. */
const LISTING = "digest ";
/** Names a listing, a message that lists several approvals. Pages count from 1. */
export const listingSlot = (page: number): Slot => `${LISTING}${page}`;
export const isListingSlot = (slot: Slot): boolean => slot.startsWith(LISTING);

/** Names the file of a request. The whole digest counts, because an agent can make two requests that share its beginning. */
export const requestSlot = ({ id, request }: Approval): Slot => `request ${id} ${request.digest}`;
