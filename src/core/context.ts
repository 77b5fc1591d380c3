import type { Nonce } from "./ids.ts";
import type { Policy } from "./policy.ts";

/** What the pure functions need of the world, handed in by whoever calls them. */
export type Context = {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** SHA-256 of the UTF-8 text, in hex. */
  readonly digest: (text: string) => string;
  /** 128 fresh random bits each time. */
  readonly nonce: () => Nonce;
  /** The one in force now. */
  readonly policy: Policy;
};
