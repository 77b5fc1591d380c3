// What a scene can do and see.

import { wordsOf } from "../control/surface-text.ts";
import type { Spot } from "../page/base/parts.ts";
import type { Recorded } from "../service/recorder.ts";
import type { Run } from "../service/service-run.ts";
import type { Message, PersonId } from "../slack/model.ts";
import { cardState, says } from "./says.ts";
import { type Asked, CHANNEL, createSceneSteps, type Seen } from "./scene-steps.ts";
import { countRefused, createUntil, pause, type StageParts, type Until } from "./watch.ts";

export const ana = "U0ANA";
export const ben = "U0BEN";
export const cat = "U0CAT";

export type Stage = ReturnType<typeof createStage>;

/** A decision as the service received it. */
export type Sent = { readonly path: string; readonly decision: string; readonly reason: string };

export function createStage(parts: StageParts) {
  const { slack, service, bot } = parts;
  const until = createUntil(parts);
  /** What the scene looked at or touched last. Its next caption describes it. */
  let spot: Spot = { channel: CHANNEL, ts: null };
  const seen = <M extends Pick<Message, "channel" | "ts">>(message: M): M => {
    spot = { channel: message.channel, ts: message.ts };
    return message;
  };
  return {
    say: (words: string, eyes?: PersonId): Promise<void> => parts.say(words, eyes, spot),
    until,
    /** Waits as long as a person who reads before they press (ms). */
    pause: (ms: number): Promise<void> => pause(ms, parts.signal),
    check,
    ...createSceneSteps({ ...parts, seen }, until),
    ...createSight({ ...parts, seen }, until),
    bot,
    control: service.service.control,
    serviceController: service.serviceController,
    people: slack.workspace.people,
    /** How long after a press the app can open a form (ms). Slack rejects it after that. */
    formLimitMs: slack.timing.triggerMs,
  };
}

function createSight(
  { slack, seen, service: { service } }: StageParts & { readonly seen: Seen },
  until: Until,
) {
  const { runs, requests } = service;
  const { messages } = slack.workspace;
  const threadOf = ({ opening: { channel, ts } }: Asked): Message[] =>
    messages.filter(
      (message) => message.channel === channel && message.thread === ts && message.ephemeralFor === null,
    );
  const cardsOf = (asked: Asked): Message[] => threadOf(asked).filter(({ broadcast }) => broadcast);
  return {
    threadOf,
    cardsOf,
    ...createWaits({ threadOf, cardsOf, seen }, until),
    /** Records the states of the card from now until `end` is called. */
    statesOf: (card: Message) => statesOf(slack.workspace, card),
    runOf: ({ run }: Asked): Run | undefined => runs.get(run),
    /** Resolves to the run when `fits` returns true. */
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
    /** The reads of the run that the service has not answered yet. */
    openReads: ({ run }: Asked): Recorded[] =>
      requests
        .all({ route: "read-run" })
        .filter(({ path, done }) => !done && path.endsWith(`/${encodeURIComponent(run)}`)),
    /** Counts the calls that Slack refuses with `ratelimited` from now until `end` is called. */
    countTooFast: () => countRefused(slack.traffic, "ratelimited"),
  };
}

type Found = { readonly [lister in "threadOf" | "cardsOf"]: (asked: Asked) => Message[] } & {
  readonly seen: Seen;
};

/** Waits for messages. The next caption of the scene describes the message that it waited for last. */
function createWaits({ threadOf, cardsOf, seen }: Found, until: Until) {
  return {
    cardOf: async (asked: Asked): Promise<Message> => seen(await until("the card", () => cardsOf(asked)[0])),
    /** Resolves to the message when it has a block with this id and contains these words of people or of the service. */
    becomes: async (message: Message, id: string, ...words: readonly string[]): Promise<Message> =>
      seen(
        await until(
          `a message to say "${[id, ...words].join('" and "')}"`,
          () => says(id, message) && words.every((word) => wordsOf(message.blocks).includes(word)) && message,
        ),
      ),
    /** Resolves to the first message of the thread that has a block with this id. */
    saidIn: async (asked: Asked, id: string): Promise<Message> =>
      seen(await until(`"${id}" in the thread`, () => threadOf(asked).find((message) => says(id, message)))),
  };
}

function statesOf({ onChange }: StageParts["slack"]["workspace"], card: Message) {
  const seen = [cardState(card)];
  const end = onChange((change) => {
    if (change.message?.now === card) seen.push(cardState(card));
  });
  return { seen: (): readonly string[] => seen, end };
}

/** Throws if `holds` is false, which fails the scene. */
function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`expected that ${what}, but that is not the case.`);
}
