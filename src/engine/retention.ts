// Deletes finished runs and their texts after a while; the audit stays.

import type { EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import { type BackgroundLoop, createBackgroundLoop } from "./background-loop.ts";
import type { Clock } from "./clock.ts";

/** How long a finished run is kept (ms). Our choice: long enough for "what was that last week?", short enough for its texts. */
export const KEEP_FINISHED_MS = 30 * 24 * 60 * 60_000;
const SWEEP_EVERY_MS = 60 * 60_000;

export function createRetention(
  store: Pick<RunStore, "forget">,
  clock: Clock,
  log: EventLog,
): { start(): void; stop: BackgroundLoop["stop"] } {
  async function sweep(): Promise<void> {
    const runs = await store.forget(clock.monotonic() - KEEP_FINISHED_MS);
    if (runs > 0) log.info({ runs }, "forgot finished runs; the audit stays");
  }
  const loop = createBackgroundLoop(
    { clock, log },
    {
      pass: sweep,
      everyMs: SWEEP_EVERY_MS,
      retryMs: [60_000, SWEEP_EVERY_MS],
      failure: "could not delete finished runs; trying again",
    },
  );
  return { start: () => loop.start(SWEEP_EVERY_MS), stop: loop.stop };
}
