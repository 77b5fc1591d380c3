// Makes sure that the card of a pending approval stays in Slack. Slack reports a deletion if the app gets its events. In addition, each
// card is checked at intervals, and at once when someone asks what is pending.

import { type ChannelId, type MessageTs, type RunKey, shardOf, type TeamId } from "../domain/ids.ts";
import { afterRejoining, markMaybeDeleted, messagesToKeep } from "../domain/message-outcome.ts";
import type { Run, Slot } from "../domain/run.ts";
import { type Chat, type EventLog, type PacedEffect, PortError } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import type { Clock } from "./clock.ts";
import { DueQueue } from "./background-work.ts";
import type { RunEngine } from "./run-engine.ts";

export type CardSweep = {
  /** Slack reports that this message was deleted. Never rejects. */
  deleted(channel: ChannelId, ts: MessageTs): Promise<void>;
  /** The app has joined the channel, so messages that the channel refused are tried again now. Never rejects. */
  letIn(channel: ChannelId): Promise<void>;
  /** Someone wants to see these runs, so their cards are checked now. */
  lookNow(runs: readonly Run[]): void;
  stop(): void;
};

/** Each card is checked this often (ms), as far as the limit of fifteen reads a minute allows. */
export const LOOK_EVERY_MS = 45_000;
const MAX_RUNS = 10_000;
/** How many deleted messages to remember that are not known as cards; most are people's. And how many runs. The oldest are dropped. */
const MAX_UNKNOWN = 500;

type Deps = {
  /** The workspace whose deletions Slack reports. */
  team: TeamId;
  engine: Pick<RunEngine, "change" | "onPlan" | "onDrop" | "holdsShard">;
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

export function createCardSweep(deps: Deps): CardSweep {
  const { engine, clock, log, store } = deps;
  const cards = createCards();
  const looks = createLooks(deps, (card) => cards.at(card.channel, card.ts) === card);
  // A card may be deleted before Slack answers its post, and a person may ask for its run before the answer is stored.
  const unknown = new Set<string>();
  const asked = new Set<RunKey>();

  engine.onPlan((run) => {
    for (const card of cards.put(run)) {
      if (asked.delete(run.key) || unknown.has(placeOf(card))) looks.now(card);
      else looks.later(card);
    }
  });

  engine.onDrop((key) => cards.drop(key));

  async function guarded(what: string, act: () => Promise<void>): Promise<void> {
    await act().catch((error: unknown) => log.error({ error }, what));
  }

  return {
    deleted: (channel, ts) =>
      guarded("could not record that a card was deleted; the next check finds it", async () => {
        const card = cards.at(channel, ts);
        if (card !== null) return gone(deps, card);
        if (!engine.holdsShard(shardOf({ team: deps.team, channel })))
          return goneElsewhere(deps, channel, ts);
        addTo(unknown, placeOf({ channel, ts }));
      }),
    letIn: (channel) =>
      guarded("could not retry the messages that a channel refused; the regular retry does", async () => {
        const runs = await store.list({ channels: [channel], only: "unfinished", limit: MAX_RUNS });
        const change = (run: Run): Run => afterRejoining(run, clock.monotonic());
        // Slack tells one process, which need not be the one that looks after the channel.
        for (const { key } of runs) await engine.change(key, change, { mustHold: false });
      }),
    lookNow: (runs) => {
      for (const { key } of runs) {
        if (cards.of(key).length === 0) addTo(asked, key);
        for (const card of cards.of(key)) looks.now(card);
      }
    },
    stop: looks.stop,
  };
}

function addTo<Value>(kept: Set<Value>, value: Value): void {
  const [oldest] = kept.add(value);
  if (kept.size > MAX_UNKNOWN && oldest !== undefined) kept.delete(oldest);
}

type Looks = {
  readonly later: (card: Card) => void;
  /** Before all cards that are merely due. */
  readonly now: (card: Card) => void;
  readonly stop: () => void;
};

/** Checks one card after the other, and each again while it is current. */
function createLooks(deps: Deps, isCurrent: (card: Card) => boolean): Looks {
  const awaited = new Set<Card>();
  const queue: DueQueue<Card> = new DueQueue(deps.clock, 1, async (card) => {
    const turn = awaited.delete(card) ? AWAITED : UNASKED;
    if (!isCurrent(card)) return;
    await fetchRun(deps, card, turn, () => isCurrent(card));
    if (isCurrent(card)) later(card);
  });
  const later = (card: Card): void => queue.advance(card, deps.clock.monotonic() + LOOK_EVERY_MS);
  const now = (card: Card): void => {
    awaited.add(card);
    queue.advance(card, 0);
  };
  return { later, now, stop: () => queue.stop() };
}

type Turn = Pick<PacedEffect, "kind" | "urgency">;
const AWAITED: Turn = { kind: "read", urgency: 1 };
const UNASKED: Turn = { kind: "sweep", urgency: 2 };

async function fetchRun(deps: Deps, card: Card, turn: Turn, wanted: () => boolean): Promise<void> {
  const { chat, log } = deps;
  try {
    await chat.waitForTurn({ channel: card.channel, ...turn });
    if (wanted() && !(await chat.isThere(card.channel, card.ts)) && wanted()) await gone(deps, card);
  } catch (error) {
    // Slack did not say, or the store failed. The next check comes anyway.
    if (!(error instanceof PortError)) log.error({ run: card.run, error }, "could not check a card");
    else log.debug({ run: card.run, code: error.code }, "could not check a card");
  }
}

async function gone({ engine, clock, log }: Deps, { run: key, slot, ts }: Card): Promise<void> {
  log.warn({ run: key, slot }, "a card is no longer in Slack; posting it again");
  await engine.change(key, (run) => markMaybeDeleted(run, slot, ts, clock.monotonic()));
}

/** Slack tells one process, which need not be the one that looks after the channel. Most deleted messages are no cards. */
async function goneElsewhere(
  { engine, store, clock }: Deps,
  channel: ChannelId,
  ts: MessageTs,
): Promise<void> {
  const runs = await store.list({ channels: [channel], only: "pending", limit: MAX_RUNS });
  for (const run of runs)
    for (const { slot } of messagesToKeep(run).filter((each) => each.ts === ts))
      await engine.change(run.key, (each) => markMaybeDeleted(each, slot, ts, clock.monotonic()), {
        mustHold: false,
      });
}

type Cards = {
  /** Takes over the run's cards; returns those that are new. */
  put(run: Run): Card[];
  drop(run: RunKey): void;
  at(channel: ChannelId, ts: MessageTs): Card | null;
  of(run: RunKey): readonly Card[];
};

const placeOf = ({ channel, ts }: Pick<Card, "channel" | "ts">): string => `${channel} ${ts}`;

/** Holds only the cards of pending approvals, so there are few. */
function createCards(): Cards {
  const byRun = new Map<RunKey, readonly Card[]>();
  const byPlace = new Map<string, Card>();
  function put(run: Run): Card[] {
    const { key, channel } = run;
    const before = byRun.get(key) ?? [];
    const kept = messagesToKeep(run);
    const known = ({ slot, ts }: Pick<Card, "slot" | "ts">): Card | undefined =>
      before.find((each) => each.slot === slot && each.ts === ts);
    const after = kept.map((each): Card => known(each) ?? { run: key, channel, ...each });
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
