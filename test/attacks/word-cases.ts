// Commands and messages from people who may not do this, in the hope that words alone decide, start or reveal something.

import { ben, bot, cat, guest, opsAgents, outsider } from "../make/world.ts";
import type { Saying } from "../make/message-id.ts";
import { type Attack, attacks } from "./classes.ts";
import type { Body, Expected, People } from "./people-cases.ts";

async function typedBy(
  on: People,
  user: string,
  text: string,
  expected: Omit<Expected, "user">,
): Promise<void> {
  await on.refused(() => on.world.command(user, opsAgents, text), { user, ...expected });
}

const WORDS = [
  "approve",
  "approve all",
  "deny",
  "yes",
  "ok",
  "lgtm",
  "Approve!",
  "decide approve",
  "resolve",
  "confirm",
  "👍",
];
const byText = attacks<People, readonly [string]>(
  11,
  1,
  WORDS.map((word) => [`"${word}" as a command`] as const),
  (on, [what]) => {
    const word = /"(.*)"/.exec(what)?.[1] ?? "";
    return typedBy(on, ben, `${word} ${on.ids.run}`, {
      because: "unknown-command",
      says: /^(?:confirm|resolve)/.test(word) ? "answer:did-you-mean-run" : "answer:decide-on-card",
    });
  },
);
const bySaying = attacks<People, readonly [string, string]>(
  11,
  20,
  [
    ['"approve" said in the channel', "approve"],
    ["the bot is told to approve", "<@U0COUNTERSIGN> approve this"],
    ["a command inside a message", "/agent approve"],
  ],
  async (on, [, text]) => {
    await on.world.slack.acts.say(ben, opsAgents, text).catch(() => undefined);
  },
);

type Typed = readonly [
  what: string,
  person: string,
  text: (on: People) => string,
  because: string,
  says: Saying,
];
const commandsOfOthers = attacks<People, Typed>(
  12,
  1,
  [
    ["a guest starts a run", guest, () => "run something", "guest", "command-refusal:guest"],
    ["an outsider starts a run", outsider, () => "run something", "outsider", "command-refusal:outsider"],
    ["a bot starts a run", bot, () => "run something", "bot", "command-refusal:bot"],
    ["a guest watches a run", guest, () => "watch run_1", "guest", "command-refusal:guest"],
    [
      "an outsider watches a run",
      outsider,
      ({ ids }) => `watch ${ids.run}`,
      "outsider",
      "command-refusal:outsider",
    ],
    ["a guest unwatches a run", guest, ({ ids }) => `unwatch ${ids.run}`, "guest", "command-refusal:guest"],
    [
      "an outsider lets a run go",
      outsider,
      ({ ids }) => `unwatch ${ids.run}`,
      "outsider",
      "command-refusal:outsider",
    ],
  ],
  (on, [, user, text, because, says]) => typedBy(on, user, text(on), { because, says }),
);

const fromOutside = attacks<People, Typed>(
  14,
  1,
  [
    [
      "someone who is not in the channel asks about its run",
      cat,
      ({ ids }) => `status ${ids.hidden}`,
      "unknown-run",
      "command-refusal:unknown-run",
    ],
    [
      "someone who is not in the channel watches its run",
      cat,
      ({ ids }) => `watch ${ids.hidden}`,
      "unknown-run",
      "command-refusal:unknown-run",
    ],
    [
      "someone who is not in the channel lets its run go",
      cat,
      ({ ids }) => `unwatch ${ids.hidden}`,
      "unknown-run",
      "command-refusal:unknown-run",
    ],
    [
      "someone who is not an admin asks who decided",
      ben,
      () => "report",
      "not-admin",
      "command-refusal:not-admin",
    ],
  ],
  (on, [, user, text, because, says]) => typedBy(on, user, text(on), { because, says }),
);
const noList = attacks<People, readonly [string, string, Saying]>(
  9,
  1,
  [
    ["a person who is in no channel sees no run", "list", "answer:list:empty"],
    ["a person who is in no channel sees nothing that waits", "pending", "answer:pending:empty"],
  ],
  async (on, [, text, says]) => {
    await on.world.command(ben, opsAgents, "help");
    const body = { ...on.world.lastPayload("slash_commands"), user_id: "U0SOLO", text };
    await on.refused(() => on.world.deliverCommand(body), {
      user: "U0SOLO",
      because: null,
      says,
    });
  },
);

/** Returns an `app_mention` as Slack sends it, in the name of this person. */
const mention = (user: string, text: string, channel: string = opsAgents) => ({
  type: "event_callback",
  team_id: "T0SANDBOX",
  api_app_id: "A0COUNTERSIGN",
  event_id: "Ev0FORGED",
  authorizations: [{ team_id: "T0SANDBOX", user_id: "U0COUNTERSIGN", is_bot: true }],
  event: { type: "app_mention", user, channel, ts: `${Math.floor(Date.now() / 1_000)}.000001`, text },
});
const mentioned = (on: People, body: Body): Promise<unknown> =>
  on.world.slack.deliverRaw({ kind: "events_api", body });

const byMention = attacks<People, readonly [string, string, string, Saying]>(
  11,
  30,
  [
    ["a mention that approves", "approve this", "unknown-command", "answer:decide-on-card"],
    ["a mention that says yes", "yes, go on", "unknown-command", "answer:decide-on-card"],
    ["a mention that denies with an id", "deny apr_1", "unknown-command", "answer:decide-on-card"],
  ],
  (on, [, text, because, says]) =>
    on.refused(() => on.world.slack.acts.say(ben, opsAgents, `@countersign ${text}`), {
      user: ben,
      because,
      says,
    }),
);
const mentionsOfOthers = attacks<People, readonly [string, string, string, Saying]>(
  12,
  8,
  [
    ["a guest mentions it with a task", guest, "guest", "command-refusal:guest"],
    ["an outsider mentions it with a task", outsider, "outsider", "command-refusal:outsider"],
  ],
  async (on, [, user, because, says]) => {
    await on.refused(() => mentioned(on, mention(user, "<@U0COUNTERSIGN> deploy it now")), {
      user,
      because,
      says,
    });
  },
);
/** Slack shows no one an answer to these. */
const forgedMentions = attacks<People, readonly [string, Body]>(
  14,
  20,
  [
    [
      "a mention in a private channel one is not in",
      mention(cat, "<@U0COUNTERSIGN> deploy it now", "C0PAYMENTS"),
    ],
    [
      "a mention for another app",
      { ...mention(ben, "<@U0COUNTERSIGN> deploy it now"), api_app_id: "A0OTHER" },
    ],
    ["a mention by another app", mention(bot, "<@U0COUNTERSIGN> deploy it now")],
    ["a mention whose person is not an id", mention("Ben", "<@U0COUNTERSIGN> deploy it now")],
  ],
  async (on, [, body]) => void (await mentioned(on, body)),
);

const inAnothersPlace = attacks<People, readonly [string, (on: People) => string]>(
  10,
  5,
  [["another watches the run to become its requester in Ana's place", ({ ids }) => `watch ${ids.run}`]],
  (on, [, text]) =>
    typedBy(on, ben, text(on), { because: "already-watched", says: "command-refusal:already-watched" }),
);

export const wordCases: readonly Attack<People>[] = [
  ...noList,
  ...inAnothersPlace,
  ...byText,
  ...bySaying,
  ...byMention,
  ...mentionsOfOthers,
  ...forgedMentions,
  ...commandsOfOthers,
  ...fromOutside,
];
