// What the fuzzer may do to calls and looks, and how fickle a world is.

import type { Rule } from "#src/core/policy.ts";
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
