import { describe, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, textOf } from "../make/journey-sight.ts";
import { cardStateOf, idOf, says } from "../make/message-id.ts";
import { ana, ben, cat, opsAgents, type Stage, aWorld } from "../make/world.ts";

const TASK = "deploy billing-api to production";
const REASON = "looks fine\n";
const ONCE = { decision: "approve", reason: REASON };

type Past = { readonly said: readonly string[]; readonly states: readonly (string | null)[] };

/**
 * Starts a run that waits for approval. Resolves to its card, everything that the card ever shows, and the fault that the decision will
 * hit.
 */
async function startWithFault(
  world: Stage,
  ...fault: Parameters<Stage["service"]["control"]["fault"]>
): Promise<{ opening: Message; card: Message; past: Past }> {
  const { opening, card } = await world.asking(ana, opsAgents, TASK);
  world.service.control.fault(...fault);
  return { opening, card, past: { said: world.followed(card), states: world.followedStates(card) } };
}

const decide = { route: "decide" } as const;
/** Whether the card has ever claimed that the service confirmed the decision. */
const claimsTooMuch = ({ said, states }: Past): boolean =>
  states.includes("approved") || said.some((each) => each.includes("✅"));

/** Holds every look at a run that comes after the next decision, until released. */
function heldAfterDecision({ service }: Stage): { readonly release: () => void } {
  const { requests, control } = service;
  let release = (): void => undefined;
  const stop = requests.subscribe(() => {
    if (requests.all(decide).length === 0) return;
    stop();
    ({ release } = control.fault({ route: "read-run" }, { type: "gate" }, "all"));
  });
  return { release: () => release() };
}

describe.concurrent("a decision whose answer is lost", () => {
  test("after it took effect is looked up and shown as sent, never as confirmed", async (context) => {
    const world = await aWorld(context);
    const { opening, card, past } = await startWithFault(world, decide, { type: "drop", effect: true });
    const looks = heldAfterDecision(world);
    await world.decide(ben, card, "Approve", REASON);
    await world.becomes(card, "checking");
    looks.release();
    await world.becomes(card, "unconfirmed");
    expect(says("cause:no-longer-listed", card)).toBe(true);
    await world.saidIn(opening, "outcome:succeeded");
    expect(claimsTooMuch(past)).toBe(false);
    expect(world.decisions()).toEqual([ONCE]);
  });

  test("before it took effect is sent again with the same content, if it is still listed", async (context) => {
    const world = await aWorld(context);
    const { opening, card, past } = await startWithFault(world, decide, { type: "drop" });
    await world.decide(ben, card, "Approve", REASON);
    await world.becomes(card, "checking");
    expect(claimsTooMuch(past)).toBe(false);
    await world.becomes(card, "approved");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([ONCE, ONCE]);
    const [first, second] = world.service.requests.all(decide);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(5_000);
  });

  test.for([
    ["HTTP 500 without effect", { type: "answer", status: 500 }, true],
    ["HTTP 500 with effect", { type: "answer", status: 500, effect: true }, false],
    ["HTTP 503 that names a time", { type: "answer", status: 503, headers: { "retry-after": "1" } }, true],
    ["half an answer", { type: "cut" }, false],
    ["an answer that is not JSON", { type: "garbage" }, false],
  ] as const)("with %s ends well or is said to be open", async ([, fault, again], context) => {
    const world = await aWorld(context);
    const { opening, card, past } = await startWithFault(world, decide, fault);
    await world.decide(ben, card, "Approve", REASON);
    await world.saidIn(opening, "outcome:succeeded");
    await world.becomes(card, again ? "approved" : "unconfirmed");
    expect(claimsTooMuch(past)).toBe(again);
    expect(world.decisions()).toEqual(again ? [ONCE, ONCE] : [ONCE]);
  });

  test("and whose request changes meanwhile is not sent again", async (context) => {
    const world = await aWorld(context);
    const { card, past } = await startWithFault(world, decide, { type: "drop" });
    const { id, approvals } = await world.runAt(TASK);
    await world.decide(ben, card, "Approve", REASON);
    await world.becomes(card, "checking");
    world.service.control.changeApproval(id, approvals[0]?.id ?? "", { action: "Drop the billing database" });
    await world.becomes(card, "unconfirmed");
    expect(says("cause:request-changed", card)).toBe(true);
    expect(claimsTooMuch(past)).toBe(false);
    expect(world.decisions()).toEqual([ONCE]);
  });

  test("cannot be decided by anyone else meanwhile", async (context) => {
    const world = await aWorld(context);
    const { card } = await startWithFault(world, decide, { type: "drop" });
    const late = await world.openForm(cat, card, "Deny");
    await world.decide(ben, card, "Approve", REASON);
    await world.becomes(card, "checking");
    await world.fillModal(cat, "no!");
    expect(idOf(late.view)).toBe("refusal:already-decided");
    await world.becomes(card, "approved");
    expect(world.decisions()).toEqual([ONCE, ONCE]);
  });
});

