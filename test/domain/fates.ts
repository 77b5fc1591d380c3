// The faults that the fuzzer may inject into calls and looks, the options of a world, and the records of its calls.

import type { Decision } from "#src/domain/approval.ts";
import type { Effect, Outcome } from "#src/domain/effect.ts";
import type { ApprovalId } from "#src/domain/ids.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import type { Run } from "#src/domain/run.ts";
import type { Answer } from "./simulated-service.ts";

/**
 * How one call ends: done; its answer lost before or after it took effect; it takes effect late; 429 or 401; another
 * 4xx.
 */
export type Fate = "done" | "lost-before" | "lost-after" | "late" | "later" | "refused";
export type LookFate = Answer | "lost";

export type WorldOptions = {
  /** How long after its answer was lost a call may still take effect (ms). */
  readonly lateMs: number;
  /** How far behind a stale read may be (ms). */
  readonly lagMs: number;
  /** Slack also refuses to change and to read back messages that it once accepted. */
  readonly refusesAll: boolean;
  /** Overrides for the only rule. If absent, there is no policy file. */
  readonly rule?: Partial<Rule>;
};

/** The answer to the look before a decision, for the fates that begin with a failed look. */
export const LOOK_BEFORE = {
  done: "fresh",
  late: "stale",
  "lost-before": "missing",
  "lost-after": "untold",
  later: "lost",
  refused: "named",
} as const satisfies Record<Fate, LookFate>;

type Stage = "waiting" | "looked" | "marked" | "answered";
export type Carried = {
  readonly effect: Effect;
  stage: Stage;
  marked: Run | null;
  outcome: Outcome | null;
  /** Decisions only: the digest of the request in the newest look before the mark. */
  asked: string | null;
  sent: Sent | null;
};

/** An effect with which nothing has happened yet. */
export const UNTOUCHED = { stage: "waiting", marked: null, outcome: null, asked: null, sent: null } as const;

/** One POST of a decision that left. `disproved`: the service said for sure that it was not applied. */
export type Sent = {
  readonly approval: ApprovalId;
  readonly decision: Decision;
  readonly at: number;
  /** The digest of the request in the newest look before the mark. Null if that look did not list it. */
  readonly asked: string | null;
  disproved: boolean;
  /** Until when it may still take effect (ms). */
  arrivesBy: number;
};

/** Whether performing the effect twice does no harm. */
export const isIdempotent = (effect: Effect): boolean =>
  ["find", "update", "sweep", "find-file", "upload"].includes(effect.type);
