// Loaded into the bot before its own code: at SIGUSR2 it prints the longest stall of the event loop since the last time (ms).

import { monitorEventLoopDelay } from "node:perf_hooks";

/** The monitor's own pace is part of each delay that it sees (ms). */
const RESOLUTION_MS = 5;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();

process.on("SIGUSR2", () => {
  const longest = Math.max(0, delays.max / 1e6 - RESOLUTION_MS);
  delays.reset();
  process.stderr.write(`longest stall ${longest.toFixed(1)} ms\n`);
});
