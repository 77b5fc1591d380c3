import { wordsOf } from "../control/surface-text.ts";
import type { Message, PersonId } from "../slack/model.ts";
import type { Scene } from "./engine.ts";
import type { Asked } from "./scene-steps.ts";
import { ana, ben, cat, type Stage } from "./stage.ts";
import { says } from "./says.ts";

const MANY = 50;
/** How many decisions are between two captions. */
const EVERY = 10;
/** Slack lets an app change about fifty messages a minute, so the last cards are drawn minutes later (ms). */
const DRAWN_MS = 300_000;

/** How long a person looks at a card at least (ms). */
const LOOK_MS = 500;

/** `formMs`: from the press to the form. */
type Decided = {
  readonly verdict: "approve" | "deny";
  readonly reason: string;
  readonly formMs: number;
};

export const storm: Scene = {
  name: "storm",
  title: "A storm of 50 approvals",
  what: "One run asks for 50 things at once. Slack slows everyone down; each is decided once all the same.",
  lesson:
    "Slack's limits slow the cards down, not the decisions: what comes at once is listed, and each line can be decided. A form has priority over everything that waits to be drawn.",
  async play(stage) {
    const tooFast = stage.countTooFast();
    try {
      return await played(stage, tooFast.count);
    } finally {
      tooFast.end();
    }
  },
};

async function played(stage: Stage, tooFast: () => number): Promise<string> {
  await stage.say('Ana asks for a run: "deploy 50 tenants to production".', ana);
  const asked = await stage.ask(ana, "deploy 50 tenants to production");
  await stage.cardOf(asked);
  for (let tenant = 2; tenant <= MANY; tenant += 1) askFor(stage, asked, tenant);
  await stage.say(
    "It asks for 50 approvals. Slack takes about one message a second in a channel, so they come as a few lists, each line with its buttons.",
  );
  const decided = await decideAll(stage, asked);
  await stage.say("All 50 are decided. Now each gets its card in the thread, one a second.");
  await stage.untilRun(asked, "the run to end", ({ ending }) => ending !== null);
  checkDecisions(stage, asked, decided);
  await drawAll(stage, asked, decided);
  stage.check(stage.cardsOf(asked).filter(isCard).length === MANY, `there are ${MANY} cards`);
  return `50 cards, 50 decisions, each sent once and shown on its card. ${slowest(stage, decided)} Slack refused ${tooFast()} calls for coming too fast.`;
}

/** Each form was checked when it opened. */
function slowest({ formLimitMs }: Stage, decided: readonly Decided[]): string {
  const longest = Math.max(...decided.map(({ formMs }) => formMs));
  return `Each form came at the first press and within ${formLimitMs / 1_000} seconds, the slowest after ${(longest / 1_000).toFixed(2)} s.`;
}

/** The run's own request is the first. */
function askFor({ control }: Stage, { run }: Asked, tenant: number): void {
  const name = `tenant ${String(tenant).padStart(2, "0")}`;
  const details = { tool: "deploy", arguments: { tenant: name }, risk: "high" };
  control.addApproval(run, { action: `Deploy ${name} to production`, details });
}

/** Ben and Cat decide in turn, in the order of the cards. Every tenth is denied. */
async function decideAll(stage: Stage, asked: Asked): Promise<Decided[]> {
  const decided: Decided[] = [];
  while (decided.length < MANY) {
    const card = await stage.until("the next request", () => stage.cardsOf(asked).find(stage.canDecide));
    const button = firstButton(card);
    // Wait until the app knows that it was posted. The last lines of a list become cards.
    await stage.pause(LOOK_MS);
    if (firstButton(card) !== button) continue;
    const nth = decided.length + 1;
    const verdict = nth % EVERY === 0 ? "deny" : "approve";
    const reason = `${verdict === "deny" ? "Not this one" : "Fine"}, number ${nth}`;
    const formMs = await decideOne(stage, nth % 2 === 0 ? cat : ben, { card, verdict, reason });
    decided.push({ verdict, reason, formMs });
    await stage.until("its buttons to go", () => firstButton(card) !== button);
    if (nth % EVERY === 0 && nth < MANY)
      await stage.say(`${nth} are decided, by Ben and Cat in turn. ${slowest(stage, decided)}`);
  }
  return decided;
}

/** The value of the first button to approve; null where there is none. A list has one on each line. */
function firstButton({ blocks }: Message): string | null {
  return /"card_approve","value":"([^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? null;
}

/** The form must not wait in the queue of messages. */
async function decideOne(
  stage: Stage,
  person: PersonId,
  { card, verdict, reason }: Omit<Decided, "formMs"> & { readonly card: Message },
): Promise<number> {
  const { form, ms } = await stage.openAtOnce(person, card, verdict === "deny" ? "Deny" : "Approve");
  const { formLimitMs } = stage;
  stage.check(ms < formLimitMs, `a form comes within ${formLimitMs} ms (one took ${Math.round(ms)} ms)`);
  stage.check((await stage.submit(person, reason, form)) === null, "the form closes");
  return ms;
}

function checkDecisions(stage: Stage, asked: Asked, decided: readonly Decided[]): void {
  const sent = stage.sent(asked);
  stage.check(sent.length === MANY, `the service got ${MANY} decisions and not ${sent.length}`);
  stage.check(new Set(sent.map(({ path }) => path)).size === MANY, "each approval was decided once");
  const approvals = stage.runOf(asked)?.approvals ?? [];
  for (const { verdict, reason } of decided) {
    const holds = approvals.some(
      ({ state }) => state.type === "decided" && state.verdict === verdict && state.reason === reason,
    );
    stage.check(holds, `"${reason}" was decided so`);
  }
}

/** With a caption now and then: it takes more than a minute. */
async function drawAll(stage: Stage, asked: Asked, decided: readonly Decided[]): Promise<void> {
  const left = (): number => decided.filter((one) => !isDrawn(stage.cardsOf(asked), one)).length;
  for (let most = MANY - EVERY; most >= 0; most -= EVERY) {
    if (left() <= most && most > 0) continue;
    await stage.until("all cards to tell what was decided", () => left() <= most, DRAWN_MS);
    if (most > 0)
      await stage.say(
        `${left()} cards are still to be drawn. Their decisions have long reached the service.`,
      );
  }
}

const isCard = ({ blocks: [first] }: Message): boolean => String(first?.block_id).startsWith("state:");

function isDrawn(cards: readonly Message[], { verdict, reason }: Decided): boolean {
  const state = verdict === "approve" ? "state:approved" : "state:denied";
  return cards.some((card) => says(state, card) && wordsOf(card.blocks).includes(reason));
}
