// Precedents: earlier decisions on exactly the same request, according to the audit. A card and a form show them as facts; they decide
// nothing. same-request.ts defines when two requests are the same.

import type { UserId } from "./ids.ts";

/** The age up to which decisions count as precedents. Older ones were based on other facts. Our choice. */
export const PRECEDENT_DAYS = 90;
export const PRECEDENT_AGE_MS = PRECEDENT_DAYS * 24 * 60 * 60_000;
/** The most decisions of one verdict that we count, because each is proven by its signature, which takes time. Our choice. */
export const MAX_PRECEDENTS = 20;
/** The most decisions of one verdict that we read. The readers may not see some, so we read more than we count. Our choice. */
export const MAX_READ = 200;

/** The decisions of one verdict: their number, and the newest of them. */
export type Precedent = {
  /** The number of decisions that the readers may see, up to `MAX_PRECEDENTS`. */
  readonly times: number;
  /** There may be more than `times`. */
  readonly more: boolean;
  /** The number of the newest decision's audit entry. */
  readonly entry: number;
  readonly by: UserId;
  readonly at: number;
};

export type Precedents = {
  /** `reason`: shortened, and drawn for a channel. */
  readonly denied: (Precedent & { readonly reason: string }) | null;
  readonly approved: Precedent | null;
  /** The newest `MAX_READ` decisions of one verdict show nothing to the readers. Older ones were not read. */
  readonly unread?: true;
};

export const NO_PRECEDENTS: Precedents = { denied: null, approved: null };

/** The precedents found for a card. `of`: the rule and card version that they are for. */
export type PrecedentLookUp = Precedents & { readonly of: string };
