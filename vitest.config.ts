import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // No secret of any test may stand in what the run prints.
    globalSetup: ["test/make/canary-watch.ts"],
    // Most tests wait for processes, sockets and real seconds, and leave room for others beside them.
    maxWorkers: Math.max(2, availableParallelism()),
    // Journeys talk to real servers and kill real processes; a machine may be slow, but nothing may hang.
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
