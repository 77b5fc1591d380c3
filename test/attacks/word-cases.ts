// What is typed or said, by those who may not, in the hope that words alone decide, start or tell something.

import { ben, bot, cat, guest, opsAgents, outsider } from "../make/world.ts";
import { type Attack, attacks } from "./classes.ts";
import type { Expected, People } from "./people-cases.ts";

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
    return typedBy(on, ben, `${word} ${on.ids.run}`, { because: "unknown-command", words: "does not know" });
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
  words: string,
];
const commandsOfOthers = attacks<People, Typed>(
  12,
  1,
  [
    ["a guest starts a run", guest, () => "run something", "guest", "Guests can't start"],
    [
      "an outsider starts a run",
      outsider,
      () => "run something",
      "outsider",
      "Only members of this workspace",
    ],
    ["a bot starts a run", bot, () => "run something", "bot", "This account can't"],
    ["a guest watches a run", guest, () => "watch run_1", "guest", "Guests can't start"],
    ["an outsider watches a run", outsider, ({ ids }) => `watch ${ids.run}`, "outsider", "Only members"],
    ["a guest lets a run go", guest, ({ ids }) => `unwatch ${ids.run}`, "guest", "Guests can't start"],
    ["an outsider lets a run go", outsider, ({ ids }) => `unwatch ${ids.run}`, "outsider", "Only members"],
  ],
  (on, [, user, text, because, words]) => typedBy(on, user, text(on), { because, words }),
);

const fromOutside = attacks<People, Typed>(
  14,
  1,
  [
    [
      "somebody who is not in the channel asks about its run",
      cat,
      ({ ids }) => `status ${ids.hidden}`,
      "unknown-run",
      "no such run for you",
    ],
    [
      "somebody who is not in the channel watches its run",
      cat,
      ({ ids }) => `watch ${ids.hidden}`,
      "unknown-run",
      "no such run for you",
    ],
    [
      "somebody who is not in the channel lets its run go",
      cat,
      ({ ids }) => `unwatch ${ids.hidden}`,
      "unknown-run",
      "no such run for you",
    ],
  ],
  (on, [, user, text, because, words]) => typedBy(on, user, text(on), { because, words }),
);
const noList = attacks<People, readonly [string, string, string]>(
  9,
  1,
  [
    ["whoever is in no channel sees no run", "list", "There are no runs"],
    ["whoever is in no channel sees nothing that waits", "pending", "Nothing waits"],
  ],
  async (on, [, text, words]) => {
    await on.world.command(ben, opsAgents, "help");
    const body = { ...on.world.lastPayload("slash_commands"), user_id: "U0SOLO", text };
    await on.refused(() => on.world.deliverCommand(body), {
      user: "U0SOLO",
      because: null,
      words,
    });
  },
);

const inAnothersPlace = attacks<People, readonly [string, (on: People) => string]>(
  10,
  5,
  [["another watches the run to become its requester in Ana's place", ({ ids }) => `watch ${ids.run}`]],
  (on, [, text]) => typedBy(on, ben, text(on), { because: "already-watched", words: "already watched" }),
);

export const wordCases: readonly Attack<People>[] = [
  ...noList,
  ...inAnothersPlace,
  ...byText,
  ...bySaying,
  ...commandsOfOthers,
  ...fromOutside,
];
