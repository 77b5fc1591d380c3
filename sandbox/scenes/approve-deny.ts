import { wordsOf } from "../control/surface-text.ts";
import type { Scene } from "./engine.ts";
import { ana, ben, cat } from "./stage.ts";

export const approve: Scene = {
  name: "approve",
  title: "Approve",
  what: "Ana starts a run, Ben approves what it wants to do, and the run continues.",
  lesson:
    "The agent could not deploy by itself: it asked, and someone other than Ana decided. The audit records who decided, on which request, and why.",
  async play(stage) {
    const reason = "Release 2.41 is tested. Go ahead.";
    await stage.say('Ana starts a run in #ops-agents: "deploy billing-api to production".', ana);
    const asked = await stage.ask(ana, "deploy billing-api to production");
    await stage.say("The run gets a thread. The agent works until it wants to do something sensitive.");
    const card = await stage.cardOf(asked);
    await stage.say("Now it asks. A card with Approve and Deny appears in the thread and in the channel.");
    const form = await stage.open(ben, card, "Approve");
    await stage.say("Ben presses Approve. His form shows the full request and asks for a reason.", ben);
    stage.check((await stage.submit(ben, reason, form)) === null, "Ben's form closes");
    await stage.becomes(card, "state:approved", reason);
    await stage.say(
      "Look at the card: its buttons are gone. It shows Ben's name, his reason, and that the service confirmed the decision.",
    );
    await stage.saidIn(asked, "outcome:succeeded");
    const sent = stage.sent(asked);
    stage.check(sent.length === 1, "the service got one decision");
    stage.check(
      sent[0]?.decision === "approve" && sent[0].reason === reason,
      "the service got Ben's reason word for word",
    );
    stage.check(!stage.canDecide(card), "the card can't be decided again");
    return "One decision reached the service, with Ben's reason word for word, and the run succeeded.";
  },
};

export const deny: Scene = {
  name: "deny",
  title: "Deny, and why",
  what: "Cat denies what a run wants to do. She must give a reason, and the agent receives it.",
  lesson: "A denial needs a reason, and the agent receives exactly what the team reads.",
  async play(stage) {
    const reason = "Not on a Friday: no one is around to roll it back.";
    await stage.say('Ana starts a run: "deploy the search index to production".', ana);
    const asked = await stage.ask(ana, "deploy the search index to production");
    const card = await stage.cardOf(asked);
    await stage.say("The run asks to deploy. Cat presses Deny.");
    const form = await stage.open(cat, card, "Deny");
    const refused = await stage.submit(cat, " ", form);
    await stage.say("Cat submits a blank reason. The form stays open: a denial needs a reason.", cat);
    stage.check(refused?.errors["reason"] !== undefined, "the form stays open and asks for a reason");
    stage.check(stage.sent(asked).length === 0, "nothing has been sent yet");
    await stage.say("Cat gives a reason and submits again.");
    stage.check((await stage.submit(cat, reason, form)) === null, "Cat's form closes");
    await stage.becomes(card, "state:denied", reason);
    await stage.say("Look at the card: denied by Cat, with her reason for everyone to see.");
    const end = await stage.saidIn(asked, "outcome:succeeded");
    const sent = stage.sent(asked);
    stage.check(sent.length === 1 && sent[0]?.decision === "deny", "the service got one denial");
    stage.check(sent[0]?.reason === reason, "the agent got the reason word for word");
    stage.check(wordsOf(end.blocks).includes(reason), "the run's result includes the reason");
    return "One denial reached the service with Cat's reason, and the run's result says what was not done and why.";
  },
};
