// How typed text is converted, whether it is typed on the page, by a script or by a test.

import { afterEach, beforeEach, expect, test } from "vitest";

import type { Slack } from "#sandbox/slack/start-slack.ts";

import { aWorld } from "../../make/world.ts";
import { ana, connect, opsAgents, startFull } from "./bolt-app.ts";

let slack: Slack;

beforeEach(async () => {
  slack = await startFull();
});

afterEach(() => slack.stop());

const said = async (text: string): Promise<string | undefined> => {
  expect(await slack.acts.say(ana, opsAgents, text)).toEqual({ ok: true });
  return slack.workspace.messages.at(-1)?.text;
};

test("a person's & < > become entities, so typed markup has no effect", async () => {
  expect(await said("a & b <c>")).toBe("a &amp; b &lt;c&gt;");
  expect(await said("<!here> <https://x.example|l> <@U0BEN> &amp;")).toBe(
    "&lt;!here&gt; &lt;https://x.example|l&gt; &lt;@U0BEN&gt; &amp;amp;",
  );
});

test("a person's @name becomes a mention if someone has that name", async () => {
  expect(await said("@countersign and @nobody, mail a@ben.example")).toBe(
    `<@${slack.workspace.app.person}> and @nobody, mail a@ben.example`,
  );
  expect(await said("@Countersign look")).toBe(`<@${slack.workspace.app.person}> look`);
});

test("the app receives a mention that a person typed", async () => {
  const received: unknown[] = [];
  const { stop } = await connect(slack, (app) =>
    app.event("app_mention", async ({ event }) => void received.push(event.text)),
  );
  await said("@countersign look");
  await slack.workspace.until(() => true);
  await new Promise<void>((resolve) => {
    const off = slack.traffic.onLine(() => received.length > 0 && (off(), resolve()));
    if (received.length > 0) resolve();
  });
  await stop();
  expect(received).toEqual([`<@${slack.workspace.app.person}> look`]);
});

test("the text of a command arrives with entities for & < >, and with ids for names only if requested", async () => {
  const arrived = async (command: string, text: string): Promise<unknown> => {
    await slack.acts.command(ana, opsAgents, command, text);
    const line = slack.traffic.lines().findLast(({ what }) => what === "slash_commands");
    const { payload } = (line?.detail ?? {}) as { payload?: { body: Record<string, unknown> } };
    return payload?.body["text"];
  };
  const text = "run a && b <c> &lt; @ben #releases";
  const escaped = "run a &amp;&amp; b &lt;c&gt; &amp;lt; ";
  expect(await arrived("/agent", text)).toBe(`${escaped}@ben #releases`);
  expect(await arrived("/who", text)).toBe(`${escaped}<@U0BEN|ben> <#C0RELEASES|releases>`);
});

test("a task with & < > reaches the service as it was typed", async (context) => {
  const world = await aWorld(context);
  const task = "a && b <c> &lt;d&gt; &amp;amp; <!channel>";
  await world.command(ana, opsAgents, `run ${task}`);
  await world.until(() => world.tasksSent().length > 0);
  expect(world.tasksSent()).toEqual([task]);
});
