// Reasons that a rule offers for a denial.

import { describe, expect, test } from "vitest";
import type { OpenView } from "#sandbox/slack/model.ts";
import { policyFile } from "../make/policy.ts";
import { ana, aWorld, ben, cat, type Choices, opsAgents, type Stage } from "../make/world.ts";

type Context = Parameters<typeof aWorld>[0];

const RULES = `rules:
  - name: strict
    approvers: anyone
    reason: { deny: 10 }
    deny-reasons: [Not during the freeze, Tests are missing, No]
`;

const withRules = (context: Context): Choices => ({ env: { POLICY_FILE: policyFile(RULES, context).path } });

/** Opens Ben's form for a denial. */
async function openDenial(world: Stage): Promise<OpenView> {
  const { card } = await world.asking(ana, opsAgents, "deploy billing-api to production");
  return world.openForm(ben, card, "Deny");
}

type MenuOption = { readonly text: { readonly text: string }; readonly value: string };

/** The text of a choice is what the person reads in the menu. */
function valueOf({ view }: OpenView, text: string): string {
  const menu = view.blocks.find(({ block_id }) => block_id === "preset") ?? { elements: [] };
  const [{ options } = { options: [] }] = menu["elements"] as { options: MenuOption[] }[];
  return options.find((option) => option.text.text === text)?.value ?? "";
}

const choose = (world: Stage, person: string, form: OpenView, text: string) =>
  world.slack.acts.click(person, { view: form.id }, "preset", "preset_chosen", valueOf(form, text));

type Field = { readonly block: string; readonly holds: string };

function reasonField({ view }: OpenView): Field {
  const block = view.blocks.find(({ block_id }) => block_id?.startsWith("reason"));
  if (block === undefined) throw new Error("the form has no field for a reason");
  const { initial_value = "" } = block["element"] as { initial_value?: string };
  return { block: String(block.block_id), holds: initial_value };
}

const untilFilled = (world: Stage, form: OpenView, text: string): Promise<Field> =>
  world.until(() => {
    const field = reasonField(form);
    return field.holds === text && field;
  });

/** Opens Ben's form for two requests at once. */
async function openTwoDenials(world: Stage): Promise<OpenView> {
  const { opening } = await world.asking(ana, opsAgents, "two approvals");
  await world.cardOf(opening, 1);
  await world.slack.openHome(ben);
  const block = await world.until(() =>
    world.slack.workspace.homes
      .get(ben)
      ?.view.blocks.find((each) => JSON.stringify(each).includes("queue_review_run")),
  );
  const home = world.slack.workspace.homes.get(ben)?.id ?? "";
  await world.slack.acts.click(ben, { view: home }, String(block.block_id), "queue_review_run");
  return world.modalOf(ben, "form:review-several");
}

const chooseForTwo = (world: Stage, person: string, form: OpenView, text: string) =>
  world.slack.acts.click(person, { view: form.id }, "preset", "review_preset_chosen", valueOf(form, text));

const verdictBlocks = ({ view }: OpenView): string[] =>
  view.blocks.map(({ block_id }) => String(block_id)).filter((each) => each.startsWith("verdict:"));

function denialField({ view }: OpenView): Field {
  const block = view.blocks.find(({ block_id }) => block_id?.startsWith("reason_deny"));
  const { initial_value = "" } = (block?.["element"] ?? {}) as { initial_value?: string };
  return { block: String(block?.block_id), holds: initial_value };
}

const submit = (world: Stage, { id }: OpenView, { block }: Field, text: string) =>
  world.slack.acts.submit(ben, id, { [block]: { reason_text: text } });

