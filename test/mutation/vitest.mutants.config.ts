// The tests of one target, which run-mutants.ts names.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: (process.env["MUTANTS_TESTS"] ?? "").split("\n"), testTimeout: 20_000, isolate: false },
});
