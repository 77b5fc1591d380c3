import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, the longest first. Started last, they would leave the other workers idle. */
const SLOW = [
  "crash/kill-points.test.ts",
  "crash/replica-kills.test.ts",
  "postgres/decisions.test.ts",
  "scenes/storm.test.ts",
  "control/replicas.test.ts",
  "browser/panels.test.ts",
  "browser/axe.test.ts",
  "scenes/all-scenes.test.ts",
  "browser/page.test.ts",
  "cli/audit.test.ts",
  "control/policy.test.ts",
  "cli/doctor-faults.test.ts",
  "journeys/restore.test.ts",
  "crash/call-kills.test.ts",
  "cli/doctor.test.ts",
  "browser/surfaces.test.ts",
];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification): number => {
      const found = SLOW.findIndex((each) => moduleId.endsWith(each));
      return found === -1 ? SLOW.length : found;
    };
    return sorted.toSorted((one, other) => place(one) - place(other));
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
    globalSetup: ["test/make/canary-watch.ts", "test/make/memory-folder.ts"],
    sequence: { sequencer: SlowFirst },
    // Most files wait for servers, sockets and clocks more than they compute. With two for each core, some waits end too late.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // Journeys talk to real servers and kill real processes; a machine may be slow, but nothing may hang.
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
