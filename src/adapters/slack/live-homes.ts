// Keeps open Home tabs up to date: when an approval in one of the reader's channels changes, the tab is drawn again, within a budget. Slack
// does not say when a tab is closed, so a tab counts as open for a while after its reader last used it.
//
// The process that holds the shard of the reader keeps the tab: it alone draws the tab again for news, also after a restart or when it takes
// the shard over. If there are several processes, it learns of the others' changes from the audit: nearly every change adds an entry.

import { deadlineOf } from "../../domain/applied-rule.ts";
import type { Approval } from "../../domain/approval.ts";
import { escalatedMs } from "../../domain/escalation.ts";
import { claimOf } from "../../domain/handling.ts";
import { type ChannelId, type RunKey, shardOfName, type UserId } from "../../domain/ids.ts";
import { openQuestions } from "../../domain/question.ts";
import { isStopped, type Run } from "../../domain/run.ts";
import type { Clock } from "../../engine/clock.ts";
import type { EventLog } from "../../ports.ts";
import type { DocumentStore } from "../../ports/store.ts";
import type { AuditLog } from "../../ports/audit-store.ts";
import { cardState } from "./blocks/card-state.ts";
import { createHomePacer, type Why } from "./home-pacer.ts";
import { createHomeTabs, type HomeTab, type HomeTabs, MAX_TABS } from "./home-tabs.ts";
import { createKeptHomes, type KeptHomes } from "./kept-homes.ts";
import { EVERYTHING, type QueueChoice } from "./queue-choice.ts";

/** How long a tab is kept up to date after it was opened or used (ms): a working day, in which many people never close it. */
const OPEN_MS = 8 * 60 * 60_000;
/** How far the clock of another process may be ahead of ours (ms). A tab from further in the future is not taken over. */
const MAX_SKEW_MS = 60_000;
/** How often we look for changes by other processes (ms). */
const LOOK_EVERY_MS = 10_000;
/**
 * The maximum age of a tab while there are other processes, as far as the budget allows (ms). A few changes are not in the audit, such as
 * that a run is working.
 */
const MAX_AGE_MS = 60_000;
/** The most runs for which we remember what was drawn. */
const MAX_RUNS = 5_000;
/** How often the drawing of a tab is tried again after a failure. */
const MAX_TRIES = 3;

