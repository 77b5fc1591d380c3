// Weekly look backs in the audit channel.

import type { LookBack } from "#src/audit/look-back.ts";
import { NOON } from "../../../../make/run.ts";
import { BEN, CLEO } from "./example.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const FROM = NOON - 7 * DAY_MS;

const BUSY: LookBack = {
  week: { from: FROM, to: NOON },
  rules: [
    { rule: "production", approved: 9, denied: 5 },
    { rule: "production and database", approved: 3, denied: 0 },
    { rule: "(no rule fits)", approved: 0, denied: 1 },
  ],
  approved: 12,
  denied: 6,
  medianMs: 200_000,
  p90Ms: 62 * 60_000,
  expired: 2,
  escalated: 1,
  refused: 4,
  unconfirmed: 1,
  disputed: 0,
  tooFew: 3,
  onlyCounted: 0,
  unused: ["payments", "staging"],
  days: [3, 4, 0, 5, 4, 1, 1].map((approved, day) => ({
    from: FROM + day * DAY_MS,
    approved,
    denied: day % 2,
    expired: day === 4 ? 2 : 0,
  })),
  incomplete: false,
};

const QUIET: LookBack = {
  ...BUSY,
  rules: [],
  approved: 0,
  denied: 0,
  medianMs: null,
  p90Ms: null,
  expired: 0,
  escalated: 0,
  refused: 0,
  unconfirmed: 0,
  tooFew: 0,
  unused: [],
  days: [],
};

type Example = { readonly when: string; readonly lookBack: LookBack; readonly at: number };

/** `at`: when it is posted. */
export const LOOK_BACKS: readonly Example[] = [
  { when: "", lookBack: BUSY, at: NOON },
  { when: "late, and partly archived", lookBack: { ...BUSY, incomplete: true }, at: NOON + 5 * HOUR_MS },
  {
    when: "with events that are only counted",
    lookBack: { ...BUSY, expired: 61, onlyCounted: 140 },
    at: NOON,
  },
  { when: "a quiet week", lookBack: QUIET, at: NOON },
];

export const WEEK_REPORT = {
  week: { from: NOON - 7 * 86_400_000, to: NOON },
  people: [
    { user: BEN, approved: 12, denied: 3, refused: 1 },
    { user: CLEO, approved: 0, denied: 1, refused: 0 },
  ],
  incomplete: false,
};
