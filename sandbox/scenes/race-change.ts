import { viewWords } from "../control/surface-text.ts";
import type { Scene } from "./engine.ts";
import { says } from "./says.ts";
import { ana, ben, cat } from "./stage.ts";

export const race: Scene = {
  name: "race",
  title: "Two approvers race",
  what: "Ben approves and Cat denies at the same moment. One decision counts, and the other person learns why theirs did not.",
  lesson:
    "The first decision that is saved counts. Everyone else learns who was first, and that their own decision was not sent.",
  async play(stage) {
    await stage.say('Ana starts a run: "deploy checkout to production".', ana);
    const asked = await stage.ask(ana, "deploy checkout to production");
    const card = await stage.cardOf(asked);
    const approveForm = await stage.open(ben, card, "Approve");
    const denyForm = await stage.open(cat, card, "Deny");
    await stage.say(
      "Ben has the form to approve open, and Cat the form to deny. Neither knows about the other.",
      cat,
    );
    const [ofBen, ofCat] = await Promise.all([
      stage.submit(ben, "Ben says yes", approveForm),
      stage.submit(cat, "Cat says no", denyForm),
    ]);
    await stage.say("Both submit at the same moment.");
    stage.check((ofBen === null) !== (ofCat === null), "exactly one of the two forms closes");
    const refusal = ofBen ?? ofCat;
    const [winner, loser] = ofBen === null ? ["Ben", "Cat"] : ["Cat", "Ben"];
    const isRefused = refusal !== null && says("refusal:already-decided", refusal.view);
    stage.check(isRefused, `${loser}'s window says that ${winner} was first`);
    await stage.say(
      `${winner} was first. ${loser}'s window names ${winner}, and says that nothing more was sent.`,
      ofBen === null ? cat : ben,
    );
    await stage.becomes(card, winner === "Ben" ? "state:approved" : "state:denied");
    await stage.untilRun(asked, "the run to end", ({ ending }) => ending !== null);
    const sent = stage.sent(asked);
    stage.check(sent.length === 1, "the service got one decision");
    stage.check(sent[0]?.reason.startsWith(winner) === true, `the decision is ${winner}'s`);
    return `Only ${winner}'s decision reached the service, once, and ${loser} was informed immediately.`;
  },
};

export const change: Scene = {
  name: "change",
  title: "The request changes while the form is open",
  what: "While Ben is about to approve a request, the agent changes it. Nothing is sent.",
  lesson:
    "A decision applies only to the exact request that was on the screen. If the request changes, the decision does not count, and the approver sees the difference.",
  async play(stage) {
    const changed = "Drop the customer database in production";
    await stage.say('Ana starts a run: "deploy the mobile API to staging".', ana);
    const asked = await stage.ask(ana, "deploy the mobile API to staging");
    const card = await stage.cardOf(asked);
    const form = await stage.open(ben, card, "Approve");
    await stage.say("Ben presses Approve and reads: a deployment to staging. That is harmless.", ben);
    const approval = stage.runOf(asked)?.approvals[0]?.id ?? "";
    stage.control.changeApproval(asked.run, approval, { action: changed });
    await stage.say(`While he types, the agent changes the request to: "${changed}".`, ben);
    const left = await stage.submit(ben, "Staging is fine", form);
    const words = left === null ? "" : viewWords(left);
    stage.check(left !== null && says("form:changed", left.view), "Ben's form says that the request changed");
    stage.check(words.includes(`+ action: ${changed}`), "Ben's form shows the new request");
    stage.check(stage.sent(asked).length === 0, "nothing was sent");
    await stage.say("Ben submits, but nothing is sent. His window shows what changed, line by line.", ben);
    await stage.becomes(card, "state:pending", changed);
    if (left !== null) await stage.close(ben, left);
    await stage.say("The card shows the new request. Cat reads it, and denies.");
    await stage.decide(cat, card, "Deny", "No one agreed to that.");
    await stage.becomes(card, "state:denied", "No one agreed to that.");
    const sent = stage.sent(asked);
    stage.check(
      sent.length === 1 && sent[0]?.decision === "deny",
      "the service got Cat's denial and nothing else",
    );
    return "Ben's approval of the old request was never sent. The service got only Cat's denial of the new request.";
  },
};
