import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Block, View } from "@slack/types";
import { queueBlocks } from "#src/adapters/slack/blocks/queue-list.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import type { QueueClickPayload } from "#src/adapters/slack/payloads.ts";
import { choiceOf, onQueueChoice } from "#src/adapters/slack/home-and-queue.ts";
import { queuePage } from "#src/adapters/slack/queue-page.ts";
import {
  decodeChoice,
  encodeChoice,
  EVERYTHING,
  filterOf,
  type QueueChoice,
  ruleValue,
  SHOW_MINE,
} from "#src/adapters/slack/queue-choice.ts";
import { UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { allUnreadable } from "#src/domain/snapshot.ts";
import { acceptBlocks } from "#sandbox/slack/rules-surface.ts";
import { failure } from "../../make/bot.ts";
import { idOf } from "../../make/message-id.ts";
import { aQueue } from "../../make/queue.ts";
import { anApproval, APPROVER, aWatchedRun, CHANNEL, NOON, TEAM, withApprovals } from "../../make/run.ts";
import { objectsIn, textOf, wire } from "./blocks/oracle.ts";

const deps = {
  team: TEAM,
  quick: async () => ({ permalink: "https://acme.slack.com/archives/C0OPS/p1" }),
  review: { valueFor: () => "value" },
} as unknown as Parameters<typeof queuePage>[0];

const page = (runs: readonly Run[], choice: QueueChoice) =>
  queuePage(
    deps,
    APPROVER,
    { ...aQueue(runs), channels: new Set([CHANNEL]), more: false, freezes: [] },
    choice,
  );

const runWith = (count: number, facts: Parameters<typeof aWatchedRun>[1] = {}): Run =>
  withApprovals(aWatchedRun(undefined, facts), ...Array.from({ length: count }, () => anApproval()));

describe("the pages of a queue", () => {
  test("have each request once, yours first, within Slack's limits", async () => {
    const runs = [runWith(22), runWith(20, { requester: APPROVER })];
    const seen: string[] = [];
    for (const at of [0, 1, 2]) {
      const drawn = await page(runs, { ...EVERYTHING, page: at });
      expect(drawn.pages).toBe(3);
      acceptBlocks(wire(queueBlocks(drawn)));
      seen.push(
        ...[...drawn.yours, ...drawn.others].map(({ item }) => `${item.run.requester} ${item.approval.id}`),
      );
    }
    expect(new Set(seen).size).toBe(42);
    expect(seen.findIndex((each) => each.startsWith(APPROVER))).toBe(22);
  });

  test("say that nothing waits with this filter only if there is one", async () => {
    const drawn = async (choice: QueueChoice) =>
      textOf(queueBlocks(await page([runWith(20, { requester: APPROVER })], choice)));
    for (const at of [0, 1])
      expect(await drawn({ ...EVERYTHING, page: at, menuName: "1" })).toContain("Nothing waits for you now.");
    expect(await drawn({ ...EVERYTHING, show: SHOW_MINE })).toContain("with this filter");
  });

  test("end with the last one, however far someone pages", async () => {
    expect((await page([runWith(3)], { ...EVERYTHING, page: 99 })).page).toBe(0);
  });

  test("show only what was chosen", async () => {
    const runs = [runWith(2), runWith(3, { requester: APPROVER })];
    expect((await page(runs, { ...EVERYTHING, show: SHOW_MINE })).counts).toMatchObject({
      yours: 0,
      others: 3,
    });
    expect((await page(runs, { ...EVERYTHING, show: ruleValue("another") })).counts).toMatchObject({
      yours: 0,
      others: 0,
    });
    const groups = (await page(runs, EVERYTHING)).groups.map(({ group: { kind }, together: count }) => [
      kind,
      count,
    ]);
    expect(groups).toEqual([["run", 2]]);
  });
});

test("a page that cannot be read is answered with what to do", async () => {
  const shown: (string | null)[] = [];
  const failing = {
    team: TEAM,
    queries: { pending: () => Promise.reject(failure("store_failed")) },
    quick: async (_method: string, { view }: { view: View }) => shown.push(idOf(view)),
    log: { warn: () => undefined },
  } as unknown as ListenerDeps;
  const actions = [{ action_id: "queue_page", value: encodeChoice(EVERYTHING) }];
  const where = { channel: { id: CHANNEL }, response_url: "https://hooks.slack.com/actions/x" };
  const press = { user: { id: APPROVER }, trigger_id: "1.2.x", actions, ...where };
  await onQueueChoice(failing, press as unknown as QueueClickPayload);
  expect(shown).toEqual(["answer:queue-not-read"]);
});

describe("the chosen filters", () => {
  const choice: fc.Arbitrary<QueueChoice> = fc.record({
    show: fc.oneof(fc.constantFrom("all", SHOW_MINE), fc.string({ maxLength: 100 }).map(ruleValue)),
    channel: fc.constantFrom(null, CHANNEL),
    page: fc.integer({ min: 0, max: 9_999 }),
    menuName: fc.constantFrom("", "12345.98765.0123abcdef", "1795694400000"),
  });

  test("survive a button", () => {
    fc.assert(
      fc.property(choice, (each) => {
        expect(decodeChoice(encodeChoice(each))).toEqual(each);
      }),
    );
  });

  test("fall back to everything, whatever else a button carries", () => {
    for (const text of [
      "",
      "all",
      "page=-1",
      "page=1e9",
      "channel=U0BEN",
      "show=constructor",
      "show=rule:a rule in the words of an earlier version",
      "menus=a:b",
      "\u0000",
    ])
      expect(decodeChoice(text)).toEqual(EVERYTHING);
  });

  test("are read from the menus, and start at the first page", () => {
    const values = {
      "queue_filters:0": {
        queue_show: { selected_option: { value: SHOW_MINE } },
        queue_channel: { selected_conversation: CHANNEL },
      },
    };
    const click = (action_id: string, more: object): QueueClickPayload => ({
      user: { id: UserId("U0BEN") },
      trigger_id: "1",
      actions: [{ action_id }],
      ...more,
    });
    const due = { show: SHOW_MINE, channel: CHANNEL, page: 0, menuName: "1" };
    expect(choiceOf(click("queue_show", { state: { values } }))).toEqual(due);
    expect(choiceOf(click("queue_channel", { view: { type: "home", state: { values } } }))).toEqual(due);
    expect(choiceOf(click("queue_show", {}))).toEqual({ ...EVERYTHING, menuName: "1" });
  });

  test("are read from menus that an earlier version drew", () => {
    const values = { queue_filters: { queue_show: { selected_option: { value: SHOW_MINE } } } };
    const view = { type: "home", state: { values } };
    const click = { user: { id: APPROVER }, trigger_id: "1", actions: [{ action_id: "queue_show" }], view };
    expect(choiceOf(click as unknown as QueueClickPayload)).toMatchObject({ show: SHOW_MINE });
  });

  const gone = "Production deploys of the billing systems and Production deploys outside hours 🌍";
  test.each(["gone", gone, "🌍".repeat(40)])(
    "are shown in the menus, even if nothing waits under %j",
    async (name) => {
      const blocks = queueBlocks(await page([runWith(3)], { ...EVERYTHING, show: ruleValue(name) }));
      acceptBlocks(wire(blocks));
      const menu = objectsIn(wire(blocks)).find((each) => each["action_id"] === "queue_show");
      expect(menu?.["initial_option"]).toMatchObject({ value: ruleValue(name) });
      expect(menu?.["options"]).toContainEqual(menu?.["initial_option"]);
      expect(textOf([menu?.["initial_option"]])).toContain(`Rule: ${name.slice(0, 40)}`);
    },
  );

  test("name the rules that wait, and say how many do not fit in the menu", async () => {
    const drawn = await page([runWith(2)], EVERYTHING);
    const names = Array.from({ length: 92 }, (_, at) => `rule ${at}`);
    const words = (rules: readonly string[]) => textOf(queueBlocks({ ...drawn, rules }));
    expect(words(names.slice(0, 90))).not.toContain("not in the menu");
    expect(words(names.slice(0, 91))).toContain("1 rule is not in the menu");
    expect(words(names)).toContain("2 rules are not in the menu");
    expect(words(names)).toContain("The list below has their requests too.");
  });

  test("do not say that a filtered list has the requests of the rules that do not fit in the menu", async () => {
    const rules = Array.from({ length: 92 }, (_, at) => `rule ${at}`);
    const choices = [
      { ...EVERYTHING, show: SHOW_MINE },
      { ...EVERYTHING, channel: CHANNEL },
    ];
    for (const choice of choices) {
      const words = textOf(queueBlocks({ ...(await page([runWith(2)], choice)), rules }));
      expect(words).toContain("2 rules are not in the menu");
      expect(words).toContain("Press Show everything to list their requests too.");
      expect(words).not.toContain("The list below has their requests");
    }
  });

  test("find a rule whatever Slack makes of & < > in its name", () => {
    const name = "Payments & refunds";
    const digest = ruleValue(name).slice(0, "rule:0123456789ab:".length);
    for (const written of [name, "Payments &amp; refunds", "Payments   refunds"]) {
      const { rule } = filterOf({ ...EVERYTHING, show: `${digest}${written}` }, APPROVER);
      expect([rule?.(name), rule?.("Payments")]).toEqual([true, false]);
    }
    expect(ruleValue(name)).not.toContain("&");
  });

  test("tell rules with the same beginning apart", async () => {
    const names = ["of the day", "of the night"].map((end) => `${"Production deploys ".repeat(8)}${end}`);
    const runs = [runWith(2)];
    const queue = aQueue(runs);
    const yours = queue.yours.map((item, at) => ({ ...item, rule: { ...item.rule, name: names[at] ?? "" } }));
    const whole = { ...queue, yours, channels: new Set([CHANNEL]), more: false, freezes: [] };
    for (const name of names) {
      const drawn = await queuePage(deps, APPROVER, whole, { ...EVERYTHING, show: ruleValue(name) });
      acceptBlocks(wire(queueBlocks(drawn)));
      expect(drawn.yours.map(({ item }) => item.rule.name)).toEqual([name]);
    }
  });
});

describe("runs with requests that can't be read", () => {
  const unreadable = allUnreadable(null, "answer", { code: "garbled", why: "it is not JSON" }, NOON);
  const drawn = async (runs: number) =>
    textOf(
      queueBlocks(
        await page(
          Array.from({ length: runs }, () => ({ ...aWatchedRun(), unreadable })),
          EVERYTHING,
        ),
      ),
    );

  test("are listed, and those that are not listed are counted", async () => {
    expect(await drawn(5)).not.toContain("Not listed here");
    expect(await drawn(6)).toContain(
      "Not listed here: 1 run whose requests can't be read. Its thread says why.",
    );
    expect(await drawn(7)).toContain(
      "Not listed here: 2 runs whose requests can't be read. Their threads say why.",
    );
  });
});

test("a full page stays within 50 blocks", async () => {
  const unreadable = Array.from({ length: 6 }, (): Run => ({
    ...runWith(3),
    unreadable: { count: 1, items: [], sample: "?" } as unknown as Run["unreadable"],
  }));
  const blocks: Block[] = queueBlocks({ ...(await page(unreadable, EVERYTHING)), more: true, pages: 2 });
  expect(blocks.length).toBeLessThanOrEqual(50);
});
