// Things that a new user might try: deciding on their own run, or deciding twice.

import type { Scene } from "./engine.ts";
import { ana, ben } from "./stage.ts";

export const ownRun: Scene = {
  name: "own-run",
  title: "Approve your own run",
  dare: "Approve your own run",
  what: "Ana starts a run and presses Approve on her own request. She is refused, and the card waits for someone else.",
  lesson: "You cannot decide on a run that you started. Countersign refuses the click before any form opens.",
  async play(stage) {
    await stage.say('Ana starts a run: "deploy the ledger to production".', ana);
    const asked = await stage.ask(ana, "deploy the ledger to production");
    const card = await stage.cardOf(asked);
    await stage.say("This card is from Ana's own run. She presses Approve anyway.", ana);
    const refusal = await stage.openRefusal(ana, card, "Approve");
    await stage.say("No form opens. A window explains that someone else must decide.", ana);
    stage.check(stage.sent(asked).length === 0, "nothing was sent");
    stage.check(stage.canDecide(card), "the card still waits for a decision");
    await stage.close(ana, refusal);
    return "Ana's click was refused, and nothing reached the service. The card waited for Ben or Cat until the scene ended and canceled its run.";
  },
};

export const twice: Scene = {
  name: "twice",
  title: "Approve twice",
  dare: "Approve twice",
  what: "Ben opens two forms for the same request, as if in two tabs, and submits both. One decision is sent.",
  lesson:
    "Each request is decided once, no matter how often someone submits, because the decision is saved before it is sent.",
  async play(stage) {
    await stage.say('Ana starts a run: "deploy the wallet to production".', ana);
    const asked = await stage.ask(ana, "deploy the wallet to production");
    const card = await stage.cardOf(asked);
    const first = await stage.open(ben, card, "Approve");
    const second = await stage.open(ben, card, "Approve");
    await stage.say(
      "Ben has pressed Approve twice, as if in two tabs: two forms are open for the same request.",
      ben,
    );
    // As in Slack, submitting one window closes the other, so the second submit may be rejected because its window is gone.
    const closed = await Promise.allSettled([
      stage.submit(ben, "The first time", second),
      stage.submit(ben, "The second time", first),
    ]);
    stage.check(
      closed.some(({ status }) => status === "fulfilled"),
      "one of the forms is accepted",
    );
    await stage.say("Ben has submitted both at the same moment. Look at the card: it shows one decision.");
    await stage.untilRun(asked, "the run to end", ({ ending }) => ending !== null);
    const sent = stage.sent(asked);
    stage.check(sent.length === 1, "the service got one decision");
    return `Ben submitted two forms. The service got one decision, with the reason "${sent[0]?.reason}".`;
  },
};
