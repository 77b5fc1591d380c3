import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { BlockAction } from "@slack/bolt";

import type { Slack } from "#sandbox/slack/start-slack.ts";

import { ana, button, connect, opsAgents, outsider, payments, plain, startFull } from "./bolt-app.ts";

const option = (value: string) => ({ text: plain(value), value });
const menu = { type: "static_select", action_id: "menu", options: [option("a"), option("b")] };
const people = { type: "users_select", action_id: "people" };
const radio = { type: "radio_buttons", action_id: "radio", options: [option("x"), option("y")] };
const boxes = { type: "checkboxes", action_id: "boxes", options: [option("1"), option("2")] };
const choices = { type: "actions", block_id: "choices", elements: [menu, people, radio, boxes] };

let slack: Slack;
let stop = async (): Promise<void> => {};
let seen: BlockAction[] = [];

beforeEach(async () => {
  seen = [];
  slack = await startFull();
  const connected = await connect(slack, (app) =>
    app.action(/.*/, async ({ ack, body }) => {
      seen.push(body as BlockAction);
      await ack();
    }),
  );
  stop = connected.stop;
});

afterEach(async () => {
  await stop();
  await slack.stop();
});

const card = (blocks: object[], channel = opsAgents) =>
  slack.workspace.post({
    channel,
    author: slack.workspace.app.person,
    text: "card",
    blocks: blocks as never,
  });

describe("choices in a message", () => {
  test("arrive as the whole option, and stay in the message's state", async () => {
    const at = card([choices]);
    await slack.acts.click(ana, at, "choices", "menu", "b");
    await slack.acts.click(ana, at, "choices", "people", "U0BEN");
    await slack.acts.click(ana, at, "choices", "radio", "y");
    await slack.acts.click(ana, at, "choices", "boxes", ["2"]);
    expect(seen.map(({ actions }) => actions[0])).toMatchObject([
      { type: "static_select", selected_option: option("b") },
      { type: "users_select", selected_user: "U0BEN" },
      { type: "radio_buttons", selected_option: option("y") },
      { type: "checkboxes", selected_options: [option("2")] },
    ]);
    expect(seen.at(-1)?.state?.values).toMatchObject({
      choices: {
        menu: { selected_option: option("b") },
        people: { selected_user: "U0BEN" },
        radio: { selected_option: option("y") },
        boxes: { selected_options: [option("2")] },
      },
    });
  });

  test("that are not offered never reach the app", async () => {
    const at = card([choices]);
    for (const [action, chosen] of [
      ["menu", "c"],
      ["boxes", ["1", "3"]],
      ["people", "U0NOBODY"],
    ] as const)
      expect(await slack.acts.click(ana, at, "choices", action, chosen)).toEqual({
        ok: false,
        error: "This choice is not offered here.",
      });
    expect(seen).toEqual([]);
  });
});

describe("the person and the place of a click", () => {
  test("an outsider's click contains the outsider's team", async () => {
    await slack.acts.click(outsider, card([button("go")]), "buttons", "go");
    expect(seen[0]).toMatchObject({
      team: { id: "T0PARTNER" },
      user: { id: outsider, team_id: "T0PARTNER" },
    });
  });

  test("a private channel shows its buttons only to members, and not its name to the app", async () => {
    const at = card([button("go")], payments);
    expect(await slack.acts.click("U0CAT", at, "buttons", "go")).toMatchObject({ ok: false });
    await slack.acts.click(ana, at, "buttons", "go");
    expect(seen.map(({ channel }) => channel)).toEqual([{ id: payments, name: "privategroup" }]);
  });

  test("a button on the Home tab names the view that contains it", async () => {
    const home = slack.workspace.publishHome(ana, { type: "home", blocks: [button("go")] });
    expect(await slack.acts.click("U0BEN", { view: home.id }, "buttons", "go")).toMatchObject({ ok: false });
    await slack.acts.click(ana, { view: home.id }, "buttons", "go");
    expect(seen).toMatchObject([
      { container: { type: "view", view_id: home.id }, view: { hash: home.hash } },
    ]);
  });

  test("a forged payload is delivered unchanged", async () => {
    const action = { type: "button", action_id: "go", block_id: "b", value: "made up", action_ts: "1.0" };
    const body = { type: "block_actions", team: { id: "T0EVIL" }, user: { id: ana }, actions: [action] };
    expect(await slack.deliverRaw({ kind: "interactive", body })).toEqual({ ok: true, ack: {} });
    expect(seen[0]).toMatchObject({ team: { id: "T0EVIL" }, actions: [{ value: "made up" }] });
  });
});
