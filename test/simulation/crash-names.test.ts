// Every call to the outside and every write has a name, and a process dies at each of them, before and after it takes effect.

import { expect, test } from "vitest";
import type { AgentService, Chat, People } from "#src/ports.ts";
import type { NotificationSender } from "#src/ports/notification.ts";
import type { Store } from "#src/ports/store.ts";
import { APPROVERS } from "./cast.ts";
import { type Choose, scriptedFortune } from "./fortune.ts";
import { WRITES } from "./gated-store.ts";
import { Stage, STORIES, type Story } from "./scenarios.ts";
import { inWorld, type SimulatedWorld } from "./world.ts";

/** The name of each method of a port. Null if it makes no call to the outside, or if no run depends on it. */
type Names<Port> = { readonly [Method in keyof Port]: string | null };

const SERVICE: Names<AgentService> = {
  create: "POST run",
  fetchRun: "GET run",
  sendDecision: "POST decision",
  health: null,
};
const CHAT: Names<Chat> = {
  post: "post",
  update: "update",
  find: "find",
  isThere: "is there",
  remove: "remove",
  upload: "upload",
  share: "share",
  hasFile: "has file",
  notify: "send-notice",
  waitForTurn: null,
  notifyIfQueued: null,
  raiseUrgency: null,
  shareLimits: null,
};
const PEOPLE: Names<People> = {
  lookUp: "who is",
  // Only used for lists of requests.
  channelsOf: null,
  membersOf: "members of",
  // Only asked about earlier decisions of other channels, of which the stories have none.
  isPublic: null,
  nameOf: null,
  memberOf: null,
  shareLimits: null,
};
const NOTIFICATIONS: Names<NotificationSender> = {
  post: "notification",
  postReceipts: "notification",
  // The simulator has no pictures, no files for admins and no copies of notifications.
  find: null,
  remove: null,
  attach: null,
  file: null,
};
/** Writes that no story has. Each is one transaction, and what follows it, such as an alarm, is derived from what it stored. */
const ALONE: readonly (keyof Store)[] = ["saveForms", "auditOnce", "dispute", "forget"];

const CALLS = [SERVICE, CHAT, PEOPLE, NOTIFICATIONS].flatMap((port) =>
  Object.values(port).filter((name) => name !== null),
);
const COMMITS = WRITES.filter((name) => !ALONE.includes(name)).map((name) => `store ${name}`);
const [ANA] = APPROVERS;
const LONG = { action: "delete the old certificates", details: { names: "a-certificate ".repeat(4_000) } };

/** A read has no effect, so no process dies after it. */
const READS = new Set(["GET run", "find", "is there", "has file", ...Object.values(PEOPLE)]);
const CHANGING = CALLS.filter((name) => !READS.has(name));

const BEFORE = new Set(["dies"]);
const AFTER = new Set(["dies-sent", "dies-done"]);

const LONG_REQUEST: Story = {
  replicas: 1,
  play: async (stage) => {
    stage.faultsBegin();
    const run = await stage.start();
    await stage.asks(run, LONG);
    await stage.decides(ANA, "approve");
    await stage.ends(run);
  },
};

/** Neither the post of the card nor the share of its file is answered, so both are looked for, and the card is found twice. */
const LOST_MESSAGES: Story = {
  replicas: 1,
  play: async (stage) => {
    const { slack } = stage.world;
    stage.faultsBegin();
    const run = await stage.start();
    stage.goesWrong("share");
    stage.goesWrong("post card apr_1");
    const asked = stage.asks(run, LONG);
    for (let tries = 0; tries < 1_000 && slack.cards().length === 0; tries += 1) await stage.world.pass(10);
    for (const { message } of slack.cards()) slack.post(message.channel, message.run, message.slot);
    await asked;
    await stage.world.pass(120_000);
    await stage.decides(ANA, "approve");
    await stage.ends(run);
  },
};

/** Returns the name of a place, without the ids of this history. */
const nameOf = (place: string): string =>
  place
    .replace(/^GET .*/, (get) => (get.endsWith("answers") ? get : "GET run"))
    .replace(/^(post|update|find|remove) .*/, "$1");

type Death = {
  readonly name: string;
  readonly at: number;
  readonly way: number;
  readonly when: "before" | "after";
};

/** Returns the chances to die, before and after each call, in a story without faults. */
async function deathsIn(story: Story): Promise<readonly Death[]> {
  const deaths: Death[] = [];
  let at = 0;
  await played(story, (ways, place) => {
    for (const [way, word] of ways.entries()) {
      const when = BEFORE.has(word) ? "before" : AFTER.has(word) ? "after" : null;
      if (when !== null) deaths.push({ name: nameOf(place), at, way, when });
    }
    at += 1;
    return 0;
  });
  return deaths;
}

function played(story: Story, choose: Choose): Promise<SimulatedWorld> {
  const fortune = scriptedFortune(choose);
  const { replicas, rule } = story;
  return inWorld(fortune, rule === undefined ? { replicas } : { replicas, rule }, (world) =>
    story.play(new Stage(world, fortune)),
  );
}

test(
  "nothing is lost if a process dies before or after any call to the outside or any write",
  { timeout: 300_000 },
  async () => {
    const died = { before: new Set<string>(), after: new Set<string>() };
    for (const story of [...Object.values(STORIES), LONG_REQUEST, LOST_MESSAGES]) {
      for (const { name, at, way, when } of await deathsIn(story)) {
        if (died[when].has(name)) continue;
        let choice = 0;
        const world = await played(story, () => (choice++ === at ? way : 0));
        expect(world.states.get("a process dies"), `${when} ${name}`).toBeGreaterThan(0);
        died[when].add(name);
      }
    }
    expect([...CALLS, ...COMMITS].filter((name) => !died.before.has(name))).toEqual([]);
    expect([...CHANGING, ...COMMITS].filter((name) => !died.after.has(name))).toEqual([]);
  },
);
