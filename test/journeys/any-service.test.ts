import { describe, expect, test } from "vitest";
import { buttonsOf, modalText, textOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, ben, opsAgents, aWorld } from "../make/world.ts";

const TASK = "deploy billing-api to production";

describe.concurrent("a service with a different interface", () => {
  test.for([
    ["approvals as full records", { pendingShape: "full" }, "Deploy billing-api"],
    ["approvals with fields of its own", { pendingShape: "extra" }, "rolling"],
    ["approvals of id and action", { pendingShape: "id and action" }, "Deploy billing-api"],
    ["approvals that lack the action", { pendingShape: "lacking" }, "did not say what"],
    ["approvals that are bare ids", { pendingShape: "bare id" }, "did not say what"],
    ["records around its approvals", { pendingShape: "nested" }, "Deploy billing-api"],
    ["another name for the id", { pendingShape: "approval_id" }, "Deploy billing-api"],
    ["nothing among its approvals", { pendingList: "list with nulls" }, "Deploy billing-api"],
    ["a record around the list", { pendingList: "items" }, "Deploy billing-api"],
    ["a record of its approvals by id", { pendingList: "by id" }, "Deploy billing-api"],
    [
      "all of that at once",
      { pendingShape: "nested", pendingList: "items", idStyle: "odd", readEchoesInput: true, staleReads: 2 },
      "Deploy billing-api",
    ],
    ["answers without a body", { createStatus: 200, decideStatus: 204 }, "Deploy billing-api"],
    [
      "a working state of its own",
      { runningState: "sleeping on it", resumedState: "thinking hard" },
      "Deploy",
    ],
    ["no working state at all", { runningState: null }, "Deploy billing-api"],
    ["other words for what was resolved", { approvedStatus: "granted", deniedStatus: "refused" }, "Deploy"],
    ["reads that are stale after a decision", { staleReads: 3 }, "Deploy billing-api"],
    ["reads that echo the task", { readEchoesInput: true }, "Deploy billing-api"],
    ["ids of any letters", { idStyle: "odd" }, "Deploy billing-api"],
    ["an Idempotency-Key that it honors", { honoursIdempotencyKey: true }, "Deploy billing-api"],
  ] as const)("works: %s", async ([, profile, shown], context) => {
    const world = await aWorld(context, { profile });
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    expect(textOf(card)).toContain(shown);
    const modal = await world.openForm(ben, card, "Approve");
    expect(modalText(modal)).toContain(shown);
    await world.fillModal(ben, "any service will do");
    await world.becomes(card, "approved");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "any service will do" }]);
    expect(world.cardsOf(opening)).toEqual([card]);
    expect(buttonsOf(card)).toEqual([]);
  });

  test("that answers everything with HTTP 202 is quoted, and the decision stays unconfirmed", async (context) => {
    const world = await aWorld(context, {
      profile: { createStatus: 202, decideStatus: 202, readStatus: 202 },
    });
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const said = world.followed(card);
    await world.decide(ben, card, "Approve", "any service will do");
    await world.saidIn(opening, "outcome:succeeded");
    await world.becomes(card, "unconfirmed", 'The service answered: "HTTP 202: {');
    expect(said.some((each) => each.includes("✅ Approved"))).toBe(false);
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "any service will do" }]);
  });

  test("is sent its own word for deny", async (context) => {
    const world = await aWorld(context, {
      profile: { denyWord: "reject" },
      env: { AGENT_DENY_DECISION: "reject" },
    });
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Deny", "no");
    await world.becomes(card, "denied");
    await world.reads(await world.saidIn(opening, "outcome:succeeded"), "not done");
    expect(world.decisions()).toEqual([{ decision: "reject", reason: "no" }]);
  });

  test("that expects another word for deny is not said to have accepted ours", async (context) => {
    const world = await aWorld(context, { profile: { denyWord: "reject" } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    const said = world.followed(card);
    await world.decide(ben, card, "Deny", "no");
    await world.told(ben, "notice:decision-refused", "must be 'approve' or 'reject'");
    await world.becomes(card, ["pending"]);
    expect(says("past:1:refused", card)).toBe(true);
    expect(said.some((each) => each.includes("⛔"))).toBe(false);
    expect(world.decisions()).toHaveLength(1);
  });

  test("that requires a reason to approve says so, and gets one", async (context) => {
    const world = await aWorld(context, { profile: { reasonRequired: "always" }, decidedTwice: true });
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "");
    await world.told(ben, "notice:decision-refused", "'reason' is required");
    await world.becomes(card, ["pending"]);
    expect(says("past:1:refused", card)).toBe(true);
    await world.decide(ben, card, "Approve", "here is one");
    await world.becomes(card, "approved");
    await world.saidIn(opening, "outcome:succeeded");
  });

  test("that uses an unknown state has the state shown by its name", async (context) => {
    const world = await aWorld(context, { profile: { runningState: "meditating" } });
    const opening = await world.run(ana, opsAgents, "work forever");
    await world.becomes(opening, "run:working", "meditating");
    const { id } = await world.runAt("work forever");
    world.service.control.finish(id, "Enlightened.");
    await world.saidIn(opening, "outcome:succeeded", "Enlightened.");
  });

  test.for(["record", "other json", "text", "empty"] as const)(
    'that refuses with a body of the kind "%s" is reported in plain words',
    async (errorBody, context) => {
      const world = await aWorld(context, { profile: { errorBody, denyWord: "reject" } });
      const { card } = await world.asking(ana, opsAgents, TASK);
      await world.decide(ben, card, "Deny", "no");
      await world.told(ben, "notice:decision-refused", "HTTP 400");
      await world.becomes(card, ["pending"]);
      expect(says("past:1:refused", card)).toBe(true);
      expect(world.decisions()).toHaveLength(1);
    },
  );

  test("with odd ids is asked for by the right ones", async (context) => {
    const world = await aWorld(context, { profile: { idStyle: "odd" } });
    const opening = await world.run(ana, opsAgents, "work forever");
    const { id } = await world.runAt("work forever");
    await world.becomes(opening, "run:working");
    await world.command(ben, opsAgents, `status ${id}`);
    await world.told(ben, "answer:status", "work forever");
    await world.command(ana, opsAgents, `unwatch ${id}`);
    await world.told(ana, "answer:unwatched");
    await world.command(ben, opsAgents, `watch ${id}`);
    await world.told(ben, "answer:watching");
    const card =
      (world.service.control.addApproval(id, { action: "Tell everyone" }), await world.cardOf(opening));
    await world.decide(ben, card, "Approve", "yes");
    await world.becomes(card, "approved");
  });
});
