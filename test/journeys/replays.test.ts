import { describe, expect, test } from "vitest";
import { buttonsOf, modalText, textOf } from "../make/journey-sight.ts";
import { saysInJson } from "../make/message-id.ts";
import { ana, ben, cat, opsAgents, aWorld } from "../make/world.ts";

const TASK = "deploy billing-api to production";

describe.concurrent("duplicates", () => {
  test("a repeated command starts one run, and is answered each time", async (context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, "just say once");
    const command = world.lastPayload("slash_commands");
    expect(await Promise.all([world.deliverCommand(command), world.deliverCommand(command)])).toEqual([
      { ok: true, ack: {} },
      { ok: true, ack: {} },
    ]);
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.tasksSent()).toEqual(["just say once"]);
    expect(world.posted().filter(({ thread }) => thread === null)).toEqual([opening]);
  });

  test("a repeated click is told that it is not needed, and the open modal still works", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    const click = world.lastPayload("block_actions");
    await world.deliver(click);
    await world.until(() => world.ephemeralsFor(ben).length > 0);
    await world.deliver(click);
    expect(world.viewOf(ben)).toBe(modal);
    await world.fillModal(ben, "once");
    await world.becomes(card, "approved", "once");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "once" }]);
  });

  test("a repeated submit is acknowledged, and the decision is sent once", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "once");
    const submit = world.lastPayload("view_submission");
    expect(await world.deliver(submit)).toMatchObject({ ok: true });
    await world.saidIn(opening, "outcome:succeeded");
    expect(await world.deliver(submit)).toMatchObject({ ok: true });
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "once" }]);
  });

  test("two copies of a submit at the same moment send the decision once", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Deny");
    await Promise.all(["no", "no", "no"].map((reason) => world.forgeSubmit(ben, modal, reason)));
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "no" }]);
  });

  test("a second submit by the same person for the same card is told that it is already decided", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const first = await world.openForm(ben, card, "Approve");
    await world.openForm(ben, card, "Deny");
    await world.fillModal(ben, "on second thoughts");
    await world.becomes(card, "denied");
    const answer = JSON.stringify(await world.forgeSubmit(ben, first, ""));
    expect(saysInJson("refusal:already-decided", answer)).toBe(true);
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "on second thoughts" }]);
  });
});

describe.concurrent("forged payloads", () => {
  test.for([
    ["an unknown value", { value: "A".repeat(22) }],
    ["a value that is not a nonce", { value: "../../etc/passwd" }],
    ["an empty value", { value: "" }],
  ])("a click with %s opens nothing", async ([, forged], context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    const click = world.lastPayload("block_actions");
    await world.slack.acts.close(ben, modal.id);
    const [action] = click["actions"] as [object];
    await world.deliver({ ...click, actions: [Object.assign({}, action, forged)] });
    await world.told(ben, "refusal:unknown");
    expect(world.hasForm(ben)).toBe(false);
    expect(buttonsOf(card)).toEqual(["Approve", "Deny"]);
    expect(world.decisions()).toEqual([]);
  });

  test("a card's button decides nothing under another message or in another channel", async (context) => {
    // The app looks for the message, which is not in the channel that the payload names.
    const world = await aWorld(context, { troubled: true });
    const { opening, card } = await world.asking(ana, opsAgents, "two approvals for the release");
    const other = await world.cardOf(opening, 1);
    const modal = await world.openForm(ben, card, "Approve");
    const click = world.lastPayload("block_actions");
    await world.slack.acts.close(ben, modal.id);
    const message = click["message"] as object;
    for (const lie of [
      { message: { ...message, ts: other.ts }, container: { type: "message", message_ts: other.ts } },
      { channel: { id: "C0RELEASES", name: "releases" } },
    ]) {
      await world.deliver({ ...click, ...lie });
      await world.told(ben, "refusal:unknown");
      expect(world.hasForm(ben)).toBe(false);
    }
    expect(world.decisions()).toEqual([]);
  });

  test("a modal with a made-up nonce decides nothing", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    for (const nonce of ["B".repeat(22), "", "null", modal.view["private_metadata"] === "" ? "x" : "{}"]) {
      const forged = { ...modal, view: { ...modal.view, private_metadata: nonce } };
      const outcome = await world.forgeSubmit(ben, forged, "please");
      expect(saysInJson("refusal:unknown", JSON.stringify(outcome))).toBe(true);
    }
    expect(buttonsOf(card)).toEqual(["Approve", "Deny"]);
    expect(world.decisions()).toEqual([]);
  });

  test("a card's nonce is refused in a modal, and a modal's nonce on a card", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    const click = world.lastPayload("block_actions");
    const [action] = click["actions"] as { value: string }[];
    const asModal = { ...modal, view: { ...modal.view, private_metadata: action?.value } };
    const answer = JSON.stringify(await world.forgeSubmit(ben, asModal, "x"));
    expect(saysInJson("refusal:unknown", answer)).toBe(true);
    await world.deliver({ ...click, actions: [{ ...action, value: modal.view["private_metadata"] }] });
    await world.told(ben, "refusal:unknown");
    expect(world.decisions()).toEqual([]);
  });

  test("a Deny form still denies if a copy of it has another title", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Deny");
    const dressed = { ...modal.view, title: { type: "plain_text", text: "Approve request" } };
    await world.forgeSubmit(ben, { ...modal, view: dressed }, "as the store has it");
    await world.becomes(card, "denied");
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "as the store has it" }]);
  });

  test("payloads without required fields change nothing, and the app keeps working", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    const click = world.lastPayload("block_actions");
    const { message: _message, ...lacking } = click;
    await world.deliver(lacking);
    await world.deliver({ ...click, user: { id: "not an id" } });
    await world.deliver({
      type: "view_submission",
      user: { id: ben },
      view: { callback_id: "decision_modal" },
    });
    await world.deliver({ type: "block_actions" });
    await world.fillModal(ben, "still here");
    await world.becomes(card, "approved", "still here");
    expect(world.decisions()).toHaveLength(1);
  });

  test("a submit that comes too late is not shown the reason of the decision before it", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const late = await world.openForm(cat, card, "Approve");
    await world.decide(ben, card, "Approve", "between us");
    await world.becomes(card, "approved");
    await world.fillModal(cat, "mine too");
    expect(modalText(late)).not.toContain("between us");
    expect(textOf(card)).not.toContain("mine too");
  });
});
