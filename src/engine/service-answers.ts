// Draws conclusions from single answers of the service for all calls to it: the service refuses our key, it asks us to wait, or its answers
// are unusable.

import { RunId } from "../domain/ids.ts";
import { type AgentService, PortError } from "../ports.ts";
import type { Clock } from "./clock.ts";

/**
 * Knows whether the service accepts our key. The answer to every call with the key shows it. While there are no calls, `check` fetches a
 * run that cannot exist.
 */
export type ServiceKey = {
  /** The service. Its answers are observed. */
  readonly agents: AgentService;
  /** Returns null if no answer has shown it yet. */
  isRefused(): boolean | null;
  /** Asks the service, unless an answer within `maxAgeMs` has shown it. Changes nothing at the service. Never rejects. */
  check(maxAgeMs: number): Promise<KeyCheck>;
};

/** "unknown": the service gave no answer that shows it. "paused": the service asked us to wait, so it was not asked. */
export type KeyCheck = "accepted" | "refused" | "unknown" | "paused";

/** The code of an answer that refuses the key (adapters/agents/agent-service.ts). */
const REFUSED = "http_401";
/** About a run that exists, this may concern only that run. About one that cannot exist, it refuses the key. */
const FORBIDDEN = "http_403";
/** The time limit of a check (ms). Short, because a person may be waiting for the answer. */
const TIMEOUT_MS = 4_000;

export function createServiceKey(
  agents: AgentService,
  clock: Pick<Clock, "monotonic">,
  newKey: () => string,
): ServiceKey {
  let latest: { readonly isRefused: boolean; readonly at: number } | null = null;
  const note = (isRefused: boolean): void => void (latest = { isRefused, at: clock.monotonic() });

  async function observed<Answer>(call: Promise<Answer>): Promise<Answer> {
    try {
      const answer = await call;
      note(false);
      return answer;
    } catch (error) {
      if (error instanceof PortError && error.code === REFUSED) note(true);
      throw error;
    }
  }
  const fetchRun: AgentService["fetchRun"] = (...args) => observed(agents.fetchRun(...args));
  const create: AgentService["create"] = (...args) => observed(agents.create(...args));
  const sendDecision: AgentService["sendDecision"] = async (...args) => {
    const answer = await agents.sendDecision(...args);
    if (answer.type === "confirmed") note(false);
    else if (answer.type === "later" && answer.code === REFUSED) note(true);
    return answer;
  };

  async function check(maxAgeMs: number): Promise<KeyCheck> {
    if (latest !== null && clock.monotonic() - latest.at < maxAgeMs)
      return latest.isRefused ? "refused" : "accepted";
    const answer = fetchRun(RunId(`countersign-health-${newKey()}`), TIMEOUT_MS);
    const found = await answer.then(() => "accepted" as const, checkAfter);
    if (found === "refused") note(true);
    return found;
  }

  return {
    agents: { ...agents, fetchRun, create, sendDecision },
    isRefused: () => latest?.isRefused ?? null,
    check,
  };
}

function checkAfter(error: unknown): KeyCheck {
  if (!(error instanceof PortError)) throw error;
  if (error.code === PAUSED || error.code === "http_429") return "paused";
  return error.code === REFUSED || error.code === FORBIDDEN ? "refused" : "unknown";
}

/**
 * A `Retry-After` applies to every call to the service, whichever call it answered: fetches, new runs and decisions all wait. Only
 * `/v1/health` is still called, once for each person who asks what is wrong.
 */
type ServicePause = {
  /** The service. While it asks us to wait, it is not called, and calls fail at once with "not applied, retry later". */
  readonly agents: AgentService;
  /** Returns the time left to wait (ms), or 0. */
  readonly leftMs: () => number;
};

/** The code of a call that was not made. */
export const PAUSED = "paused";

export function createServicePause(agents: AgentService, clock: Clock): ServicePause {
  let until = 0;
  const leftMs = (): number => Math.max(until - clock.monotonic(), 0);
  const pauseFor = (ms: number | null | undefined): void => {
    until = Math.max(until, clock.monotonic() + (ms ?? 0));
  };

  async function callUnlessPaused<T>(call: () => Promise<T>): Promise<T> {
    const left = leftMs();
    if (left > 0) throw paused(left);
    try {
      return await call();
    } catch (error) {
      if (error instanceof PortError) pauseFor(error.retryAfterMs);
      throw error;
    }
  }

  return {
    leftMs,
    agents: {
      ...agents,
      create: (...args) => callUnlessPaused(() => agents.create(...args)),
      fetchRun: (...args) => callUnlessPaused(() => agents.fetchRun(...args)),
      async sendDecision(...args) {
        const left = leftMs();
        if (left > 0)
          return { type: "later", afterMs: left, why: paused(left).message, code: PAUSED, notSent: true };
        const answer = await agents.sendDecision(...args);
        if (answer.type === "later" || answer.type === "unsure") pauseFor(answer.afterMs);
        return answer;
      },
    },
  };
}

function paused(leftMs: number): PortError {
  const seconds = Math.ceil(leftMs / 1_000);
  return new PortError(`The agent service asked Countersign to wait; it is asked again in ${seconds} s.`, {
    applied: "no",
    retry: "later",
    code: PAUSED,
    retryAfterMs: leftMs,
  });
}

type Useless = {
  /** The newest unusable answer, for people. */
  readonly why: string;
  readonly publicWhy: string;
  /** For the log. */
  readonly code: string;
  /** The number of runs with unusable answers. */
  readonly runs: number;
};

/**
 * Counts the runs with unusable answers. An unusable answer about one run says nothing about other runs. If most runs have one, it is a
 * fault of the service.
 */
type UselessAnswers = {
  /** Records the failure of a fetch of the run, or null if the answer is usable. */
  record(run: RunId, failure: PortError | null): void;
  /** Called when the run is no longer polled. */
  forget(run: RunId): void;
  /** Returns null if the newest answers about at least half of the runs are usable. */
  ofService(): Useless | null;
};

/**
 * 401 is an outage, 404 an answer, and 429 a request to wait. 403 may concern a single run, but for most runs it is as bad as no answer.
 */
export function isUseless({ code }: PortError): boolean {
  return code === "garbled" || code === "too_large" || /^http_4(?!01|04|29)/.test(code);
}

export function createUselessAnswers(): UselessAnswers {
  const uselessByRun = new Map<RunId, boolean>();
  let count = 0;
  let service: Useless | null = null;

  function set(run: RunId, useless: boolean | undefined): void {
    count += Number(useless === true) - Number(uselessByRun.get(run) === true);
    if (useless === undefined) uselessByRun.delete(run);
    else uselessByRun.set(run, useless);
    if (count * 2 <= uselessByRun.size) service = null;
  }

  return {
    record(run, failure) {
      set(run, failure !== null);
      if (failure === null || count * 2 <= uselessByRun.size) return;
      service = { why: failure.message, publicWhy: failure.publicMessage, code: failure.code, runs: count };
    },
    forget: (run) => set(run, undefined),
    ofService: () => service,
  };
}
