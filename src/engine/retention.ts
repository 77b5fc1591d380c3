// Deletes finished runs and their texts after a while; the audit stays.

import type { Clock } from "./clock.ts";
import type { EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";

/** How long a finished run is kept (ms). Our choice: long enough for "what was that last week?", short enough for its texts. */
export const KEEP_FINISHED_MS = 30 * 24 * 60 * 60_000;
const SWEEP_EVERY_MS = 60 * 60_000;

export function createRetention(
  store: Pick<RunStore, "forget">,
  clock: Clock,
  log: EventLog,
): { start(): void; stop(): void } {
  let cancel = (): void => undefined;
  async function sweep(): Promise<void> {
    try {
      const runs = await store.forget(clock.monotonic() - KEEP_FINISHED_MS);
      if (runs > 0) log.info({ runs }, "forgot finished runs; the audit stays");
    } catch (error) {
      log.error({ error }, "could not delete finished runs; trying again in an hour");
    }
  }
  function next(): void {
    cancel = clock.after(SWEEP_EVERY_MS, () => {
      void sweep();
      next();
    });
  }
  return { start: next, stop: () => cancel() };
}
