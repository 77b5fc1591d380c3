import { describe, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, modalText, textOf } from "../make/journey-sight.ts";
import { idOf } from "../make/message-id.ts";
import { ana, ben, cat, opsAgents, type Stage, aWorld } from "../make/world.ts";

const TASK = "deploy billing-api to production";

/** Starts a run that waits for approval, and resolves to the ids of both in the service. */
async function startWaitingRun(
  world: Stage,
): Promise<{ opening: Message; card: Message; run: string; approval: string }> {
  const { opening, card } = await world.asking(ana, opsAgents, TASK);
  const { id, approvals } = await world.runAt(TASK, ({ phase }) => phase === "awaiting_approval");
  return { opening, card, run: id, approval: approvals[0]?.id ?? "" };
}

describe.concurrent("a request that changes", () => {
  test("while a modal is open is not decided, and the modal shows what changed", async (context) => {
    const world = await aWorld(context);
    const { card, run, approval } = await startWaitingRun(world);
    const modal = await world.openForm(ben, card, "Approve");
    world.service.control.changeApproval(run, approval, { action: "Drop the billing database" });
    await world.fillModal(ben, "fine");
    expect(idOf(modal.view)).toBe("form:changed");
    expect(modalText(modal)).toContain("− action: Deploy billing-api to production");
    expect(modalText(modal)).toContain("+ action: Drop the billing database");
    expect(modal.view["submit"]).toBeUndefined();
    expect(world.decisions()).toEqual([]);
  });

  test("has a new version on its card, with buttons that work", async (context) => {
    const world = await aWorld(context);
    const { opening, card, run, approval } = await startWaitingRun(world);
    const late = await world.openForm(cat, card, "Approve");
    world.service.control.changeApproval(run, approval, { action: "Drop the billing database" });
    await world.becomes(card, "v2", "Drop the billing database");
    await world.decide(ben, card, "Deny", "certainly not");
    await world.becomes(card, "denied", "certainly not");
    await world.fillModal(cat, "too late");
    expect(idOf(late.view)).toBe("refusal:already-decided");
    expect(world.cardsOf(opening)).toEqual([card]);
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "certainly not" }]);
  });

  test("is not decided by a click on the previous version", async (context) => {
    const world = await aWorld(context);
    const { card, run, approval } = await startWaitingRun(world);
    const modal = await world.openForm(ben, card, "Approve");
    const click = world.lastPayload("block_actions");
    await world.slack.acts.close(ben, modal.id);
    world.service.control.changeApproval(run, approval, { action: "Drop the billing database" });
    await world.becomes(card, "v2");
    await world.deliver(click);
    await world.told(ben, "refusal:changed");
    expect(world.hasForm(ben)).toBe(false);
    expect(world.decisions()).toEqual([]);
  });

  test("between the submit and the sending is not decided, and its approver is notified", async (context) => {
    const world = await aWorld(context);
    const { card, run, approval } = await startWaitingRun(world);
    await world.openForm(ben, card, "Approve");
    // The look at the submit fails and the look before sending waits, so only the very last look sees the change.
    await world.service.control.down();
    await world.fillModal(ben, "as it was");
    await world.becomes(card, ["sending", "retrying"]);
    world.service.control.changeApproval(run, approval, { action: "Drop the billing database" });
    await world.service.control.up();
    await world.told(ben, "notice:decision-void:request-changed");
    await world.becomes(card, "past:1:request-changed", "Drop the billing database", `@${ben}`);
    expect(buttonsOf(card)).toEqual(["Approve", "Deny"]);
    expect(world.decisions()).toEqual([]);
  });
});

