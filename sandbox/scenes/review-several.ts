import { fieldsIn, viewWords } from "../control/surface-text.ts";
import type { Scene } from "./engine.ts";
import type { Asked } from "./scene-steps.ts";
import { ana, ben, type Stage } from "./stage.ts";

const TENANTS = ["tenant 02", "tenant 03", "tenant 04", "tenant 05"];
/** One choice for each request, in the order of the form. */
const CHOICES = ["approve", "approve", "deny", "approve", "leave"];
const TESTED = "Tested in staging this morning";
const FRAGILE = "This tenant has a freeze until Monday";

export const reviewSeveral: Scene = {
  name: "review-several",
  title: "Review several",
  what: "Five requests wait. Ben reads them in one form, approves three, denies one and leaves one open.",
  lesson:
    "Each request is shown in full and stays open unless you choose a verdict for it. There is no button that approves them all, and each decision is sent separately.",
  async play(stage) {
    await stage.say('Ana starts a run: "deploy 5 tenants to production".', ana);
    const asked = await stage.ask(ana, "deploy 5 tenants to production");
    await stage.cardOf(asked);
    for (const tenant of TENANTS)
      stage.control.addApproval(asked.run, {
        action: `Deploy ${tenant} to production`,
        details: { tool: "deploy", arguments: { tenant }, risk: "high" },
      });
    await stage.until("all cards", () => stage.cardsOf(asked).length === CHOICES.length);
    await stage.say(
      "The run asks for five approvals at once. Ben opens his Home tab: all of them are waiting for him.",
      ben,
    );
    const form = await stage.openAtHome(ben, "queue_review_run");
    const choices = fieldsIn(form.view.blocks).filter(({ element }) => element.type === "radio_buttons");
    stage.check(choices.length === CHOICES.length, "the form has a choice for each request");
    for (const { element } of choices)
      stage.check(JSON.stringify(element["initial_option"]).includes("leave"), "no verdict is preselected");
    for (const tenant of TENANTS) stage.check(viewWords(form).includes(tenant), `the form shows ${tenant}`);
    await stage.say("One form shows each request in full. No verdict is preselected.", ben);
    await stage.say(
      "He approves three, denies one and leaves one open. He gives one reason for each verdict.",
      ben,
    );
    const typed = Object.fromEntries(choices.map(({ block }, at) => [block.block_id, choiceOf(at)]));
    const reasons = { "Reason for approving": TESTED, "Reason for denying": FRAGILE };
    const left = await stage.submit(ben, { ...typed, ...reasons }, form);
    stage.check(left === null, "Ben's form closes, so everything is recorded");
    return ended(stage, asked);
  },
};

const choiceOf = (at: number): object => ({ verdict_chosen: CHOICES[at] });

async function ended(stage: Stage, asked: Asked): Promise<string> {
  await stage.until("four decisions", () => stage.sent(asked).length === 4);
  const sent = stage.sent(asked);
  const reasons = (verdict: string) =>
    sent.filter(({ decision }) => decision === verdict).map(({ reason }) => reason);
  stage.check(reasons("approve").join() === [TESTED, TESTED, TESTED].join(), "three approvals were sent");
  stage.check(reasons("deny").join() === FRAGILE, "one denial was sent");
  stage.check(new Set(sent.map(({ path }) => path)).size === sent.length, "each approval was decided once");
  const open = await stage.until("one open card", () => {
    const left = stage.cardsOf(asked).filter(stage.canDecide);
    return left.length === 1 && left[0];
  });
  await stage.say("Four cards show their decisions. The card that Ben left open still has its buttons.", ben);
  stage.check(stage.canDecide(open), "the request that Ben left open can still be decided");
  return "Four decisions were sent, each separately and with the reason for its verdict. The fifth request waited until the scene ended.";
}
