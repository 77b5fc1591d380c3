import type { Freeze } from "./freeze.ts";
import type { Nonce } from "./ids.ts";
import type { Policy } from "./policy/policy.ts";

/** What the pure functions need from outside. The caller passes it in. */
export type Context = {
  /** Wall time (ms since 1970), for what people and auditors read. It can jump either way. */
  readonly now: number;
  /**
   * Monotonic time (ms), for all intervals and waits, including stored ones. It never goes back, may be set forward (engine/clock.ts), and
   * continues where the last process stopped.
   */
  readonly monotonic: number;
  /** Identifies this process among all that write to the store. */
  readonly process: string;
  /** SHA-256 of the UTF-8 text, in hex. */
  readonly digest: (text: string) => string;
  /** Returns 128 fresh random bits at each call. */
  readonly nonce: () => Nonce;
  /** The longest wait (ms) before a decision is tried again, unless the service asks for more. */
  readonly slowestRetryMs: number;
  /** The current policy. */
  readonly policy: Policy;
  /** The freezes in force. */
  readonly freezes: readonly Freeze[];
};

/** The moment by both clocks. */
export type Times = Pick<Context, "now" | "monotonic">;

/** The moment, with the policy in force. */
export type RuleMoment = Times & Pick<Context, "policy">;
