// The circuit breaker between Countersign and a failing service: stops calls when the service does not answer, probes at intervals, and
// knows since when it has been away.

import type { RunId } from "../domain/ids.ts";
import type { Clock } from "./clock.ts";
import { PortError } from "../ports.ts";
import { createUselessAnswers, isUseless, PAUSED } from "./service-answers.ts";

/** After this many failures in a row, whichever runs they concern, calls for all runs stop. */
const OPEN_AFTER_FAILURES = 5;
/** The next probe comes within max(POLL_MAX_MS, 5 s). */
const SLOWEST_PROBE_MS = 5_000;
const FIRST_PROBE_MS = 1_000;

/** The longest pause (ms) between two probes of a service that is away, for a slowest poll of `maxMs`. */
export function slowestProbeMs(maxMs: number): number {
  return Math.max(maxMs, SLOWEST_PROBE_MS);
}

export type ServiceBreaker = {
  /** Calls `ask`, unless the breaker is open; then rejects with `CircuitOpenError`. Rejects with the error of `ask`. */
  through<T>(run: RunId, ask: () => Promise<T>): Promise<T>;
  /** The run is no longer polled. */
  forget(run: RunId): void;
  /** How long to make no call (ms); 0: go ahead. */
  pausedMs(): number;
  state(): ServiceState;
  /** True: the service is only probed. */
  isOpen(): boolean;
  /** Hears at once when the service goes away or answers again. */
  onChange(listener: () => void): void;
};

/**
 * No usable answer since `at` (wall time) or `since` (monotonic); `why` is the newest failure, for people; `publicWhy` without our
 * addresses; `code` for the log.
 */
type Down = {
  readonly at: number;
  readonly since: number;
  readonly why: string;
  readonly publicWhy: string;
  readonly code?: string;
};

export type ServiceState =
  /** No call was made yet. */
  | { readonly type: "unknown" }
  | { readonly type: "answers" }
  /** Every call fails. */
  | ({ readonly type: "away" } & Down)
  /** The service answers, but the newest answers about most runs, `runs` of them, are unusable. */
  | ({ readonly type: "useless"; readonly runs: number } & Down);

export class CircuitOpenError extends Error {
  override readonly name = "CircuitOpenError";
}

export function createServiceBreaker(
  clock: Clock,
  maxMs: number,
  pausedMs: () => number = () => 0,
): ServiceBreaker {
  const breaker = createBreaker(clock, slowestProbeMs(maxMs));
  const standing = createStanding(clock);

  function failed(run: RunId, error: unknown): void {
    if (error instanceof PortError && error.code === PAUSED) return;
    breaker.record(!isOutage(error));
    if (!(error instanceof PortError)) return;
    if (isOutage(error)) standing.failed(error);
    else standing.answered(run, isUseless(error) ? error : null);
  }

  async function through<T>(run: RunId, ask: () => Promise<T>): Promise<T> {
    if (!breaker.letsThrough()) throw new CircuitOpenError("the agent service does not answer");
    try {
      const answer = await ask();
      breaker.record(true);
      standing.answered(run, null);
      return answer;
    } catch (error) {
      failed(run, error);
      throw error;
    }
  }

  // Callers also call `through` while the breaker is open: it rejects at once, and it can only probe when it is called.
  return {
    through,
    forget: standing.forget,
    pausedMs,
    state: standing.state,
    isOpen: breaker.isOpen,
    onChange: standing.onChange,
  };
}

type Standing = Pick<ServiceBreaker, "forget" | "state" | "onChange"> & {
  /** `failure`: of no use though it is an answer. */
  answered(run: RunId, failure: PortError | null): void;
  failed(error: PortError): void;
};

function createStanding(clock: Clock): Standing {
  const useless = createUselessAnswers();
  let state: ServiceState = { type: "unknown" };
  const listeners: (() => void)[] = [];
  function become(next: ServiceState): void {
    const same = next.type === state.type;
    state = next;
    if (!same) for (const listener of listeners) listener();
  }
  /** One outage, whether the service now fails and now answers nonsense. */
  let down: { readonly at: number; readonly since: number } | null = null;
  const begin = (): { readonly at: number; readonly since: number } =>
    (down ??= { at: clock.now(), since: clock.monotonic() });

  function judge(): void {
    const most = useless.ofService();
    if (most === null) down = null;
    become(most === null ? { type: "answers" } : { type: "useless", ...begin(), ...most });
  }

  return {
    answered(run, failure) {
      useless.record(run, failure);
      judge();
    },
    failed: ({ message: why, publicMessage: publicWhy, code }) =>
      become({ type: "away", ...begin(), why, publicWhy, code }),
    forget(run) {
      useless.forget(run);
      if (state.type === "useless") judge();
    },
    state: () => state,
    onChange: (listener) => void listeners.push(listener),
  };
}

type Breaker = {
  letsThrough(): boolean;
  record(well: boolean): void;
  readonly isOpen: () => boolean;
};

/**
 * Opens after some failures in a row, then lets one call at a time through as a probe, each after twice the wait. Our own, because
 * cockatiel uses the wall clock: set back by an hour, its breaker would stay open for an hour.
 */
function createBreaker(clock: Clock, slowestMs: number): Breaker {
  let failures = 0;
  let waitMs = 0;
  let probeAt = 0;
  let probing = false;
  return {
    isOpen: () => failures >= OPEN_AFTER_FAILURES,
    letsThrough() {
      if (failures < OPEN_AFTER_FAILURES) return true;
      if (clock.monotonic() < probeAt) return false;
      probing = true;
      // If this probe never ends, another one is let through all the same.
      probeAt = clock.monotonic() + slowestMs;
      return true;
    },
    record(well) {
      failures = well ? 0 : failures + 1;
      const opens = failures === OPEN_AFTER_FAILURES;
      // A call from before the breaker opened that fails late delays no probe.
      if (failures < OPEN_AFTER_FAILURES || !(opens || probing)) return;
      waitMs = opens ? FIRST_PROBE_MS : Math.min(waitMs * 2, slowestMs);
      probeAt = clock.monotonic() + waitMs;
      probing = false;
    },
  };
}

/** The service does not answer, fails, or refuses our key. A garbled or refused answer about one run does not count: it says nothing about others. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof PortError)) return false;
  return (
    !["garbled", "too_large", "bad_id", "http_429"].includes(error.code) && !/^http_4(?!01)/.test(error.code)
  );
}
