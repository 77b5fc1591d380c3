// What a newcomer would try: decide their own run, or decide twice.

import type { Scene } from "./engine.ts";
import { ana, ben } from "./stage.ts";

export const ownRun: Scene = {
  name: "own-run",
  title: "Approve your own run",
  dare: "Approve your own run",
  what: "Ana asks for a run and presses Approve on her own request. She is refused, and the card waits for someone else.",
  lesson:
    "Whoever asked for a run cannot decide for it. Countersign refuses the press before any form opens.",
  async play(stage) {
    await stage.say('Ana asks for a run: "deploy the ledger to production".', ana);
    const asked = await stage.ask(ana, "deploy the ledger to production");
    const card = await stage.cardOf(asked);
    await stage.say("This card is Ana's own request. She presses Approve all the same.", ana);
    const refusal = await stage.openRefusal(ana, card, "Approve");
    await stage.say("No form opens. The window says why, and that someone else decides.", ana);
    stage.check(stage.sent(asked).length === 0, "nothing was sent");
    stage.check(stage.canDecide(card), "the card still waits for a decision");
    await stage.close(ana, refusal);
    return "Ana's press was refused. Nothing reached the service, and the card still waits for Ben or Cat.";
  },
};

export const twice: Scene = {
  name: "twice",
  title: "Approve twice",
  dare: "Approve twice",
  what: "Ben has two forms open for one request, as in two tabs, and submits both. One decision is sent.",
  lesson:
    "Each request is decided once, however often someone submits: the decision is saved before it is sent.",
  async play(stage) {
    await stage.say('Ana asks for a run: "deploy the wallet to production".', ana);
    const asked = await stage.ask(ana, "deploy the wallet to production");
    const card = await stage.cardOf(asked);
    const [first, second] = [await stage.open(ben, card, "Approve"), await stage.open(ben, card, "Approve")];
    await stage.say(
      "Ben has pressed Approve twice, as in two tabs: two forms are open for one request.",
      ben,
    );
    // The window that is submitted first closes the other, as in Slack, so the other may be refused as gone.
    const closed = await Promise.allSettled([
      stage.submit(ben, "The first time", second),
      stage.submit(ben, "The second time", first),
    ]);
    stage.check(
      closed.some(({ status }) => status === "fulfilled"),
      "a form is taken",
    );
    await stage.say("Ben has submitted both at the same moment. Look at the card: it tells of one decision.");
    await stage.untilRun(asked, "the run to end", ({ ending }) => ending !== null);
    const sent = stage.sent(asked);
    stage.check(sent.length === 1, "the service got one decision");
    return `Ben submitted two forms. The service got one decision, with the reason "${sent[0]?.reason}".`;
  },
};
