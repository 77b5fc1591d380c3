import { wordsOf } from "../control/surface.ts";
import type { Message } from "../slack/model.ts";
import type { Asked } from "./moves.ts";
import { ana, ben, cat, type Stage } from "./stage.ts";
import type { Story } from "./story.ts";

const MANY = 50;
/** How many decisions between two captions. */
const EVERY = 10;
/** Slack lets an app change about fifty messages a minute, so the last cards are drawn minutes later (ms). */
const DRAWN_MS = 300_000;

type Decided = { readonly card: Message; readonly verdict: "approve" | "deny"; readonly reason: string };

export const storm: Story = {
  name: "storm",
  title: "A storm of 50 approvals",
  what: "One run asks for 50 things at once. Slack slows everybody down; each is decided once all the same.",
  async play(stage) {
    const refusedBefore = stage.tooFast();
    await stage.say("Ana asks for a run: «deploy 50 tenants to production».");
    const asked = await stage.ask(ana, "deploy 50 tenants to production");
    await stage.cardOf(asked);
    for (let tenant = 2; tenant <= MANY; tenant += 1) askFor(stage, asked, tenant);
    await stage.say(
      "It asks for 50 approvals. Slack takes about one message a second in a channel, so the cards come one by one.",
    );
    const decided = await decideAll(stage, asked);
    await stage.say(
      "All 50 are decided. Changing a card is limited too, so the last ones are drawn a while later.",
    );
    await stage.untilRun(asked, "the run to end", ({ ending }) => ending !== null);
    checkDecisions(stage, asked, decided);
    await drawAll(stage, decided);
    stage.check(stage.cardsOf(asked).length === MANY, `there are ${MANY} cards`);
    const refused = stage.tooFast() - refusedBefore;
    return `50 cards, 50 decisions, each sent once and shown on its card. Slack refused ${refused} calls for coming too fast.`;
  },
};

/** The run's own request is the first. */
function askFor({ control }: Stage, { run }: Asked, tenant: number): void {
  const name = `tenant ${String(tenant).padStart(2, "0")}`;
  const details = { tool: "deploy", arguments: { tenant: name }, risk: "high" };
  control.addApproval(run, { action: `Deploy ${name} to production`, details });
}

/** As the cards come: Ben and Cat in turn, and every tenth is denied. */
async function decideAll(stage: Stage, asked: Asked): Promise<Decided[]> {
  const decided: Decided[] = [];
  while (decided.length < MANY) {
    const done = new Set(decided.map(({ card }) => card));
    const isNext = (card: Message): boolean => !done.has(card) && stage.canDecide(card);
    const card = await stage.until("the next card", () => stage.cardsOf(asked).find(isNext));
    const nth = decided.length + 1;
    const verdict = nth % EVERY === 0 ? "deny" : "approve";
    const reason = `${verdict === "deny" ? "Not this one" : "Fine"}, number ${nth}`;
    await stage.decide(nth % 2 === 0 ? cat : ben, card, verdict === "deny" ? "Deny" : "Approve", reason);
    decided.push({ card, verdict, reason });
    if (nth % EVERY === 0 && nth < MANY)
      await stage.say(
        `${nth} are decided, by Ben and Cat in turn. Forms open at once, however long the queue of messages is.`,
      );
  }
  return decided;
}

function checkDecisions(stage: Stage, asked: Asked, decided: readonly Decided[]): void {
  const sent = stage.sent(asked);
  stage.check(sent.length === MANY, `the service got ${MANY} decisions and not ${sent.length}`);
  stage.check(new Set(sent.map(({ path }) => path)).size === MANY, "each approval was decided once");
  const approvals = stage.runOf(asked)?.approvals ?? [];
  for (const { card, verdict, reason } of decided) {
    const approval = approvals.find(({ action }) => wordsOf(card.blocks).includes(action));
    const { state } = approval ?? {};
    const holds = state?.is === "decided" && state.verdict === verdict && state.reason === reason;
    stage.check(holds, `«${approval?.action ?? "?"}» was decided as its card was`);
  }
}

/** With a caption now and then: it takes more than a minute. */
async function drawAll(stage: Stage, decided: readonly Decided[]): Promise<void> {
  const left = (): number => decided.filter((one) => !isDrawn(one)).length;
  for (let most = MANY - EVERY; most >= 0; most -= EVERY) {
    if (left() <= most && most > 0) continue;
    await stage.until("all cards to tell what was decided", () => left() <= most, DRAWN_MS);
    if (most > 0)
      await stage.say(
        `${left()} cards are still to be drawn. Their decisions have long reached the service.`,
      );
  }
}

function isDrawn({ card, verdict, reason }: Decided): boolean {
  const words = wordsOf(card.blocks);
  return words.includes(verdict === "approve" ? "✅ Approved" : "⛔ Denied") && words.includes(reason);
}
