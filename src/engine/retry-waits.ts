// How long each run waits after the store failed for it.

import type { RunKey } from "../domain/ids.ts";
import type { EventLog } from "../ports.ts";
import type { Clock } from "./clock.ts";
import { AFTER_FAILURE_MS } from "./effect-executor.ts";
import { createRunFailureLog, type RunFailureLog } from "./logging.ts";

export type RetryWaits = {
  /** Logs one more failure in a row, and returns the wait before the next try (ms). */
  readonly afterFailure: (...failure: Parameters<RunFailureLog>) => number;
  /** The next failure of the run counts as the first. */
  readonly forget: (key: RunKey) => void;
};

/** The number of waits before they begin to double. A held decision must leave soon after a short outage. */
const QUICK_WAITS = 10;
/** The longest wait (ms). A decision leaves at most this much later after a long outage. */
const LONGEST_WAIT_MS = 15_000;
/** Each wait is shortened by up to this share, so that runs that failed together drift apart. */
const JITTER = 0.25;

type Deps = {
  readonly log: Pick<EventLog, "error" | "debug">;
  readonly clock: Pick<Clock, "monotonic">;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
};

export function createRetryWaits({ log, clock, random }: Deps): RetryWaits {
  const logFailure = createRunFailureLog({ log, clock });
  const failures = new Map<RunKey, number>();
  return {
    afterFailure(facts, message) {
      logFailure(facts, message);
      const count = (failures.get(facts.run) ?? 0) + 1;
      failures.set(facts.run, count);
      const waitMs = AFTER_FAILURE_MS * 2 ** Math.max(count - QUICK_WAITS, 0);
      return Math.round(Math.min(waitMs, LONGEST_WAIT_MS) * (1 - JITTER * random()));
    },
    forget: (key) => void failures.delete(key),
  };
}
