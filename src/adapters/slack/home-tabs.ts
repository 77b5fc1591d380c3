// The Home tabs that count as open.

import type { ChannelId, UserId } from "../../domain/ids.ts";
import type { KeptHome } from "./kept-homes.ts";
import type { QueueChoice } from "./queue-choice.ts";

/** The most tabs that are kept up to date. The tabs used longest ago are dropped first. */
export const MAX_TABS = 100;

export type HomeTab = {
  readonly choice: QueueChoice;
  /** When the tab stops counting as open (monotonic ms). */
  readonly until: number;
  /** Whether its reader last used it through this process. */
  readonly openedHere: boolean;
  /** The channels that the tab shows. Null if it has not been drawn yet. */
  readonly channels: ReadonlySet<ChannelId> | null;
  /** When it was last drawn, or could not be (monotonic ms). */
  readonly drawnAt: number;
  /** The number of an audit entry that was written before the tab was last drawn. */
  readonly drawnAfter: number;
  /** How many drawings have failed since the last one that succeeded. */
  readonly tries: number;
};

type Drawing = Pick<HomeTab, "drawnAt" | "drawnAfter" | "openedHere">;

/** The last drawing of a tab that this process has not drawn. */
const NOT_DRAWN: Drawing = { drawnAt: -Infinity, drawnAfter: -1, openedHere: false };

export type HomeTabs = {
  /** Returns null if the tab does not count as open. */
  get(user: UserId): HomeTab | null;
  /** Returns the open tabs, the one used last first. */
  all(): readonly (readonly [UserId, HomeTab])[];
  /** Does nothing if the tab does not count as open. */
  update(user: UserId, facts: Partial<HomeTab>): void;
  open(home: KeptHome, drawing: Drawing): void;
  /** Takes over a tab that its reader used through another process, unless we know a later use or have no room for it. */
  adopt(home: KeptHome): void;
};

/** `now`: monotonic ms. */
export function createHomeTabs(now: () => number): HomeTabs {
  const tabs = new Map<UserId, HomeTab>();
  function get(user: UserId): HomeTab | null {
    const tab = tabs.get(user);
    if (tab === undefined || now() < tab.until) return tab ?? null;
    tabs.delete(user);
    return null;
  }
  const all = (): readonly (readonly [UserId, HomeTab])[] =>
    [...tabs]
      .filter(([user]) => get(user) !== null)
      .toReversed()
      .toSorted(([, a], [, b]) => b.until - a.until);
  function open({ user, choice, until }: KeptHome, drawing: Drawing): void {
    tabs.set(user, { channels: tabs.get(user)?.channels ?? null, choice, until, ...drawing, tries: 0 });
    const last = tabs.size > MAX_TABS ? all().at(-1) : undefined;
    if (last !== undefined) tabs.delete(last[0]);
  }
  return {
    get,
    all,
    update(user, facts) {
      const tab = get(user);
      if (tab !== null) tabs.set(user, { ...tab, ...facts });
    },
    open,
    adopt(home) {
      const tab = get(home.user);
      if (tab !== null && home.until <= tab.until) return;
      open(home, tab === null ? NOT_DRAWN : { ...NOT_DRAWN, drawnAt: tab.drawnAt });
    },
  };
}
