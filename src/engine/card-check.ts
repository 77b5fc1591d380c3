// Makes sure that the card of a pending approval stays in Slack. If the app receives Slack's events, Slack reports a deletion. In addition,
// each card is checked at intervals, and at once when a person asks what is pending.

import { type ChannelId, type MessageTs, type RunKey, shardOf, type TeamId } from "../domain/ids.ts";
import { afterRejoining, markMaybeDeleted, messagesToKeep } from "../domain/kept-messages.ts";
import type { Run } from "../domain/run.ts";
import type { Slot } from "../domain/slot.ts";
import { type Chat, type EventLog, type PacedEffect, PortError } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import type { Clock } from "./clock.ts";
import { DueQueue } from "./background-work.ts";
import type { RunEngine } from "./run-engine.ts";

export type CardChecks = {
  /** Called when Slack reports that this message was deleted. Never rejects. */
  deleted(channel: ChannelId, ts: MessageTs): Promise<void>;
  /** Called when the app has joined the channel. Messages that the channel refused are tried again at once. Never rejects. */
  appJoined(channel: ChannelId): Promise<void>;
  /** Checks the cards of these runs at once, because a person wants to see them. */
  lookNow(runs: readonly Run[]): void;
  stop(): void;
};

/** The time between two checks of a card (ms). They are rarer if the limit of fifteen reads a minute requires it. */
export const LOOK_EVERY_MS = 45_000;
const MAX_RUNS = 10_000;
/** The number of deleted messages to remember that are not known as cards (most belong to people), and of runs. The oldest are dropped. */
const MAX_UNKNOWN = 500;

type Deps = {
  /** The workspace whose deletions Slack reports. */
  team: TeamId;
  engine: Pick<RunEngine, "change" | "changeAnywhere" | "onPlan" | "onDrop" | "holdsShard">;
  store: Pick<RunStore, "list">;
  chat: Pick<Chat, "waitForTurn" | "isThere">;
  clock: Clock;
  log: EventLog;
};

type Card = {
  readonly run: RunKey;
  readonly channel: ChannelId;
  readonly slot: Slot;
  readonly ts: MessageTs;
};

export function createCardChecks(deps: Deps): CardChecks {
  const { engine, clock, log, store } = deps;
  const cards = createCards();
  const checks = createCheckQueue(deps, (card) => cards.at(card.channel, card.ts) === card);
  // A card may be deleted before Slack answers its post, and a person may ask for its run before the answer is stored.
  const deletedUnknown = new Set<string>();
  const requestedRuns = new Set<RunKey>();

  engine.onPlan((run) => {
    for (const card of cards.put(run)) {
      if (requestedRuns.delete(run.key) || deletedUnknown.has(placeOf(card))) checks.now(card);
      else checks.later(card);
    }
  });

  engine.onDrop((key) => cards.drop(key));

  async function logFailure(message: string, act: () => Promise<void>): Promise<void> {
    await act().catch((error: unknown) => log.error({ error }, message));
  }

  return {
    deleted: (channel, ts) =>
      logFailure("could not record that a card was deleted; the next check finds it", async () => {
        const card = cards.at(channel, ts);
        if (card !== null) return repost(deps, card);
        if (!engine.holdsShard(shardOf({ team: deps.team, channel })))
          return repostForOtherReplica(deps, channel, ts);
        addTo(deletedUnknown, placeOf({ channel, ts }));
      }),
    appJoined: (channel) =>
      logFailure("could not retry the messages that a channel refused; the regular retry will", async () => {
        const runs = await store.list({ channels: [channel], only: "unfinished", limit: MAX_RUNS });
        const change = (run: Run): Run => afterRejoining(run, clock.monotonic());
        // Slack reports this to only one process, which may not be the one that holds the channel.
        for (const { key } of runs) await engine.changeAnywhere(key, change);
      }),
    lookNow: (runs) => {
      for (const { key } of runs) {
        if (cards.of(key).length === 0) addTo(requestedRuns, key);
        for (const card of cards.of(key)) checks.now(card);
      }
    },
    stop: checks.stop,
  };
}

function addTo<Value>(values: Set<Value>, value: Value): void {
  const [oldest] = values.add(value);
  if (values.size > MAX_UNKNOWN && oldest !== undefined) values.delete(oldest);
}

