// Attacks on the queue: buttons and forms of Review that are forged, replayed, another person's, or out of date.

import { expect } from "vitest";
import type { OpenView } from "#sandbox/slack/model.ts";
import { accepted } from "../make/journey-acts.ts";
import { elementsOf } from "../make/journey-sight.ts";
import { saysInJson } from "../make/message-id.ts";
import { ana, ben, cat, opsAgents, type Stage } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";
import type { Body } from "./people-cases.ts";

type Row = readonly [what: string, attack: (on: Story) => Promise<void>];
const stories = (kind: number, from: number, rows: readonly Row[]): readonly Attack<Story>[] =>
  attacks<Story, Row>(kind, from, rows, (on, [, attack]) => attack(on));

/** Opens Ben's Home tab and presses a button with this action. Resolves to the click as Slack sends it. */
async function pressOnHome(world: Stage, action: string): Promise<Body> {
  const block = await world.until(() => {
    const blocks = world.slack.workspace.homes.get(ben)?.view.blocks ?? [];
    return blocks.find((each) => elementsOf(each).some(({ action_id }) => action_id === action));
  });
  const view = world.slack.workspace.homes.get(ben)?.id ?? "";
  accepted(await world.slack.acts.click(ben, { view }, String(block.block_id), action));
  return world.lastPayload("block_actions");
}

async function reviewClick(world: Stage): Promise<Body> {
  await world.slack.openHome(ben);
  const click = await pressOnHome(world, "queue_review");
  await world.slack.acts.close(ben, (await world.modalOf(ben, "form:review")).id);
  return click;
}

const withAction = (click: Body, change: object, more: Body = {}): Body => {
  const [first] = click["actions"] as [object];
  return { ...click, actions: [{ ...first, ...change }], ...more };
};
const valueOf = (click: Body): string => (click["actions"] as [{ value: string }])[0].value;

/** Sends a forged click, which must open nothing and leave an audit entry. */
const click =
  (forge: (click: Body, on: Story) => Body, user = ben) =>
  async (on: Story): Promise<void> => {
    const forged = forge(await reviewClick(on.world), on);
    on.refused("unknown", user);
    await on.world.deliver(forged);
    expect(on.world.hasForm(ben) || on.world.hasForm(cat)).toBe(false);
    expect(on.decisions()).toEqual([]);
  };

const clicks = stories(6, 29, [
  ["Review with another reader's button", click((body) => ({ ...body, user: { id: cat } }), cat)],
  ["Review with the nonce alone", click((body) => withAction(body, { value: valueOf(body).split(".")[0] }))],
  [
    "Review with a made-up seal",
    click((body) => withAction(body, { value: `${valueOf(body).split(".")[0]}.AAAA` })),
  ],
  [
    "Review with a made-up nonce",
    click((body) => withAction(body, { value: `${"A".repeat(22)}.${valueOf(body).split(".")[1]}` })),
  ],
  ["Review without a value", click((body) => withAction(body, { value: "" }))],
  [
    "Review of one as a review of its run",
    click((body) => withAction(body, { action_id: "queue_review_run" })),
  ],
  ["Review with the approval's id", click((body, on) => withAction(body, { value: on.approval }))],
]);

type Values = { [block: string]: { [input: string]: object } };
type Form = {
  readonly form: OpenView;
  readonly blocks: readonly string[];
  readonly submit: (user: string, values: Values) => Promise<string>;
};

/** Opens Ben's form for two requests of one run. It can be submitted without Slack's client. */
export async function several(world: Stage): Promise<Form> {
  await world.slack.openHome(ben);
  await pressOnHome(world, "queue_review_run");
  const form = await world.modalOf(ben, "form:review-several");
  accepted(await world.slack.acts.submit(ben, form.id, {}));
  const sent = world.lastPayload("view_submission") as Body & { readonly view: Body };
  const blocks = form.view.blocks
    .map(({ block_id }) => String(block_id))
    .filter((id) => id.startsWith("verdict:"));
  return {
    form,
    blocks,
    submit: async (user, values) =>
      JSON.stringify(
        await world.deliver({ ...sent, user: { id: user }, view: { ...sent.view, state: { values } } }),
      ),
  };
}

function expectReviewed(answer: string): void {
  expect(saysInJson("form:reviewed", answer)).toBe(true);
}

export const chosen = (word: string): { verdict_chosen: object } => ({
  verdict_chosen: { selected_option: { value: word } },
});
const REASON = { reason_approve: { reason_text: { value: "let it through" } } };

