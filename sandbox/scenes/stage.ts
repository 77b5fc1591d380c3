// What a story may do and see.

import { wordsOf } from "../control/surface.ts";
import type { Spot } from "../page/base/parts.ts";
import type { Run } from "../service/service-run.ts";
import type { Message, PersonId } from "../slack/model.ts";
import { type Asked, CHANNEL, createSceneSteps, type Seen } from "./scene-steps.ts";
import { countRefused, createUntil, pause, type StageParts, type Until } from "./watch.ts";

export const ana = "U0ANA";
export const ben = "U0BEN";
export const cat = "U0CAT";

export type Stage = ReturnType<typeof createStage>;

/** A decision as it reached the service. */
export type Sent = { readonly path: string; readonly decision: string; readonly reason: string };

export function createStage(parts: StageParts) {
  const { slack, service, bot } = parts;
  const until = createUntil(parts);
  /** What the story has looked at or touched last, which its next caption speaks of. */
  let spot: Spot = { channel: CHANNEL, ts: null };
  const seen = <M extends Pick<Message, "channel" | "ts">>(message: M): M => {
    spot = { channel: message.channel, ts: message.ts };
    return message;
  };
  return {
    say: (words: string, eyes?: PersonId): Promise<void> => parts.say(words, eyes, spot),
    until,
    /** As somebody takes who reads before they press (ms). */
    pause: (ms: number): Promise<void> => pause(ms, parts.signal),
    check,
    ...createSceneSteps({ ...parts, seen }, until),
    ...createSight({ ...parts, seen }, until),
    bot,
    control: service.service.control,
    hand: service.serviceHand,
    people: slack.workspace.people,
  };
}

function createSight(
  { slack, seen, service: { service } }: StageParts & { readonly seen: Seen },
  until: Until,
) {
  const { runs, requests } = service;
  const { messages } = slack.workspace;
  const threadOf = ({ opening: { channel, ts } }: Asked): Message[] =>
    messages.filter((each) => each.channel === channel && each.thread === ts && each.ephemeralFor === null);
  const cardsOf = (asked: Asked): Message[] => threadOf(asked).filter(({ broadcast }) => broadcast);
  return {
    threadOf,
    cardsOf,
    ...createWaits({ threadOf, cardsOf, seen }, until),
    /** All that the message says from now until `end`, each version once it is there. */
    versionsOf: (message: Message) => versionsOf(slack.workspace, message),
    runOf: ({ run }: Asked): Run | undefined => runs.get(run),
    /** The run, as soon as it fits. */
    untilRun: ({ run }: Asked, what: string, fits: (run: Run) => boolean): Promise<Run> =>
      until(what, () => {
        const found = runs.get(run);
        return found !== undefined && fits(found) && found;
      }),
    sent: ({ run }: Asked): Sent[] =>
      requests
        .all({ route: "decide" })
        .filter(({ path, body }) => body !== null && path.includes(`/${encodeURIComponent(run)}/`))
        .map(({ path, body }) => ({ path, ...(JSON.parse(body ?? "") as Omit<Sent, "path">) })),
    /** How many calls Slack refuses for coming too fast, from now until `end`. */
    countTooFast: () => countRefused(slack.traffic, "ratelimited"),
  };
}

type Found = { readonly [lister in "threadOf" | "cardsOf"]: (asked: Asked) => Message[] } & {
  readonly seen: Seen;
};

/** What a story waits for in the channel is what its next caption speaks of. */
function createWaits({ threadOf, cardsOf, seen }: Found, until: Until) {
  return {
    cardOf: async (asked: Asked): Promise<Message> => seen(await until("the card", () => cardsOf(asked)[0])),
    /** The message, as soon as it reads so. */
    reads: async (message: Message, ...words: readonly string[]): Promise<Message> =>
      seen(
        await until(
          `a message to say "${words.join('" and "')}"`,
          () => words.every((each) => wordsOf(message.blocks).includes(each)) && message,
        ),
      ),
    /** A message of the thread with these words, as soon as there is one. */
    saidIn: async (asked: Asked, words: string): Promise<Message> =>
      seen(
        await until(`"${words}" in the thread`, () =>
          threadOf(asked).find(({ blocks }) => wordsOf(blocks).includes(words)),
        ),
      ),
  };
}

function versionsOf({ onChange }: StageParts["slack"]["workspace"], message: Message) {
  const seen = [wordsOf(message.blocks)];
  const end = onChange((change) => {
    if (change.message?.now === message) seen.push(wordsOf(message.blocks));
  });
  return { seen: (): readonly string[] => seen, end };
}

/** The story ends here when it is not so. */
function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`it was expected that ${what}, and it is not so.`);
}

// The world as every scene finds and leaves it: nothing stands against anybody, service and gateway are up, and the bot runs with the right key.

type ResetParts = Pick<StageParts, "slack" | "service" | "bot"> & { readonly stage: Pick<Stage, "undo"> };

export function createReset({ slack, service, bot, stage }: ResetParts): () => Promise<void> {
  return async () => {
    slack.faults.clear();
    for (const hand of [service.serviceHand, service.gatewayHand]) {
      hand.clearFaults();
      hand.slow(0);
      await hand.up();
    }
    if (bot.given()["AGENT_API_KEY"] === service.service.apiKey) await bot.start();
    else await bot.restart();
    await stage.undo();
  };
}
