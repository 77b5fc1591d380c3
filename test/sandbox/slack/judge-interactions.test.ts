// Every interaction of a person with an app, in Socket Mode and over HTTP, with only Bolt on the app's side.

import type { App, ViewClosedAction } from "@slack/bolt";
import { afterEach, describe, expect, test } from "vitest";

import { startJudged } from "./judge.ts";
import type { Judged, Mode } from "./judge.ts";

const [ana, ben, ops] = ["U0ANA", "U0BEN", "C0OPSAGENTS"];
const plain = (text: string) => ({ type: "plain_text" as const, text });

const form = (callback_id = "form", more: object = {}) => ({
  type: "modal" as const,
  callback_id,
  title: plain("Form"),
  submit: plain("Send"),
  blocks: [
    {
      type: "input" as const,
      block_id: "why",
      label: plain("Why"),
      element: { type: "plain_text_input" as const, action_id: "text" },
    },
  ],
  ...more,
});

const card = [
  {
    type: "actions" as const,
    block_id: "b",
    elements: [{ type: "button" as const, action_id: "go", text: plain("Go"), value: "7" }],
  },
];

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const start = async (mode: Mode, listen: (app: App) => void, more = {}): Promise<Judged["slack"]> => {
  const judged = await startJudged(mode, listen, more);
  stops.push(judged.stop);
  return judged.slack;
};

const newest = (slack: Judged["slack"]) => slack.workspace.messages.at(-1);
const typed = { why: { text: "because" } };

const topView = (slack: Judged["slack"]) => slack.workspace.until(() => slack.workspace.viewsOf(ana).at(-1));

const opener =
  (view = form()) =>
  (app: App): void =>
    app.command("/agent", async ({ ack, body, client }) => {
      await ack();
      await client.views.open({ trigger_id: body.trigger_id, view });
    });

