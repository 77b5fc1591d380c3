import { wordsOf } from "../control/surface-text.ts";
import type { Message, PersonId } from "../slack/model.ts";
import type { Scene } from "./engine.ts";
import type { Asked } from "./scene-steps.ts";
import { ana, ben, cat, type Stage } from "./stage.ts";
import { says } from "./says.ts";

const MANY = 50;
/** How many decisions come between two captions. */
const EVERY = 10;
/** How long the last cards may take to show their decisions (ms). Slack lets an app change about fifty messages a minute. */
const DRAWN_MS = 300_000;

/** The shortest time that a person looks at a card (ms). */
const LOOK_MS = 500;

/** `formMs` is the time from the press to the form. */
type Decided = {
  readonly verdict: "approve" | "deny";
  readonly reason: string;
  readonly formMs: number;
};

export const storm: Scene = {
  name: "storm",
  title: "A storm of 50 approvals",
  what: "One run asks for 50 approvals at once. Slack's rate limits slow everything down, but each request is decided exactly once.",
  lesson:
    "Slack's limits slow down the cards, not the decisions: a burst of requests is shown as a list, and each line can be decided. A form takes priority over all queued messages.",
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
  await stage.say('Ana starts a run: "deploy 50 tenants to production".', ana);
  const asked = await stage.ask(ana, "deploy 50 tenants to production");
  await stage.cardOf(asked);
  for (let tenant = 2; tenant <= MANY; tenant += 1) askFor(stage, asked, tenant);
  await stage.say(
    "The run asks for 50 approvals. Slack accepts about one message per second in a channel, so they appear in a few lists, with buttons on each line.",
  );
  const decided = await decideAll(stage, asked);
  await stage.say("All 50 are decided. Now each gets its card in the thread, one per second.");
  await stage.untilRun(asked, "the run to end", ({ ending }) => ending !== null);
  checkDecisions(stage, asked, decided);
  await drawAll(stage, asked, decided);
  stage.check(stage.cardsOf(asked).filter(isCard).length === MANY, `there are ${MANY} cards`);
  return `50 cards, 50 decisions, each sent once and shown on its card. ${slowest(stage, decided)} Slack refused ${tooFast()} calls because of its rate limits.`;
}

/** Says how fast the forms opened. `decideOne` has checked each one against the limit. */
function slowest({ formLimitMs }: Stage, decided: readonly Decided[]): string {
  const longest = Math.max(...decided.map(({ formMs }) => formMs));
  return `Each form opened at the first press and within ${formLimitMs / 1_000} seconds, the slowest after ${(longest / 1_000).toFixed(2)} s.`;
}

/** Adds a request. The first of the 50 is the one that the run's script asks for. */
function askFor({ control }: Stage, { run }: Asked, tenant: number): void {
  const name = `tenant ${String(tenant).padStart(2, "0")}`;
  const details = { tool: "deploy", arguments: { tenant: name }, risk: "high" };
  control.addApproval(run, { action: `Deploy ${name} to production`, details });
}

/** Ben and Cat take turns deciding, in the order of the cards. Every tenth request is denied. */
async function decideAll(stage: Stage, asked: Asked): Promise<Decided[]> {
  const decided: Decided[] = [];
  while (decided.length < MANY) {
    const card = await stage.until("the next request", () => stage.cardsOf(asked).find(stage.canDecide));
    const button = firstButton(card);
    // Wait until the app knows that the card was posted. The last lines of a list become cards, so check the button again.
    await stage.pause(LOOK_MS);
    if (firstButton(card) !== button) continue;
    const nth = decided.length + 1;
    const verdict = nth % EVERY === 0 ? "deny" : "approve";
    const reason = `${verdict === "deny" ? "Not this one" : "Fine"}, number ${nth}`;
    const formMs = await decideOne(stage, nth % 2 === 0 ? cat : ben, { card, verdict, reason });
    decided.push({ verdict, reason, formMs });
    await stage.until("its buttons to disappear", () => firstButton(card) !== button);
    if (nth % EVERY === 0 && nth < MANY)
      await stage.say(`${nth} are decided. Ben and Cat take turns. ${slowest(stage, decided)}`);
  }
  return decided;
}

/** The value of the first Approve button, or null if there is none. A list has one on each line. */
function firstButton({ blocks }: Message): string | null {
  return /"card_approve","value":"([^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? null;
}

/** Decides one request. Returns how long the form took (ms), and fails the scene if it waited behind queued messages. */
async function decideOne(
  stage: Stage,
  person: PersonId,
  { card, verdict, reason }: Omit<Decided, "formMs"> & { readonly card: Message },
): Promise<number> {
  const { form, ms } = await stage.openAtOnce(person, card, verdict === "deny" ? "Deny" : "Approve");
  const { formLimitMs } = stage;
  stage.check(ms < formLimitMs, `a form opens within ${formLimitMs} ms (one took ${Math.round(ms)} ms)`);
  stage.check((await stage.submit(person, reason, form)) === null, "the form closes");
  return ms;
}

function checkDecisions(stage: Stage, asked: Asked, decided: readonly Decided[]): void {
  const sent = stage.sent(asked);
  stage.check(sent.length === MANY, `the service got ${MANY} decisions and not ${sent.length}`);
  stage.check(new Set(sent.map(({ path }) => path)).size === MANY, "each approval was decided once");
  const approvals = stage.runOf(asked)?.approvals ?? [];
  for (const { verdict, reason } of decided) {
    const isRecorded = approvals.some(
      ({ state }) => state.type === "decided" && state.verdict === verdict && state.reason === reason,
    );
    stage.check(isRecorded, `the service has the ${verdict} "${reason}"`);
  }
}

/** Waits until every card shows its decision. This takes more than a minute, so it reports progress in captions. */
async function drawAll(stage: Stage, asked: Asked, decided: readonly Decided[]): Promise<void> {
  const left = (): number => decided.filter((decision) => !isDrawn(stage.cardsOf(asked), decision)).length;
  for (let most = MANY - EVERY; most >= 0; most -= EVERY) {
    if (left() <= most && most > 0) continue;
    await stage.until("all cards to show what was decided", () => left() <= most, DRAWN_MS);
    if (most > 0)
      await stage.say(
        `${left()} cards still wait to be updated. Their decisions reached the service long ago.`,
      );
  }
}

const isCard = ({ blocks: [first] }: Message): boolean => String(first?.block_id).startsWith("state:");

function isDrawn(cards: readonly Message[], { verdict, reason }: Decided): boolean {
  const state = verdict === "approve" ? "state:approved" : "state:denied";
  return cards.some((card) => says(state, card) && wordsOf(card.blocks).includes(reason));
}
