// One `Retry-After` applies to every call to the service, whichever call it answered: fetches, new runs and decisions all wait. Only
// `/v1/health` is called meanwhile, once for each person who asks what is wrong.

import { type AgentService, PortError } from "../ports.ts";
import type { Clock } from "./clock.ts";

export type ServicePause = {
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
