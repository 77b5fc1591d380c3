// Remembers the runs that Countersign has offered to start, by the nonce of the button. In memory only: after a restart such a button
// starts nothing.

import { type ChannelId, Nonce, type UserId } from "../../domain/ids.ts";
import type { Asker } from "../../usecases/access.ts";

type SuggestedRun = { readonly user: UserId; readonly channel: ChannelId; readonly task: string };

export type SuggestedRuns = {
  /** The nonce of the button. */
  keep(run: SuggestedRun): Nonce;
  /** Null: unknown, or suggested to somebody else or in another channel. */
  find(nonce: string, by: Asker): SuggestedRun | null;
};

/** How many suggestions are kept; each task is at most as long as a command. */
const KEPT = 1_000;

export function createSuggestedRuns(nonce: () => string): SuggestedRuns {
  const kept = new Map<string, SuggestedRun>();
  return {
    keep(run) {
      const key = Nonce(nonce());
      kept.set(key, run);
      const [oldest] = kept.keys();
      if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
      return key;
    },
    find(key, by) {
      const found = kept.get(key) ?? null;
      return found?.user === by.user && found.channel === by.channel ? found : null;
    },
  };
}
