import type { Nonce } from "./ids.ts";
import type { Policy } from "./policy/policy.ts";

/** What the pure functions need of the world, handed in by whoever calls them. */
export type Context = {
  /** Wall time (ms since 1970), for what people and auditors read. It can jump either way. */
  readonly now: number;
  /** For intervals and waits (ms), stored ones included: never steps, and goes on where the last process stopped. */
  readonly monotonic: number;
  /** Names this process among those that store something. */
  readonly process: string;
  /** SHA-256 of the UTF-8 text, in hex. */
  readonly digest: (text: string) => string;
  /** 128 fresh random bits each time. */
  readonly nonce: () => Nonce;
  /** The longest wait (ms) before a decision is looked after again, unless the service asks for more. */
  readonly slowestRetryMs: number;
  /** The one in force now. */
  readonly policy: Policy;
};
