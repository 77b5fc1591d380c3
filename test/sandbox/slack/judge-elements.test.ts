// A person uses every kind of element, and Bolt gets the action with the choice: in messages, modals and on the Home tab.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { elementTypes } from "#sandbox/slack/rules-elements.ts";

import { startJudged } from "./judge.ts";
import type { Judged, Mode } from "./judge.ts";
import { type AnyBlock, blockWith, inInputOnly, option, plain, unused, used } from "./used-elements.ts";

const [ana, ops] = ["U0ANA", "C0OPSAGENTS"];
let judged: Judged;
let seen: Record<string, unknown>[] = [];
let view: { submit: ReturnType<typeof plain>; blocks: AnyBlock[] };

const start = async (mode: Mode): Promise<void> => {
  seen = [];
  judged = await startJudged(mode, (app) => {
    app.action("it", async ({ ack, body }) => {
      await ack();
      seen.push({ ...body });
    });
    app.command("/agent", async ({ ack, body, client }) => {
      await ack();
      await client.views.open({
        trigger_id: body.trigger_id,
        view: { type: "modal", title: plain("M"), ...view },
      });
    });
  });
};

const openModal = async (blocks: AnyBlock[]): Promise<{ view: string }> => {
  view = { submit: plain("Send"), blocks };
  await judged.slack.acts.command(ana, ops, "/agent", "");
  const opened = await judged.slack.workspace.until(() => judged.slack.workspace.viewsOf(ana).at(-1));
  return { view: opened.id };
};

const post = async (blocks: AnyBlock[]): Promise<{ channel: string; ts: string }> => {
  const { ts = "" } = await judged.app.client.chat.postMessage({ channel: ops, text: "card", blocks });
  return { channel: ops, ts };
};

const use = async (at: { view: string } | { channel: string; ts: string }, type: string): Promise<object> => {
  const { acts } = judged.slack;
  expect(await acts.click(ana, at, "b", "it", used[type]?.chosen)).toEqual({ ok: true });
  const [action] = (seen.at(-1)?.["actions"] ?? []) as object[];
  return action ?? {};
};

afterEach(() => judged.stop());

test("every kind of element in the table is used here, or marked as unusable", async () => {
  await start("socket");
  expect([...Object.keys(used), ...unused].sort()).toEqual([...elementTypes].sort());
});

describe.each<Mode>(["socket", "http"])("over %s", (mode) => {
  beforeEach(() => start(mode));

  test.each(Object.keys(used))("a person uses a %s, and Bolt gets what they chose", async (type) => {
    const at = inInputOnly.has(type) ? await openModal(blockWith(type)) : await post(blockWith(type));
    const action = await use(at, type);
    expect(action).toMatchObject({ type, action_id: "it", block_id: "b", ...used[type]?.said });
  });
});

describe("the place of an element", () => {
  beforeEach(() => start("socket"));

  test("a choice in a modal is in the view's state, and one in a message in the message's state", async () => {
    await use(await openModal(blockWith("static_select")), "static_select");
    const state = { values: { b: { it: { type: "static_select", selected_option: option("b") } } } };
    expect(seen[0]).toMatchObject({ container: { type: "view" }, view: { state } });
    await use(await post(blockWith("static_select")), "static_select");
    expect(seen[1]).toMatchObject({ container: { type: "message" }, message: { text: "card" }, state });
  });

  test("a choice on the Home tab is kept when the tab is published again", async () => {
    const publish = () =>
      judged.app.client.views.publish({
        user_id: ana,
        view: { type: "home", blocks: blockWith("radio_buttons") },
      });
    const { view: first } = await publish();
    await use({ view: first?.id ?? "" }, "radio_buttons");
    const { view: second } = await publish();
    expect(second).toMatchObject({ state: { values: { b: { it: { selected_option: option("a") } } } } });
  });

  test("an input without dispatch_action sends nothing", async () => {
    const at = await openModal(blockWith("plain_text_input", false));
    expect(await judged.slack.acts.click(ana, at, "b", "it", "typed")).toEqual({ ok: true });
    expect(seen).toEqual([]);
  });

  test("a choice that an element does not offer never reaches the app", async () => {
    const refused = { ok: false, error: "This choice is not offered here." };
    for (const [type, chosen] of [
      ["channels_select", "C0PAYMENTS"],
      ["conversations_select", "C0NOWHERE"],
      ["datepicker", "tomorrow"],
      ["multi_static_select", "b"],
    ] as const) {
      const at = await post(blockWith(type));
      expect(await judged.slack.acts.click(ana, at, "b", "it", chosen)).toEqual(refused);
    }
    expect(seen).toEqual([]);
  });
});
