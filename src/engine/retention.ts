// Deletes finished runs and their texts after a while. The audit stays, and so does a run while a dispute of one of its decisions is open.

import type { EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import { type BackgroundLoop, createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";

const DELETE_EVERY_MS = 60 * 60_000;

/** `keepMs`: how long a run is kept after its last change. */
export function createRetention(
  store: Pick<RunStore, "forget">,
  clock: Clock,
  log: EventLog,
  keepMs: number,
): { start(): void; stop: BackgroundLoop["stop"] } {
  async function deleteFinished(isStopping: () => boolean): Promise<void> {
    // A run that a wrong clock makes look old would be gone for good. The monotonic clock never goes back, so the wall clock must agree.
    const runs = await store.forget(Math.min(clock.monotonic(), clock.now()) - keepMs, isStopping);
    if (runs > 0) log.info({ runs }, "deleted finished runs; the audit stays");
  }
  const loop = createBackgroundLoop(
    { clock, log },
    {
      pass: deleteFinished,
      everyMs: DELETE_EVERY_MS,
      retryMs: [60_000, DELETE_EVERY_MS],
      failure: "could not delete finished runs; trying again",
    },
  );
  return { start: () => loop.start(DELETE_EVERY_MS), stop: loop.stop };
}
