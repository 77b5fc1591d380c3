// What an answer of the service says about all calls to it: that it refuses our key, that it asks us to wait, and that its answers are of no
// use.

import { RunId } from "../domain/ids.ts";
import { type AgentService, PortError } from "../ports.ts";
import type { Clock } from "./clock.ts";

/** Whether the service takes our key. Every call with it tells; while there is none, a fetch of a run that cannot exist does. */
export type ServiceKey = {
  /** The service, with an ear on its answers. */
  readonly agents: AgentService;
  /** Null: the service has not said. */
  isRefused(): boolean | null;
  /** Asks, unless the service has told within `maxAgeMs`. Changes nothing at the service. Never rejects. */
  check(maxAgeMs: number): Promise<void>;
};

/** The code of an answer that refuses the key (adapters/agents/agent-service.ts). */
const REFUSED = "http_401";
/** A person may wait for the answer (ms). */
const TIMEOUT_MS = 4_000;

export function createServiceKey(
  agents: AgentService,
  clock: Pick<Clock, "monotonic">,
  newKey: () => string,
): ServiceKey {
  let known: { readonly refused: boolean; readonly at: number } | null = null;
  const note = (refused: boolean): void => void (known = { refused, at: clock.monotonic() });

  async function heard<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      const given = await answer;
      note(false);
      return given;
    } catch (error) {
      if (error instanceof PortError && error.code === REFUSED) note(true);
      throw error;
    }
  }
  const fetchRun: AgentService["fetchRun"] = (...args) => heard(agents.fetchRun(...args));
  const create: AgentService["create"] = (...args) => heard(agents.create(...args));
  const sendDecision: AgentService["sendDecision"] = async (...args) => {
    const answer = await agents.sendDecision(...args);
    if (answer.type === "confirmed") note(false);
    else if (answer.type === "later" && answer.code === REFUSED) note(true);
    return answer;
  };

  async function check(maxAgeMs: number): Promise<void> {
    if (known !== null && clock.monotonic() - known.at < maxAgeMs) return;
    try {
      await fetchRun(RunId(`countersign-health-${newKey()}`), TIMEOUT_MS);
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
    }
  }

  const listening = { ...agents, fetchRun, create, sendDecision };
  return { agents: listening, isRefused: () => known?.refused ?? null, check };
}

/**
 * One `Retry-After` applies to every call to the service, whichever call it answered: fetches, new runs and decisions all wait. Only
 * `/v1/health` is called meanwhile, once for each person who asks what is wrong.
 */
type ServicePause = {
  /** The service, not called for as long as it asks. Meanwhile calls fail at once with "not applied, retry later". */
  readonly agents: AgentService;
  /** How long to make no call (ms); 0: go ahead. */
  readonly leftMs: () => number;
};

/** The code of a call that was not made. */
export const PAUSED = "paused";

export function createServicePause(agents: AgentService, clock: Clock): ServicePause {
  let until = 0;
  const leftMs = (): number => Math.max(until - clock.monotonic(), 0);
  const asked = (forMs: number | null | undefined): void => {
    until = Math.max(until, clock.monotonic() + (forMs ?? 0));
  };

  async function call<T>(ask: () => Promise<T>): Promise<T> {
    const left = leftMs();
    if (left > 0) throw paused(left);
    try {
      return await ask();
    } catch (error) {
      if (error instanceof PortError) asked(error.retryAfterMs);
      throw error;
    }
  }

  return {
    leftMs,
    agents: {
      ...agents,
      create: (...args) => call(() => agents.create(...args)),
      fetchRun: (...args) => call(() => agents.fetchRun(...args)),
      async sendDecision(...args) {
        const left = leftMs();
        if (left > 0) return { type: "later", afterMs: left, why: paused(left).message, code: PAUSED };
        const answer = await agents.sendDecision(...args);
        if (answer.type === "later" || answer.type === "unsure") asked(answer.afterMs);
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

/** `why` describes the newest of these answers, for people; `code` is for the log; `runs` is how many runs. */
type Useless = {
  readonly why: string;
  readonly publicWhy: string;
  readonly code: string;
  readonly runs: number;
};

/**
 * A service can be useless without failing: it answers, but the answers are unusable. For one run this says nothing about others; for
 * most runs it is a fault of the service.
 */
type UselessAnswers = {
  /** The failure of a fetch of the run; null: the answer is usable. */
  record(run: RunId, failure: PortError | null): void;
  /** The run is no longer polled. */
  forget(run: RunId): void;
  /** Null: the newest answers about most runs are usable. */
  ofService(): Useless | null;
};

/** 401 is an outage, 404 an answer, 429 a request to wait. 403 may concern one run only; for most runs it is as good as no answer. */
export function isUseless({ code }: PortError): boolean {
  return code === "garbled" || code === "too_large" || /^http_4(?!01|04|29)/.test(code);
}

export function createUselessAnswers(): UselessAnswers {
  const asked = new Map<RunId, boolean>();
  let count = 0;
  let service: Useless | null = null;

  function set(run: RunId, useless: boolean | undefined): void {
    count += Number(useless === true) - Number(asked.get(run) === true);
    if (useless === undefined) asked.delete(run);
    else asked.set(run, useless);
    if (count * 2 <= asked.size) service = null;
  }

  return {
    record(run, failure) {
      set(run, failure !== null);
      if (failure === null || count * 2 <= asked.size) return;
      service = { why: failure.message, publicWhy: failure.publicMessage, code: failure.code, runs: count };
    },
    forget: (run) => set(run, undefined),
    ofService: () => service,
  };
}
