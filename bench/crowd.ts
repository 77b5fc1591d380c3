// Measures what happens when many people decide in the same second, each a request of their own, while Slack enforces its rate limits: how
// many are refused because Slack does not say who they are, and when the last decision reaches the service. Any 429 fails the measurement.

import type { Message } from "#sandbox/slack/model.ts";
import type { World } from "#sandbox/world/world.ts";
import { addChannel, addPerson, isOpenCard, pause, range, withBot } from "./deciding.ts";

export type Crowd = {
  readonly people: number;
  /** The number of people who had to press again. One click and one submit should be enough. */
  readonly again: number;
  readonly presses: number;
  /** The time from the first click to the last decision at the service. */
  readonly ms: number;
};

const PEOPLE = 100;
const CHANNELS = 10;
const RUNS_PER_CHANNEL = 2;
/** Few enough for cards: more than eight would be on a listing. */
const PER_RUN = PEOPLE / CHANNELS / RUNS_PER_CHANNEL;
const CARDS_MS = 240_000;
const SENT_MS = 240_000;
/** How long people wait before they press again if they are told to (ms). */
const PATIENCE_MS = 3_000;

/** With `isPrivate`, the channels are private, so Slack must also say who is in them. */
export function crowd(isPrivate: boolean): Promise<Crowd> {
  return withBot(async (world) => {
    for (const nth of range(PEOPLE)) addPerson(world, idOf(nth));
    const cards = await putUpCards(world, isPrivate);
    const from = performance.now();
    const presses = await Promise.all(cards.map((card, nth) => decide(world, card, idOf(nth))));
    const sent = (): boolean =>
      new Set(world.service.requests.all({ route: "decide" }).map(({ path }) => path)).size >= cards.length;
    await world.service.requests.until(sent, { timeoutMs: SENT_MS });
    return {
      people: cards.length,
      again: presses.filter((times) => times > 2).length,
      presses: presses.reduce((sum, times) => sum + times, 0),
      ms: performance.now() - from,
    };
  });
}

const idOf = (nth: number): string => `U0CROWD${nth}`;

async function putUpCards(world: World, isPrivate: boolean): Promise<Message[]> {
  const { workspace, acts } = world.slack;
  const channels = range(CHANNELS).map((index) => addChannel(world, index));
  for (const channel of channels) {
    const known = workspace.channels.get(channel);
    const members = [...(known?.members ?? []), ...range(PEOPLE).map(idOf)];
    if (known !== undefined)
      workspace.channels.set(channel, { ...known, members, kind: isPrivate ? "private" : "public" });
  }
  for (const channel of channels.flatMap((each) => range(RUNS_PER_CHANNEL).map(() => each))) {
    const run = world.service.control.createRun("release forever");
    for (const nth of range(PER_RUN))
      world.service.control.addApproval(run.id, {
        action: `Deploy part ${nth}`,
        details: { tool: "deploy" },
      });
    const { ok } = await acts.command("U0ANA", channel, "/agent", `watch ${run.id}`);
    if (!ok) throw new Error("the bot did not take a command");
  }
  const cards = () => workspace.messages.filter(isOpenCard);
  const wanted = PEOPLE;
  await workspace.until(() => cards().length >= wanted, { timeoutMs: CARDS_MS, what: `${wanted} cards` });
  return cards();
}

/** Resolves to how often the person pressed a button until the decision was recorded. */
async function decide({ slack }: World, card: Message, id: string): Promise<number> {
  const { workspace, acts } = slack;
  const block = card.blocks.find(({ type }) => type === "actions")?.block_id ?? "";
  const formOf = () => workspace.viewsOf(id).find(({ view }) => view["callback_id"] === "decision_modal");
  const shown = (): boolean => workspace.viewsOf(id).length > 0;
  let presses = 0;
  for (let form = formOf(); form === undefined; form = formOf()) {
    for (const { id: view } of workspace.viewsOf(id).slice()) await acts.close(id, view);
    presses += 1;
    await acts.click(id, { channel: card.channel, ts: card.ts }, block, "card_approve");
    await workspace.until(shown, { timeoutMs: PATIENCE_MS }).catch(() => undefined);
  }
  for (let form = formOf(); form !== undefined; form = formOf()) {
    presses += 1;
    await acts.submit(id, form.id, { reason: { reason_text: "The numbers are right." } });
    if (formOf() !== undefined) await pause(PATIENCE_MS);
  }
  return presses;
}