type CheckQueue = {
  readonly later: (card: Card) => void;
  /** Checks the card before all cards that are merely due. */
  readonly now: (card: Card) => void;
  readonly stop: () => void;
};

/** Checks one card at a time, and checks each card again as long as it is current. */
function createCheckQueue(deps: Deps, isCurrent: (card: Card) => boolean): CheckQueue {
  const requestedCards = new Set<Card>();
  const queue: DueQueue<Card> = new DueQueue(deps.clock, 1, async (card) => {
    const pace = requestedCards.delete(card) ? REQUESTED : REGULAR;
    if (!isCurrent(card)) return;
    await checkCard(deps, card, pace, () => isCurrent(card));
    if (isCurrent(card)) later(card);
  });
  const later = (card: Card): void => queue.advance(card, deps.clock.monotonic() + LOOK_EVERY_MS);
  const now = (card: Card): void => {
    requestedCards.add(card);
    queue.advance(card, 0);
  };
  return { later, now, stop: () => queue.stop() };
}

type Pace = Pick<PacedEffect, "kind" | "urgency">;
const REQUESTED: Pace = { kind: "read", urgency: 1 };
const REGULAR: Pace = { kind: "sweep", urgency: 2 };

async function checkCard(deps: Deps, card: Card, pace: Pace, isWanted: () => boolean): Promise<void> {
  const { chat, log } = deps;
  try {
    await chat.waitForTurn({ channel: card.channel, ...pace });
    if (isWanted() && !(await chat.isThere(card.channel, card.ts)) && isWanted()) await repost(deps, card);
  } catch (error) {
    // Slack did not say, or the store failed. The next check comes anyway.
    if (!(error instanceof PortError)) log.error({ run: card.run, error }, "could not check a card");
    else log.debug({ run: card.run, code: error.code }, "could not check a card");
  }
}

async function repost({ engine, clock, log }: Deps, { run: key, slot, ts }: Card): Promise<void> {
  log.warn({ run: key, slot }, "a card is no longer in Slack; posting it again");
  await engine.change(key, (run) => markMaybeDeleted(run, slot, ts, clock.monotonic()));
}

/** Slack reports a deletion to only one process, which may not hold the channel. Most deleted messages are not cards. */
async function repostForOtherReplica(
  { engine, store, clock }: Deps,
  channel: ChannelId,
  ts: MessageTs,
): Promise<void> {
  const runs = await store.list({ channels: [channel], only: "pending", limit: MAX_RUNS });
  for (const run of runs)
    for (const { slot } of messagesToKeep(run).filter((message) => message.ts === ts))
      await engine.changeAnywhere(run.key, (newest) => markMaybeDeleted(newest, slot, ts, clock.monotonic()));
}

type Cards = {
  /** Replaces the run's cards with those of `run`, and returns the new ones. */
  put(run: Run): Card[];
  drop(run: RunKey): void;
  at(channel: ChannelId, ts: MessageTs): Card | null;
  of(run: RunKey): readonly Card[];
};

const placeOf = ({ channel, ts }: Pick<Card, "channel" | "ts">): string => `${channel} ${ts}`;

/** The cards of pending approvals only, so there are few. */
function createCards(): Cards {
  const byRun = new Map<RunKey, readonly Card[]>();
  const byPlace = new Map<string, Card>();
  function put(run: Run): Card[] {
    const { key, channel } = run;
    const before = byRun.get(key) ?? [];
    const findKnown = ({ slot, ts }: Pick<Card, "slot" | "ts">): Card | undefined =>
      before.find((card) => card.slot === slot && card.ts === ts);
    const after = messagesToKeep(run).map(
      (message): Card => findKnown(message) ?? { run: key, channel, ...message },
    );
    for (const card of before) if (!after.includes(card)) byPlace.delete(placeOf(card));
    for (const card of after) byPlace.set(placeOf(card), card);
    if (after.length > 0) byRun.set(key, after);
    else byRun.delete(key);
    return after.filter((card) => !before.includes(card));
  }
  function drop(run: RunKey): void {
    for (const card of byRun.get(run) ?? []) byPlace.delete(placeOf(card));
    byRun.delete(run);
  }
  return {
    put,
    drop,
    at: (channel, ts) => byPlace.get(placeOf({ channel, ts })) ?? null,
    of: (run) => byRun.get(run) ?? [],
  };
}
