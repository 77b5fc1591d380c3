import { afterEach, describe, expect, test } from "vitest";

import type { App } from "@slack/bolt";

import type { Slack, SlackOptions } from "#sandbox/slack/start-slack.ts";

import {
  ana,
  ben,
  button,
  connect,
  guest,
  opsAgents,
  payments,
  plain,
  reasonModal,
  startFull,
} from "./bolt-app.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const start = async (listen: (app: App) => void, options: Partial<SlackOptions> = {}): Promise<Slack> => {
  const slack = await startFull(options);
  closers.push(slack.stop);
  const { stop } = await connect(slack, listen);
  closers.push(stop);
  return slack;
};

const newest = (slack: Slack) => slack.workspace.messages.at(-1);

describe("commands", () => {
  test("reach the app with Slack's fields, and only the person sees its acknowledgment", async () => {
    let seen: Record<string, unknown> = {};
    const slack = await start((app) =>
      app.command("/agent", async ({ ack, payload }) => {
        seen = { ...payload };
        await ack("Working on it");
      }),
    );
    expect(await slack.acts.command(ana, opsAgents, "/agent", "run  <b> & @ben ")).toEqual({ ok: true });
    expect(seen).toMatchObject({
      command: "/agent",
      text: "run  &lt;b&gt; &amp; @ben ",
      user_id: ana,
      user_name: "ana",
      team_id: slack.workspace.team.id,
      api_app_id: slack.workspace.app.id,
      channel_id: opsAgents,
      channel_name: "ops-agents",
    });
    expect(newest(slack)).toMatchObject({ text: "Working on it", ephemeralFor: ana, channel: opsAgents });
  });

  test("are answered in the channel if the app says so", async () => {
    const slack = await start((app) =>
      app.command("/agent", ({ ack }) => ack({ text: "For all", response_type: "in_channel" })),
    );
    await slack.acts.command(ana, payments, "/agent", "");
    expect(newest(slack)).toMatchObject({ text: "For all", ephemeralFor: null });
  });

  test("with should_escape contain ids for names", async () => {
    let text = "";
    const slack = await start((app) =>
      app.command("/who", async ({ ack, payload }) => {
        text = payload.text;
        await ack();
      }),
    );
    await slack.acts.command(ana, opsAgents, "/who", "@ben in #releases, not @nobody");
    expect(text).toBe("<@U0BEN|ben> in <#C0RELEASES|releases>, not @nobody");
  });

  test("that are not acknowledged in time show an error to the person", async () => {
    const slack = await start((app) => app.command("/agent", async () => {}), { timing: { ackMs: 20 } });
    const words = '/agent failed with the error "operation_timeout"';
    expect(await slack.acts.command(ana, opsAgents, "/agent", "x")).toEqual({ ok: false, error: words });
    expect(newest(slack)).toMatchObject({ text: words, author: "USLACKBOT", ephemeralFor: ana });
  });

  test("are refused without a manifest entry, in a channel that the person is not in, and without a connected app", async () => {
    const slack = await startFull();
    closers.push(slack.stop);
    expect(await slack.acts.command(ana, opsAgents, "/other", "")).toMatchObject({
      error: "/other is not a valid command.",
    });
    expect(await slack.acts.command(guest, payments, "/agent", "")).toMatchObject({
      error: "You are not in this channel.",
    });
    expect(await slack.acts.command("U0DEE", opsAgents, "/agent", "")).toMatchObject({
      error: "This account is deactivated.",
    });
    expect(await slack.acts.command(ana, opsAgents, "/agent", "")).toMatchObject({
      error: '/agent failed with the error "dispatch_failed"',
    });
  });
});