describe.concurrent("the output of a run that ends before the answer to its denial", () => {
  const REPORT = "Nothing was deployed. The report is in build 4711.";

  test.for([
    ["short", REPORT, "short"],
    ["long", `${REPORT}\n${"x".repeat(9_000)}`, "as a file"],
  ] as const)("stays in the thread, if it is %s", async ([, output, how], context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    const gate = world.service.control.fault(decide, { type: "gate", effect: true });
    await world.decide(ben, card, "Deny", "not now");
    await world.service.requests.until(() => gate.hits() === 1);
    world.service.control.finish(id, output);
    const outcome = await world.saidIn(opening, "outcome:succeeded");
    if (how === "as a file") await world.reads(outcome, "is attached to this thread");
    gate.release();
    await world.becomes(card, "denied");
    await world.reads(outcome, "its request was denied");
    expect(textOf(outcome)).toContain(REPORT);
    expect(textOf(outcome)).not.toContain("No output");
  });
});

describe.concurrent("a decision that the service refuses", () => {
  test.for([400, 404, 409, 422])(
    "with HTTP %i is never sent again, and its card opens again",
    async (status, context) => {
      const world = await aWorld(context, { decidedTwice: true });
      const body = { error: { code: "invalid_request", message: "Not while the moon is full." } };
      const { opening, card, past } = await startWithFault(world, decide, { type: "answer", status, body });
      await world.decide(ben, card, "Approve", REASON);
      await world.told(ben, "notice:decision-refused", "Not while the moon is full.");
      await world.becomes(card, "past:1:refused", "Not while the moon is full.");
      expect(cardStateOf(card)).toBe("pending");
      expect(buttonsOf(card)).toEqual(["Approve", "Deny"]);
      expect(textOf(card)).not.toMatch(/changed|earlier state/);
      expect(claimsTooMuch(past)).toBe(false);
      expect(world.decisions()).toEqual([ONCE]);

      await world.decide(cat, card, "Deny", "then not");
      await world.becomes(card, "denied", "then not");
      await world.saidIn(opening, "outcome:succeeded");
      expect(world.decisions()).toEqual([ONCE, { decision: "deny", reason: "then not" }]);
    },
  );
});

describe.concurrent("a decision that cannot be delivered yet", () => {
  test("waits while the service is down, and is sent once when it is back", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    await world.service.control.down();
    await world.fillModal(ben, REASON);
    expect(world.viewOf(ben)).toBeUndefined();
    await world.becomes(card, "retrying", `@${ben}`);
    expect(buttonsOf(card)).toEqual([]);
    await world.service.control.up();
    await world.becomes(card, "approved");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.decisions()).toEqual([ONCE]);
  });

  test("waits while the key is refused, and is sent once when the key is right", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    await world.openForm(ben, card, "Approve");
    const right = world.service.apiKey;
    world.service.control.rotateKey();
    await world.fillModal(ben, REASON);
    await world.becomes(card, "retrying", "401");
    world.service.control.rotateKey(right);
    await world.becomes(card, "approved");
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.service.requests.all(decide).filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test.for([
    ["HTTP 401", { type: "answer", status: 401 }],
    ["HTTP 429", { type: "answer", status: 429, headers: { "retry-after": "2" } }],
  ] as const)("is sent again with the same content after %s", async ([, fault], context) => {
    const world = await aWorld(context);
    const { opening, card, past } = await startWithFault(world, decide, fault);
    await world.decide(ben, card, "Approve", REASON);
    await world.becomes(card, "approved");
    await world.saidIn(opening, "outcome:succeeded");
    expect(past.states).toContain("retrying");
    expect(world.decisions()).toEqual([ONCE, ONCE]);
  });

  test("is void if the run ends first, and its approver is notified", async (context) => {
    const world = await aWorld(context);
    const { card } = await world.asking(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    await world.openForm(ben, card, "Approve");
    await world.service.control.down();
    await world.fillModal(ben, REASON);
    await world.becomes(card, ["sending", "retrying"]);
    world.service.control.cancel(id, "stopped");
    await world.service.control.up();
    await world.told(ben, "notice:decision-void:run-over");
    await world.becomes(card, "closed");
    expect(textOf(card)).not.toContain("✅");
    expect(world.decisions()).toEqual([]);
  });

  test("does not stop its run from being watched while its POST hangs", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const gate = world.service.control.fault(decide, { type: "gate" });
    await world.decide(ben, card, "Approve", REASON);
    await world.service.requests.until(() => gate.hits() === 1);
    const { id } = await world.runAt(TASK);
    world.service.control.addApproval(id, { action: "Tell the customers" });
    const second = await world.cardOf(opening, 1);
    expect(textOf(second)).toContain("Tell the customers");
    await world.becomes(card, "sending");
    gate.release();
    await world.becomes(card, "approved");
    expect(world.decisions()).toEqual([ONCE]);
  });
});