describe.concurrent("a request that changes while the POST of its decision is under way", () => {
  test.for([
    ["by the answer, which names another action", 200],
    ["by a look, while the answer has no body", 204],
  ] as const)("is not shown as approved. It is noticed %s", async ([, decideStatus], context) => {
    const world = await aWorld(context, { profile: { decideStatus } });
    const { opening, card, run, approval } = await startWaitingRun(world);
    const gate = world.service.control.fault({ route: "decide" }, { type: "gate" });
    const states = world.followedStates(card);
    await world.decide(ben, card, "Approve", "as it was");
    await world.service.requests.until(() => gate.hits() === 1);
    world.service.control.changeApproval(run, approval, { action: "Drop the billing database" });
    // A second request keeps the run waiting. Its card shows that the change was seen too.
    world.service.control.addApproval(run, { action: "Tell the customers" });
    await world.cardOf(opening, 1);
    gate.release();
    await world.becomes(card, "unconfirmed", "Deploy billing-api to production");
    await world.told(ben, "notice:decision-unconfirmed");
    expect(states).not.toContain("approved");
    expect(world.decisions()).toHaveLength(1);
  });
});

describe.concurrent("an approval that is no longer needed", () => {
  test("is closed when it is withdrawn, and an open modal says so", async (context) => {
    const world = await aWorld(context);
    const { opening, card, run, approval } = await startWaitingRun(world);
    const modal = await world.openForm(ben, card, "Approve");
    world.service.control.withdrawApproval(run, approval);
    await world.becomes(card, "closed");
    expect(buttonsOf(card)).toEqual([]);
    await world.fillModal(ben, "yes");
    expect(idOf(modal.view)).toBe("refusal:closed");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([]);
  });

  test("is closed when it is resolved elsewhere", async (context) => {
    const world = await aWorld(context);
    const { opening, card, run, approval } = await startWaitingRun(world);
    world.service.control.resolveElsewhere(run, approval, { verdict: "approve", reason: "at the console" });
    await world.becomes(card, "closed");
    await world.saidIn(opening, "outcome:succeeded");
    expect(textOf(card)).not.toContain("Approved");
    expect(world.decisions()).toEqual([]);
  });

  test("is shown as resolved elsewhere if that happens between the submit and the sending", async (context) => {
    const world = await aWorld(context);
    const { card, run, approval } = await startWaitingRun(world);
    // A second request keeps the run waiting.
    world.service.control.addApproval(run, { action: "Tell the customers" });
    const gate = world.service.control.fault({ route: "decide" }, { type: "gate" });
    await world.decide(ben, card, "Approve", "mine");
    await world.service.requests.until(() => gate.hits() === 1);
    world.service.control.resolveElsewhere(run, approval, { verdict: "deny", reason: "at the console" });
    gate.release();
    await world.becomes(card, "elsewhere", "already resolved");
    await world.told(ben, "notice:decision-refused");
    expect(textOf(card)).not.toContain("✅");
    expect(world.decisions()).toHaveLength(1);
  });

  test("is closed when the run ends, and the thread reports the end in the service's words", async (context) => {
    const world = await aWorld(context);
    const { opening, card, run } = await startWaitingRun(world);
    const modal = await world.openForm(ben, card, "Deny");
    world.service.control.cancel(run, "Stopped by the night shift.");
    await world.saidIn(opening, "outcome:canceled", "Stopped by the night shift.");
    await world.becomes(card, "closed");
    expect(buttonsOf(card)).toEqual([]);
    await world.fillModal(ben, "no");
    expect(idOf(modal.view)).toBe("refusal:closed");
    expect(world.decisions()).toEqual([]);
  });
});

describe.concurrent("an approval or a run that disappears", () => {
  test("uses the same card when it is requested again", async (context) => {
    const world = await aWorld(context);
    const { opening, card, run, approval } = await startWaitingRun(world);
    // A second request keeps the run waiting while the first is away.
    world.service.control.addApproval(run, { action: "Tell the customers" });
    await world.cardOf(opening, 1);
    world.service.control.withdrawApproval(run, approval);
    await world.becomes(card, "closed");
    world.service.control.returnApproval(run, approval);
    await world.becomes(card, "pending");
    await world.decide(ben, card, "Approve", "again");
    await world.becomes(card, "approved", "again");
    expect(world.cardsOf(opening)).toHaveLength(2);
  });

  test("is closed, and its thread notified, if the service no longer knows the run", async (context) => {
    const world = await aWorld(context);
    const { opening, card, run } = await startWaitingRun(world);
    world.service.control.vanish(run);
    await world.saidIn(opening, "thread:missing");
    await world.becomes(card, "closed");
    expect(buttonsOf(card)).toEqual([]);
  });
});
