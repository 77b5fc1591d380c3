// Many people in the same second: everyone gets an answer, and Slack is called no more than it allows.

import { describe, expect, test } from "vitest";
import type { Answer, Call } from "#src/adapters/slack/clients.ts";
import { createPeople } from "#src/adapters/slack/people.ts";
import { ChannelId, GroupId, TeamId, UserId } from "#src/domain/ids.ts";
import { createHandClock } from "../../make/clock.ts";

const TEAM = TeamId("T0ACME");
const OPS = ChannelId("C0OPS");
const PEOPLE = Array.from({ length: 300 }, (_, nth) => UserId(`U0CROWD${nth}`));
const CHANNELS = PEOPLE.map((_, nth) => ChannelId(`C0CROWD${nth}`));
/** docs.slack.dev, rate limits: calls that Slack allows per minute. */
const MOST: { readonly [method: string]: number } = {
  "users.info": 100,
  "users.list": 20,
  "users.conversations": 50,
  "conversations.info": 50,
  "conversations.members": 100,
  "usergroups.users.list": 20,
};

function crowd({
  isPrivate = false,
  listed = PEOPLE,
}: { isPrivate?: boolean; listed?: readonly UserId[] } = {}) {
  const clock = createHandClock();
  const asked: { method: string; at: number }[] = [];
  let deactivated: UserId | null = null;
  const record = (id: unknown): Answer => ({ id, team_id: TEAM, deleted: id === deactivated });
  const answers: { readonly [method: string]: (args: { readonly [name: string]: unknown }) => Answer } = {
    "users.info": ({ user }) => ({ user: record(user) }),
    "users.list": () => ({ members: [{ id: 7 }, ...listed.map(record)] }),
    "users.conversations": () => ({ channels: [OPS, ...CHANNELS].map((id) => ({ id })) }),
    "conversations.info": ({ channel }) => ({ channel: { id: channel, is_private: isPrivate } }),
    "conversations.members": () => ({ members: [...PEOPLE] }),
    "usergroups.users.list": () => ({ users: [...PEOPLE] }),
  };
  const call: Call = async (method, args) => {
    asked.push({ method, at: clock.monotonic() });
    return answers[method]?.(args) ?? {};
  };
  const replica = () => createPeople(call, { team: TEAM, enterprise: null }, clock);
  const people = replica();
  const perMinute = (method: string): number =>
    Math.max(
      0,
      ...asked.map(
        ({ at: from }) =>
          asked.filter((each) => each.method === method && each.at >= from && each.at < from + 60_000).length,
      ),
    );
  const deactivate = (user: UserId): void => void (deactivated = user);
  return { clock, people, replica, asked, perMinute, deactivate };
}

const expectWithinLimits = ({ perMinute }: ReturnType<typeof crowd>): void => {
  for (const [method, most] of Object.entries(MOST))
    expect([method, perMinute(method) <= most]).toEqual([method, true]);
};

describe("a crowd", () => {
  test.for([false, true])(
    "of 300 is looked up at once, at the click and at the submit; private: %s",
    async (isPrivate) => {
      const world = crowd({ isPrivate });
      for (const maxAgeMs of [60_000, 5_000, 5_000]) {
        const found = Promise.all(PEOPLE.map((user) => world.people.lookUp(TEAM, user, OPS, maxAgeMs)));
        await world.clock.pass(1_700);
        expect((await found).every(({ kind, seesChannel }) => kind === "member" && seesChannel)).toBe(true);
        await world.clock.pass(8_000);
      }
      expectWithinLimits(world);
    },
  );

  test("gets no older answer than a single person does", async () => {
    const world = crowd();
    const last = PEOPLE.at(-1) ?? UserId("U0");
    await Promise.all(PEOPLE.slice(0, 20).map((user) => world.people.lookUp(TEAM, user, OPS, 5_000)));
    expect(await world.people.lookUp(TEAM, last, OPS, 5_000)).toMatchObject({ kind: "member" });
    world.deactivate(last);
    await world.clock.pass(5_001);
    await Promise.all(PEOPLE.slice(20, 40).map((user) => world.people.lookUp(TEAM, user, OPS, 5_000)));
    const asked = world.people.lookUp(TEAM, last, OPS, 5_000);
    await world.clock.pass(1_000);
    expect(await asked).toMatchObject({ kind: "deactivated" });
    expect(world.asked.filter(({ method }) => method === "users.list")).toHaveLength(2);
  });

  test("waits for its turn if Slack does not list someone", async () => {
    const world = crowd({ listed: PEOPLE.slice(0, 100) });
    await Promise.all(PEOPLE.slice(0, 20).map((user) => world.people.lookUp(TEAM, user, OPS, 5_000)));
    const stranger = PEOPLE.at(-1) ?? UserId("U0");
    const found = world.people.lookUp(TEAM, stranger, OPS, 5_000);
    await world.clock.pass(61_500);
    expect(await found).toMatchObject({ kind: "member" });
    expectWithinLimits(world);
  });

  test("shares one look-up of a group", async () => {
    const world = crowd();
    const group = GroupId("S0APPROVERS");
    await Promise.all(PEOPLE.map((user) => world.people.memberOf(user, [group], 5_000)));
    expect(world.asked.filter(({ method }) => method === "usergroups.users.list")).toHaveLength(1);
  });

  test("of twelve, each in another channel, is looked up at once however often they act, whichever of three replicas a click reaches", async () => {
    const world = crowd();
    const replicas = [world.people, world.replica(), world.replica()];
    for (const each of replicas) each.shareLimits(replicas.length);
    for (let round = 0; round < 12; round += 1) {
      const acting = PEOPLE.slice(0, 12).map((user, nth) => {
        // One replica gets more than its share of the clicks.
        const people = replicas[(nth * (round + 1)) % 4] ?? world.people;
        return people.lookUp(TEAM, user, CHANNELS[nth] ?? OPS, round % 2 === 0 ? 60_000 : 5_000);
      });
      const found = Promise.all(acting);
      await world.clock.pass(1_700);
      expect((await found).every(({ kind }) => kind === "member")).toBe(true);
      await world.clock.pass(8_300);
    }
    expectWithinLimits(world);
  });
});
