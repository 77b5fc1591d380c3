import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** These wait for minutes and use little of the processor. Started last, they would leave the other workers idle. */
const SLOW = ["scenes/storm.test.ts", "crash/kill-points.test.ts"];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => SLOW.some((each) => moduleId.endsWith(each));
    return [...sorted.filter((each) => isSlow(each)), ...sorted.filter((each) => !isSlow(each))];
  }
}

// Node keeps its compiled modules here, for the test files and for the hundreds of processes that tests start.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("node_modules/.cache/node-compile", import.meta.url),
);

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // No secret of any test may stand in what the run prints.
    globalSetup: ["test/make/canary-watch.ts"],
    sequence: { sequencer: SlowFirst },
    // Most tests wait for processes, sockets and real seconds, and leave room for others beside them.
    maxWorkers: Math.max(2, availableParallelism()),
    // Journeys talk to real servers and kill real processes; a machine may be slow, but nothing may hang.
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
