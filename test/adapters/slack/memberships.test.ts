// Who may decide under a rule that names or excepts the members of a channel, according to Slack.

import { describe, expect, test } from "vitest";
import type { Answer, Call } from "#src/adapters/slack/clients.ts";
import { createPeople } from "#src/adapters/slack/people.ts";
import { refusalToDecide } from "#src/domain/authorization.ts";
import { ChannelId, UserId } from "#src/domain/ids.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import { setsOfRule } from "#src/domain/rule-facts.ts";
import { lookUp } from "#src/engine/fresh-facts.ts";
import { PortError } from "#src/ports.ts";
import { createHandClock } from "../../make/clock.ts";
import { aRule } from "../../make/policy.ts";
import { APPROVER, aWatchedRun, CHANNEL, TEAM } from "../../make/run.ts";

const BEN = APPROVER;
const SECRET = ChannelId("C0CONTRACTORS");
const TEAMS = ChannelId("C0TEAMS");
/** Our own limit: ten pages of 200. */
const MOST = 2_000;

type Channel = { isPrivate: boolean; members: readonly UserId[]; hasApp: boolean };

/** As docs.slack.dev says, the app learns about private channels only while it is in them. */
function slackOf(channels: Map<string, Channel>) {
  const clock = createHandClock();
  const asked: { method: string; at: number }[] = [];
  const isSeen = ({ isPrivate, hasApp }: Channel): boolean => !isPrivate || hasApp;
  const seen = (id: unknown): Channel => {
    const found = channels.get(String(id));
    if (found !== undefined && isSeen(found)) return found;
    throw new PortError("no", { applied: "no", retry: "never", code: "channel_not_found" });
  };
  const paged = (all: readonly string[], cursor: unknown) => {
    const from = typeof cursor === "string" && cursor !== "" ? Number(cursor) : 0;
    const next_cursor = from + 200 < all.length ? String(from + 200) : "";
    return { page: all.slice(from, from + 200), response_metadata: { next_cursor } };
  };
  const answers: { readonly [method: string]: (args: { readonly [name: string]: unknown }) => Answer } = {
    "users.info": ({ user }) => ({ user: { id: user, team_id: TEAM } }),
    "users.list": () => ({ members: [] }),
    "users.conversations": ({ user, cursor }) => {
      const joined = [...channels].filter(
        ([, each]) => isSeen(each) && each.members.includes(UserId(String(user))),
      );
      const { page, ...more } = paged(
        joined.map(([id]) => id),
        cursor,
      );
      return { channels: page.map((id) => ({ id })), ...more };
    },
    "conversations.info": ({ channel }) => {
      const { isPrivate, hasApp } = seen(channel);
      return { channel: { id: channel, is_private: isPrivate, is_member: hasApp } };
    },
    "conversations.members": ({ channel, cursor }) => {
      const { page, ...more } = paged(seen(channel).members, cursor);
      return { members: page, ...more };
    },
  };
  const call: Call = async (method, args) => {
    asked.push({ method, at: clock.monotonic() });
    return answers[method]?.(args) ?? {};
  };
  return { people: createPeople(call, { team: TEAM, enterprise: null }, clock), clock, asked };
}

function workspace(secret: Partial<Channel> = {}, others = 0) {
  const channels = new Map<string, Channel>([
    [CHANNEL, { isPrivate: false, members: [BEN], hasApp: true }],
    [TEAMS, { isPrivate: true, members: [BEN], hasApp: true }],
  ]);
  for (let nth = 0; nth < others; nth += 1)
    channels.set(`C0OTHER${nth}`, { isPrivate: false, members: [BEN], hasApp: false });
  const contractors: Channel = { isPrivate: true, members: [], hasApp: false, ...secret };
  channels.set(SECRET, contractors);
  const { people, clock, asked } = slackOf(channels);
  const answer = async (user: UserId, rule: Rule): Promise<string> => {
    const run = aWatchedRun();
    const asks = { user, sets: setsOfRule(rule), maxAgeMs: 5_000 };
    const person = await lookUp({ people }, run, asks);
    return "type" in person ? person.type : (refusalToDecide(person, run, rule)?.type ?? "may");
  };
  return { channels, contractors, answer, people, clock, asked };
}

