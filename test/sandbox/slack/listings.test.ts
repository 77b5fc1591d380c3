// What a single call of a method does not show: all pages, bounds, and data of other people.

import type { WebClient } from "@slack/web-api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RateLimited } from "#sandbox/slack/errors.ts";
import { createLimits } from "#sandbox/slack/limits.ts";
import type { Slack } from "#sandbox/slack/start-slack.ts";
import { ana, ben, clientOf, opsAgents, payments, refusal, startFull } from "./bolt-app.ts";

let slack: Slack;
let client: WebClient;

beforeEach(async () => {
  slack = await startFull();
  client = clientOf(slack);
});

afterEach(() => slack.stop());

const own = (more: object = {}) =>
  slack.workspace.post({ channel: opsAgents, author: slack.workspace.app.person, text: "mine", ...more });

test("the members of a channel are listed in pages, each once, and the last page says that it is the last", async () => {
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.conversations.members({
      channel: opsAgents,
      limit: 3,
      ...(cursor && { cursor }),
    });
    expect(page.members?.length).toBeLessThanOrEqual(3);
    seen.push(...(page.members ?? []));
    cursor = page.response_metadata?.next_cursor;
  } while (cursor);
  expect(seen).toEqual(slack.workspace.channels.get(opsAgents)?.members);
});

test("a history is bounded by oldest and latest, and includes the bounds only if requested", async () => {
  const [a, b, c] = ["a", "b", "c"].map((text) => own({ text }));
  const between = async (more: object): Promise<unknown> => {
    const bounds = { oldest: a?.ts ?? "", latest: c?.ts ?? "", ...more };
    const { messages = [] } = await client.conversations.history({ channel: opsAgents, ...bounds });
    return messages.map(({ text }) => text);
  };
  expect(await between({})).toEqual(["b"]);
  expect(await between({ inclusive: true })).toEqual(["c", "b", "a"]);
  expect(await between({ latest: b?.ts ?? "", inclusive: true })).toEqual(["b", "a"]);
  expect(await between({ oldest: "0", latest: "now" })).toEqual(["c", "b", "a"]);
});

test("an app sees a person's public channels, and their private channels only if it is a member, too", async () => {
  const named = async (user: string): Promise<unknown> => {
    const types = "public_channel,private_channel,im";
    const { channels = [] } = await client.users.conversations({ user, types });
    return channels.map((one) => one.name ?? "dm");
  };
  slack.workspace.dmOf(ana);
  expect(await named(ana)).toEqual(["ops-agents", "releases", "payments-ops", "random", "dm"]);
  slack.faults.removeFromChannel(payments, slack.workspace.app.person);
  expect(await named(ana)).toEqual(["ops-agents", "releases", "random", "dm"]);
  slack.faults.archive("C0RANDOM");
  const active = await client.users.conversations({ user: ben, exclude_archived: true });
  expect(active.channels?.map(({ name }) => name)).toEqual(["ops-agents", "releases"]);
});

test("the members of a disabled user group are listed only if disabled groups are requested", async () => {
  const usergroup = "S0OLDCREW";
  expect(await refusal(client.usergroups.users.list({ usergroup }))).toMatchObject({
    error: "no_such_subteam",
  });
  const listed = await client.usergroups.users.list({ usergroup, include_disabled: true });
  expect(listed.users).toEqual(["U0DEE"]);
});

test("a reaction is removed by the person who added it, and others stay", async () => {
  const message = own({ reactions: { eyes: [ana] } });
  const at = { channel: opsAgents, timestamp: message.ts, name: "eyes" };
  expect(await refusal(client.reactions.remove(at))).toMatchObject({ error: "no_reaction" });
  await client.reactions.add(at);
  expect(message.reactions).toEqual({ eyes: [ana, slack.workspace.app.person] });
  await client.reactions.remove(at);
  expect(message.reactions).toEqual({ eyes: [ana] });
});

test("a link to a reply contains its thread", async () => {
  const root = own();
  const reply = own({ thread: root.ts });
  const link = await client.chat.getPermalink({ channel: opsAgents, message_ts: reply.ts });
  expect(link.permalink).toBe(
    `${slack.url}archives/${opsAgents}/p${reply.ts.replace(".", "")}?thread_ts=${root.ts}&cid=${opsAgents}`,
  );
});

test("a message can be posted to a channel by its #name, too", async () => {
  expect(await client.chat.postMessage({ channel: "#ops-agents", text: "x" })).toMatchObject({
    channel: opsAgents,
  });
});

test.each([
  ["tier 1", "tier1", 1],
  ["tier 2", "tier2", 20],
  ["tier 3", "tier3", 50],
  ["tier 4", "tier4", 100],
] as const)(
  "a method of %s is refused one call beyond its limit, until the minute is over",
  (_name, tier, most) => {
    let time = 0;
    const limits = createLimits({ now: () => time, on: true });
    for (let call = 0; call < most; call++) limits.call("m", tier);
    expect(() => limits.call("m", tier)).toThrow(RateLimited);
    expect(() => limits.call("another", tier)).not.toThrow();
    time = 60_000;
    expect(() => limits.call("m", tier)).not.toThrow();
  },
);