/** Attacks the form for Ana's run with two requests. Whatever is tried, `left` decisions leave in all. */
const form =
  (attack: (on: Story, form: Form) => Promise<void>, left = 0) =>
  async (on: Story): Promise<void> => {
    const { opening } = await on.world.asking(ana, opsAgents, "two approvals");
    await on.world.cardOf(opening, 1);
    await attack(on, await several(on.world));
    await on.world.until(() => on.world.decisions().length >= left);
    expect(on.world.decisions()).toHaveLength(left);
  };

const forms = stories(6, 36, [
  [
    "a review form of another approver",
    form(async (on, { blocks, submit }) => {
      on.refused("unknown", cat);
      const answer = await submit(cat, { [blocks[0] ?? ""]: chosen("approve"), ...REASON });
      expectReviewed(answer);
    }),
  ],
  [
    "a verdict that the form does not offer",
    form(async (on, { blocks, submit }) => {
      on.refused("unknown");
      expectReviewed(await submit(ben, { [blocks[0] ?? ""]: chosen("APPROVE"), ...REASON }));
    }),
  ],
  [
    "a request that the form does not show, under its block",
    form(async (on, { submit }) => {
      const single = await on.world.openForm(ben, on.card, "Approve");
      const nonce = String(single.view["private_metadata"]);
      on.refused("unknown");
      await submit(ben, { [`verdict:${nonce}`]: chosen("approve"), ...REASON });
      on.refused("unknown");
      await submit(ben, { [`verdict:${"A".repeat(22)}`]: chosen("approve"), ...REASON });
    }),
  ],
  [
    "a request of another review form, its block swapped in",
    form(async (on, { blocks: [first = ""], submit }) => {
      for (const { id } of on.world.slack.workspace.viewsOf(ben).slice())
        await on.world.slack.acts.close(ben, id);
      const second = await several(on.world);
      on.refused("unknown");
      await second.submit(ben, { [first]: chosen("approve"), ...REASON });
      on.refused("unknown");
      await submit(ben, { [second.blocks[0] ?? ""]: chosen("approve"), ...REASON });
    }),
  ],
  [
    "one request of a review form, submitted as a form of its own",
    form(async (on, { form: open, blocks: [first = ""] }) => {
      on.refused("unknown");
      const view = {
        ...open.view,
        callback_id: "decision_modal",
        private_metadata: first.slice("verdict:".length),
      };
      await on.world.forgeSubmit(ben, { ...open, view }, "let it through");
    }),
  ],
]);

const typed = stories(6, 54, [
  [
    "a verdict typed as text in a review form",
    form(async (on, { blocks, submit }) => {
      on.refused("unknown");
      const text = { verdict_chosen: { value: "approve" } };
      expectReviewed(await submit(ben, { [blocks[0] ?? ""]: text, ...REASON }));
    }),
  ],
  [
    "the menu of reasons in a review form of someone else, or that no form has",
    form(async (on, { form: open, blocks }) => {
      const state = { values: Object.fromEntries(blocks.map((block) => [block, chosen("deny")])) };
      const choice = {
        ...on.world.lastPayload("view_submission"),
        type: "block_actions",
        actions: [{ action_id: "review_preset_chosen", selected_option: { value: "0" } }],
        view: { ...open.view, id: open.id, hash: open.hash, state },
      };
      const before = JSON.stringify(open.view);
      const unchanged = (): void => expect(JSON.stringify(open.view)).toBe(before);
      on.refused("unknown", cat);
      await on.world.deliver({ ...choice, user: { id: cat } });
      on.refused("unknown");
      await on.world.deliver({ ...choice, user: { id: ben } });
      unchanged();
    }),
  ],
]);

const replays = stories(29, 4, [
  [
    "a review form that is submitted twice, then with the other verdict",
    form(async (on, { blocks, submit }) => {
      const all = (word: string): Values => Object.fromEntries(blocks.map((block) => [block, chosen(word)]));
      await Promise.all([
        submit(ben, { ...all("approve"), ...REASON }),
        submit(ben, { ...all("approve"), ...REASON }),
      ]);
      on.refused("already-decided");
      const answer = await submit(ben, { ...all("deny"), reason_deny: { reason_text: { value: "no" } } });
      expectReviewed(answer);
    }, 2),
  ],
]);

const overtaken = stories(17, 9, [
  [
    "one of several requests, while the form is open: the others are decided",
    form(async (on, { blocks, submit }) => {
      const run = on.world.service.runs.all().find(({ input }) => input === "two approvals");
      const [first] = run?.approvals ?? [];
      on.world.service.control.changeApproval(run?.id ?? "", first?.id ?? "", { action: "drop everything" });
      on.refused("changed");
      const all = Object.fromEntries(blocks.map((block) => [block, chosen("approve")]));
      expectReviewed(await submit(ben, { ...all, ...REASON }));
    }, 1),
  ],
]);

export const queueCases: readonly Attack<Story>[] = [...clicks, ...forms, ...typed, ...overtaken, ...replays];