describe.each<Mode>(["socket", "http"])("over %s", (mode) => {
  test("a slash command is acknowledged with nothing, a text, or an answer for the channel", async () => {
    const slack = await start(mode, (app) =>
      app.command("/agent", ({ ack, payload: { text } }) => {
        if (text === "nothing") return ack();
        return text === "text" ? ack("Just you") : ack({ text: "All of you", response_type: "in_channel" });
      }),
    );
    expect(await slack.acts.command(ana, ops, "/agent", "nothing")).toEqual({ ok: true });
    expect(slack.workspace.messages).toEqual([]);
    await slack.acts.command(ana, ops, "/agent", "text");
    expect(newest(slack)).toMatchObject({ text: "Just you", ephemeralFor: ana });
    await slack.acts.command(ana, ops, "/agent", "all");
    expect(newest(slack)).toMatchObject({ text: "All of you", ephemeralFor: null });
  });

  test("say() and respond() post where the command was typed", async () => {
    const slack = await start(mode, (app) =>
      app.command("/agent", async ({ ack, say, respond }) => {
        await ack();
        await respond("For you");
        await say("For all");
      }),
    );
    await slack.acts.command(ana, ops, "/agent", "");
    await slack.workspace.until(() => newest(slack)?.text === "For all");
    expect(slack.workspace.messages).toMatchObject([
      { text: "For you", ephemeralFor: ana, channel: ops },
      { text: "For all", ephemeralFor: null, channel: ops },
    ]);
  });

  test("respond() to a click replaces the message, adds one, and deletes it", async () => {
    const slack = await start(mode, (app) =>
      app.action("go", async ({ ack, respond }) => {
        await ack();
        await respond({ text: "Replaced", replace_original: true });
        await respond({ text: "Added", replace_original: false, response_type: "in_channel" });
        await respond({ delete_original: true });
      }),
    );
    const { app } = slack.workspace;
    const at = slack.workspace.post({ channel: ops, author: app.person, text: "Card", blocks: card });
    await slack.acts.click(ana, at, "b", "go");
    await slack.workspace.until(() => !slack.workspace.messages.includes(at));
    expect(at.text).toBe("Replaced");
    expect(newest(slack)).toMatchObject({ text: "Added", ephemeralFor: null });
  });

  test("a form is acknowledged with errors, and then with nothing, which closes it", async () => {
    const slack = await start(mode, (app) => {
      opener()(app);
      app.view("form", ({ ack, view }) =>
        view.state.values["why"]?.["text"]?.value === "no"
          ? ack({ response_action: "errors", errors: { why: "Say more" } })
          : ack(),
      );
    });
    await slack.acts.command(ana, ops, "/agent", "");
    const open = await topView(slack);
    await slack.acts.submit(ana, open.id, { why: { text: "no" } });
    expect(open.errors).toEqual({ why: "Say more" });
    await slack.acts.submit(ana, open.id, typed);
    expect(slack.workspace.views).toEqual([]);
  });

  test("a form is acknowledged with update, push and clear", async () => {
    const slack = await start(mode, (app) => {
      opener()(app);
      app.view("form", ({ ack }) => ack({ response_action: "update", view: form("second") }));
      app.view("second", ({ ack }) => ack({ response_action: "push", view: form("third") }));
      app.view("third", ({ ack }) => ack({ response_action: "clear" }));
    });
    await slack.acts.command(ana, ops, "/agent", "");
    const stack = () => slack.workspace.viewsOf(ana).map(({ view }) => view["callback_id"]);
    for (const expected of [["second"], ["second", "third"], []]) {
      await slack.acts.submit(ana, (await topView(slack)).id, typed);
      expect(stack()).toEqual(expected);
    }
  });

  test("the app is notified when a form is closed, if it asked for it", async () => {
    const closed = Promise.withResolvers<boolean>();
    const slack = await start(mode, (app) => {
      opener(form("form", { notify_on_close: true, clear_on_close: true }))(app);
      app.view<ViewClosedAction>({ callback_id: "form", type: "view_closed" }, async ({ ack, body }) => {
        await ack();
        closed.resolve(body.is_cleared);
      });
    });
    await slack.acts.command(ana, ops, "/agent", "");
    await slack.acts.close(ana, (await topView(slack)).id);
    expect(await closed.promise).toBe(true);
  });

  test("a global shortcut opens a form, and one on a message includes the message", async () => {
    const looked = Promise.withResolvers<unknown>();
    const slack = await start(mode, (app) => {
      app.shortcut("help", async ({ ack, body, client }) => {
        await ack();
        await client.views.open({ trigger_id: body.trigger_id, view: form() });
      });
      app.shortcut({ callback_id: "look", type: "message_action" }, async ({ ack, payload, respond }) => {
        await ack();
        await respond("Looked");
        looked.resolve(payload.message);
      });
    });
    expect(await slack.shortcut(ana, "help")).toEqual({ ok: true });
    expect((await topView(slack)).view["callback_id"]).toBe("form");
    const at = slack.workspace.post({ channel: ops, author: ben, text: "Look here" });
    expect(await slack.shortcut(ana, "look", at)).toEqual({ ok: true });
    expect(await looked.promise).toMatchObject({ text: "Look here", user: ben, ts: at.ts });
    expect(newest(slack)).toMatchObject({ text: "Looked", ephemeralFor: ana });
    expect(await slack.shortcut(ana, "look")).toMatchObject({ error: "This app has no such shortcut." });
  });

  test("messages cause events: new, changed and removed ones, and mentions", async () => {
    const received: string[] = [];
    const slack = await start(mode, (app) => {
      app.event("message", async ({ event }) => void received.push(event.subtype ?? "new"));
      app.event("app_mention", async ({ event }) => void received.push(`mention by ${event.user}`));
    });
    await slack.acts.say(ana, ops, "@countersign hello");
    const message = slack.workspace.messages[0];
    if (!message) throw new Error("no message was posted");
    slack.workspace.edit(message, { text: "changed" });
    slack.workspace.remove(message);
    const acknowledged = () =>
      slack.traffic.lines().filter(({ what }) => what === "acknowledges events_api").length === 4;
    await new Promise<void>((resolve) => {
      const off = slack.traffic.onLine(() => acknowledged() && (off(), resolve()));
      if (acknowledged()) resolve();
    });
    expect(received.sort()).toEqual([`mention by ${ana}`, "message_changed", "message_deleted", "new"]);
  });

  test("joining a channel causes an event, for people and for the app itself", async () => {
    const received: string[] = [];
    const slack = await start(mode, (app) => {
      app.event("member_joined_channel", async ({ event }) => void received.push(event.user));
    });
    const { person } = slack.workspace.app;
    slack.faults.removeFromChannel(ops, person);
    slack.faults.removeFromChannel(ops, ana);
    slack.faults.addToChannel(ops, ana);
    slack.faults.addToChannel(ops, person);
    const acknowledged = () => slack.traffic.lines().some(({ what }) => what === "acknowledges events_api");
    await new Promise<void>((resolve) => {
      const off = slack.traffic.onLine(() => acknowledged() && (off(), resolve()));
      if (acknowledged()) resolve();
    });
    // The app gets only the events of its own channels.
    expect(received).toEqual([person]);
  });

  test("opening the Home tab causes an event, and the app publishes the tab", async () => {
    const slack = await start(mode, (app) =>
      app.event("app_home_opened", async ({ event, client }) => {
        await client.views.publish({ user_id: event.user, view: { type: "home", blocks: card } });
      }),
    );
    expect(await slack.openHome(ana)).toEqual({ ok: true });
    const home = await slack.workspace.until(() => slack.workspace.homes.get(ana));
    expect(home.view.blocks).toMatchObject(card);
  });

  test("a command, a click and a form that are not acknowledged in time show an error to the person", async () => {
    const silent = { timing: { ackMs: 30 } };
    const slack = await start(
      mode,
      (app) => {
        app.command("/agent", async () => {});
        app.action("go", async () => {});
        app.view("form", async () => {});
      },
      silent,
    );
    expect(await slack.acts.command(ana, ops, "/agent", "")).toMatchObject({ ok: false });
    const at = slack.workspace.post({ channel: ops, author: slack.workspace.app.person, blocks: card });
    expect(await slack.acts.click(ana, at, "b", "go")).toMatchObject({ ok: false });
    expect(await slack.shortcut(ana, "help")).toMatchObject({
      error: 'The shortcut failed with the error "operation_timeout"',
    });
  });

  test("an app without subscriptions or a Home tab gets no events", async () => {
    const manifestPath = new URL("manifest-quiet.yml", import.meta.url).pathname;
    const slack = await start(mode, () => {}, { manifestPath });
    expect(await slack.openHome(ana)).toMatchObject({ error: "This app has no Home tab." });
    await slack.acts.say(ana, ops, "@countersign hello");
    expect(slack.traffic.lines().filter(({ what }) => what === "events_api")).toEqual([]);
  });
});

test("messages in private channels and in direct messages have their own events", async () => {
  const received: unknown[] = [];
  const both = Promise.withResolvers<void>();
  const manifestPath = new URL("manifest-ears.yml", import.meta.url).pathname;
  const slack = await start(
    "socket",
    (app) =>
      app.event("message", async ({ event }) => {
        received.push([event.channel_type, "text" in event ? event.text : ""]);
        if (received.length === 2) both.resolve();
      }),
    { manifestPath },
  );
  await slack.acts.say(ana, ops, "in public");
  await slack.acts.say(ana, "C0PAYMENTS", "in private");
  await slack.acts.say(ana, slack.workspace.dmOf(ana).id, "to you");
  await both.promise;
  expect(received).toEqual([
    ["group", "in private"],
    ["im", "to you"],
  ]);
});

test("over HTTP, Bolt answers the challenge of a new request URL", async () => {
  const slack = await start("http", () => {});
  const body = { type: "url_verification", token: "deprecated", challenge: "c-123" };
  expect(await slack.deliverRaw({ kind: "events_api", body })).toEqual({
    ok: true,
    ack: { challenge: "c-123" },
  });
});
