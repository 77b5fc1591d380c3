import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { App } from "@slack/bolt";
import { afterEach, describe, expect, test } from "vitest";

import type { Traffic } from "#sandbox/slack/model.ts";

import { startJudged } from "./judge.ts";
import type { Judged } from "./judge.ts";
import { ana, button, clientOf, opsAgents, startFull } from "./bolt-app.ts";

const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const start = async (listen: (app: App) => void, more = {}): Promise<Judged["slack"]> => {
  const { slack, stop } = await startJudged("socket", listen, more);
  stops.push(stop);
  return slack;
};

const line = (slack: Judged["slack"], what: string): Traffic => {
  const found = slack.traffic.lines().findLast((one) => one.what === what);
  if (!found) throw new Error(`the traffic has no line ${what}`);
  return found;
};

const untilTraffic = (slack: Judged["slack"], enough: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const off = slack.traffic.onLine(() => enough() && (off(), resolve()));
    if (enough()) resolve();
  });

describe("a line of traffic", () => {
  test("has a number that rises by one, so that a reader can request what follows", async () => {
    const slack = await start((app) => app.command("/agent", ({ ack }) => ack("Hi")));
    const seen = slack.traffic.lines().at(-1)?.number ?? 0;
    await slack.acts.command(ana, opsAgents, "/agent", "x");
    const later = slack.traffic.after(seen);
    expect(later.map(({ what }) => what)).toEqual([
      `${ana} types /agent`,
      "slash_commands",
      "acknowledges slash_commands",
    ]);
    expect(later.map(({ number }) => number)).toEqual([seen + 1, seen + 2, seen + 3]);
    expect(slack.traffic.after(0)).toEqual(slack.traffic.lines());
  });

  test("for a message from Slack itself answers the person's act, and counts as refused", async () => {
    const slack = await start((app) => app.command("/agent", ({ ack }) => ack("Hi")));
    await slack.acts.command(ana, opsAgents, "/unheard-of", "x");
    const [act, told] = [line(slack, `${ana} types /unheard-of`), line(slack, `answers ${ana}`)];
    expect(act.refused).toBeNull();
    expect(told).toMatchObject({ from: "slack", answers: act.number });
    expect(told.refused).toContain("/unheard-of");
  });

  test("for an acknowledgment says which envelope it answers, with what, and after how long", async () => {
    const slack = await start((app) => app.command("/agent", ({ ack }) => ack("Hi")));
    await slack.acts.command(ana, opsAgents, "/agent", "x");
    const ack = line(slack, "acknowledges slash_commands");
    expect(ack).toMatchObject({ from: "app", detail: { answered: { text: "Hi" } }, refused: null });
    expect(ack.answers).toBe(line(slack, "slash_commands").number);
    expect(ack.ms).toBeGreaterThanOrEqual(0);
  });

  test("reports a missing acknowledgment", async () => {
    const slack = await start((app) => app.command("/agent", async () => {}), { timing: { ackMs: 20 } });
    await slack.acts.command(ana, opsAgents, "/agent", "x");
    const missing = line(slack, "no acknowledgement of slash_commands");
    expect(missing).toMatchObject({ from: "slack", refused: "timeout", lost: true });
    expect(missing.answers).toBe(line(slack, "slash_commands").number);
    expect(missing.ms).toBeGreaterThanOrEqual(15);
  });

  test("reports the use of a response_url, and which of the five uses it is", async () => {
    const slack = await start((app) =>
      app.action("approve", async ({ ack, respond }) => {
        await ack();
        await respond("one");
        await respond("two");
      }),
    );
    const { app } = slack.workspace;
    const card = slack.workspace.post({
      channel: opsAgents,
      author: app.person,
      blocks: [button("approve")],
    });
    await slack.acts.click(ana, card, "buttons", "approve");
    const used = () => slack.traffic.lines().filter(({ what }) => what === "response_url");
    await untilTraffic(slack, () => used().length === 2);
    expect(used().map(({ detail }) => (detail as { use: string }).use)).toEqual(["1 of 5", "2 of 5"]);
  });

  test("reports an uploaded file, and one that differs from its announcement", async () => {
    const slack = await start(() => {});
    const { upload_url: url = "" } = await clientOf(slack).files.getUploadURLExternal({
      filename: "a.txt",
      length: 3,
    });
    await fetch(url, { method: "POST", body: "four" });
    expect(line(slack, "file upload")).toMatchObject({ refused: "not the announced length" });
    await fetch(url, { method: "POST", body: "abc" });
    expect(line(slack, "file upload")).toMatchObject({
      detail: { announced: 3, status: 200 },
      refused: null,
    });
  });

  test("reports a call of the Web API with its answer and its duration", async () => {
    const slack = await start(() => {});
    await clientOf(slack).users.info({ user: ana });
    const called = line(slack, "users.info");
    expect(called).toMatchObject({ detail: { args: { user: ana }, answer: { ok: true } }, refused: null });
    expect(called.ms).toBeGreaterThanOrEqual(0);
  });
});

describe("an event that was not acknowledged", () => {
  const failing = async (answer: (count: number) => [status: number, headers?: Record<string, string>]) => {
    let count = 0;
    const server = createServer((_req, res) => void res.writeHead(...answer(++count)).end());
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    stops.push(async () => server.close());
    const requestUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const delivery = { mode: "http" as const, requestUrl };
    const slack = await startFull({ delivery, timing: { retryDelaysMs: [0, 0] } });
    stops.push(slack.stop);
    return { slack, came: () => count };
  };

  test("is sent again as the answer to its first delivery", async () => {
    const { slack, came } = await failing((count) => [count < 3 ? 500 : 200]);
    await slack.acts.say(ana, opsAgents, "hi");
    await untilTraffic(slack, () =>
      slack.traffic.lines().some(({ what }) => what.startsWith("acknowledges")),
    );
    const [first, ...again] = slack.traffic.lines().filter(({ what }) => what === "events_api");
    expect(came()).toBe(3);
    expect(first?.answers).toBeNull();
    expect(again.map(({ answers }) => answers)).toEqual([first?.number, first?.number]);
    expect(again[1]?.detail).toMatchObject({ redelivery: { attempt: 2, reason: "http_error" } });
  });

  test("is not sent again if the app asks for no retry", async () => {
    const { slack, came } = await failing(() => [500, { "x-slack-no-retry": "1" }]);
    await slack.acts.say(ana, opsAgents, "hi");
    await untilTraffic(slack, () =>
      slack.traffic.lines().some(({ what }) => what.startsWith("no acknowledgement")),
    );
    await slack.acts.say(ana, opsAgents, "again");
    await untilTraffic(
      slack,
      () => slack.traffic.lines().filter(({ what }) => what.startsWith("no acknowledgement")).length === 2,
    );
    expect(came()).toBe(2);
  });
});
