// How the health of each part is reported, and which faults take a process out of service.

import { expect, test } from "vitest";
import { createHealth, createPartsBeforeSlack } from "#src/engine/health.ts";
import type { ServiceState } from "#src/engine/service-breaker.ts";
import { createWatchdog, STUCK_AFTER_MS } from "#src/engine/watchdog.ts";
import { readinessOf } from "#src/adapters/http/server.ts";
import { PortError } from "#src/ports.ts";
import type { PartName, RunFigures, SlackHealth } from "#src/ports/monitoring.ts";
import { createHandClock } from "../make/clock.ts";
import { createBench } from "../make/bot.ts";

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const NO_RUNS: RunFigures = {
  runs: { starting: 0, running: 0, awaiting_approval: 0, stopped: 0, missing: 0 },
  retriedStarts: 0,
  pending: { count: 0, oldestMs: 0, oldestUnshownMs: 0, reminded: 0 },
  undelivered: { count: 0, oldestMs: 0, late: 0 },
  stillListed: 0,
};
const full = new PortError("the database failed: the disk is full", {
  applied: "no",
  retry: "later",
  code: "store_full",
});

function aHealth() {
  const clock = createHandClock();
  const watchdog = createWatchdog(clock);
  const world = {
    stored: (): Promise<void> => Promise.resolve(),
    writes: 0,
    faults: { count: 0, code: "" },
    connection: "connected" as ReturnType<SlackHealth["connection"]>,
    refusal: null as string | null,
    keyRefused: null as boolean | null,
    keyFileUnusable: false,
    service: { type: "answers" } as ServiceState,
    figures: NO_RUNS,
    checks: 0,
  };
  const ping = (): Promise<void> => {
    world.writes += 1;
    return world.stored();
  };
  const check = (): Promise<void> => Promise.resolve(void (world.checks += 1));
  const health = createHealth({
    store: { ping },
    storeFaults: { since: () => world.faults },
    slackHealth: {
      connection: () => world.connection,
      tokenRefusal: () => world.refusal,
      unanswered: () => null,
      checkToken: check,
      queues: () => ({ post: 0, update: 0, read: 0, sweep: 0, other: 0 }),
    },
    key: { isRefused: () => world.keyRefused, check: () => check().then(() => "unknown") },
    isKeyFileUnusable: () => world.keyFileUnusable,
    breaker: { state: () => world.service },
    figures: () => world.figures,
    watchdog,
    clock,
    log,
  });
  const readiness = async () => readinessOf(await health.parts(), "1.2.3");
  return { world, health, clock, watchdog, readiness };
}

test("all parts are well", async () => {
  const { readiness } = aHealth();
  expect(await readiness()).toEqual({
    status: "ok",
    version: "1.2.3",
    checks: {
      store: "ok",
      store_calls: "ok",
      slack: "ok",
      slack_token: "ok",
      service: "ok",
      service_key: "ok",
      key_file: "ok",
      decisions: "ok",
      watching: "ok",
    },
  });
});

test("Slack counts as untried only until it was first reached", async () => {
  const { world, health } = aHealth();
  const untried = async () =>
    (await health.parts()).flatMap(({ part, untried: isUntried }) => (isUntried === true ? [part] : []));
  world.connection = "starting";
  expect(await untried()).toEqual(["slack"]);
  for (const connection of ["connected", "lost", "refused", "stopping"] as const) {
    world.connection = connection;
    expect(await untried()).toEqual([]);
  }
});

type World = ReturnType<typeof aHealth>["world"];
const down = { at: 0, since: 0, why: "at 10.0.0.7", publicWhy: "away", code: "timeout" };

type Told = readonly [part: PartName, status: string, says: RegExp];

test.each<[string, Told, (world: World) => void]>([
  ["a full disk", ["store", "not ready", /disk is full/], (on) => (on.stored = () => Promise.reject(full))],
  [
    "Slack not reached since the start",
    ["slack", "not ready", /not reached/],
    (on) => (on.connection = "starting"),
  ],
  ["a lost socket", ["slack", "degraded", /connection to Slack is lost/], (on) => (on.connection = "lost")],
  ["a refused app token", ["slack", "degraded", /SLACK_APP_TOKEN/], (on) => (on.connection = "refused")],
  ["a dead token", ["slack_token", "degraded", /token_revoked/], (on) => (on.refusal = "token_revoked")],
  ["a missing scope", ["slack_token", "degraded", /lacks a scope/], (on) => (on.refusal = "missing_scope")],
  [
    "a refused key",
    ["service_key", "degraded", /AGENT_API_KEY.*LoadCredential .*restart/],
    (on) => (on.keyRefused = true),
  ],
  [
    "a new key that cannot be read",
    ["key_file", "degraded", /AGENT_API_KEY_FILE/],
    (on) => (on.keyFileUnusable = true),
  ],
  [
    "a service that is away",
    ["service", "degraded", /timeout/],
    (on) => (on.service = { type: "away", ...down }),
  ],
  [
    "a decision that waits for a minute",
    ["decisions", "degraded", /1 decision is recorded and not confirmed/],
    (on) => (on.figures = { ...NO_RUNS, undelivered: { count: 2, oldestMs: 61_000, late: 1 } }),
  ],
  [
    "a fault of the store, although it accepts writes again",
    ["store_calls", "degraded", /store_busy/],
    (on) => (on.faults = { count: 2, code: "store_busy" }),
  ],
])("%s is reported", async (_what, [part, status, says], strike) => {
  const { world, readiness } = aHealth();
  strike(world);
  const answer = await readiness();
  expect(answer.status).toBe(status);
  expect(answer.checks[part]).toMatch(says);
  expect(JSON.stringify(answer)).not.toContain("10.0.0.7");
  expect(Object.values(answer.checks).filter((each) => each !== "ok")).toHaveLength(1);
});

