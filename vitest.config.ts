import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, or that wait most, as those with a database server. Started last, they would leave the processor idle. The
 * longest come first, and those that compute between those that wait.
 */
const SLOW = [
  "sandbox/scenes/all-scenes.test.ts",
  "crash/kill-points.test.ts",
  "faults/faults-slice.test.ts",
  "faults/wire-calls.test.ts",
  "domain/laws.test.ts",
  "attacks/story.test.ts",
  "simulation/simulation.test.ts",
  "crash/replica-kills.test.ts",
  "adapters/slack/blocks/modals.test.ts",
  "postgres/decisions.test.ts",
  "cli/postgres.test.ts",
  "adapters/slack/blocks/any-input.test.ts",
  "sandbox/scenes/storm.test.ts",
  "cli/audit.test.ts",
  "adapters/store/unusable-files.test.ts",
  "browser/panels.test.ts",
  "cli/doctor-faults.test.ts",
  "cli/doctor.test.ts",
  "sandbox/control/replicas.test.ts",
  "browser/axe.test.ts",
  "cli/audit-archive.test.ts",
  "adapters/store/postgres-server.test.ts",
  "cli/migrate-store.test.ts",
  "journeys/channel-storm.test.ts",
  "crash/storm-kills.test.ts",
  "browser/page.test.ts",
  "notifications/outbox.test.ts",
  "sandbox/control/policy.test.ts",
  "adapters/store/postgres-contract.test.ts",
  "adapters/store/postgres-bouncer.test.ts",
  "browser/follow.test.ts",
  "adapters/store/postgres-standby.test.ts",
  "journeys/proxy.test.ts",
  "sandbox/scenes/replica-dies.test.ts",
  "sandbox/control/replicas-http.test.ts",
  "browser/many-tabs.test.ts",
  "adapters/slack/blocks/overview.test.ts",
  "browser/surfaces.test.ts",
  "postgres/retired-replica.test.ts",
  "sandbox/postgres.test.ts",
  "adapters/store/find-entries.test.ts",
  "adapters/store/postgres-tls.test.ts",
  "test/ops.test.ts",
  "journeys/posting.test.ts",
  "journeys/storm.test.ts",
  "crash/brake-kills.test.ts",
  "journeys/replays.test.ts",
  "journeys/commands.test.ts",
  "journeys/restarts.test.ts",
  "crash/call-kills.test.ts",
  "browser/captions.test.ts",
  "browser/wire.test.ts",
  "sandbox/main.test.ts",
  "journeys/restore.test.ts",
  "journeys/many-and-slowly.test.ts",
  "usecases/review.test.ts",
  "journeys/reload.test.ts",
  "browser/replicas.test.ts",
  "browser/end-of-channel.test.ts",
  "browser/side-by-side.test.ts",
  "browser/journey.test.ts",
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

/** Tests that open no port or file and keep nothing. The files of a worker share its modules: to load them for each file costs more. */
const SHARING = [
  "test/{audit,config,engine,notifications,usecases}/**/*.test.ts",
  "test/adapters/{agents,http,policy-file,slack}/**/*.test.ts",
  // A process never forgets the secrets that it was given, and a bot gives it some.
  "test/domain/!(own-secrets).test.ts",
  "test/sandbox/{page,service}/**/*.test.ts",
  "test/sandbox/slack/**/!(typing|published-types).test.ts",
];

/** The whole app in the process of the test, in worlds of their own. Its modules are loaded and compiled once for each worker. */
const IN_WORLDS = ["test/journeys/*.test.ts", "test/attacks/!(story|campaign).test.ts"];

const BROWSER = "test/browser/**/*.test.ts";

/** These need programs that a machine may lack: PostgreSQL, PgBouncer, promtool, systemd-analyze, openssl or jq. `npm test` leaves them out. */
const PROGRAMS = [
  "test/adapters/http/metrics.test.ts",
  "test/adapters/store/{find-entries,migrate,postgres-*,unusable-files}.test.ts",
  "test/cli/{check-by-hand,doctor-faults,migrate-store,postgres}.test.ts",
  "test/journeys/proxy.test.ts",
  "test/postgres/*.test.ts",
  "test/sandbox/control/{replicas,replicas-http}.test.ts",
  "test/sandbox/{main,postgres}.test.ts",
  "test/sandbox/scenes/replica-dies.test.ts",
  "test/{deploy-systemd,ops}.test.ts",
];

/**
 * Real processes are killed, every call goes wrong once, attacks are made on a bot at work, and a storm plays at Slack's pace. This takes
 * minutes, so `npm run check` leaves it out, and `npm run check:faults` and CI run it. With more workers than that command's three, a machine
 * of two cores answers later than Slack's three seconds.
 */
const FAULTS = [
  "test/attacks/story.test.ts",
  "test/crash/{brake,call,replica,storm}-kills.test.ts",
  "test/crash/kill-points.test.ts",
  "test/faults/{faults-slice,wire-calls}.test.ts",
  "test/sandbox/scenes/storm.test.ts",
];
/**
 * `npm run check:faults` plays the simulated histories beside the above, in a process of its own with a lower priority: they only compute, so
 * they take the time that the others spend waiting, and delay none of the answers that those wait for.
 */
const HISTORIES = { file: "test/simulation/simulation.test.ts", setup: "test/make/yield-to-others.ts" };

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        // These compute all the time, so more workers than cores would only load and compile the modules more often.
        test: {
          name: "sharing",
          include: SHARING,
          exclude: PROGRAMS,
          isolate: false,
          sequence: { groupOrder: 2 },
          maxWorkers: availableParallelism(),
        },
      },
      {
        extends: true,
        // As test/make/world.ts sets them for a file of its own.
        test: {
          name: "worlds",
          include: IN_WORLDS,
          exclude: PROGRAMS,
          isolate: false,
          testTimeout: 120_000,
          maxConcurrency: 8,
          // Each worker has up to eight worlds at once, which is more than a slow machine answers in time if there are more workers.
          sequence: { groupOrder: 1 },
          maxWorkers: 2 * availableParallelism(),
        },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          include: ["test/**/*.test.ts"],
          exclude: [...SHARING, ...IN_WORLDS, BROWSER, ...PROGRAMS, ...FAULTS, HISTORIES.file],
        },
      },
      { extends: true, test: { name: "programs", include: PROGRAMS } },
      { extends: true, test: { name: "browser", include: [BROWSER] } },
      { extends: true, test: { name: "faults", include: FAULTS } },
      {
        extends: true,
        test: { name: "histories", include: [HISTORIES.file], setupFiles: [HISTORIES.setup] },
      },
    ],
    // No secret of any test may stand in what the run prints.
    globalSetup: ["test/make/canary-watch.ts", "test/make/memory-folder.ts", "test/make/compiled-modules.ts"],
    sequence: { sequencer: SlowFirst },
    // Most files wait for servers, sockets and clocks more than they compute.
    maxWorkers: 2 * availableParallelism(),
    // Journeys talk to real servers and kill real processes; a machine may be slow, but nothing may hang.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
