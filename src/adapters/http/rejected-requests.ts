// What is refused at the door is counted each time, and logged once a minute of each kind: whoever knocks must not fill the log.

import type { EventLog } from "../../ports.ts";

/** `because` is a word of ours. Nothing that a stranger sent is told. */
export type RejectedRequests = (because: string) => void;

type Deps = {
  readonly count: (because: string) => void;
  readonly log: EventLog;
  readonly monotonic: () => number;
};

const QUIET_MS = 60_000;

export function createRejectedRequests({ count, log, monotonic }: Deps): RejectedRequests {
  const kinds = new Map<string, { readonly at: number; unsaid: number }>();
  return (because) => {
    count(because);
    const last = kinds.get(because);
    if (last !== undefined && monotonic() - last.at < QUIET_MS) {
      last.unsaid += 1;
      return;
    }
    log.warn({ because, unsaid: last?.unsaid ?? 0 }, "turned away at the door");
    kinds.set(because, { at: monotonic(), unsaid: 0 });
  };
}
