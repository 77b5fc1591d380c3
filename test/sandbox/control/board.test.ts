import { expect, test } from "vitest";
import { createBoard } from "#src/sandbox/board.ts";
import type { BotKeeper } from "#src/sandbox/bot-keeper.ts";
import { createSandboxClock } from "#src/sandbox/clock.ts";
import { createServiceGround } from "#src/sandbox/control/ground.ts";
import { createScenes } from "#src/sandbox/scenes/engine.ts";
import { createChanges } from "#src/sandbox/service/changes.ts";
import { startGateway } from "#src/sandbox/service/start-gateway.ts";
import { startService } from "#src/sandbox/service/start-service.ts";

const never = () => Promise.reject(new Error("nobody asks for this"));

test("the panels show the servers, the bot's key and the runs as they are, and hear of every change", async ({
  onTestFinished,
}) => {
  const clock = createSandboxClock();
  const [service, gateway] = await Promise.all([startService({ clock }), startGateway({ clock })]);
  onTestFinished(async () => void (await Promise.all([service.stop(), gateway.stop()])));
  const changes = createChanges();
  const ground = createServiceGround({ service, gateway, clock }, changes.changed);
  const given = { AGENT_API_KEY: service.apiKey };
  const bot: BotKeeper = {
    state: () => "running",
    given: () => given,
    ready: never,
    start: never,
    kill: never,
    stop: never,
    restart: never,
    onChange: () => () => undefined,
  };
  const scenes = createScenes({
    stories: [],
    now: clock.now,
    paceMs: () => 0,
    stageFor: () => ({}) as never,
  });
  const board = createBoard({ service: ground, bot, scenes, onChange: changes.subscribe });
  let heard = 0;
  board.onChange(() => (heard += 1));

  expect(board.service()).toMatchObject({
    up: true,
    gatewayUp: true,
    slowMs: 0,
    key: "right",
    bot: "running",
  });
  expect(board.service()).toMatchObject({ clockAheadMs: 0, faults: [], vanished: [], runs: [] });
  expect(board.scenes()).toEqual({ scenes: [], playing: null });

  const [first, second] = [service.control.createRun("first"), service.control.createRun("second")];
  expect(board.service().runs.map(({ id }) => id)).toEqual([second.id, first.id]);
  service.control.rotateKey();
  await ground.gatewayHand.down();
  ground.serviceHand.slow(2_000);
  ground.serviceHand.fault({ route: "decide" }, { kind: "hang", effect: true }, 2);
  ground.gatewayHand.fault({}, { kind: "answer", status: 500 }, "all");
  expect(board.service()).toMatchObject({ gatewayUp: false, slowMs: 2_000, key: "rotated" });
  expect(board.service().faults).toEqual([
    "each of the next 2 (decision): no answer, ever, after it took effect",
    "gateway, every request: HTTP 500",
  ]);
  expect(heard).toBe(4);
});
