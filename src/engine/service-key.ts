// Whether the service takes our key. Every poll tells; while no run is watched, a fetch of a run that cannot exist does.

import { RunId } from "../domain/ids.ts";
import { type AgentService, PortError } from "../ports.ts";
import type { Clock } from "./clock.ts";

export type ServiceKey = {
  /** The service, with an ear on its answers. */
  readonly agents: AgentService;
  /** Null: the service has not said. */
  isRefused(): boolean | null;
  /** Asks, unless the service has told within `maxAgeMs`. Changes nothing at the service. Never rejects. */
  check(maxAgeMs: number): Promise<void>;
};

/** A person may wait for the answer (ms). */
const TIMEOUT_MS = 4_000;

export function createServiceKey(
  agents: AgentService,
  clock: Pick<Clock, "monotonic">,
  newKey: () => string,
): ServiceKey {
  let known: { readonly refused: boolean; readonly at: number } | null = null;
  const note = (refused: boolean): void => void (known = { refused, at: clock.monotonic() });

  const fetchRun: AgentService["fetchRun"] = async (...args) => {
    try {
      const fetched = await agents.fetchRun(...args);
      note(false);
      return fetched;
    } catch (error) {
      if (error instanceof PortError && error.code === "http_401") note(true);
      throw error;
    }
  };

  async function check(maxAgeMs: number): Promise<void> {
    if (known !== null && clock.monotonic() - known.at < maxAgeMs) return;
    try {
      await fetchRun(RunId(`countersign-health-${newKey()}`), TIMEOUT_MS);
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
    }
  }

  return { agents: { ...agents, fetchRun }, isRefused: () => known?.refused ?? null, check };
}