export type LiveHomes = {
  /** The reader has opened or used the tab. */
  opened(user: UserId, choice: QueueChoice): void;
  /** A drawing of the tab begins. Call the result right before it is published: false means that a later one was published already. */
  begin(user: UserId): () => boolean;
  /** The tab was drawn. Changes in these channels draw it again. */
  drawn(user: UserId, channels: ReadonlySet<ChannelId>): void;
  /** The tab could not be drawn. */
  failed(user: UserId): void;
  /** Resolves to the reader's last choice of filters and page, also if they made it through another process. Never rejects. */
  choiceOf(user: UserId): Promise<QueueChoice>;
  /** The run was reconciled, and may have changed. */
  changed(run: Run): void;
  /** The freezes may have changed, also those of channels without runs. */
  freezesChanged(): void;
  /** Draws the tabs that other processes may have made out of date. May be called often. Never rejects. */
  refresh(): Promise<void>;
  /** Draws the tabs that were open before a restart. Never rejects. */
  restore(): Promise<void>;
  stop(): void;
  /** Resolves when the list of open tabs is stored. */
  written(): Promise<void>;
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
export const createLiveHomes = (deps: LiveHomesDeps, draw: Draw): LiveHomes => ({
  ...createDrawings(),
  ...createUpkeep(deps, draw),
});

function createUpkeep(deps: LiveHomesDeps, draw: Draw): Omit<LiveHomes, "begin"> {
  const now = (): number => deps.clock.monotonic();
  const keeps = (user: UserId): boolean => deps.holdsShard(shardOfName(user));
  const tabs = createHomeTabs(now);
  const kept = createKeptHomes(deps.documents, deps.log, MAX_TABS);
  const shown = new Map<RunKey, string>();
  const others = createOthers(deps, tabs, kept);
  const pacer = createHomePacer(deps, (user) => void drawAsChosen(user, { deps, tabs, others, draw, pacer }));

  function drawWhere(concerns: (tab: HomeTab) => boolean, why: Why): void {
    for (const [user, tab] of tabs.all())
      if (keeps(user) && concerns(tab)) pacer.draw(user, tab.drawnAt, why);
  }

  const drawOutdated = async (): Promise<void> => {
    await others.look();
    drawWhere(others.haveOutdated, "routine");
  };

  return {
    opened(user, choice) {
      const home = { user, choice, until: now() + OPEN_MS };
      tabs.open(home, { drawnAt: now(), drawnAfter: others.head(), openedHere: true });
      kept.keep(home);
    },
    drawn: (user, channels) => tabs.update(user, { channels, drawnAt: now(), tries: 0 }),
    failed(user) {
      const tab = tabs.get(user);
      if (tab === null) return;
      tabs.update(user, { drawnAt: now(), tries: Math.min(tab.tries + 1, MAX_TRIES) });
      if (tab.tries < MAX_TRIES) pacer.draw(user, now(), "news");
    },
    choiceOf: (user) => others.look().then(() => tabs.get(user)?.choice ?? EVERYTHING),
    changed(run) {
      if (tabs.all().length > 0 && isNews(shown, run)) drawWhere((tab) => mayShow(tab, run), "news");
    },
    freezesChanged: () => drawWhere(() => true, "news"),
    refresh: async () => (others.isDue() ? drawOutdated() : undefined),
    restore: drawOutdated,
    stop: () => pacer.stop(),
    written: () => kept.written(),
  };
}

/** The number of the newest drawing of each tab that was published. */
function createDrawings(): Pick<LiveHomes, "begin"> {
  const published = new Map<UserId, number>();
  let begun = 0;
  return {
    begin(user) {
      const nth = (begun += 1);
      return () => {
        if ((published.get(user) ?? 0) > nth) return false;
        published.set(user, nth);
        return true;
      };
    },
  };
}

type DrawingDeps = {
  readonly deps: LiveHomesDeps;
  readonly tabs: HomeTabs;
  readonly others: Others;
  readonly draw: Draw;
  readonly pacer: { readonly stopped: () => boolean };
};

async function drawAsChosen(user: UserId, { deps, tabs, others, draw, pacer }: DrawingDeps): Promise<void> {
  // The reader may have chosen another page through another process.
  if (deps.sharers() > 1) await others.look();
  const tab = tabs.get(user);
  if (tab === null || pacer.stopped()) return;
  tabs.update(user, { drawnAfter: others.head() });
  draw(user, tab.choice);
}

type Others = ReturnType<typeof createOthers>;

/** Knows what other processes have done, as of the last look. */
function createOthers(deps: LiveHomesDeps, tabs: HomeTabs, kept: KeptHomes) {
  const { clock, auditLog, log } = deps;
  const now = (): number => clock.monotonic();
  let head = 0;
  let checkedAt = now();

  async function readHead(): Promise<void> {
    try {
      head = (await auditLog.auditHead())?.seq ?? 0;
    } catch (error) {
      log.warn({ error }, "could not see whether the audit has grown; open Home tabs may be out of date");
    }
  }

  /** Takes over the tabs that were used later than this process knows, and stores those that a lost write left out. */
  async function compareTabs(): Promise<void> {
    const latest = now() + OPEN_MS + MAX_SKEW_MS;
    const stored = (await kept.load()).filter(({ until }) => until <= latest);
    for (const home of stored) tabs.adopt(home);
    const until = new Map(stored.map((home) => [home.user, home.until]));
    const oldest = stored.length < MAX_TABS ? 0 : (stored[0]?.until ?? 0);
    for (const [user, tab] of tabs.all())
      if (tab.openedHere && tab.until > Math.max(until.get(user) ?? 0, oldest))
        kept.keep({ user, choice: tab.choice, until: tab.until });
  }

  return {
    /** Returns the number of the newest audit entry. */
    head: () => head,
    /** Returns true at most every `LOOK_EVERY_MS`. */
    isDue(): boolean {
      if (now() - checkedAt < LOOK_EVERY_MS) return false;
      checkedAt = now();
      return true;
    },
    /** Never rejects. */
    look: async (): Promise<void> => void (await Promise.all([compareTabs(), readHead()])),
    haveOutdated: ({ drawnAfter, drawnAt }: HomeTab): boolean =>
      drawnAfter !== head || now() - drawnAt >= MAX_AGE_MS,
  };
}

/** Returns whether the tab may show the run: its reader is in the channel, or an escalation may have brought them in. */
function mayShow({ channels }: HomeTab, { channel, approvals }: Run): boolean {
  return channels?.has(channel) !== false || approvals.some((approval) => escalatedMs(approval) > 0);
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
  const limits = [frozen?.entry, isStopped(run), run.mayHaveAsked?.length];
  const current = JSON.stringify([start, seen?.status, watch.type, limits, faults, states]);
  if (shown.get(key) === current) return false;
  shown.delete(key);
  shown.set(key, current);
  const [oldest] = shown.keys();
  if (shown.size > MAX_RUNS && oldest !== undefined) shown.delete(oldest);
  return true;
}
