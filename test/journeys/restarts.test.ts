import { describe, expect, test } from "vitest";
import { buttonsOf, textOf } from "../make/journey-sight.ts";
import { idOf } from "../make/message-id.ts";
import { ana, ben, opsAgents, aWorld } from "../make/world.ts";

const TASK = "deploy billing-api to production";

describe.concurrent("after a restart on the same database", () => {
  test("unfinished runs are watched again without any command", async (context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, "work forever");
    const { id } = await world.runAt("work forever");
    await world.becomes(opening, "run:working");
    await world.stopApp();
    world.service.control.addApproval(id, { action: "Asked while nobody looked" });
    await world.startApp();
    const card = await world.cardOf(opening);
    expect(textOf(card)).toContain("Asked while nobody looked");
    await world.decide(ben, card, "Approve", "after the restart");
    await world.becomes(card, "approved");
    world.service.control.finish(id, "All done.");
    await world.saidIn(opening, "outcome:succeeded", "All done.");
  });

  test("a run that ended meanwhile is reported once", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    await world.stopApp();
    world.service.control.cancel(id, "Stopped by the night shift.");
    await world.startApp();
    await world.saidIn(opening, "outcome:canceled", "Stopped by the night shift.");
    await world.becomes(card, "closed");
    await world.stopApp();
    await world.startApp();
    await world.command(ana, opsAgents, "list");
    await world.told(ana, "answer:list");
    expect(world.threadOf(opening)).toHaveLength(2);
  });

  test("a card's buttons still work", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.becomes(opening, "run:awaiting-approval");
    await world.stopApp();
    await world.startApp();
    await world.decide(ben, card, "Deny", "buttons last");
    await world.becomes(card, "denied", "buttons last");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.cardsOf(opening)).toEqual([card]);
  });

  test("an open modal still works", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    await world.stopApp();
    expect(await world.fillModal(ben, "typed before")).toMatchObject({ ok: false });
    await world.startApp();
    await world.fillModal(ben, "typed before");
    expect(world.slack.workspace.viewById(modal.id)).toBeUndefined();
    await world.becomes(card, "approved", "typed before");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "typed before" }]);
  });

  test("an open form still starts one run", async (context) => {
    const world = await aWorld(context);
    await world.command(ana, opsAgents, "");
    await world.modalOf(ana, "task");
    await world.stopApp();
    await world.startApp();
    await world.fillModal(ana, "just say hello");
    const opening = await world.until(() => world.posted(opsAgents)[0]);
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.tasksSent()).toEqual(["just say hello"]);
  });

  test("a command and a submit from before are recognized as duplicates", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const command = world.lastPayload("slash_commands");
    await world.decide(ben, card, "Approve", "once");
    const submit = world.lastPayload("view_submission");
    await world.saidIn(opening, "outcome:succeeded");
    await world.stopApp();
    await world.startApp();
    await world.deliverCommand(command);
    expect(await world.deliver(submit)).toMatchObject({ ok: true });
    expect(world.tasksSent()).toEqual([TASK]);
    expect(world.decisions()).toHaveLength(1);
  });

  test("a decision that was recorded but never sent is sent once", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    await world.service.control.down();
    await world.fillModal(ben, "kept");
    await world.becomes(card, "retrying");
    await world.stopApp();
    await world.service.control.up();
    await world.startApp();
    await world.becomes(card, "approved", "kept");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "kept" }]);
  });

  test("a decision whose answer is outstanding is looked up before it is sent again", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const said = world.followed(card);
    const gate = world.service.control.fault({ route: "decide" }, { type: "gate", effect: true });
    await world.decide(ben, card, "Approve", "in flight");
    await world.service.requests.until(() => gate.hits() === 1);
    await world.stopApp();
    gate.release();
    await world.startApp();
    await world.becomes(card, "unconfirmed");
    await world.saidIn(opening, "outcome:succeeded");
    expect(said.some((each) => each.includes("✅"))).toBe(false);
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "in flight" }]);
  });

  test("a start whose answer is outstanding leads to a question, and is not repeated", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const gate = world.service.control.fault({ route: "create-run" }, { type: "gate", effect: true });
    const opening = await world.run(ana, opsAgents, TASK);
    await world.service.requests.until(() => gate.hits() === 1);
    await world.stopApp();
    gate.release();
    await world.startApp();
    const question = await world.saidIn(opening, "outcome:unknown:asked");
    expect(buttonsOf(question)).toEqual(["Start again", "Leave it"]);
    expect(world.tasksSent()).toEqual([TASK]);
  });

  test("a request that changed meanwhile has a new card version, and the open modal says so", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const { id, approvals } = await world.runAt(TASK, ({ phase }) => phase === "awaiting_approval");
    const modal = await world.openForm(ben, card, "Approve");
    await world.stopApp();
    world.service.control.changeApproval(id, approvals[0]?.id ?? "", { action: "Drop the billing database" });
    await world.startApp();
    await world.becomes(card, "v2", "Drop the billing database");
    await world.fillModal(ben, "as before");
    expect(idOf(modal.view)).toBe("form:changed");
    expect(world.decisions()).toEqual([]);
  });
});