describe("buttons", () => {
  test("open a modal whose submit is refused, corrected and accepted", async () => {
    const slack = await start((app) => {
      app.action("approve", async ({ ack, body, client }) => {
        await ack();
        if (body.type !== "block_actions") return;
        await client.views.open({ trigger_id: body.trigger_id, view: reasonModal() });
      });
      app.view("reason", async ({ ack, view, client }) => {
        const reason = view.state.values["reason"]?.["text"]?.value ?? "";
        if (reason.length < 5)
          return ack({ response_action: "errors", errors: { reason: "Say a little more." } });
        await ack();
        await client.apiCall("chat.postMessage", { channel: opsAgents, text: reason });
      });
    });
    const card = slack.workspace.post({
      channel: opsAgents,
      author: slack.workspace.app.person,
      blocks: [button("approve")],
    });
    expect(await slack.acts.click(ben, card, "buttons", "approve")).toEqual({ ok: true });
    const open = await slack.workspace.until(() => slack.workspace.viewsOf(ben)[0]);
    await slack.acts.submit(ben, open.id, { reason: { text: "ok" } });
    expect(open.errors).toEqual({ reason: "Say a little more." });
    expect(open.values).toEqual({ reason: { text: "ok" } });
    expect(await slack.acts.submit(ben, open.id, { reason: { text: "It is safe" } })).toEqual({ ok: true });
    expect(slack.workspace.viewsOf(ben)).toEqual([]);
    await slack.workspace.until(() => newest(slack)?.text === "It is safe");
  });

  test("send the stored value and the current message, and nothing once they are gone", async () => {
    let action: unknown;
    let message: unknown;
    const slack = await start((app) =>
      app.action("approve", async ({ ack, payload, body, respond }) => {
        action = payload;
        message = "message" in body ? body.message : undefined;
        await ack();
        await respond({ text: "Done", replace_original: true });
      }),
    );
    const card = slack.workspace.post({
      channel: opsAgents,
      author: slack.workspace.app.person,
      text: "Card",
      blocks: [button("approve", "v1")],
    });
    await slack.acts.click(ben, card, "buttons", "approve", "forged");
    expect(action).toMatchObject({ type: "button", value: "v1", block_id: "buttons", action_id: "approve" });
    expect(message).toMatchObject({ ts: card.ts, text: "Card", bot_id: slack.workspace.app.botId });
    await slack.workspace.until(() => card.text === "Done");
    expect(await slack.acts.click(ben, card, "buttons", "approve")).toMatchObject({ ok: false });
  });

  test("warn the person if the app does not answer", async () => {
    const slack = await start((app) => app.action("approve", async () => {}), { timing: { ackMs: 20 } });
    const blocks = [button("approve")];
    const card = slack.workspace.post({ channel: opsAgents, author: slack.workspace.app.person, blocks });
    expect(await slack.acts.click(ben, card, "buttons", "approve")).toMatchObject({
      error: "⚠ The app did not answer in time. Try again.",
    });
  });
});

describe("modals", () => {
  const openers = (view: ReturnType<typeof reasonModal>) => (app: App) => {
    app.command("/agent", async ({ ack, body, client }) => {
      await ack();
      await client.views.open({ trigger_id: body.trigger_id, view });
    });
  };

  const opened = async (slack: Slack) => {
    await slack.acts.command(ana, opsAgents, "/agent", "");
    return slack.workspace.until(() => slack.workspace.viewsOf(ana)[0]);
  };

  test("are replaced and stacked by acknowledgments, and all closed by one", async () => {
    const slack = await start((app) => {
      openers(reasonModal())(app);
      app.view("reason", ({ ack }) =>
        ack({ response_action: "update", view: reasonModal({ callback_id: "second" }) }),
      );
      app.view("second", ({ ack }) =>
        ack({ response_action: "push", view: reasonModal({ callback_id: "third" }) }),
      );
      app.view("third", ({ ack }) => ack({ response_action: "clear" }));
    });
    const open = await opened(slack);
    const typed = { reason: { text: "hello" } };
    await slack.acts.submit(ana, open.id, typed);
    expect(open.view["callback_id"]).toBe("second");
    await slack.acts.submit(ana, open.id, typed);
    const third = slack.workspace.viewsOf(ana)[1];
    expect(third?.view["callback_id"]).toBe("third");
    expect(await slack.acts.submit(ana, open.id, typed)).toMatchObject({ ok: false });
    await slack.acts.submit(ana, third?.id ?? "", typed);
    expect(slack.workspace.viewsOf(ana)).toEqual([]);
  });

  test("show an error if the app does not answer, and keep the typed text", async () => {
    const slack = await start(openers(reasonModal()), { timing: { ackMs: 20 } });
    const open = await opened(slack);
    await slack.acts.submit(ana, open.id, { reason: { text: "kept" } });
    expect(open.trouble).toBe("We had some trouble connecting. Try again?");
    expect(open.values).toEqual({ reason: { text: "kept" } });
  });

  test("show an error if Slack would refuse the acknowledgment", async () => {
    const slack = await start((app) => {
      openers(reasonModal())(app);
      app.view("reason", ({ ack }) => ack({ response_action: "errors", errors: { nowhere: "x" } }));
    });
    const open = await opened(slack);
    expect(await slack.acts.submit(ana, open.id, { reason: { text: "x" } })).toMatchObject({ ok: false });
    expect(slack.traffic.lines().some(({ refused }) => refused === "invalid_errors")).toBe(true);
  });

  test("are not sent while a required field is empty or a text is too long", async () => {
    const slack = await start(openers(reasonModal()));
    const open = await opened(slack);
    await slack.acts.submit(ana, open.id, { reason: { text: "" } });
    expect(open.errors).toEqual({ reason: "Please complete this required field." });
    await slack.acts.submit(ana, open.id, { reason: { text: "x".repeat(3001) } });
    expect(open.errors).toEqual({ reason: "This can be at most 3000 characters." });
  });

  test("notify the app when they are closed, if it asked for it", async () => {
    let closed = "";
    const slack = await start((app) => {
      openers(reasonModal({ notify_on_close: true }))(app);
      app.view({ callback_id: "reason", type: "view_closed" }, async ({ ack, body }) => {
        closed = body.view.id;
        await ack();
      });
    });
    const open = await opened(slack);
    await slack.acts.close(ana, open.id);
    expect(closed).toBe(open.id);
    expect(slack.workspace.views).toEqual([]);
  });
});

