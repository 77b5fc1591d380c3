// Finds out how long this machine was suspended. Its monotonic clock stands still meanwhile; its wall clock and the database's clock do not.
// Each of them alone may have been set forward, so only time that both of them report was missed.

/** One moment by three clocks (ms). */
export type Moment = { readonly monotonic: number; readonly wall: number; readonly database: number };

/** A clock that gains less than this on the monotonic clock (ms) reports nothing: an answer takes some time, and NTP adjusts clocks. */
export const NOTICED_MS = 100;
/** How much later than the other a clock may report the same suspension (ms). A resumed machine may take minutes to correct its wall clock. */
const AGREE_WITHIN_MS = 10 * 60_000;
/**
 * For how long the lead of a clock over the monotonic clock counts (ms). The database's clock seems to be behind by the time that its answer
 * takes, so a quick answer must be compared with the other quick ones, and not with a slow one right before it.
 */
const REMEMBERED_MS = 60_000;

type Lead = { readonly at: number; readonly ms: number };
type Other = Exclude<keyof Moment, "monotonic">;
const OTHERS: readonly Other[] = ["wall", "database"];

/** Returns a function that takes each new moment, and returns how much time was missed (ms), once. The monotonic clock must then be set forward. */
export function createMissedTime(): (moment: Moment) => number {
  const leads: Record<Other, readonly Lead[]> = { wall: [], database: [] };
  const reported = { wall: 0, database: 0 };
  let reportedAt = 0;

  /** Returns how much the clock has gained since the leads that still count (ms). */
  function gained(clock: Other, { monotonic, [clock]: at }: Moment): number {
    const ms = at - monotonic;
    const recent = leads[clock].filter((lead) => monotonic - lead.at < REMEMBERED_MS);
    // After an outage of the database, only the last answer before it is left.
    const before = recent.length > 0 ? recent : leads[clock].slice(-1);
    leads[clock] = [...recent, { at: monotonic, ms }];
    return before.length === 0 ? 0 : ms - Math.max(...before.map((lead) => lead.ms));
  }

  function report(clock: Other, ms: number, at: number): void {
    if (reported.wall + reported.database === 0) reportedAt = at;
    reported[clock] += ms;
  }

  return (moment) => {
    if (moment.monotonic - reportedAt > AGREE_WITHIN_MS) reported.wall = reported.database = 0;
    for (const clock of OTHERS) {
      const ms = gained(clock, moment);
      if (ms >= NOTICED_MS) report(clock, ms, moment.monotonic);
    }
    const missed = Math.min(reported.wall, reported.database);
    for (const clock of OTHERS) {
      reported[clock] -= missed;
      leads[clock] = leads[clock].map(({ at, ms }) => ({ at: at + missed, ms: ms - missed }));
    }
    return missed;
  };
}
