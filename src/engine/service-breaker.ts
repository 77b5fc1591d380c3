// The circuit breaker between Countersign and a failing service. It stops calls while the service does not answer, probes the service at
// intervals, and remembers since when the service has been away.

import type { RunId } from "../domain/ids.ts";
import type { Clock } from "./clock.ts";
import { PortError } from "../ports.ts";
import { createUselessAnswers, isUseless, PAUSED } from "./service-answers.ts";

/** After this many failures in a row, whichever runs they concern, calls for all runs stop. */
const OPEN_AFTER_FAILURES = 5;
/** The next probe comes within this time or POLL_MAX_MS (ms), whichever is longer. */
const SLOWEST_PROBE_MS = 5_000;
const FIRST_PROBE_MS = 1_000;
/** A service that has answered nothing but 429 for this long (ms) counts as away: no request is seen, and no decision is delivered. */
const LIMITED_MS = 60_000;
const ASKED_TO_WAIT = "http_429";

/** Returns the longest wait between two probes of a service that is away (ms), if polls are at most `maxMs` apart. */
export function slowestProbeMs(maxMs: number): number {
  return Math.max(maxMs, SLOWEST_PROBE_MS);
}

export type ServiceBreaker = {
  /** Makes the call and rejects as it does. If the breaker is open, rejects with `CircuitOpenError` and makes no call. */
  through<T>(run: RunId, call: () => Promise<T>): Promise<T>;
  /** Called after an answer about the run. `isKnown`: false if the service does not know the run. */
  noteAnswer(run: RunId, isKnown: boolean): void;
  /** Called when the run is no longer polled. After the last one, nothing is known about the service, because no call is made any more. */
  forget(run: RunId): void;
  /** Returns how long no call may be made (ms), or 0. */
  pausedMs(): number;
  state(): ServiceState;
  /** Returns true while the service is only probed. */
  isOpen(): boolean;
  /** Calls the listener at once when the type of the state changes. */
  onChange(listener: () => void): void;
};

/** A time without usable answers. */
type Down = {
  /** When it began (ms since 1970). */
  readonly at: number;
  /** When it began (monotonic ms). */
  readonly since: number;
  /** The newest failure, for people. */
  readonly why: string;
  /** The same without our addresses. */
  readonly publicWhy: string;
  /** For the log. */
  readonly code?: string;
};

export type ServiceState =
  /** No call has been made yet. */
  | { readonly type: "unknown" }
  /** `knowsNone`: since the service was last down, it has said about every run that it does not know it. */
  | { readonly type: "answers"; readonly knowsNone?: true }
  /** Every call fails, or has been answered with 429 for a minute. */
  | ({ readonly type: "away" } & Down)
  /** The service answers, but the newest answers about most runs are unusable: about `runs` of them. */
  | ({ readonly type: "useless"; readonly runs: number } & Down);

export type ServiceDown = Extract<ServiceState, { type: "away" | "useless" }>;

export const isDown = (state: ServiceState): state is ServiceDown =>
  state.type === "away" || state.type === "useless";

export class CircuitOpenError extends Error {
  override readonly name = "CircuitOpenError";
}

export function createServiceBreaker(
  clock: Clock,
  maxMs: number,
  pausedMs: () => number = () => 0,
): ServiceBreaker {
  const breaker = createBreaker(clock, slowestProbeMs(maxMs));
  const tracker = withKnownRuns(createStateTracker(clock));
  /** The runs that are polled, as far as the service was asked. A late answer about another run is ignored: no later one would correct it. */
  const asked = new Set<RunId>();

  function recordFailure(run: RunId, error: unknown): void {
    if (error instanceof PortError && error.code === PAUSED) return;
    breaker.record(!isOutage(error));
    if (error instanceof PortError && asked.has(run)) trackFailure(tracker, run, error);
  }

  async function through<T>(run: RunId, call: () => Promise<T>): Promise<T> {
    if (!breaker.letsThrough()) throw new CircuitOpenError("the agent service does not answer");
    asked.add(run);
    try {
      const answer = await call();
      breaker.record(true);
      if (asked.has(run)) tracker.answered(run, null);
      return answer;
    } catch (error) {
      recordFailure(run, error);
      throw error;
    }
  }

  // `through` is called even while the breaker is open: it then rejects at once, but it is the only occasion for a probe.
  return {
    through,
    noteAnswer: (run, isKnown) => void (asked.has(run) && tracker.noteAnswer(run, isKnown)),
    forget(run) {
      asked.delete(run);
      tracker.forget(run, asked.size === 0);
    },
    pausedMs,
    state: tracker.state,
    isOpen: breaker.isOpen,
    onChange: tracker.onChange,
  };
}

function trackFailure(tracker: StateTracker, run: RunId, error: PortError): void {
  if (isOutage(error)) tracker.failed(error);
  else if (error.code === ASKED_TO_WAIT) tracker.limited(error);
  else tracker.answered(run, isUseless(error) ? error : null);
}