describe.concurrent("a reason that the rule offers", () => {
  test("fills the field, and the content of the field at the submit is sent", async (context) => {
    const world = await aWorld(context, withRules(context));
    const form = await openDenial(world);
    await choose(world, ben, form, "Not during the freeze");
    const field = await untilFilled(world, form, "Not during the freeze");
    expect(field.block).not.toBe("reason");
    await submit(world, form, field, "Not during the freeze of May");
    await world.until(() => world.decisions().length > 0);
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "Not during the freeze of May" }]);
  });

  test("is added after typed text, and a second reason after the first", async (context) => {
    const world = await aWorld(context, withRules(context));
    const form = await openDenial(world);
    world.slack.workspace.typeInto(form, { reason: { reason_text: "See ticket 12." } });
    await choose(world, ben, form, "Tests are missing");
    await untilFilled(world, form, "See ticket 12.\nTests are missing");
    await choose(world, ben, form, "Not during the freeze");
    const { holds, ...field } = await untilFilled(
      world,
      form,
      "See ticket 12.\nTests are missing\nNot during the freeze",
    );
    await submit(world, form, { holds, ...field }, holds);
    await world.until(() => world.decisions().length > 0);
    expect(world.decisions()).toEqual([{ decision: "deny", reason: holds }]);
  });

  test("that is too short for the rule causes an error at its field", async (context) => {
    const world = await aWorld(context, withRules(context));
    const form = await openDenial(world);
    await choose(world, ben, form, "No");
    const field = await untilFilled(world, form, "No");
    await submit(world, form, field, "No");
    expect(form.errors[field.block]).toContain("Too short");
    expect(world.decisions()).toEqual([]);
  });

  test("fills in what the person chose, even if the policy has other reasons by then", async (context) => {
    const policy = policyFile(RULES, context);
    const world = await aWorld(context, { env: { POLICY_FILE: policy.path } });
    const form = await openDenial(world);
    policy.write(RULES.replace("[Not", "[Ask the owner, Not"));
    await world.reload();
    await choose(world, ben, form, "Tests are missing");
    await untilFilled(world, form, "Tests are missing");
  });

  test("is not offered for an approval", async (context) => {
    const world = await aWorld(context, withRules(context));
    const { card } = await world.asking(ana, opsAgents, "deploy billing-api to production");
    const { view } = await world.openForm(ben, card, "Approve");
    expect(view.blocks.map(({ block_id }) => block_id)).not.toContain("preset");
  });

  test("fills the field for all denials in a form of several requests, and keeps the chosen verdicts", async (context) => {
    const world = await aWorld(context, withRules(context));
    const form = await openTwoDenials(world);
    const [first = "", second = ""] = verdictBlocks(form);
    await world.slack.acts.click(ben, { view: form.id }, first, "verdict_chosen", "deny");
    world.slack.workspace.typeInto(form, { reason_deny: { reason_text: "See ticket 12." } });
    await chooseForTwo(world, ben, form, "Not during the freeze");
    const field = await world.until(() => {
      const now = denialField(form);
      return now.holds !== "" && now;
    });
    expect(field.holds).toBe("See ticket 12.\nNot during the freeze");
    expect(verdictBlocks(form)).toEqual([first, second]);
    expect(form.values[first]).toEqual({ verdict_chosen: "deny" });
    const typed = { [field.block]: { reason_text: field.holds }, [second]: { verdict_chosen: "deny" } };
    await world.slack.acts.submit(ben, form.id, { ...form.values, ...typed });
    await world.until(() => world.decisions().length === 2);
    const denial = { decision: "deny", reason: field.holds };
    expect(world.decisions()).toEqual([denial, denial]);
  });

  test.for([
    ["another person", { user: { id: cat } }],
    [
      "a choice that is not offered",
      { actions: [{ action_id: "review_preset_chosen", selected_option: { value: "99" } }] },
    ],
    ["a request that the form does not show", { state: { values: { [`verdict:${"A".repeat(22)}`]: {} } } }],
    ["a form without requests", { state: { values: {} } }],
  ] as const)("changes no form of several when Slack's payload names %s", async ([, change], context) => {
    const world = await aWorld(context, withRules(context));
    const form = await openTwoDenials(world);
    await chooseForTwo(world, ben, form, "Not during the freeze");
    await world.until(() => denialField(form).holds !== "");
    const before = JSON.stringify(world.slack.workspace.views.map(({ view }) => view));
    const sent = world.lastPayload("block_actions") as { readonly view: object };
    const forged = "state" in change ? { view: { ...sent.view, ...change } } : change;
    await world.deliver({ ...sent, ...forged });
    await world.command(ben, opsAgents, "help");
    await world.told(ben, "answer:help");
    expect(JSON.stringify(world.slack.workspace.views.map(({ view }) => view))).toBe(before);
  });

  test.for([
    ["another person", { user: { id: cat } }],
    [
      "a made-up form",
      { view: { id: "V0MADEUP", hash: "1", private_metadata: "A".repeat(22), state: { values: {} } } },
    ],
    [
      "a choice that is not offered",
      { actions: [{ action_id: "preset_chosen", selected_option: { value: "99" } }] },
    ],
    [
      "a choice that is the name of a property",
      { actions: [{ action_id: "preset_chosen", selected_option: { value: "__proto__" } }] },
    ],
  ] as const)("is not filled in when Slack's payload names %s", async ([, change], context) => {
    const world = await aWorld(context, withRules(context));
    const form = await openDenial(world);
    await choose(world, ben, form, "Not during the freeze");
    await untilFilled(world, form, "Not during the freeze");
    const before = JSON.stringify(world.slack.workspace.views.map(({ view }) => view));
    await world.deliver({ ...world.lastPayload("block_actions"), ...change });
    await world.command(ben, opsAgents, "help");
    await world.told(ben, "answer:help");
    expect(JSON.stringify(world.slack.workspace.views.map(({ view }) => view))).toBe(before);
  });
});
