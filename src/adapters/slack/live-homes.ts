// Keeps open Home tabs up to date: when an approval in one of the reader's channels changes, the tab is drawn again, within a budget. Slack
// does not say when a tab is closed, so a tab counts as open for a while after its reader last used it. After a restart, all open tabs are
// drawn again.
//
// With several processes, each draws the tabs that its own changes concern. For the changes of the others, one process keeps each tab: the
// one that holds the shard of its reader. It draws the tab again when the audit has grown, which nearly every change makes it do.

import { deadlineOf } from "../../domain/applied-rule.ts";
import type { Approval } from "../../domain/approval.ts";
import { escalatedMs } from "../../domain/escalation.ts";
import { claimOf } from "../../domain/handling.ts";
import { type ChannelId, type RunKey, shardOfName, type UserId } from "../../domain/ids.ts";
import { openQuestions } from "../../domain/question.ts";
import type { Run } from "../../domain/run.ts";
import { type Clock, createAlarms } from "../../engine/clock.ts";
import type { EventLog } from "../../ports.ts";
import type { AuditLog, DocumentStore } from "../../ports/store.ts";
import { cardState } from "./blocks/card-state.ts";
import { createKeptHomes, type KeptHome, type KeptHomes } from "./kept-homes.ts";
import { EVERYTHING, type QueueChoice } from "./queue-choice.ts";

/** How long a tab is kept up to date after it was opened or used (ms): a working day, in which many people never close it. */
const OPEN_MS = 8 * 60 * 60_000;
/** A tab is drawn again at most this often (ms). */
const EACH_MS = 3_000;
/** How often we look for changes by other processes (ms). */
const LOOK_EVERY_MS = 10_000;
/** The maximum age of a tab while there are other processes (ms). A few changes are not in the audit, such as that a run is working. */
const MAX_AGE_MS = 60_000;
/**
 * The interval between the drawings of all tabs by all processes (ms): 30 a minute, of the 100 calls of views.publish that Slack allows.
 */
const ALL_MS = 2_000;
/** The most tabs that are kept up to date. The tabs used longest ago are dropped first. */
const MAX_OPEN = 100;
/** The most runs for which we remember what was drawn. */
const MAX_RUNS = 5_000;
/** How often the drawing of a tab is tried again after a failure. */
const MAX_TRIES = 3;

export type LiveHomes = {
  /** The reader has opened or used the tab. */
  opened(user: UserId, choice: QueueChoice): void;
  /** The tab was drawn. Changes in these channels draw it again. */
  drawn(user: UserId, channels: ReadonlySet<ChannelId>): void;
  /** The tab could not be drawn. */
  failed(user: UserId): void;
  /** Returns the reader's last choice of filters and page. */
  choiceOf(user: UserId): QueueChoice;
  changed(run: Run): void;
  /** A freeze has begun or ended, which also concerns channels without runs. */
  freezesChanged(): void;
  /** Draws the tabs that this process keeps and that others may have made out of date. May be called often. Never rejects. */
  refresh(): Promise<void>;
  /** Draws the tabs that were open before a restart. Never rejects. */
  restore(): Promise<void>;
  stop(): void;
  /** Resolves when the list of open tabs is stored. */
  written(): Promise<void>;
};

type Open = {
  readonly choice: QueueChoice;
  /** When the tab stops counting as open (monotonic ms). */
  readonly until: number;
  /** The channels that the tab shows. Null if it has not been drawn yet. */
  readonly channels: ReadonlySet<ChannelId> | null;
  readonly drawnAt: number;
  /** The number of an audit entry. The tab was drawn after it was written. */
  readonly drawnAfter: number;
  readonly tries: number;
};

export type LiveHomesDeps = {
  readonly clock: Clock;
  readonly documents: DocumentStore;
  readonly auditLog: Pick<AuditLog, "auditHead">;
  /** Returns whether this process holds the shard (domain/ids.ts). */
  readonly holdsShard: (shard: number) => boolean;
  readonly log: EventLog;
  /** Returns how many processes share Slack's limits. */
  readonly sharers: () => number;
};

type Draw = (user: UserId, choice: QueueChoice) => void;