type StateTracker = Pick<ServiceBreaker, "state" | "onChange"> & {
  forget(run: RunId, wasLast: boolean): void;
  /** `failure`: the reason why the answer is unusable, or null. */
  answered(run: RunId, failure: PortError | null): void;
  failed(error: PortError): void;
  /** The service asked us to wait. */
  limited(error: PortError): void;
};

function createStateTracker(clock: Clock): StateTracker {
  const useless = createUselessAnswers();
  let state: ServiceState = { type: "unknown" };
  const listeners: (() => void)[] = [];
  /** It stays one outage if the service first fails and then answers nonsense, or the other way round. */
  let down: Began | null = null;
  /** Since when the service has answered nothing but 429. */
  let limited: Down | null = null;
  const current = (): ServiceState => unlessLimited(state, limited, clock);

  function setState(next: ServiceState): void {
    const isNewType = next.type !== current().type;
    state = next;
    limited = null;
    if (isNewType) for (const listener of listeners) listener();
  }

  const now = (): Began => ({ at: clock.now(), since: clock.monotonic() });
  const beginOutage = (): Began => (down ??= limited ?? now());

  function judgeAnswers(): void {
    const fault = useless.ofService();
    if (fault === null) down = null;
    setState(fault === null ? { type: "answers" } : { type: "useless", ...beginOutage(), ...fault });
  }

  return {
    answered(run, failure) {
      useless.record(run, failure);
      judgeAnswers();
    },
    failed: (error) => setState({ type: "away", ...beginOutage(), ...wordsOf(error) }),
    limited: (error) => void (limited ??= { ...wordsOf(error), ...now() }),
    forget(run, wasLast) {
      useless.forget(run);
      if (!wasLast) return state.type === "useless" ? judgeAnswers() : undefined;
      down = null;
      setState({ type: "unknown" });
    },
    state: current,
    onChange: (listener) => void listeners.push(listener),
  };
}

/**
 * Remembers whether the service knows each run, by its newest answer since it was last down. A run that it did not know before says nothing
 * about what answers now.
 */
function withKnownRuns(tracker: StateTracker): StateTracker & Pick<ServiceBreaker, "noteAnswer"> {
  const known = new Map<RunId, boolean>();
  const missingBefore = new Set<RunId>();
  tracker.onChange(() => {
    if (!isDown(tracker.state())) return;
    for (const [run, isKnown] of known) if (!isKnown) missingBefore.add(run);
    known.clear();
  });
  return {
    ...tracker,
    noteAnswer: (run, isKnown) => void known.set(run, isKnown),
    forget(run, wasLast) {
      known.delete(run);
      missingBefore.delete(run);
      tracker.forget(run, wasLast);
    },
    state() {
      const state = tracker.state();
      const isNews = known.keys().some((run) => !missingBefore.has(run));
      const knowsNone = isNews && known.values().every((isKnown) => !isKnown);
      return state.type === "answers" && knowsNone ? { type: "answers", knowsNone } : state;
    },
  };
}

type Began = Pick<Down, "at" | "since">;

function unlessLimited(state: ServiceState, limited: Down | null, clock: Clock): ServiceState {
  if (limited === null || isDown(state)) return state;
  return clock.monotonic() - limited.since < LIMITED_MS ? state : { type: "away", ...limited };
}

const wordsOf = ({ message: why, publicMessage: publicWhy, code }: PortError) => ({ why, publicWhy, code });

type Breaker = {
  letsThrough(): boolean;
  record(isSuccess: boolean): void;
  readonly isOpen: () => boolean;
};

/**
 * Opens after some failures in a row. Then lets single calls through as probes, and doubles the wait after each failed probe. We do not use
 * cockatiel, because it counts by the wall clock: if that is set back by an hour, its breaker stays open for an hour.
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
      // If this probe never ends, another probe is let through after this time.
      probeAt = clock.monotonic() + slowestMs;
      return true;
    },
    record(isSuccess) {
      failures = isSuccess ? 0 : failures + 1;
      const opens = failures === OPEN_AFTER_FAILURES;
      // A call that began before the breaker opened and fails later must not delay the next probe.
      if (failures < OPEN_AFTER_FAILURES || !(opens || probing)) return;
      waitMs = opens ? FIRST_PROBE_MS : Math.min(waitMs * 2, slowestMs);
      probeAt = clock.monotonic() + waitMs;
      probing = false;
    },
  };
}

/**
 * Returns whether the service does not answer, fails, or refuses our key. A garbled or refused answer about one run does not count, because
 * it says nothing about other runs.
 */
function isOutage(error: unknown): boolean {
  if (!(error instanceof PortError)) return false;
  return !["garbled", "too_large", "bad_id"].includes(error.code) && !/^http_4(?!01)/.test(error.code);
}
