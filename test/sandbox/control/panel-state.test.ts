import { expect, test } from "vitest";
import { createChanges } from "#sandbox/base/changes.ts";
import { createSandboxClock } from "#sandbox/base/sandbox-clock.ts";
import { createPolicySwitch } from "#sandbox/bot/policy-switch.ts";
import type { Bot, Replica } from "#sandbox/bot/replicas.ts";
import { createServiceContext } from "#sandbox/control/servers.ts";
import { createScenes } from "#sandbox/scenes/engine.ts";
import { startGateway } from "#sandbox/service/start-gateway.ts";
import { startService } from "#sandbox/service/start-service.ts";
import { createPanelState } from "#sandbox/world/panel-state.ts";

const never = () => Promise.reject(new Error("nobody asks for this"));

test("the panels show the servers, the bot's key and the runs, and are notified of every change", async ({
  onTestFinished,
}) => {
  const clock = createSandboxClock();
  const [service, gateway] = await Promise.all([startService({ clock }), startGateway({ clock })]);
  onTestFinished(async () => void (await Promise.all([service.stop(), gateway.stop()])));
  const changes = createChanges();
  const context = createServiceContext({ service, gateway, clock }, changes.changed);
  const given = { AGENT_API_KEY: service.apiKey };
  const keeper: Omit<Replica, "name" | "port"> = {
    state: () => "running",
    pid: () => 7,
    metric: never,
    given: () => given,
    fault: () => null,
    ready: never,
    start: never,
    kill: never,
    stop: never,
    restart: never,
    pause: () => undefined,
    resume: () => undefined,
    setAhead: () => undefined,
    isClockMoving: () => false,
    onChange: () => () => undefined,
  };
  const bot: Bot = { ...keeper, replicas: [{ ...keeper, name: "replica 1", port: 12_001 }] };
  const scenes = createScenes({
    scenes: [],
    now: clock.now,
    paceMs: () => 0,
    stageFor: () => ({}) as never,
  });
  const { policy } = createPolicySwitch({ own: null, now: clock.now, keep: () => bot });
  const onChange = changes.subscribe;
  const slack = () => ({ faults: [], rateLimits: true, missingScopes: [] });
  const panelState = createPanelState({ service: context, slack, bot, policy, scenes, onChange });
  let changeCount = 0;
  panelState.onChange(() => (changeCount += 1));

  expect(panelState.service()).toMatchObject({
    up: true,
    gatewayUp: true,
    gatewaySlowMs: 0,
    gatewayStatus: { status: "ok" },
    slowMs: 0,
    slack: { faults: [], rateLimits: true, missingScopes: [] },
    key: "right",
    bot: "running",
    replicas: [{ name: "replica 1", state: "running", port: 12_001, pid: 7, fault: null }],
    policy: { chosen: { name: "built-in" }, inForce: { policy: { name: "built-in" } }, fault: null },
  });
  expect(panelState.service()).toMatchObject({ clockAheadMs: 0, faults: [], vanished: [], runs: [] });
  expect(panelState.scenes()).toEqual({ scenes: [], playing: null, done: new Set() });

  const [first, second] = [service.control.createRun("first"), service.control.createRun("second")];
  expect(panelState.service().runs.map(({ id }) => id)).toEqual([second.id, first.id]);
  service.control.rotateKey();
  await context.gatewayController.down();
  context.serviceController.slow(2_000);
  context.serviceController.fault({ route: "decide" }, { type: "hang", effect: true }, 2);
  context.gatewayController.fault({}, { type: "answer", status: 500 }, "all");
  expect(panelState.service()).toMatchObject({ gatewayUp: false, slowMs: 2_000, key: "rotated" });
  expect(panelState.service().faults).toEqual([
    "each of the next 2 (decision): never answered, after it took effect",
    "gateway, every request: HTTP 500",
  ]);
  expect(changeCount).toBe(4);
});
