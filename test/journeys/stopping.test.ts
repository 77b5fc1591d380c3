// What people do while the process stops, for example in a rolling restart.

import { describe, expect, test } from "vitest";
import { startBot } from "#sandbox/bot/bot-process.ts";
import { ana, aWorld, ben, opsAgents } from "../make/world.ts";

const TASK = "deploy billing-api to production";

describe.concurrent("while the process stops", () => {
  test("a mention that has been read is acknowledged before the socket is closed", async (context) => {
    const world = await aWorld(context);
    const lines = () => world.slack.traffic.lines();
    world.slack.faults.next("users.info", { hang: "before" });
    await world.slack.acts.say(ana, opsAgents, "@countersign just say hello");
    await world.until(() => lines().find(({ what }) => what === "users.info"));
    await world.stopApp();
    const sent = lines().find(({ detail }) => JSON.stringify(detail).includes('"type":"app_mention"'));
    const answer = await world.until(() => lines().find(({ answers }) => answers === sent?.number));
    expect(answer.what).toBe("acknowledges events_api");
  });

  test("/readyz fails at once over HTTP, and requests are still accepted until the balancer has noticed", async (context) => {
    const world = await aWorld(context, { entrance: "http" });
    const isReady = async (): Promise<boolean> => (await fetch(`${world.url()}/readyz`)).ok;
    expect(await isReady()).toBe(true);
    const stopped = world.stopApp();
    expect(await isReady()).toBe(false);
    expect(await world.command(ana, opsAgents, `run ${TASK}`)).toEqual({ ok: true });
    await stopped;
    await world.startApp();
    await world.runAt(TASK);
  });
});

describe("while the start waits for Slack's socket", () => {
  test("a stop waits for the decision that is being sent", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    await world.service.control.down();
    await world.fillModal(ben, "kept");
    await world.becomes(card, "retrying");
    await world.stopApp();
    await world.service.control.up();
    world.slack.faults.next("apps.connections.open", { hang: "before" }, 100);
    const slow = world.service.control.fault({ route: "decide" }, { type: "delay", ms: 1_500 });
    const bot = startBot({ ...world.world.env, ...world.database.env });
    context.onTestFinished(async () => void (await bot.end("SIGKILL")));
    await world.service.requests.until(() => slow.hits() === 1);
    expect(await bot.end("SIGTERM")).toBe(0);
    world.slack.faults.clear();
    world.service.control.clearFaults();
    await world.startApp();
    await world.becomes(card, "approved", "kept");
  });
});
