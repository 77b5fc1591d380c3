import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ana, aSharedWorld, opsAgents, type Stage } from "../make/world.ts";
import { type Door, doorCases } from "./door-cases.ts";
import { floodCases } from "./flood-cases.ts";
import { expectNoWords, rowsOf, stateOf } from "./ground.ts";
import { knockOn, requestOf, shutOutAfter } from "./knock.ts";

/** A text in every request that must not be accepted. */
const MARK = "zqxmarkzqx";

describe("in HTTP mode", () => {
  const stage = aSharedWorld({ entrance: "http", troubled: true });
  let before: unknown;
  beforeAll(() => (before = stateOf(stage())));

  // This attack restarts the app, so it must run after all others.
  const restarts = (each: { id: string }): boolean => each.id === "A04-19";
  const quiet = [...doorCases, ...floodCases].filter((each) => !restarts(each));
  const alone = doorCases.filter(restarts);

  test.concurrent.for(quiet.map((each) => [each.id, each.what, each] as const))(
    "%s %s",
    async ([, , attack]) => {
      await attack.run(doorOf(stage()));
      expect(stateOf(stage())).toEqual(before);
    },
  );

  describe("and across a restart", () => {
    test.for(alone.map((each) => [each.id, each.what, each] as const))("%s %s", async ([, , attack]) => {
      await attack.run(doorOf(stage()));
      expect(stateOf(stage())).toEqual(before);
    });
  });

  afterAll(async () => {
    const world = stage();
    // Anything begun earlier would be done before this command is.
    await world.command(ana, opsAgents, "help");
    await world.told(ana, "answer:help");
    expect(stateOf(world)).toEqual(before);
    await world.stopApp();
    expect(rowsOf(world, "select * from runs")).toEqual([]);
    // The app was started twice, and recorded its configuration and its policy each time.
    const starts = "'program-started', 'policy-loaded'";
    expect(rowsOf(world, `select * from audit where what not in (${starts})`)).toEqual([]);
    expectNoWords(world, [MARK, "x-slack-signature", "v0="]);
    expectFewLines(world);
  });
});

function doorOf(world: Stage): Door {
  const { signingSecret: secret, url, workspace } = world.slack;
  const command = (text: string): string =>
    new URLSearchParams({
      command: "/agent",
      text,
      team_id: workspace.team.id,
      api_app_id: workspace.app.id,
      user_id: ana,
      channel_id: opsAgents,
      trigger_id: `1.2.${randomBytes(6).toString("hex")}`,
      response_url: `${url}response/T0SANDBOX/forged`,
    }).toString();
  return {
    secret,
    run: () => command(`run ${MARK}`),
    help: () => command("help"),
    click: () => ({ type: "block_actions", user: { id: ana }, actions: [{ value: MARK }] }),
    knock: (knock) => knockOn(world.url(), requestOf(knock, secret)),
    raw: (...pieces) => knockOn(world.url(), ...pieces),
    bytes: (knock) => requestOf(knock, secret),
    shutOutAfter: (atMostMs) => shutOutAfter(world.url(), atMostMs),
    restart: async () => {
      await world.stopApp();
      await world.startApp();
    },
    get: async (path) => {
      const response = await fetch(`${world.url()}${path}`);
      return { status: response.status, body: await response.text() };
    },
    rejectedRequests: async (because) => {
      const { body } = await doorOf(world).get("/metrics");
      const count = new RegExp(`http_requests_rejected_total\\{reason="${because}"\\} (\\d+)`).exec(
        body,
      )?.[1];
      return Number(count ?? 0);
    },
  };
}

/** Expects at most one line of each kind in a minute, however many requests arrive. */
function expectFewLines(world: Stage): void {
  const kinds = world.logged
    .filter((line) => line.includes("rejected a request"))
    .map((line) => (JSON.parse(line) as { reason: string }).reason);
  expect(kinds).toEqual(
    expect.arrayContaining(["unsigned", "forged", "out-of-time", "replayed", "too-large"]),
  );
  // The app was started twice.
  for (const kind of new Set(kinds)) expect(kinds.filter((each) => each === kind).length).toBeLessThan(5);
}
