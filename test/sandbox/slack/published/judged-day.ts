// Everything that the sandbox can send: each method is called, each element is used, and people do everything that causes an event.

import type { App } from "@slack/bolt";
import { createDrives } from "../driven-methods.ts";
import { type Judged, startJudged } from "../judge.ts";
import { blockWith, inInputOnly, plain, used } from "../used-elements.ts";
import { sentBy, type Sent } from "./sent.ts";

const [ana, ben, ops, payments] = ["U0ANA", "U0BEN", "C0OPSAGENTS", "C0PAYMENTS"];

/** An app that acknowledges everything. A command provides the trigger for the next view. */
const listening =
  (latest: { trigger: string }) =>
  (app: App): void => {
    app.command("/agent", async ({ ack, body }) => {
      latest.trigger = body.trigger_id;
      await ack();
    });
    app.action(/./, ({ ack }) => ack());
    app.view(/./, ({ ack }) => ack());
    app.view({ callback_id: /./, type: "view_closed" }, ({ ack }) => ack());
    app.shortcut(/./, ({ ack }) => ack());
  };

export async function aJudgedDay(): Promise<readonly Sent[]> {
  const latest = { trigger: "" };
  const judged = await startJudged("socket", listening(latest));
  const type = () => judged.slack.acts.command(ana, ops, "/agent", "");
  try {
    await callEverything(judged, async () => {
      await type();
      return latest.trigger;
    });
    for (const kind of Object.keys(used)) {
      await type();
      await useElement(judged, latest.trigger, kind);
    }
    await useShortcuts(judged);
    await sayThings(judged);
    return sentBy(judged.slack);
  } finally {
    await judged.stop();
  }
}

async function callEverything(judged: Judged, freshTrigger: () => Promise<string>): Promise<void> {
  for (const name of Object.keys(createDrives(judged, "")))
    await createDrives(judged, await freshTrigger())[name]?.(judged.app.client);
}

/** Uses each element in a modal, in a message and on the Home tab, and submits or closes the modal. */
async function useElement({ slack, app }: Judged, trigger: string, kind: string): Promise<void> {
  const blocks = blockWith(kind);
  const chosen = used[kind]?.chosen;
  const modal = {
    type: "modal" as const,
    callback_id: "m",
    title: plain("M"),
    submit: plain("Send"),
    blocks,
  };
  const { view } = await app.client.views.open({
    trigger_id: trigger,
    view: { ...modal, notify_on_close: true },
  });
  const id = view?.id ?? "";
  await slack.acts.click(ana, { view: id }, "b", "it", chosen);
  if (kind === "button") await slack.acts.close(ana, id);
  else await slack.acts.submit(ana, id, { b: { it: chosen } });
  if (inInputOnly.has(kind)) return;
  const { ts = "" } = await app.client.chat.postMessage({ channel: ops, text: "card", blocks });
  await slack.acts.click(ana, { channel: ops, ts }, "b", "it", chosen);
  // The tab keeps the choice in a block with this id.
  const own = blocks.map((block) => ({ ...block, block_id: kind }));
  const home = await app.client.views.publish({ user_id: ana, view: { type: "home", blocks: own } });
  await slack.acts.click(ana, { view: home.view?.id ?? "" }, kind, "it", chosen);
  await slack.openHome(ana);
}

async function useShortcuts({ slack, app }: Judged): Promise<void> {
  await slack.shortcut(ana, "help");
  await slack.shortcut(ana, "look", slack.workspace.post({ channel: ops, author: ben, text: "Look here" }));
  const { ts = "" } = await app.client.chat.postMessage({ channel: ops, text: "card" });
  await slack.shortcut(ana, "look", { channel: ops, ts });
}

/** Posts, changes and removes messages, mentions the app, replies in threads, and adds people to a channel. */
async function sayThings({ slack, app }: Judged): Promise<void> {
  const { workspace, acts, faults } = slack;
  await acts.say(ana, ops, "@countersign hello");
  const said = workspace.messages.at(-1);
  if (said === undefined) throw new Error("no message was posted");
  await acts.say(ben, ops, "@countersign in a thread", said.ts);
  workspace.edit(said, { text: "changed" });
  workspace.remove(said);
  const { ts = "" } = await app.client.chat.postMessage({ channel: ops, text: "parent" });
  const reply = { channel: ops, thread_ts: ts, reply_broadcast: true, text: "reply" };
  const metadata = { event_type: "m", event_payload: { id: "7" } };
  const { ts: own = "" } = await app.client.chat.postMessage({ ...reply, metadata });
  await app.client.chat.update({ channel: ops, ts, text: "changed" });
  for (const text of ["changed", "changed again"])
    await app.client.chat.update({ channel: ops, ts: own, text });
  await app.client.chat.delete({ channel: ops, ts: own });
  await app.client.chat.postMessage(reply);
  await app.client.conversations.history({ channel: ops, include_all_metadata: true });
  await app.client.conversations.info({ channel: payments });
  await app.client.conversations.info({ channel: workspace.dmOf(ana).id });
  faults.removeFromChannel(ops, workspace.app.person);
  faults.addToChannel(ops, workspace.app.person);
}
