import type { Scene } from "./engine.ts";
import type { Asked } from "./scene-steps.ts";
import { ana, ben, cat, type Stage } from "./stage.ts";

const NEXT = { tool: "deploy", arguments: { target: "wallet", environment: "production" }, risk: "high" };

export const stopRun: Scene = {
  name: "stop-run",
  title: "Stop a run",
  what: "A run asks for more than anyone wanted. Ben stops it: all its requests are denied until he lifts the stop.",
  lesson:
    "The service cannot cancel a run, and Countersign does not claim that it can. A stop denies everything the run asks for, now and later, and takes effect before the click is answered.",
  async play(stage) {
    await stage.say('Ana starts a run: "look after the wallet forever".', ana);
    const asked = await stage.ask(ana, "look after the wallet forever");
    stage.control.addApproval(asked.run, { action: "Deploy the wallet to production", details: NEXT });
    const card = await stage.cardOf(asked);
    stage.control.addApproval(asked.run, { action: "Drop the wallet's old tables", details: NEXT });
    await stage.until("the second card", () => stage.cardsOf(asked)[1]);
    await stage.say("The run asks to deploy, and then to drop tables. Ana wanted neither.");
    const form = await stage.open(cat, card, "Approve");
    await stage.say("Cat has just opened the form to approve the deployment.", cat);
    await stage.say("Ben presses Stop and confirms. The stop takes effect.", ben);
    await stage.press(ben, card, "Stop");
    await stage.saidIn(asked, "thread:stopped");
    const refused = await stage.submit(cat, "The deployment is fine", form);
    await stage.say(
      "Cat submits her form too late: the stop has already denied the request, and the window says so.",
      cat,
    );
    stage.check(refused !== null, "Cat's approval is refused");
    for (const stopped of stage.cardsOf(asked)) await stage.becomes(stopped, "state:denied");
    await stage.say("Both cards say that the stop denied the request. Nothing was approved.", ben);
    return lifted(stage, asked);
  },
};

/** Plays the second half: the run got two denials and keeps asking, and then Ben lifts the stop. */
async function lifted(stage: Stage, asked: Asked): Promise<string> {
  stage.control.addApproval(asked.run, { action: "Try to drop the tables again", details: NEXT });
  await stage.untilRun(asked, "the third request to be denied", ({ approvals }) =>
    approvals.every(({ state }) => state.type === "decided"),
  );
  const notice = await stage.saidIn(asked, "thread:stopped");
  await stage.say("The agent asks again. This request is denied automatically, and the thread counts it.");
  stage.check(
    stage.sent(asked).every(({ decision }) => decision === "deny"),
    "only denials were sent",
  );
  stage.check(stage.sent(asked).length === 3, "three denials were sent");
  await stage.press(ben, notice, "Lift the stop");
  await stage.saidIn(asked, "thread:stop-lifted");
  await stage.say(
    "Ben lifts the stop. Denied requests stay denied, and new requests get buttons again.",
    ben,
  );
  stage.control.addApproval(asked.run, { action: "Restart the wallet", details: NEXT });
  const last = await stage.until("a card that can be decided", () =>
    stage.cardsOf(asked).find(stage.canDecide),
  );
  await stage.decide(cat, last, "Approve", "A restart is harmless");
  await stage.becomes(last, "state:approved");
  const sent = stage.sent(asked);
  stage.check(
    sent.length === 4 && sent.at(-1)?.decision === "approve",
    "one approval was sent, after the stop",
  );
  return "While the run was stopped, three requests were denied and nothing was approved, not even through a form that was already open. After the stop was lifted, Cat's approval was sent.";
}
