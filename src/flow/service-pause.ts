// One `Retry-After` counts for every call to the service, whichever call it answered: looks, new runs and decisions on other
// approvals wait alike. Only `/v1/health` is asked meanwhile: once, when a person wants to know what is wrong.

import type { Clock } from "./clock.ts";
import { type AgentService, PortError } from "./ports.ts";

export type ServicePause = {
  /** The service, left alone for as long as it asks for. Calls meanwhile fail at once, as «not applied, later». */
  readonly agents: AgentService;
  /** How long nothing should be asked (ms); 0: go ahead. */
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
      look: (...args) => call(() => agents.look(...args)),
      async resolve(...args) {
        const left = leftMs();
        if (left > 0) return { is: "later", afterMs: left, why: paused(left).message };
        const answer = await agents.resolve(...args);
        if (answer.is === "later" || answer.is === "unsure") asked(answer.afterMs);
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
