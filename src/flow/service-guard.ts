// Stands between us and a service that fails: stops asking when it does not answer, probes now and then, and knows since when
// it has been away.

import type { RunId } from "../core/ids.ts";
import type { Clock } from "./clock.ts";
import { PortError } from "./ports.ts";
import { PAUSED } from "./service-pause.ts";
import { createUselessAnswers, isUseless } from "./useless-answers.ts";

/** So many failures in a row, whichever runs they concern, and we stop asking for all of them. */
const OPEN_AFTER_FAILURES = 5;
/** DESIGN.md: probes come again within max(POLL_MAX_MS, 5 s). */
const SLOWEST_PROBE_MS = 5_000;
const FIRST_PROBE_MS = 1_000;

/** How long at most (ms) a service that was away stays unasked, for a slowest poll of `maxMs`. */
export function slowestProbeMs(maxMs: number): number {
  return Math.max(maxMs, SLOWEST_PROBE_MS);
}

export type ServiceGuard = {
  /** Asks, unless the service is resting; then rejects with `Resting`. Rejects with what `ask` rejects with. */
  through<T>(run: RunId, ask: () => Promise<T>): Promise<T>;
  /** The run is asked for no more. */
  forget(run: RunId): void;
  /** How long nothing should be asked (ms); 0: go ahead. */
  restsFor(): number;
  state(): ServiceState;
};

/** Nothing of use has come since `at` (wall time) or `since` (monotonic); `why` is the newest failure, for people; `code` for the log. */
type Down = { readonly at: number; readonly since: number; readonly why: string; readonly code?: string };

export type ServiceState =
  /** Nothing was asked yet. */
  | { readonly is: "unknown" }
  | { readonly is: "answers" }
  /** Every call fails. */
  | ({ readonly is: "away" } & Down)
  /** It answers, and the newest answers about most runs, `runs` of them, are of no use. */
  | ({ readonly is: "useless"; readonly runs: number } & Down);

export class Resting extends Error {
  override readonly name = "Resting";
}

export function createServiceGuard(
  clock: Clock,
  maxMs: number,
  pausedMs: () => number = () => 0,
): ServiceGuard {
  const breaker = createBreaker(clock, slowestProbeMs(maxMs));
  const standing = createStanding(clock);

  function failed(run: RunId, error: unknown): void {
    if (error instanceof PortError && error.code === PAUSED) return;
    breaker.heard(!isOutage(error));
    if (!(error instanceof PortError)) return;
    if (isOutage(error)) standing.failed(error);
    else standing.answered(run, isUseless(error) ? error : null);
  }

  async function through<T>(run: RunId, ask: () => Promise<T>): Promise<T> {
    if (!breaker.letsThrough()) throw new Resting("the agent service does not answer");
    try {
      const answer = await ask();
      breaker.heard(true);
      standing.answered(run, null);
      return answer;
    } catch (error) {
      failed(run, error);
      throw error;
    }
  }

  // An open breaker is left to itself: it answers at once, and only by being asked does it come to probe.
  return { through, forget: standing.forget, restsFor: pausedMs, state: standing.state };
}

type Standing = Pick<ServiceGuard, "forget" | "state"> & {
  /** `failure`: of no use though it is an answer. */
  answered(run: RunId, failure: PortError | null): void;
  failed(error: PortError): void;
};

function createStanding(clock: Clock): Standing {
  const useless = createUselessAnswers();
  let state: ServiceState = { is: "unknown" };
  /** One outage, whether the service now fails and now answers nonsense. */
  let down: { readonly at: number; readonly since: number } | null = null;
  const begin = (): { readonly at: number; readonly since: number } =>
    (down ??= { at: clock.now(), since: clock.monotonic() });

  function judge(): void {
    const most = useless.ofService();
    if (most === null) down = null;
    state = most === null ? { is: "answers" } : { is: "useless", ...begin(), ...most };
  }

  return {
    answered(run, failure) {
      useless.heard(run, failure);
      judge();
    },
    failed: ({ message: why, code }) => void (state = { is: "away", ...begin(), why, code }),
    forget(run) {
      useless.forget(run);
      if (state.is === "useless") judge();
    },
    state: () => state,
  };
}

type Breaker = { letsThrough(): boolean; heard(well: boolean): void };

/**
 * Opens after some failures in a row, then lets one call at a time through as a probe, each after twice the wait. Ours, since
 * cockatiel's counts by the wall clock: set back by an hour, it would stay open for an hour.
 */
function createBreaker(clock: Clock, slowestMs: number): Breaker {
  let failures = 0;
  let waitMs = 0;
  let probeAt = 0;
  let probing = false;
  return {
    letsThrough() {
      if (failures < OPEN_AFTER_FAILURES) return true;
      if (clock.monotonic() < probeAt) return false;
      probing = true;
      // Should this probe never come to an end, another one goes all the same.
      probeAt = clock.monotonic() + slowestMs;
      return true;
    },
    heard(well) {
      failures = well ? 0 : failures + 1;
      const opens = failures === OPEN_AFTER_FAILURES;
      // What was asked before it opened, and fails late, puts off no probe.
      if (failures < OPEN_AFTER_FAILURES || !(opens || probing)) return;
      waitMs = opens ? FIRST_PROBE_MS : Math.min(waitMs * 2, slowestMs);
      probeAt = clock.monotonic() + waitMs;
      probing = false;
    },
  };
}

/** The service does not answer, fails, or refuses our key. A garbled or refused answer about one run says nothing about others. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof PortError)) return false;
  return (
    !["garbled", "too_large", "bad_id", "http_429"].includes(error.code) && !/^http_4(?!01)/.test(error.code)
  );
}