/** `draw` publishes the tab, and reports back with `drawn` or `failed`. */
export function createLiveHomes(deps: LiveHomesDeps, draw: Draw): LiveHomes {
  const now = (): number => deps.clock.monotonic();
  const tabs = createTabs(now);
  const kept = createKeptHomes(deps.documents, deps.log, MAX_OPEN);
  const shown = new Map<RunKey, string>();
  const others = createOthers(deps, tabs, kept);
  const soon = createPacer(deps, (user) => drawAsChosen(user, { deps, tabs, others, draw }));
  const drawOutdated = async (): Promise<void> => {
    await others.look();
    for (const [user, tab] of tabs.all()) if (others.haveOutdated(user, tab)) soon.draw(user, tab.drawnAt);
  };
  return {
    opened(user, choice) {
      const home = { user, choice, until: now() + OPEN_MS };
      tabs.open(home, { drawnAt: now(), drawnAfter: others.head() });
      kept.keep(home);
    },
    drawn: (user, channels) => tabs.update(user, { channels, drawnAt: now(), tries: 0 }),
    failed(user) {
      const tab = tabs.get(user);
      if (tab === null || tab.tries >= MAX_TRIES) return;
      tabs.update(user, { drawnAt: now(), tries: tab.tries + 1 });
      soon.draw(user, now());
    },
    choiceOf: (user) => tabs.get(user)?.choice ?? EVERYTHING,
    changed(run) {
      const open = tabs.all();
      if (open.length === 0 || !isNews(shown, run)) return;
      for (const [user, tab] of open) if (mayShow(tab, run)) soon.draw(user, tab.drawnAt);
    },
    freezesChanged() {
      for (const [user, { drawnAt }] of tabs.all()) if (keeps(deps, user)) soon.draw(user, drawnAt);
    },
    refresh: async () => (others.isDue() ? drawOutdated() : undefined),
    restore: drawOutdated,
    stop: soon.stop,
    written: () => kept.written(),
  };
}

type Drawers = {
  readonly deps: LiveHomesDeps;
  readonly tabs: Tabs;
  readonly others: Others;
  readonly draw: Draw;
};

async function drawAsChosen(user: UserId, { deps, tabs, others, draw }: Drawers): Promise<void> {
  // The reader may have chosen another page through another process.
  if (deps.sharers() > 1) await others.adopt();
  const tab = tabs.get(user);
  if (tab === null) return;
  tabs.update(user, { drawnAfter: others.head() });
  draw(user, tab.choice);
}

/** Returns whether this process draws the reader's tab for the changes of other processes. */
const keeps = ({ holdsShard }: Pick<LiveHomesDeps, "holdsShard">, user: UserId): boolean =>
  holdsShard(shardOfName(user));

type Others = ReturnType<typeof createOthers>;

/** Knows what other processes may have changed, as of the last look. */
function createOthers(deps: LiveHomesDeps, tabs: Tabs, kept: KeptHomes) {
  const { clock, auditLog, log } = deps;
  const now = (): number => clock.monotonic();
  let head = 0;
  let lookedAt = now();
  const adopt = async (): Promise<void> => adoptTabs(tabs, await kept.load(), now() + OPEN_MS);
  async function readHead(): Promise<void> {
    try {
      head = (await auditLog.auditHead())?.seq ?? 0;
    } catch (error) {
      log.warn({ error }, "could not see whether the audit has grown; open Home tabs may be a minute old");
    }
  }
  return {
    /** Returns the number of the newest audit entry. */
    head: () => head,
    isDue: () => now() - lookedAt >= LOOK_EVERY_MS,
    adopt,
    /** Never rejects. */
    async look(): Promise<void> {
      lookedAt = now();
      await Promise.all([adopt(), readHead()]);
    },
    haveOutdated: (user: UserId, { drawnAfter, drawnAt }: Drawing): boolean =>
      keeps(deps, user) && (drawnAfter !== head || now() - drawnAt >= MAX_AGE_MS),
  };
}

/** Returns whether the tab may show the run: its reader is in the channel, or an escalation may have brought them in. */
function mayShow({ channels }: Open, { channel, approvals }: Run): boolean {
  return channels?.has(channel) !== false || approvals.some((approval) => escalatedMs(approval) > 0);
}

