// What the fuzzer may do to calls and looks, how fickle a world is, and what is under way in it.

import type { Decision } from "#src/domain/approval.ts";
import type { Effect, Outcome } from "#src/domain/effect.ts";
import type { ApprovalId } from "#src/domain/ids.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import type { Run } from "#src/domain/run.ts";
import type { Answer } from "./simulated-service.ts";

/** What becomes of one call: done; its answer lost before or after it took effect; it takes effect late; 429 or 401; 4xx. */
export type Fate = "done" | "lost-before" | "lost-after" | "late" | "later" | "refused";
export type LookFate = Answer | "lost";

export type WorldOptions = {
  /** How late a call whose answer was lost may still take effect (ms). */
  readonly lateMs: number;
  /** How far behind a lagging read may be (ms). */
  readonly lagMs: number;
  /** Slack also refuses to change and to read back what it has once taken. */
  readonly refusesAll: boolean;
  /** Of the one rule; left out: there is no policy file. */
  readonly rule?: Partial<Rule>;
};

/** What the look before a decision finds, where its call goes so. */
export const LOOK_BEFORE = {
  done: "fresh",
  late: "stale",
  "lost-before": "missing",
  "lost-after": "untold",
  later: "lost",
  refused: "lost",
} as const satisfies Record<Fate, LookFate>;

type Stage = "waiting" | "looked" | "marked" | "answered";
export type Carried = {
  readonly effect: Effect;
  stage: Stage;
  marked: Run | null;
  outcome: Outcome | null;
  /** For a decision: the digest of the request in the newest look before the mark. */
  asked: string | null;
  sent: Sent | null;
};

/** One POST of a decision that left us. `disproved`: we were told, for sure, that it was not applied. */
export type Sent = {
  readonly approval: ApprovalId;
  readonly decision: Decision;
  readonly at: number;
  /** The digest of the request in the newest look before it was marked; null when that look did not list it. */
  readonly asked: string | null;
  disproved: boolean;
  /** Until when it may still take effect (ms). */
  arrivesBy: number;
};

/** To be done twice does no harm. */
export const isIdempotent = (effect: Effect): boolean =>
  ["find", "update", "sweep", "find-file", "upload"].includes(effect.type);
