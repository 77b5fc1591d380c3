import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Journeys talk to real servers and kill real processes; a machine may be slow, but nothing may hang.
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
