import { describe, expect, test } from "vitest";
import { buttonsOf, elementsOf, modalSays, modalText, textOf } from "../make/journey-sight.ts";
import { ana, ben, cat, opsAgents, aWorld } from "../make/world.ts";

const TASK = "deploy billing-api to production";
/** Contains everything that careless handling would change. */
const REASON = "  Ja – «ok» \"2\" 'x' \\n \u00e9 e\u0301 👩‍💻\n\tline <two> & &amp; *b* `c` \u200b end \n";
const mentions = (message: { blocks: unknown }, person: string): number =>
  elementsOf(message.blocks).filter(({ type, user_id }) => type === "user" && user_id === person).length;

describe.concurrent("a run with one approval", () => {
  test("opens a thread that shows the requester, the task and the state", async (context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    await world.becomes(opening, "run:awaiting-approval", `@${ana}`, TASK, id);
    expect(opening).toMatchObject({ channel: opsAgents, thread: null });
  });

  test("posts its card in the thread and in the channel", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    expect(card).toMatchObject({ thread: opening.ts, broadcast: true });
    expect(buttonsOf(card)).toEqual(["Approve", "Deny"]);
    for (const words of [`@${ana}`, "Deploy billing-api to production", "risk", "high", "Replicas"])
      expect(textOf(card)).toContain(words);
  });

  test("continues when it is approved, with the reason byte for byte, and posts its output", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Approve");
    expect(modalText(modal)).toContain("Deploy billing-api to production");
    expect(await world.fillModal(ben, REASON)).toEqual({ ok: true });
    await world.becomes(card, "approved", `@${ben}`, "👩‍💻", "⟨U+200B⟩");
    const end = await world.saidIn(opening, "outcome:succeeded");
    await world.becomes(opening, "run:succeeded");

    expect(world.decisions()).toEqual([{ decision: "approve", reason: REASON }]);
    expect(buttonsOf(card)).toEqual([]);
    expect(textOf(end)).toContain("Done: deploy billing-api to production");
    expect(mentions(end, ana)).toBe(1);
    expect(world.cardsOf(opening)).toEqual([card]);
    const { approvals } = await world.runAt(TASK);
    expect(approvals).toMatchObject([{ state: { type: "decided", verdict: "approve", reason: REASON } }]);
  });

  test("may be approved without a reason", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: "" }]);
    expect(textOf(card)).toContain(`@${ben}`);
  });

  test("is denied with a reason, and its thread reports the denial", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Deny", "not on a Friday");
    await world.becomes(card, "denied", `@${ben}`, "not on a Friday");
    await world.reads(await world.saidIn(opening, "outcome:succeeded"), "not done", "not on a Friday");
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "not on a Friday" }]);
  });

  test.for([
    ["spaces and line ends", " \n\t \u00a0\u3000"],
    ["invisible characters", "\u200b\u2060\ufeff\u00ad\u3164\u202e"],
  ])("is not denied with a reason of nothing but %s", async ([, reason = ""], context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Deny");
    await world.fillModal(ben, reason);
    expect(modalSays(modal, "refusal:reason-needed")).toBe(true);
    expect(world.viewOf(ben)).toBe(modal);
    expect(buttonsOf(card)).toEqual(["Approve", "Deny"]);
    await world.fillModal(ben, "a real one");
    await world.becomes(card, "denied", "a real one");
    expect(world.decisions()).toEqual([{ decision: "deny", reason: "a real one" }]);
  });

  test("is not denied with an empty reason, even if the client allows it", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const modal = await world.openForm(ben, card, "Deny");
    expect(await world.fillModal(ben, "")).toMatchObject({ ok: false });
    for (const reason of [null, ""]) {
      const outcome = await world.forgeSubmit(ben, modal, reason);
      expect(outcome).toMatchObject({ ok: true, ack: { response_action: "errors" } });
    }
    expect(world.decisions()).toEqual([]);
  });
});

describe.concurrent("a run with several approvals", () => {
  test("continues when both of two are decided, each on its own card", async (context) => {
    const world = await aWorld(context);
    const { opening, card: first } = await world.asking(ana, opsAgents, "two approvals for the release");
    const second = await world.cardOf(opening, 1);
    await world.decide(cat, second, "Deny", "the migration is not reversible");
    await world.becomes(second, "denied");
    await world.becomes(opening, "run:awaiting-approval");
    expect(buttonsOf(first)).toEqual(["Approve", "Deny"]);
    await world.decide(ben, first, "Approve", "ship it");
    const end = await world.saidIn(opening, "outcome:succeeded");
    expect(textOf(end)).toContain("Reason: ship it");
    expect(world.decisions()).toEqual([
      { decision: "deny", reason: "the migration is not reversible" },
      { decision: "approve", reason: "ship it" },
    ]);
  });

  test("posts a card for each stage when the stage begins", async (context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, "roll out in stages");
    for (const [nth, stage] of ["staging", "canary", "production"].entries()) {
      const card = await world.cardOf(opening, nth);
      expect(world.cardsOf(opening)).toHaveLength(nth + 1);
      expect(textOf(card)).toContain(stage);
      await world.decide(ben, card, "Approve", `go: ${stage}`);
    }
    await world.saidIn(opening, "outcome:succeeded");
    const reasons = world.decisions().map(({ reason }) => reason);
    expect(reasons).toEqual(["go: staging", "go: canary", "go: production"]);
  });
});

describe.concurrent("a run that does not succeed", () => {
  test("reports in its thread how it failed, in the service's words", async (context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, "fail the nightly build");
    const end = await world.saidIn(opening, "outcome:failed");
    expect(textOf(end)).toContain("The build broke: 3 of 214 checks failed.");
    expect(mentions(end, ana)).toBe(1);
    await world.becomes(opening, "run:failed");
  });

  test("reports in its thread that it was canceled, in the service's words", async (context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, "cancel the nightly build");
    expect(textOf(await world.saidIn(opening, "outcome:canceled"))).toContain(
      "An operator canceled the run.",
    );
  });

  test("says that the service gave no reason if it gave none", async (context) => {
    const world = await aWorld(context, { profile: { tellsWhyItEnded: false } });
    const opening = await world.run(ana, opsAgents, "fail the nightly build");
    expect(textOf(await world.saidIn(opening, "outcome:failed"))).toContain("no reason");
  });
});
