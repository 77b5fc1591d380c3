import { describe, expect, test } from "vitest";
import { slackTiming } from "#sandbox/slack/slack-context.ts";
import { ana, ben, opsAgents, type Stage, aWorld } from "../make/world.ts";

const TASK = "deploy billing-api to production";
/** A process manager waits this long at most before it kills the process (ms). */
const STOP_WITHIN_MS = 9_500;

async function page(world: Stage, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${world.url()}${path}`);
  return { status: response.status, text: await response.text() };
}

async function stopsInTime(world: Stage): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`not stopped within ${STOP_WITHIN_MS} ms`)),
    STOP_WITHIN_MS,
  );
  await Promise.race([world.stopApp(), late]).finally(() => clearTimeout(timer));
}

describe.concurrent("the app's own pages", () => {
  test("report that it is alive and ready", async (context) => {
    const world = await aWorld(context);
    expect(await page(world, "/livez")).toEqual({ status: 200, text: "alive\n" });
    const { status, text } = await page(world, "/readyz");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ checks: { store: "ok", slack: "ok" } });
  });

  test("count what was done", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.isRefused(ana, card, "Approve", "requester");
    await world.decide(ben, card, "Approve", "counted");
    await world.saidIn(opening, "outcome:succeeded");
    const { status, text } = await page(world, "/metrics");
    expect(status).toBe(200);
    expect(text).toMatch(/decision.*approve.*confirmed.* 1/);
    expect(text).toMatch(/refus.*requester.* 1/);
    for (const secret of [world.slack.botToken, world.slack.appToken, world.service.apiKey, TASK, ana])
      expect(text).not.toContain(secret);
  });

  test("report that it is not ready while Slack cannot reach it, and ready afterwards", async (context) => {
    const world = await aWorld(context, { troubled: true });
    world.slack.sockets.drop();
    await world.until(() => world.slack.sockets.connections() === 0);
    await world.until(() => world.logged.some((line) => /reconnect|WebSocket|disconnected/i.test(line)));
    await world.until(() => world.slack.sockets.connections() > 0);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "after the network came back");
    await world.saidIn(opening, "outcome:succeeded");
    expect((await page(world, "/readyz")).status).toBe(200);
  });

  test("log no secrets, tasks or reasons", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "a very private reason");
    await world.saidIn(opening, "outcome:succeeded");
    await world.stopApp();
    const log = world.logged.join("\n");
    expect(log).toContain("Countersign is ready");
    for (const secret of [
      world.slack.botToken,
      world.slack.appToken,
      world.service.apiKey,
      TASK,
      "very private",
    ])
      expect(log).not.toContain(secret);
  });
});

describe.concurrent("stopping", () => {
  test("closes everything if nothing is in progress", async (context) => {
    const world = await aWorld(context);
    const { url } = world;
    const at = url();
    await stopsInTime(world);
    await expect(fetch(`${at}/livez`)).rejects.toThrow("fetch failed");
    await world.until(() => world.slack.sockets.connections() === 0);
  });

  test("waits for a decision that is being sent, and loses nothing", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const gate = world.service.control.fault({ route: "decide" }, { type: "gate" });
    await world.decide(ben, card, "Approve", "just in time");
    await world.service.requests.until(() => gate.hits() === 1);
    const stopped = stopsInTime(world);
    gate.release();
    await stopped;
    await world.startApp();
    await world.becomes(card, "approved");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "just in time" }]);
  });

  test("ends in time even if the service hangs", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const hanging = world.service.control.fault({ route: "decide" }, { type: "hang" });
    await world.decide(ben, card, "Approve", "while nothing answers");
    await world.until(() => hanging.hits() === 1);
    world.service.control.fault({}, { type: "hang" }, "all");
    await stopsInTime(world);
  });

  test("ends in time even if Slack hangs", async (context) => {
    const world = await aWorld(context, { troubled: true, timing: slackTiming });
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.becomes(opening, "run:awaiting-approval");
    world.slack.faults.next("chat.update", { hang: "before" }, 5);
    world.slack.faults.next("chat.postMessage", { hang: "before" }, 5);
    await world.decide(ben, card, "Approve", "while Slack does not answer");
    await world.until(() => world.decisions().length === 1);
    await stopsInTime(world);
  });

  test("happens once, however often it is requested", async (context) => {
    const world = await aWorld(context);
    await Promise.all([stopsInTime(world), stopsInTime(world)]);
    await stopsInTime(world);
  });
});
