import { describe, expect, test } from "vitest";
import { ChannelId, TeamId, UserId } from "#src/domain/ids.ts";
import { PortError } from "#src/ports.ts";
import type { Answer, Call } from "#src/adapters/slack/clients.ts";
import { createPeople, kindOf } from "#src/adapters/slack/people.ts";
import { type SlackUser, slackUser } from "#src/adapters/slack/answers.ts";
import { failureOf } from "./failing.ts";

const TEAM = TeamId("T0ACME");
const OTHER = TeamId("T0OTHER");
const BEN = UserId("U0BEN");
const OPS = ChannelId("C0OPS");
const home = { team: TEAM, enterprise: null };
const inOrg = { team: TEAM, enterprise: "E0ORG" };

const member: SlackUser = {
  id: BEN,
  team: TEAM,
  enterprise: null,
  teams: [],
  deleted: false,
  isBot: false,
  isGuest: false,
  name: null,
};

const sibling = { team: OTHER, enterprise: "E0ORG" };

describe("who someone is", () => {
  test.each<[string, Partial<SlackUser>, typeof home | typeof inOrg, string]>([
    ["a full member", {}, home, "member"],
    ["a guest", { isGuest: true }, home, "guest"],
    ["a bot", { isBot: true }, home, "bot"],
    ["deactivated", { deleted: true }, home, "deactivated"],
    ["of another workspace", { team: OTHER }, home, "outsider"],
    ["a guest of another workspace", { team: OTHER, isGuest: true }, home, "outsider"],
    ["a bot of another workspace", { team: OTHER, isBot: true }, home, "bot"],
    ["a deactivated guest", { deleted: true, isGuest: true }, home, "deactivated"],
    ["a deactivated bot", { deleted: true, isBot: true }, home, "deactivated"],
    ["of a sibling workspace of our organization", { ...sibling }, inOrg, "outsider"],
    [
      "a member here whose first workspace is a sibling",
      { ...sibling, teams: [OTHER, TEAM] },
      inOrg,
      "member",
    ],
    ["a guest here, likewise", { ...sibling, teams: [OTHER, TEAM], isGuest: true }, inOrg, "guest"],
    [
      "of another organization that claims our workspace",
      { team: OTHER, enterprise: "E0ELSE", teams: [TEAM] },
      inOrg,
      "outsider",
    ],
    ["of our organization, in no workspace", { team: "E0ORG", enterprise: "E0ORG" }, inOrg, "outsider"],
    ["of another organization", { team: OTHER, enterprise: "E0ELSE" }, inOrg, "outsider"],
    ["of no organization", { team: OTHER }, inOrg, "outsider"],
    ["of an organization, where we have none", { team: OTHER, enterprise: "E0ORG" }, home, "outsider"],
  ])("%s", (_who, facts, where, kind) => expect(kindOf({ ...member, ...facts }, where)).toBe(kind));

  const wireUser = { id: BEN, team_id: TEAM };
  test.each([
    ["deleted", { deleted: true }, { deleted: true }],
    ["a bot", { is_bot: true }, { isBot: true }],
    ["a workflow", { is_workflow_bot: true }, { isBot: true }],
    ["a connector", { is_connector_bot: true }, { isBot: true }],
    ["Slackbot", { id: "USLACKBOT" }, { isBot: true }],
    ["a multi-channel guest", { is_restricted: true }, { isGuest: true }],
    ["a single-channel guest", { is_ultra_restricted: true }, { isGuest: true }],
    [
      "of an organization",
      { enterprise_user: { enterprise_id: "E0ORG" } },
      { enterprise: "E0ORG", teams: [] },
    ],
    [
      "of workspaces of an organization",
      { enterprise_user: { enterprise_id: "E0ORG", teams: [TEAM, OTHER] } },
      { teams: [TEAM, OTHER] },
    ],
    [
      "a name like an admin's",
      { is_admin: true, name: "ana", real_name: "Ana" },
      { isGuest: false, isBot: false, name: "Ana" },
    ],
    [
      "a name in the profile",
      { profile: { real_name: "Ana Ruiz", display_name: "ana" } },
      { name: "Ana Ruiz" },
    ],
    ["a name that is not text", { real_name: 7, profile: "Ana" }, { name: null }],
  ])("is read from Slack's flags: %s", (_who, facts, read) => {
    expect(slackUser({ user: { ...wireUser, ...facts } })).toMatchObject(read);
  });

  test.each([{}, { user: {} }, { user: { id: 7, team_id: TEAM } }, { user: { id: BEN } }, null, "ok", []])(
    "is not guessed from a garbled answer: %j",
    (answer) => expect(() => slackUser(answer)).toThrow(PortError),
  );
});

