import { describe, expect, test } from "vitest";
import { slackTiming } from "#sandbox/slack/slack-context.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, modalSays, modalText } from "../make/journey-sight.ts";
import { idOf, saysInJson } from "../make/message-id.ts";
import {
  ana,
  ben,
  bot,
  cat,
  guest,
  opsAgents,
  outsider,
  payments,
  type Stage,
  aWorld,
} from "../make/world.ts";

const TASK = "deploy billing-api to production";
/** How long a look-up of a person is shared (ms). Slack is asked again only after that. */
const SHARED_MS = 5_000;
const waits = (card: Message): void => expect(buttonsOf(card)).toEqual(["Approve", "Deny"]);

const nothingSent = (world: Stage, card: Message): void => {
  expect(world.decisions()).toEqual([]);
  waits(card);
};

describe.concurrent("two approvers", () => {
  test("the first to submit decides, and the second sees in the modal who did", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    const late = await world.openForm(cat, card, "Deny");
    await world.fillModal(ben, "first");
    await world.fillModal(cat, "second");
    expect(idOf(late.view)).toBe("refusal:already-decided");
    expect(modalText(late)).toContain(`<@${ben}>`);
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "first" }]);
  });

  test("who submit at the same moment decide once", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const modals = [await world.openForm(ben, card, "Approve"), await world.openForm(cat, card, "Deny")];
    await Promise.all([world.fillModal(ben, "from ben"), world.fillModal(cat, "from cat")]);
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toHaveLength(1);
    const open = modals.filter(({ id }) => world.slack.workspace.viewById(id) !== undefined);
    expect(open.map(({ view }) => idOf(view))).toEqual(["refusal:already-decided"]);
  });

  test("see in a private notice who decided, if they click a card that was just decided", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(cat, card, "Approve");
    const click = world.lastPayload("block_actions");
    await world.slack.acts.close(cat, modal.id);
    await world.decide(ben, card, "Deny", "no");
    await world.deliver(click);
    expect(await world.told(cat, "refusal:already-decided")).toContain(`<@${ben}>`);
    expect(world.hasForm(cat)).toBe(false);
    await world.becomes(card, "denied");
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "no" }]);
  });
});

describe.concurrent("a person who may not decide is told why, privately, at the click", () => {
  test.for([
    ["the requester", ana, "requester"],
    ["a guest", guest, "guest"],
    ["someone of another workspace", outsider, "outsider"],
    ["a bot", bot, "bot"],
  ] as const)("%s", async ([, person, refusal], context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.isRefused(person, card, "Approve", refusal);
    expect(world.hasForm(person)).toBe(false);
    nothingSent(world, card);
  });

  test("someone who is not in the private channel", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, payments, TASK);
    await world.openForm(ben, card, "Approve");
    expect(await world.click(cat, card, "Approve")).toMatchObject({ ok: false });
    const forged = { ...world.lastPayload("block_actions"), user: { id: cat, team_id: "T0SANDBOX" } };
    await world.deliver(forged);
    // The forged payload contains Ben's response URL, so the answer goes to him.
    await world.told(ben, "refusal:not-in-channel");
    expect(world.hasForm(cat)).toBe(false);
    nothingSent(world, card);
  });

  test("someone whom Slack cannot look up at the moment", async (context) => {
    const world = await aWorld(context, { troubled: true });
    // From before the card on, because counting who can approve also looks him up, and the click shares that answer.
    world.slack.faults.next("users.info", { http: 500 }, 50, ({ user }) => user === ben);
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.isRefused(ben, card, "Approve", "unverified");
    nothingSent(world, card);
    world.slack.faults.clear();
    await world.decide(ben, card, "Approve", "now");
  });
});

describe.concurrent("when the form is submitted", () => {
  test.for([
    ["a deactivated person", "refusal:deactivated", (world: Stage) => world.slack.faults.deactivate(ben)],
    ["a person who became a guest", "refusal:guest", (world: Stage) => world.slack.faults.makeGuest(ben)],
  ] as const)("%s is refused, and nothing is sent", async ([, refusal, happens], context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    await world.lateBy(SHARED_MS);
    happens(world);
    const outcome = await world.forgeSubmit(ben, modal, "as before");
    expect(outcome).toMatchObject({ ok: true, ack: { response_action: "update" } });
    expect(saysInJson(refusal, JSON.stringify(outcome))).toBe(true);
    nothingSent(world, card);
  });

  test("a person who left the private channel is refused, and nothing is sent", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, payments, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    await world.lateBy(SHARED_MS);
    world.slack.faults.removeFromChannel(payments, ben);
    await world.fillModal(ben, "as before");
    expect(idOf(modal.view)).toBe("refusal:not-in-channel");
    nothingSent(world, card);
  });

  test("a person whom Slack cannot look up keeps the modal with the typed text, and can try again", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    await world.lateBy(SHARED_MS);
    world.slack.faults.next("users.info", { http: 503 });
    await world.fillModal(ben, "worth keeping");
    expect(modalSays(modal, "refusal:unverified")).toBe(true);
    expect(JSON.stringify(modal.values)).toContain("worth keeping");
    nothingSent(world, card);
    await world.fillModal(ben, "worth keeping");
    await world.becomes(card, "approved", "worth keeping");
  });

  test("a person whom Slack looks up too slowly keeps the modal, within Slack's three seconds", async (context) => {
    const world = await aWorld(context, { troubled: true, timing: slackTiming });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    await world.lateBy(SHARED_MS);
    world.slack.faults.next("users.info", { hang: "before" });
    await world.fillModal(ben, "in vain");
    expect(modalSays(modal, "refusal:unverified")).toBe(true);
    nothingSent(world, card);
  });
});

describe.concurrent("a submit in another person's name", () => {
  test.for([
    ["the requester", ana],
    ["another approver", cat],
    ["a guest", guest],
  ] as const)("%s can't use a modal that is someone else's", async ([, person], context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    const outcome = await world.forgeSubmit(person, modal, "let me");
    expect(saysInJson("refusal:unknown", JSON.stringify(outcome))).toBe(true);
    nothingSent(world, card);
    await world.fillModal(ben, "mine");
    await world.becomes(card, "approved", "mine");
  });
});
