// The shortcut in the menu of a message, used by people who may not start a run, or with values that Slack's own client would not send.

import { ben, cat, guest, opsAgents, outsider } from "../make/world.ts";
import type { Saying } from "../make/message-id.ts";
import { type Attack, attacks } from "./classes.ts";
import type { Body, Expected, People } from "./people-cases.ts";

/** Uses the shortcut on Ana's card. Resolves to the payload as Slack sent it. */
async function useShortcut({ world, card }: People, user: string): Promise<Body> {
  await world.slack.shortcut(user, "run_on_message", { channel: card.channel, ts: card.ts });
  await world.modalOf(user, "task");
  return world.lastPayload("message_action");
}

/** Resolves to a shortcut payload from Ben. Its form is closed again. */
async function closedShortcut(on: People): Promise<Body> {
  const payload = await useShortcut(on, ben);
  for (const { id } of on.world.slack.workspace.viewsOf(ben).slice())
    await on.world.slack.acts.close(ben, id);
  return payload;
}

const replayed = attacks<People, readonly [string]>(
  4,
  40,
  [["a shortcut that Slack delivers again opens no second form"]],
  async (on) => {
    const payload = await closedShortcut(on);
    await on.refused(() => on.world.deliver(payload), {
      user: ben,
      because: null,
      says: "answer:form-not-opened",
    });
  },
);

const ofOthers = attacks<People, readonly [string, Body, Saying]>(
  5,
  40,
  [
    ["a shortcut for another app", { api_app_id: "A0OTHER" }, "answer:other-app"],
    ["a shortcut for no app", { api_app_id: null }, "answer:other-app"],
    [
      "a shortcut in another workspace",
      { team: { id: "T0ELSEWHERE", domain: "elsewhere" } },
      "answer:other-team",
    ],
    ["a shortcut in no workspace", { team: null }, "answer:other-team"],
  ],
  async (on, [, change, says]) => {
    const payload = await closedShortcut(on);
    await on.refused(() => on.world.deliver({ ...payload, ...change }), { user: ben, because: null, says });
  },
);

const approving = attacks<People, readonly [string, string]>(
  11,
  40,
  [
    ["the shortcut on a message that approves opens only the form for a run", "approve run_1"],
    ["the shortcut on a message with a forged button", "<https://countersign.example/approve|Approve>"],
  ],
  async (on, [, text]) => {
    const { world } = on;
    await world.slack.acts.say(cat, opsAgents, text);
    const { ts = "" } = world.slack.workspace.messages.findLast(({ author }) => author === cat) ?? {};
    await on.refused(() => world.slack.shortcut(ben, "run_on_message", { channel: opsAgents, ts }), {
      user: ben,
      because: null,
      says: "task",
    });
  },
);

const byOthers = attacks<People, readonly [string, string, Expected]>(
  12,
  40,
  [
    [
      "a guest starts a run from a message",
      guest,
      { user: guest, because: "guest", says: "command-refusal:guest" },
    ],
    [
      "an outsider starts a run from a message",
      outsider,
      { user: outsider, because: "outsider", says: "command-refusal:outsider" },
    ],
  ],
  async (on, [, user, expected]) => {
    await on.refused(async () => {
      await useShortcut(on, user);
      return on.world.fillModal(user, "deploy it now");
    }, expected);
  },
);

export const shortcutCases: readonly Attack<People>[] = [...replayed, ...ofOthers, ...approving, ...byOthers];