function world(
  over: { readonly [method: string]: (args: { readonly [name: string]: unknown }) => Answer } = {},
) {
  const asked: string[] = [];
  let monotonic = 0;
  const answers: typeof over = {
    "users.info": ({ user }) => ({ user: { id: user, team_id: TEAM } }),
    "conversations.info": ({ channel }) => ({ channel: { id: channel, is_private: true } }),
    "users.conversations": () => ({ channels: [{ id: OPS }] }),
    ...over,
  };
  const call: Call = async (method, args) => {
    asked.push(method);
    return answers[method]?.(args) ?? {};
  };
  // The wall clock is set back all the while.
  const clock = { now: () => -monotonic, monotonic: () => monotonic, after: () => () => undefined };
  return { people: createPeople(call, home, clock), asked, later: (ms: number) => (monotonic += ms) };
}

const refuse = (code: string) => (): never => {
  throw new PortError("no", { applied: "no", retry: "never", code });
};

describe("a look-up", () => {
  test("asks who the person is and whether they see the channel", async () => {
    const { people } = world();
    expect(await people.lookUp(TEAM, BEN, OPS, 0)).toEqual({
      team: TEAM,
      user: BEN,
      kind: "member",
      seesChannel: true,
    });
  });

  test("reports that a private channel is not visible to people outside it", async () => {
    const { people } = world({ "users.conversations": () => ({ channels: [{ id: "C0ELSE" }] }) });
    expect(await people.lookUp(TEAM, BEN, OPS, 0)).toMatchObject({ seesChannel: false });
  });

  test("does not ask for memberships in a public channel", async () => {
    const { people, asked } = world({
      "conversations.info": ({ channel }) => ({ channel: { id: channel } }),
    });
    expect(await people.lookUp(TEAM, BEN, OPS, 0)).toMatchObject({ seesChannel: true });
    expect(asked).not.toContain("users.conversations");
  });

  test("treats a group direct message as a private channel", async () => {
    for (const kind of [{ is_mpim: true }, { is_im: true }]) {
      const { people } = world({
        "conversations.info": ({ channel }) => ({ channel: { id: channel, ...kind } }),
        "users.conversations": () => ({ channels: [] }),
      });
      expect(await people.lookUp(TEAM, BEN, OPS, 0)).toMatchObject({ seesChannel: false });
    }
  });

  test("shares an answer up to its maximum age, and asks again for an older one", async () => {
    const { people, asked, later } = world();
    const asks = (): number => asked.filter((method) => method === "users.info").length;
    await people.lookUp(TEAM, BEN, OPS, 5_000);
    later(5_000);
    await people.lookUp(TEAM, BEN, OPS, 5_000);
    expect(asks()).toBe(1);
    later(1);
    await people.lookUp(TEAM, BEN, OPS, 5_000);
    expect(asks()).toBe(2);
  });

  test("notices that a channel became private as fast as it looks up people", async () => {
    let is_private = false;
    const { people, later } = world({
      "conversations.info": ({ channel }) => ({ channel: { id: channel, is_private } }),
      "users.conversations": () => ({ channels: [] }),
    });
    expect(await people.lookUp(TEAM, BEN, OPS, 5_000)).toMatchObject({ seesChannel: true });
    is_private = true;
    later(5_001);
    expect(await people.lookUp(TEAM, BEN, OPS, 5_000)).toMatchObject({ seesChannel: false });
  });

  test.each(["users.info", "conversations.info", "users.conversations"])(
    "fails if %s fails, and asks again the next time",
    async (method) => {
      const fail = { times: 1 };
      const usual = world();
      const answer = (args: { readonly [name: string]: unknown }): Answer => {
        fail.times -= 1;
        if (fail.times >= 0) return refuse("ratelimited")();
        return method === "users.info"
          ? { user: { id: args["user"], team_id: TEAM } }
          : method === "conversations.info"
            ? { channel: { id: OPS, is_private: true } }
            : { channels: [{ id: OPS }] };
      };
      const { people } = world({ [method]: answer });
      expect(usual.asked).toEqual([]);
      expect(await failureOf(people.lookUp(TEAM, BEN, OPS, 60_000))).toMatchObject({ code: "ratelimited" });
      expect(await people.lookUp(TEAM, BEN, OPS, 60_000)).toMatchObject({
        kind: "member",
        seesChannel: true,
      });
    },
  );

  test("does not accept an answer about someone else", async () => {
    const { people } = world({ "users.info": () => ({ user: { id: "U0EVE", team_id: TEAM } }) });
    expect(await failureOf(people.lookUp(TEAM, BEN, OPS, 0))).toMatchObject({ code: "garbled" });
  });

  test("reads every page of a person's channels", async () => {
    const pages: { readonly [cursor: string]: Answer } = {
      "": { channels: [{ id: "C0A" }], response_metadata: { next_cursor: "two" } },
      two: { channels: [{ id: "C0B" }], response_metadata: { next_cursor: "three" } },
      three: { channels: [{ id: OPS }], response_metadata: { next_cursor: "" } },
    };
    const { people } = world({
      "users.conversations": ({ cursor }) => pages[typeof cursor === "string" ? cursor : ""] ?? {},
    });
    expect([...(await people.channelsOf(BEN, 0))]).toEqual(["C0A", "C0B", OPS]);
  });
});