type Drawing = Pick<Open, "drawnAt" | "drawnAfter">;

/** The last drawing of a tab that this process has not drawn. */
const NOT_DRAWN: Drawing = { drawnAt: -Infinity, drawnAfter: -1 };

/** Takes over the tabs that were used later than this process knows, with their filters. */
function adoptTabs(tabs: Tabs, kept: readonly KeptHome[], latest: number): void {
  for (const home of kept) {
    const tab = tabs.get(home.user);
    if (tab === null) tabs.open({ ...home, until: Math.min(home.until, latest) }, NOT_DRAWN);
    else if (home.until > tab.until && home.until <= latest)
      tabs.open(home, { ...NOT_DRAWN, drawnAt: tab.drawnAt });
  }
}

type Tabs = ReturnType<typeof createTabs>;

/** The tabs that count as open. */
function createTabs(now: () => number) {
  const tabs = new Map<UserId, Open>();
  function get(user: UserId): Open | null {
    const tab = tabs.get(user);
    if (tab === undefined || now() < tab.until) return tab ?? null;
    tabs.delete(user);
    return null;
  }
  return {
    get,
    /** Returns the open tabs, the one used last first. */
    all: (): readonly (readonly [UserId, Open])[] =>
      [...tabs].filter(([user]) => get(user) !== null).toReversed(),
    update(user: UserId, facts: Partial<Open>): void {
      const tab = get(user);
      if (tab !== null) tabs.set(user, { ...tab, ...facts });
    },
    open({ user, choice, until }: KeptHome, drawing: Drawing): void {
      const channels = tabs.get(user)?.channels ?? null;
      tabs.delete(user);
      tabs.set(user, { channels, choice, until, ...drawing, tries: 0 });
      const [oldest] = tabs.keys();
      if (tabs.size > MAX_OPEN && oldest !== undefined) tabs.delete(oldest);
    },
  };
}

/** Draws each tab as early as the budget allows. Changes until then are included in the same drawing. */
function createPacer(
  { clock, sharers }: Pick<LiveHomesDeps, "clock" | "sharers">,
  draw: (user: UserId) => Promise<void>,
) {
  const waiting = new Set<UserId>();
  const alarms = createAlarms(clock);
  let nextAt = 0;
  return {
    draw(user: UserId, drawnAt: number): void {
      if (waiting.has(user)) return;
      const at = Math.max(clock.monotonic(), drawnAt + EACH_MS, nextAt);
      nextAt = at + ALL_MS * sharers();
      waiting.add(user);
      alarms.set(user, at - clock.monotonic(), () => {
        waiting.delete(user);
        void draw(user);
      });
    },
    stop: () => alarms.stop(),
  };
}

/** What a tab shows of follow-ups: who looks at the request, how many questions are open, and who else may decide by now. */
const followUpShown = (approval: Approval): readonly unknown[] => [
  claimOf(approval)?.by,
  openQuestions(approval).length,
  escalatedMs(approval),
];

/** Returns whether a tab would now show something else of the run, and remembers what it shows. */
function isNews(shown: Map<RunKey, string>, run: Run): boolean {
  const { key, creation, seen, watch, frozen, unreadable } = run;
  const start = [creation.type, creation.type === "planned" ? creation.why : ""];
  const states = run.approvals.map((approval) => {
    const { id, version, state, votes, readers, appliedRule } = approval;
    const delivery = state.type === "decided" ? cardState(run, approval).title : "";
    const who = [votes.length, readers.length, appliedRule.version, appliedRule.rule.name];
    return [id, version, state.type, delivery, ...who, deadlineOf(approval), ...followUpShown(approval)];
  });
  const faults = [unreadable?.what, unreadable?.count];
  const current = JSON.stringify([start, seen?.status, watch.type, frozen?.entry, faults, states]);
  if (shown.get(key) === current) return false;
  shown.delete(key);
  shown.set(key, current);
  const [oldest] = shown.keys();
  if (shown.size > MAX_RUNS && oldest !== undefined) shown.delete(oldest);
  return true;
}