describe("other features", () => {
  test("a file is posted in a thread with filesUploadV2, after the answer", async () => {
    const slack = await start(() => {});
    const { app } = await connect(slack, () => {});
    closers.push(async () => void (await app.stop()));
    const parent = slack.workspace.post({ channel: opsAgents, author: ana, text: "Go" });
    const content = "r\u00e9sum\u00e9\n".repeat(1000);
    const args = {
      channel_id: opsAgents,
      thread_ts: parent.ts,
      filename: "out.md",
      title: "Output",
      content,
    };
    expect(await app.client.filesUploadV2(args)).toMatchObject({ ok: true });
    expect(newest(slack)).toBe(parent);
    const message = await slack.workspace.until(() => newest(slack) !== parent && newest(slack));
    const file = slack.workspace.files.get(message?.files[0] ?? "");
    expect(message).toMatchObject({ thread: parent.ts, author: slack.workspace.app.person });
    expect(new TextDecoder().decode(file?.bytes)).toBe(content);
    expect(file).toMatchObject({ name: "out.md", title: "Output" });
  });

  test("the Home tab is published when it is opened", async () => {
    const slack = await start((app) =>
      app.event("app_home_opened", async ({ event, client }) => {
        const blocks = [{ type: "header" as const, text: plain("Your runs") }];
        await client.views.publish({ user_id: event.user, view: { type: "home", blocks } });
      }),
    );
    await slack.openHome(ana);
    const home = await slack.workspace.until(() => slack.workspace.homes.get(ana));
    expect(home.view.blocks[0]).toMatchObject({ type: "header", text: { text: "Your runs" } });
  });

  test("messages and mentions become events only in channels the app is in", async () => {
    const received: string[] = [];
    const slack = await start((app) => {
      app.message(
        async ({ message }) => void received.push(`message ${"text" in message ? message.text : ""}`),
      );
      app.event("app_mention", async ({ event }) => void received.push(`mention ${event.text}`));
    });
    const mention = `<@${slack.workspace.app.person}> hi`;
    await slack.acts.say(ana, "C0RANDOM", "@countersign hi");
    await slack.acts.say(ana, payments, "@countersign hi");
    await slack.acts.say(ana, opsAgents, "@countersign hi");
    const acknowledged = () =>
      slack.traffic.lines().filter(({ what }) => what === "acknowledges events_api").length === 3;
    await new Promise<void>((resolve) => {
      if (acknowledged()) return resolve();
      const off = slack.traffic.onLine(() => acknowledged() && (off(), resolve()));
    });
    expect(received.sort()).toEqual([`mention ${mention}`, `mention ${mention}`, `message ${mention}`]);
  });

  test("a click on an ephemeral message has no message, and respond() removes it", async () => {
    let body: object = {};
    const slack = await start((app) =>
      app.action("approve", async (args) => {
        body = args.body;
        await args.ack();
        await args.respond({ delete_original: true });
      }),
    );
    const { app } = slack.workspace;
    const draft = { channel: opsAgents, author: app.person, blocks: [button("approve")], ephemeralFor: ana };
    const note = slack.workspace.post(draft);
    expect(await slack.acts.click(ben, note, "buttons", "approve")).toMatchObject({ ok: false });
    await slack.acts.click(ana, note, "buttons", "approve");
    expect(body).toMatchObject({ container: { is_ephemeral: true, message_ts: note.ts } });
    expect(body).not.toHaveProperty("message");
    await slack.workspace.until(() => !slack.workspace.messages.includes(note));
  });
});
