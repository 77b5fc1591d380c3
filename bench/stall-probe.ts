// Loaded into the bot before its own code. On SIGUSR2, prints the longest stall of the event loop since the last signal (ms).

import { monitorEventLoopDelay } from "node:perf_hooks";

/** The monitor's own interval (ms), which is part of every delay that it measures. */
const RESOLUTION_MS = 5;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();

process.on("SIGUSR2", () => {
  const longest = Math.max(0, delays.max / 1e6 - RESOLUTION_MS);
  delays.reset();
  process.stderr.write(`longest stall ${longest.toFixed(1)} ms\n`);
});
