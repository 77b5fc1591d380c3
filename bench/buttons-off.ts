// Measures how long the buttons stay on a card after its decision, with 200 approvals in ten channels and 100 decisions within five
// seconds. Slack enforces its rate limits, and any rate-limited call fails the measurement.

import type { Message } from "#sandbox/slack/model.ts";
import type { World } from "#sandbox/world/world.ts";
import { addChannel, isOpenCard, openForm, pause, quantile, range, withBot } from "./deciding.ts";

export type ButtonsOff = { readonly p50Ms: number; readonly longestMs: number; readonly decisions: number };

/** Every decision looks up its channel, and Slack allows fifty look-ups a minute. */
const CHANNELS = 10;
const RUNS_PER_CHANNEL = 4;
/** Few enough for cards: more than eight would be on a listing. */
const PER_RUN = 5;
const DECISIONS = 100;
const PEOPLE = 10;
const WITHIN_MS = 5_000;
/** Slack accepts about one message a second in a channel. */
const CARDS_MS = 120_000;
const OFF_MS = 400_000;
/** The cards show the service's answer after a `chat.update`, of which Slack allows about fifty a minute. */
const DRAWN_MS = 300_000;

/** With `drawn`, also waits until all cards show the service's answer. */
export function buttonsOff(drawn: boolean): Promise<ButtonsOff> {
  return withBot(async (world) => {
    const cards = await putUpCards(world);
    const taken = (await Promise.all(range(PEOPLE).map((nth) => decideSome(world, cards, nth)))).flat();
    const what = "all cards with the service's answer";
    if (drawn)
      await world.slack.workspace.until(() => cards.every(isApproved), { timeoutMs: DRAWN_MS, what });
    return { p50Ms: quantile(taken, 0.5), longestMs: Math.max(...taken), decisions: taken.length };
  });
}

const isApproved = ({ blocks }: Message): boolean => JSON.stringify(blocks).includes("state:approved");

/** Posts the cards. Resolves to every second card of each channel. */
async function putUpCards(world: World): Promise<Message[]> {
  const { workspace, acts } = world.slack;
  for (const index of range(CHANNELS)) {
    const channel = addChannel(world, index);
    for (const _ of range(RUNS_PER_CHANNEL)) {
      const run = world.service.control.createRun("release forever");
      for (const nth of range(PER_RUN))
        world.service.control.addApproval(run.id, {
          action: `Deploy part ${nth} of ${channel}`,
          details: { tool: "deploy" },
        });
      const { ok } = await acts.command("U0ANA", channel, "/agent", `watch ${run.id}`);
      if (!ok) throw new Error("the bot did not take a command");
    }
  }
  const cards = () => workspace.messages.filter(isOpenCard);
  const wanted = CHANNELS * RUNS_PER_CHANNEL * PER_RUN;
  await workspace.until(() => cards().length >= wanted, { timeoutMs: CARDS_MS, what: `${wanted} cards` });
  return cards()
    .filter((_, index) => index % 2 === 0)
    .slice(0, DECISIONS);
}

/**
 * One person decides one card after the other, while other people do the same. Resolves to how long the buttons of each card stayed (ms).
 */
async function decideSome(world: World, cards: readonly Message[], nth: number): Promise<number[]> {
  const off: Promise<number>[] = [];
  const start = performance.now();
  for (const [turn, card] of cards.filter((_, index) => index % PEOPLE === nth).entries()) {
    await pause(Math.max(start + (turn * WITHIN_MS * PEOPLE) / DECISIONS - performance.now(), 1));
    const submit = await openForm(world, card, `U0OFF${nth}`);
    off.push(offAfter(world, card));
    await submit();
  }
  return Promise.all(off);
}

async function offAfter({ slack }: World, card: Message): Promise<number> {
  const from = performance.now();
  const what = "a card without buttons";
  await slack.workspace.until(() => !isOpenCard(card), { timeoutMs: OFF_MS, what });
  return performance.now() - from;
}
