import type { Scene } from "./engine.ts";
import type { Asked } from "./scene-steps.ts";
import { ana, ben, cat, type Stage } from "./stage.ts";

const NEXT = { tool: "deploy", arguments: { target: "wallet", environment: "production" }, risk: "high" };

export const stopRun: Scene = {
  name: "stop-run",
  title: "Stop a run",
  what: "A run asks for more than anyone wanted. Ben stops it: all that it asks is denied, until he lifts the stop.",
  lesson:
    "The service cannot cancel a run, and Countersign does not claim it can. A stop denies whatever the run asks, now and later, and it holds before the press is answered.",
  async play(stage) {
    await stage.say('Ana asks for a run: "look after the wallet forever".', ana);
    const asked = await stage.ask(ana, "look after the wallet forever");
    stage.control.addApproval(asked.run, { action: "Deploy the wallet to production", details: NEXT });
    const card = await stage.cardOf(asked);
    stage.control.addApproval(asked.run, { action: "Drop the wallet's old tables", details: NEXT });
    await stage.until("the second card", () => stage.cardsOf(asked)[1]);
    await stage.say("It asks to deploy, and then to drop tables. Ana asked for neither.");
    const form = await stage.open(cat, card, "Approve");
    await stage.say("Cat has just opened the form to approve the deployment.", cat);
    await stage.say("Ben presses Stop. One question, and the stop holds.", ben);
    await stage.press(ben, card, "Stop");
    await stage.saidIn(asked, "thread:stopped");
    const refused = await stage.submit(cat, "The deployment is fine", form);
    await stage.say(
      "Cat submits her form. It is too late: the stop has denied the request, and the window says so.",
      cat,
    );
    stage.check(refused !== null, "Cat's approval is refused");
    for (const one of stage.cardsOf(asked)) await stage.becomes(one, "state:denied");
    await stage.say("Both cards are denied, in the name of the stop. Nothing was approved.", ben);
    return lifted(stage, asked);
  },
};

/** The run has got two denials, and goes on asking. */
async function lifted(stage: Stage, asked: Asked): Promise<string> {
  stage.control.addApproval(asked.run, { action: "Try to drop the tables again", details: NEXT });
  await stage.untilRun(asked, "the third request to be denied", ({ approvals }) =>
    approvals.every(({ state }) => state.type === "decided"),
  );
  const notice = await stage.saidIn(asked, "thread:stopped");
  await stage.say("The agent asks again. That is denied as well, without a press, and the thread counts it.");
  stage.check(
    stage.sent(asked).every(({ decision }) => decision === "deny"),
    "only denials left",
  );
  stage.check(stage.sent(asked).length === 3, "three denials left");
  await stage.press(ben, notice, "Lift the stop");
  await stage.saidIn(asked, "thread:stop-lifted");
  await stage.say("Ben lifts the stop. What was denied stays denied; new requests get buttons again.", ben);
  stage.control.addApproval(asked.run, { action: "Restart the wallet", details: NEXT });
  const last = await stage.until("a card that can be decided", () =>
    stage.cardsOf(asked).find(stage.canDecide),
  );
  await stage.decide(cat, last, "Approve", "A restart is harmless");
  await stage.becomes(last, "state:approved");
  const sent = stage.sent(asked);
  stage.check(sent.length === 4 && sent.at(-1)?.decision === "approve", "one approval left, after the stop");
  return "While the run was stopped, three requests were denied and nothing was approved, not even by a form that was already open. After the stop, Cat's approval went out.";
}
