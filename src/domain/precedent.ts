// Earlier decisions on the very same request, as the audit has them. A card and a form show them as facts. Nothing is decided by them.
// same-request.ts says what makes two requests the same.

import type { UserId } from "./ids.ts";

/** Older decisions are not looked at (ms): what was right a quarter of a year ago was decided by other facts. Our choice. */
export const PRECEDENT_AGE_MS = 90 * 24 * 60 * 60_000;
export const PRECEDENT_DAYS = 90;
/** More decisions than this of one verdict are "at least" so many. Each is proven by its signature, which takes time. Our choice. */
export const MAX_PRECEDENTS = 20;

/** The decisions of one verdict: how many, at most `MAX_PRECEDENTS`, and the newest of them. */
export type Precedent = {
  readonly times: number;
  /** There may be more. */
  readonly more: boolean;
  /** The number of its audit entry. */
  readonly entry: number;
  readonly by: UserId;
  readonly at: number;
};

export type Precedents = {
  /** `reason`: drawn for a channel, and cut. */
  readonly denied: (Precedent & { readonly reason: string }) | null;
  readonly approved: Precedent | null;
};

export const NO_PRECEDENTS: Precedents = { denied: null, approved: null };

/** What was found for a card. `of`: the rule and card version that it is for. */
export type PrecedentLookUp = Precedents & { readonly of: string };