test("a store that never answers is reported within the time of a probe", async () => {
  const { world, readiness, clock } = aHealth();
  world.stored = () => new Promise(quiet);
  const asked = readiness();
  await clock.pass(3_000);
  expect((await asked).checks["store"]).toMatch(/did not answer/);
});

test("the store is probed by a write at most once a second, however many ask", async () => {
  const { world, readiness, clock } = aHealth();
  await Promise.all([readiness(), readiness(), readiness()]);
  expect(world.writes).toBe(1);
  await clock.pass(1_000);
  await readiness();
  expect(world.writes).toBe(2);
});

test("before Slack is reached, checks within a second share one write too, which cannot take forever", async () => {
  const clock = createHandClock();
  let writes = 0;
  let stored = Promise.resolve();
  const ping = (): Promise<void> => {
    writes += 1;
    return stored;
  };
  const parts = createPartsBeforeSlack({ store: { ping }, clock });
  const [first] = await Promise.all([parts(), parts(), parts()]);
  expect(first).toMatchObject([
    { part: "store", fault: null },
    { part: "slack", unready: true },
  ]);
  expect(writes).toBe(1);
  await clock.pass(1_000);
  stored = new Promise(() => undefined);
  const late = parts();
  await clock.pass(3_000);
  expect(await late).toMatchObject([
    { part: "store", fault: "the database did not answer within 3 s", unready: true },
    { part: "slack" },
  ]);
  expect(writes).toBe(2);
});

test("the words of an unknown fault of the store are not shown, since they may contain an address", async () => {
  const { world, readiness } = aHealth();
  const facts = { applied: "no", retry: "later", code: "store_failed" } as const;
  world.stored = () => Promise.reject(new PortError("the database failed: no route to 10.0.0.7", facts));
  const { checks } = await readiness();
  expect(checks["store"]).not.toContain("10.0.0.7");
});

test("the token and the key are checked every minute, even if no one asks", async () => {
  const { world, health, clock } = aHealth();
  health.start();
  await clock.pass(59_000);
  expect(world.checks).toBe(0);
  await clock.pass(1_000);
  expect(world.checks).toBe(2);
  await health.stop();
  expect(clock.waiting()).toBe(0);
});

test("a process counts as live while its watching makes progress, and not once a turn never ends", async () => {
  const { health, clock, watchdog } = aHealth();
  watchdog.start();
  const slow = watchdog.begin();
  await clock.pass(STUCK_AFTER_MS - 1_000);
  slow.progress();
  await clock.pass(STUCK_AFTER_MS - 1_000);
  expect(health.live()).toBe(true);
  await clock.pass(1_000);
  expect(health.live()).toBe(false);
  slow.end();
  expect(health.live()).toBe(true);
  watchdog.stop();
});

test("a process whose timers no longer fire does not count as live", () => {
  let now = 0;
  const watchdog = createWatchdog({ now: () => now, monotonic: () => now, after: () => quiet });
  watchdog.start();
  now = STUCK_AFTER_MS;
  expect(watchdog.stuckMs()).toBeGreaterThan(0);
  now += STUCK_AFTER_MS;
  expect(watchdog.stuckMs()).toBeGreaterThanOrEqual(STUCK_AFTER_MS);
});

test("a poll that never ends makes the bot report itself dead; one that fails does not", async () => {
  const bench = await createBench();
  await bench.withCard();
  bench.agents.beforeLook = () => new Promise(quiet);
  await bench.clock.pass(STUCK_AFTER_MS + 15_000);
  expect(bench.flow.health.live()).toBe(false);

  const other = await createBench();
  await other.withCard();
  other.agents.beforeLook = () => Promise.reject(full);
  await other.clock.pass(2 * STUCK_AFTER_MS);
  expect(other.flow.health.live()).toBe(true);
});

test("a decision that the service does not accept is late after a minute, whatever the wall clock does", async () => {
  const bench = await createBench();
  const { click } = await bench.withCard();
  bench.agents.answer = () =>
    Promise.resolve({ type: "later", afterMs: null, why: "down", code: "http_401" });
  const form = await bench.flow.openForm.open(click, "approve");
  if (!form.ok) throw new Error("no form");
  await bench.flow.submitDecision(click, form.value.ticket.nonce, "fine");
  const late = async () =>
    (await bench.flow.health.parts()).find(({ part }) => part === "decisions")?.fault ?? null;
  bench.clock.step(3_600_000);
  await bench.clock.pass(59_000);
  expect(await late()).toBeNull();
  await bench.clock.pass(2_000);
  expect(await late()).toMatch(/1 decision is recorded and not confirmed by the service/);
  bench.agents.answer = () => Promise.resolve({ type: "confirmed" });
  await bench.clock.pass(70_000);
  expect(await late()).toBeNull();
});