const channelsOnly = (...channels: readonly ChannelId[]) => ({ users: [], groups: [], channels });
const EXCEPT = aRule({ except: channelsOnly(SECRET) });
const AMONG = aRule({ approvers: channelsOnly(SECRET) });
const NAMED = aRule({ approvers: { users: [BEN], groups: [], channels: [SECRET] } });
const OTHERS = Array.from({ length: MOST + 1 }, (_, nth) => UserId(`U0OTHER${nth}`));

describe("who is in a channel", () => {
  test.for<[string, Partial<Channel>, number, readonly [string, string, string]]>([
    [
      "private, without the app, and the person is in it",
      { members: [BEN] },
      0,
      ["unverified", "unverified", "may"],
    ],
    ["private, without the app, and the person is not in it", {}, 0, ["unverified", "unverified", "may"]],
    [
      "private, with the app, and the person is in it",
      { members: [BEN], hasApp: true },
      0,
      ["not-approver", "may", "may"],
    ],
    [
      "private, with the app, and the person is not in it",
      { hasApp: true },
      0,
      ["may", "not-approver", "may"],
    ],
    [
      "public, and the person is in it",
      { members: [BEN], isPrivate: false },
      0,
      ["not-approver", "may", "may"],
    ],
    ["public, and the person is not in it", { isPrivate: false }, 0, ["may", "not-approver", "may"]],
    [
      "beyond what we read of a person's channels",
      { members: [BEN], hasApp: true },
      MOST,
      ["not-approver", "may", "may"],
    ],
    ["beyond it, and without the app", { members: [BEN] }, MOST, ["unverified", "unverified", "may"]],
    ["beyond it, and the person is not in it", { hasApp: true }, MOST, ["may", "not-approver", "may"]],
    [
      "beyond it, and beyond what we read of its members",
      { members: [...OTHERS, BEN], hasApp: true },
      MOST,
      ["unverified", "unverified", "may"],
    ],
    [
      "beyond what we read of its members",
      { members: [...OTHERS, BEN], hasApp: true },
      0,
      ["not-approver", "may", "may"],
    ],
  ])("%s", async ([, secret, others, [excepted, among, named]]) => {
    const { answer } = workspace(secret, others);
    expect(await answer(BEN, EXCEPT)).toBe(excepted);
    expect(await answer(BEN, AMONG)).toBe(among);
    expect(await answer(BEN, NAMED)).toBe(named);
  });

  test("the person is also in a channel with an id of an unknown kind", async () => {
    const odd: Channel = { isPrivate: false, members: [BEN], hasApp: true };
    const { channels, answer } = workspace({ members: [BEN], hasApp: true });
    channels.set("X0TOMORROW", odd);
    expect(await answer(BEN, EXCEPT)).toBe("not-approver");
    expect(await answer(BEN, AMONG)).toBe("may");
  });

  test("a person whom the rule excepts removes the app from the channel", async () => {
    const { contractors, answer, clock } = workspace({ members: [BEN], hasApp: true });
    const cat = UserId("U0CAT");
    expect(await answer(cat, EXCEPT)).toBe("may");
    expect(await answer(BEN, EXCEPT)).toBe("not-approver");
    contractors.hasApp = false;
    await clock.pass(5_001);
    expect(await answer(BEN, EXCEPT)).toBe("unverified");
  });

  test("the app joins it, which counts a minute later", async () => {
    const { contractors, answer, clock } = workspace();
    expect(await answer(BEN, EXCEPT)).toBe("unverified");
    contractors.hasApp = true;
    await clock.pass(60_001);
    expect(await answer(BEN, EXCEPT)).toBe("may");
  });

  test("a channel that the app cannot see blocks neither other rules nor a crowd", async () => {
    const { people, clock, asked } = workspace({ members: [BEN] });
    for (let round = 0; round < 4; round += 1) {
      const found = Promise.all(
        OTHERS.slice(0, 300).map((user) => people.memberOf(user, [SECRET, TEAMS], 5_000)),
      );
      await clock.pass(1_700);
      for (const each of await found) expect([...each]).toEqual([[TEAMS, false]]);
      await clock.pass(8_300);
    }
    for (const [method, most] of [
      ["conversations.info", 50],
      ["users.conversations", 50],
      ["conversations.members", 100],
    ] as const)
      expect([method, asked.filter((each) => each.method === method).length <= most]).toEqual([method, true]);
  });
});
