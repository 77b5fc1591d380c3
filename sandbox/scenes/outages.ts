import type { Message } from "../slack/model.ts";
import type { Scene } from "./engine.ts";
import type { Asked } from "./scene-steps.ts";
import { ana, ben, type Stage } from "./stage.ts";

export const serviceDies: Scene = {
  name: "service-dies",
  title: "The service dies after the click",
  what: "The service accepts Ben's decision and dies before it answers. The card claims only what is known.",
  lesson:
    "A decision is never sent a second time while the first may have arrived. Countersign checks the run again and says only what it knows.",
  async play(stage) {
    await stage.say('Ana starts a run: "deploy invoices to production".', ana);
    const asked = await stage.ask(ana, "deploy invoices to production");
    const card = await stage.cardOf(asked);
    const states = stage.statesOf(card);
    try {
      return await untilUnconfirmed(stage, { asked, card, states: states.seen });
    } finally {
      states.end();
    }
  },
};

type Claim = {
  readonly asked: Asked;
  readonly card: Message;
  /** Returns all states that the card has had. */
  readonly states: () => readonly string[];
};

/** Card states that claim that a decision took effect. */
const CLAIMS = ["approved", "denied"];

async function untilUnconfirmed(stage: Stage, { asked, card, states }: Claim): Promise<string> {
  const reason = "Invoices are due tonight.";
  const form = await stage.open(ben, card, "Approve");
  await stage.say(
    "Ben has the form open. The service is about to accept his decision and die before it answers.",
    ben,
  );
  stage.serviceController.fault({ route: "decide" }, { type: "drop", effect: true });
  stage.check((await stage.submit(ben, reason, form)) === null, "Ben's form closes");
  await stage.untilRun(asked, "the decision to take effect", ({ approvals }) =>
    approvals.every(({ state }) => state.type === "decided"),
  );
  await stage.serviceController.down();
  await stage.becomes(card, "state:checking");
  await stage.say(
    'The service is dead. Look at the card: "Approval sent, being checked". It does not claim that the approval took effect.',
  );
  await stage.serviceController.up();
  await stage.say("The service is up again. Before anything else, the bot checks the run.");
  await stage.becomes(card, "state:unconfirmed");
  await stage.say(
    "The request is no longer pending, and the service does not say whose decision it has. The card says exactly that.",
  );
  await stage.saidIn(asked, "outcome:succeeded");
  const sent = stage.sent(asked);
  stage.check(sent.length === 1, "the decision was sent once");
  stage.check(sent[0]?.reason === reason, "the service has Ben's reason");
  const claims = states().filter((state) => CLAIMS.includes(state));
  stage.check(
    claims.length === 0,
    `the card never claims more than is known, but it said "${claims.join('", "')}"`,
  );
  return `The decision was sent once and took effect once. The scene checked the card after each of its ${states().length - 1} changes, and it never claimed that the decision was confirmed.`;
}

export const botKilled: Scene = {
  name: "bot-killed",
  dare: "Kill the bot while you press",
  title: "The bot is killed and comes back",
  what: "The bot is killed after Ben submits and before it sends his decision. The decision is on disk, and is sent once.",
  lesson:
    "A decision is saved before its first byte is sent. After a crash, Countersign finds out what happened before it does anything else.",
  async play(stage) {
    const reason = "Payroll must run today.";
    await stage.say('Ana starts a run: "deploy payroll to production".', ana);
    const asked = await stage.ask(ana, "deploy payroll to production");
    const card = await stage.cardOf(asked);
    const form = await stage.open(ben, card, "Approve");
    await stage.say(
      "Ben has the form open. The service now delays its answers, which leaves time to kill the bot.",
      ben,
    );
    const gate = stage.serviceController.fault({ route: "read-run" }, { type: "gate" }, "all");
    stage.check((await stage.submit(ben, reason, form)) === null, "Ben's form closes");
    await stage.becomes(card, "state:sending");
    await stage.say("Ben has submitted. His decision is saved, but not sent yet.");
    stage.check(stage.sent(asked).length === 0, "nothing has been sent yet");
    await stage.bot.kill();
    stage.serviceController.release(gate);
    stage.check(stage.sent(asked).length === 0, "nothing was sent before the kill");
    await stage.say("The bot is killed: kill -9. It is not running now, so no click would be answered.");
    await stage.until("the bot to come back", () => stage.bot.state() === "running");
    await stage.say(
      "The bot is back. It finds the decision on disk, checks the run once more, and sends the decision.",
    );
    await stage.becomes(card, "state:approved", reason);
    await stage.saidIn(asked, "outcome:succeeded");
    const sent = stage.sent(asked);
    stage.check(sent.length === 1 && sent[0]?.reason === reason, "the decision was sent once, word for word");
    stage.check(stage.cardsOf(asked).length === 1, "there is one card");
    return "The bot was killed before it could send Ben's decision. It lost nothing, and sent the decision once.";
  },
};
