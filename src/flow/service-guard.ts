// Stands between us and a service that fails: stops asking when it does not answer, probes now and then, obeys Retry-After,
// and knows since when it has been away.

import {
  BrokenCircuitError,
  circuitBreaker,
  ConsecutiveBreaker,
  ExponentialBackoff,
  handleWhen,
} from "cockatiel";
import type { Clock } from "./clock.ts";
import { PortError } from "./ports.ts";

/** So many failures in a row, whichever runs they concern, and we stop asking for all of them. */
const OPEN_AFTER_FAILURES = 5;
/** DESIGN.md: probes come again within max(POLL_MAX_MS, 5 s). */
const SLOWEST_PROBE_MS = 5_000;

/** How long at most (ms) a service that was away stays unasked, for a slowest poll of `maxMs`. */
export function slowestProbeMs(maxMs: number): number {
  return Math.max(maxMs, SLOWEST_PROBE_MS);
}

export type ServiceGuard = {
  /** Asks, unless the service is resting; then rejects with `Resting`. Rejects with what `ask` rejects with. */
  through<T>(ask: () => Promise<T>): Promise<T>;
  /** How long nothing should be asked (ms); 0: go ahead. */
  restsFor(): number;
  state(): ServiceState;
};

export type ServiceState =
  /** Nothing was asked yet. */
  | { readonly is: "unknown" }
  | { readonly is: "answers" }
  /** Every call has failed since `at` (ms); `why` is the newest failure. */
  | { readonly is: "away"; readonly at: number; readonly why: string };

export class Resting extends Error {
  override readonly name = "Resting";
}

export function createServiceGuard(clock: Clock, maxMs: number): ServiceGuard {
  const probe = new ExponentialBackoff({ initialDelay: 1_000, maxDelay: slowestProbeMs(maxMs) });
  const breaker = circuitBreaker(handleWhen(isOutage), {
    halfOpenAfter: probe,
    breaker: new ConsecutiveBreaker(OPEN_AFTER_FAILURES),
  });
  let restUntil = 0;
  let state: ServiceState = { is: "unknown" };

  function failed(error: unknown): void {
    if (!(error instanceof PortError)) return;
    if (!isOutage(error)) state = { is: "answers" };
    if (error.retryAfterMs !== null) restUntil = Math.max(restUntil, clock.now() + error.retryAfterMs);
    if (isOutage(error))
      state = { is: "away", at: state.is === "away" ? state.at : clock.now(), why: error.message };
  }

  async function through<T>(ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await breaker.execute(ask);
      state = { is: "answers" };
      return answer;
    } catch (error) {
      if (error instanceof BrokenCircuitError)
        throw new Resting("the agent service does not answer", { cause: error });
      failed(error);
      throw error;
    }
  }

  function restsFor(): number {
    // An open breaker is left to itself: it answers at once, and only by being asked does it come to probe.
    return Math.max(restUntil - clock.now(), 0);
  }

  return { through, restsFor, state: () => state };
}

/** The service does not answer, fails, or refuses our key. A garbled or refused answer about one run says nothing about others. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof PortError)) return false;
  return (
    !["garbled", "too_large", "bad_id", "http_429"].includes(error.code) && !/^http_4(?!01)/.test(error.code)
  );
}
