// Counts every rejected request, and logs each kind at most once a minute, so that a stranger cannot fill the log.

import type { EventLog } from "../../ports.ts";

/** `because` is one of our own words. The log gets nothing that a stranger sent. */
export type RejectedRequests = (because: string) => void;

type Deps = {
  readonly count: (because: string) => void;
  readonly log: EventLog;
  readonly monotonic: () => number;
};

const QUIET_MS = 60_000;

export function createRejectedRequests({ count, log, monotonic }: Deps): RejectedRequests {
  const kinds = new Map<string, { readonly at: number; unlogged: number }>();
  return (because) => {
    count(because);
    const last = kinds.get(because);
    if (last !== undefined && monotonic() - last.at < QUIET_MS) {
      last.unlogged += 1;
      return;
    }
    log.warn({ because, unlogged: last?.unlogged ?? 0 }, "rejected a request");
    kinds.set(because, { at: monotonic(), unlogged: 0 });
  };
}
