// Which requests wait for whom: Home and /agent pending.

import { describe, expect, test } from "vitest";
import type { OpenView } from "#sandbox/slack/model.ts";
import { accepted } from "../make/journey-acts.ts";
import { elementsOf, modalSays, modalText, textOf } from "../make/journey-sight.ts";
import { type Saying, says } from "../make/message-id.ts";
import { policyFile } from "../make/policy.ts";
import type { Stage } from "../make/world.ts";
import { ana, aWorld, ben, cat, guest, opsAgents } from "../make/world.ts";

const TASK = "deploy billing-api to production";

const TWO = `
rules:
  - name: two people
    approvers: anyone
    quorum: 2
`;

const home = (world: Stage, person: string) => world.slack.workspace.homes.get(person);

/** Resolves to what this person's Home tab shows, once it has this id. */
async function homeOf(world: Stage, person: string, id: Saying): Promise<string> {
  await world.slack.openHome(person);
  return world.until(() => {
    const view = home(world, person)?.view;
    return view !== undefined && says(id, view) && textOf({ blocks: view.blocks });
  });
}

async function pendingOf(world: Stage, person: string, id: Saying): Promise<string> {
  await world.command(person, opsAgents, "pending");
  return world.told(person, id);
}

describe.concurrent("a pending request", () => {
  test("is not listed for a guest, who cannot decide anything", async (context) => {
    const world = await aWorld(context);
    await world.asking(ana, opsAgents, TASK);
    expect(await homeOf(world, guest, "home:runs")).not.toContain("billing-api");
    expect(await pendingOf(world, guest, "answer:pending:empty")).not.toContain("billing-api");
  });

  test("no longer waits for a person who has voted, only for others", async (context) => {
    const { path } = policyFile(TWO, context);
    const world = await aWorld(context, { env: { POLICY_FILE: path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "first");
    await world.becomes(card, "rule:1-of-2");
    for (const shown of [
      await homeOf(world, ben, "queue:yours:none"),
      await pendingOf(world, ben, "queue:yours:none"),
    ])
      expect(shown).toContain("1 of 2");
    const open = home(world, ben);
    if (open === undefined) throw new Error("the Home tab was not published");
    const [button] = elementsOf(open.view.blocks).filter(({ action_id }) => action_id === "queue_review");
    expect(button).toMatchObject({ text: { text: "Deny" } });
    await press(world, ben, { view: open.id, blocks: open.view.blocks }, "queue_review");
    await world.modalOf(ben, "form:deny");
    const [rows] = [home(world, cat)];
    expect(rows).toBeUndefined();
    expect(await pendingOf(world, cat, "queue:yours")).toContain("1 of 2");
  });

  test("waits for others if the reader requested it", async (context) => {
    const world = await aWorld(context);
    await world.asking(ana, opsAgents, TASK);
    expect(await homeOf(world, ana, "queue:yours:none")).toMatch(/billing-api/i);
    expect(await homeOf(world, ben, "queue:yours")).toMatch(/billing-api/i);
    expect(buttonsIn(home(world, ana)?.view.blocks)).not.toContain("queue_review");
  });
});

test("Home is kept up to date while it is open", async (context) => {
  const world = await aWorld(context);
  await homeOf(world, ben, "queue:yours:none");
  const shows = (words: string) => (): boolean =>
    textOf({ blocks: home(world, ben)?.view.blocks ?? [] }).includes(words);
  const { card } = await world.asking(ana, opsAgents, TASK);
  await world.until(shows("Deploy billing-api"));
  await world.decide(cat, card, "Approve", "");
  await world.until(() => !shows("Deploy billing-api")());
});

const buttonsIn = (blocks: unknown): unknown[] => elementsOf(blocks).map(({ action_id }) => action_id);

type Place = { readonly view: string } | { readonly channel: string; readonly ts: string };
type Drawn = { readonly blocks: readonly { readonly block_id?: unknown }[] };

/** Clicks the first button of this kind in the list. */
async function press(world: Stage, person: string, at: Place & Drawn, action: string) {
  const block = at.blocks.find((each) => buttonsIn(each).includes(action));
  accepted(await world.slack.acts.click(person, at, String(block?.block_id), action));
}

/** Opens Home, and then the form behind a button in its list. */
async function reviewAtHome(world: Stage, person: string, id: Saying, action: string): Promise<OpenView> {
  await homeOf(world, person, "queue:yours");
  const open = home(world, person);
  if (open === undefined) throw new Error("the Home tab was not published");
  await press(world, person, { view: open.id, blocks: open.view.blocks }, action);
  return world.modalOf(person, id);
}

/** Returns the input of a form for several requests: a verdict for each request, and the reasons. */
function formInput(
  form: OpenView,
  verdicts: readonly ("approve" | "deny" | "leave")[],
  approve = "",
  deny = "",
) {
  const blocks = form.view.blocks
    .map((each) => String(each.block_id))
    .filter((id) => id.startsWith("verdict:"));
  return {
    ...Object.fromEntries(blocks.map((id, at) => [id, { verdict_chosen: verdicts[at] ?? "leave" }])),
    reason_approve: { reason_text: approve },
    reason_deny: { reason_text: deny },
  };
}

const verdictCount = (form: OpenView): number =>
  form.view.blocks.filter((each) => String(each.block_id).startsWith("verdict:")).length;

describe.concurrent("Review", () => {
  test("of a request whose file Slack refused says why no one can decide it here", async (context) => {
    const world = await aWorld(context, { troubled: true });
    world.slack.faults.next("files.getUploadURLExternal", { error: "storage_limit_reached" });
    const { card } = await world.asking(ana, opsAgents, "huge request");
    await world.becomes(card, "request:file-refused", "storage_limit_reached");
    const told = await reviewAtHome(world, ben, "refusal:file-refused", "queue_review");
    expect(modalText(told)).toContain("storage_limit_reached");
  });

  test("on Home opens the form, in which the person chooses a verdict", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const form = await reviewAtHome(world, ben, "form:review", "queue_review");
    const none = await world.slack.acts.submit(ben, form.id, { reason: { reason_text: "why" } });
    expect(none.ok).toBe(false);
    accepted(
      await world.slack.acts.submit(ben, form.id, {
        verdict: { verdict_chosen: "deny" },
        reason: { reason_text: "" },
      }),
    );
    expect(modalSays(form, "refusal:reason-needed")).toBe(true);
    accepted(
      await world.slack.acts.submit(ben, form.id, {
        verdict: { verdict_chosen: "deny" },
        reason: { reason_text: "not today" },
      }),
    );
    await world.becomes(card, "denied");
    expect(world.decisions()).toEqual([expect.objectContaining({ decision: "deny", reason: "not today" })]);
  });

  test("in the answer to pending opens the same form", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    await pendingOf(world, ben, "queue:yours");
    const answer = world.ephemeralMessages(ben).find((each) => says("answer:pending", each));
    if (answer === undefined) throw new Error("there is no private answer");
    await press(world, ben, answer, "queue_review");
    const form = await world.modalOf(ben, "form:review");
    accepted(
      await world.slack.acts.submit(ben, form.id, {
        verdict: { verdict_chosen: "approve" },
        reason: { reason_text: "" },
      }),
    );
    await world.becomes(card, "approved");
  });

  test("first shows what must be read, and then the form", async (context) => {
    const { path } = policyFile(TWO.replace("quorum: 2", "friction: { read-first: true }"), context);
    const world = await aWorld(context, { env: { POLICY_FILE: path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const reading = await reviewAtHome(world, ben, "form:read-first", "queue_review");
    accepted(await world.slack.acts.submit(ben, reading.id, {}));
    const form = await world.modalOf(ben, "form:review");
    accepted(
      await world.slack.acts.submit(ben, form.id, {
        verdict: { verdict_chosen: "approve" },
        reason: { reason_text: "" },
      }),
    );
    await world.becomes(card, "approved");
  });

  test("of several requests decides each as chosen, in one form", async (context) => {
    const world = await aWorld(context);
    const { opening } = await world.asking(ana, opsAgents, "two approvals");
    const cards = await Promise.all([0, 1].map((nth) => world.cardOf(opening, nth)));
    const form = await reviewAtHome(world, ben, "form:review-several", "queue_review_run");
    expect(verdictCount(form)).toBe(2);
    accepted(await world.slack.acts.submit(ben, form.id, formInput(form, [])));
    expect(modalSays(form, "error:nothing-chosen")).toBe(true);
    accepted(await world.slack.acts.submit(ben, form.id, formInput(form, ["approve", "deny"])));
    expect(modalSays(form, "refusal:reason-needed")).toBe(true);
    expect(world.decisions()).toEqual([]);
    accepted(await world.slack.acts.submit(ben, form.id, formInput(form, ["approve", "deny"], "yes", "no")));
    await Promise.all(cards.map((card) => world.becomes(card, ["approved", "denied"])));
    expect(
      world
        .decisions()
        .map(({ decision, reason }) => `${decision} ${reason}`)
        .toSorted(),
    ).toEqual(["approve yes", "deny no"]);
  });

  test("of several requests records all that it can, and lists what it refused", async (context) => {
    const world = await aWorld(context);
    const { opening } = await world.asking(ana, opsAgents, "two approvals");
    const cards = await Promise.all([0, 1].map((nth) => world.cardOf(opening, nth)));
    const form = await reviewAtHome(world, ben, "form:review-several", "queue_review_run");
    const [first] = cards;
    if (first === undefined) throw new Error("there is no card");
    await world.decide(cat, first, "Deny", "mine came first");
    await world.becomes(first, "denied");
    accepted(await world.slack.acts.submit(ben, form.id, formInput(form, ["approve", "approve"])));
    const summary = await world.modalOf(ben, "form:reviewed");
    expect(modalText(summary)).toMatch(/Recorded: 1 approval\.[^]*already denied/);
    await world.becomes(cards[1] ?? first, "approved");
    expect(world.decisions()).toHaveLength(2);
  });

  test("of several requests leaves out those with friction", async (context) => {
    const { path } = policyFile(
      "rules:\n  - name: word\n    approvers: anyone\n    when: { action: '*migrat*' }\n    friction: { type: yes }\n  - name: rest\n    approvers: anyone\n",
      context,
    );
    const world = await aWorld(context, { env: { POLICY_FILE: path } });
    for (const task of ["deploy web 1", "deploy web 2", "migrate the database"])
      await world.asking(ana, opsAgents, task);
    const form = await reviewAtHome(world, ben, "form:review-several", "queue_review_rule");
    expect(verdictCount(form)).toBe(2);
  });
});

test("a decision that cannot be delivered is shown on Home, in pending and in the list, until it is confirmed", async (context) => {
  const world = await aWorld(context);
  const { card } = await world.asking(ana, opsAgents, TASK);
  await homeOf(world, ben, "queue:yours");
  await world.openForm(ben, card, "Deny");
  await world.service.control.down();
  await world.fillModal(ben, "not today");
  await world.becomes(card, "retrying");
  const shows = (id: Saying) => (): boolean => says(id, home(world, ben)?.view ?? { blocks: [] });
  await world.until(shows("queue:undelivered"));
  expect(await pendingOf(world, ben, "queue:undelivered")).toContain("Deploy billing-api");
  await world.command(ana, opsAgents, "list");
  expect(await world.told(ana, "answer:list")).toMatch(/not confirmed yet[^]*not delivered yet/);
  await world.service.control.up();
  await world.becomes(card, "denied");
  await world.until(() => !shows("queue:undelivered")());
  expect(await pendingOf(world, cat, "answer:pending:empty")).not.toContain("billing-api");
});

test("Home that is open follows across a restart", async (context) => {
  const world = await aWorld(context);
  await homeOf(world, ben, "queue:yours:none");
  const before = home(world, ben)?.view;
  await world.stopApp();
  await world.startApp();
  await world.until(() => home(world, ben)?.view !== before);
  await world.asking(ana, opsAgents, TASK);
  await world.until(() =>
    textOf({ blocks: home(world, ben)?.view.blocks ?? [] }).includes("Deploy billing-api"),
  );
});

test("Home that is open follows a new policy", async (context) => {
  const policy = policyFile(TWO, context);
  const world = await aWorld(context, { env: { POLICY_FILE: policy.path } });
  await world.asking(ana, opsAgents, TASK);
  const shown = (): string => textOf({ blocks: home(world, ben)?.view.blocks ?? [] });
  expect(await homeOf(world, ben, "queue:yours")).toContain("0 of 2");
  policy.write("rules:\n  - name: read\n    approvers: anyone\n    friction: { read-first: true }\n");
  await world.reload();
  await world.until(() => shown().includes("read it first") && !shown().includes("0 of 2"), shown);
});
