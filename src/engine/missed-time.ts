// Finds out how long this machine was suspended. Its monotonic clock stands still meanwhile; its wall clock and the database's clock do not.
// Each of them alone may have been set forward, so only time that both of them report was missed.

/** One moment by three clocks (ms). */
export type Moment = { readonly monotonic: number; readonly wall: number; readonly database: number };

/** A clock that gains less than this on the monotonic clock (ms) reports nothing: an answer takes some time, and NTP adjusts clocks. */
export const NOTICED_MS = 100;
/**
 * How much later than the other a clock may report the same suspension (ms). If the wall clock stood still as well, as in a paused virtual
 * machine, NTP may take half an hour to correct it (PollIntervalMaxSec of systemd-timesyncd: 2048 s).
 */
const AGREE_WITHIN_MS = 60 * 60_000;
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
  /** What a clock has gained in all, and when it last did. */
  const reported = { wall: { at: 0, ms: 0 }, database: { at: 0, ms: 0 } };

  /** Returns how much the clock has gained since the leads that still count (ms). */
  function gained(clock: Other, { monotonic, [clock]: at }: Moment): number {
    const ms = at - monotonic;
    const recent = leads[clock].filter((lead) => monotonic - lead.at < REMEMBERED_MS);
    // After an outage of the database, only the last answer before it is left.
    const before = recent.length > 0 ? recent : leads[clock].slice(-1);
    leads[clock] = [...recent, { at: monotonic, ms }];
    return before.length === 0 ? 0 : ms - Math.max(...before.map((lead) => lead.ms));
  }

  function report(clock: Other, moment: Moment): void {
    const { monotonic: at } = moment;
    if (at - reported[clock].at > AGREE_WITHIN_MS) reported[clock].ms = 0;
    const ms = gained(clock, moment);
    if (ms >= NOTICED_MS) reported[clock] = { at, ms: reported[clock].ms + ms };
  }

  return (moment) => {
    for (const clock of OTHERS) report(clock, moment);
    const missed = Math.min(reported.wall.ms, reported.database.ms);
    for (const clock of OTHERS) {
      reported[clock].ms -= missed;
      leads[clock] = leads[clock].map(({ at, ms }) => ({ at: at + missed, ms: ms - missed }));
    }
    return missed;
  };
}
