// Finds out how long this machine was suspended. Its monotonic clock stands still meanwhile; its wall clock and the database's clock do not.
// Each of them alone may have been set forward, so only time that both of them report was missed.

/** One moment by three clocks (ms). */
export type Moment = { readonly monotonic: number; readonly wall: number; readonly database: number };

/**
 * A clock that runs ahead by less than this between two moments (ms) reports nothing: an answer of the database takes some time, and NTP
 * adjusts clocks.
 */
export const NOTICED_MS = 100;
/** How much later than the other a clock may report the same suspension (ms). A resumed machine may take minutes to correct its wall clock. */
const AGREE_WITHIN_MS = 10 * 60_000;

/** Returns a function that takes each new moment, and returns how much time was missed (ms), once. The monotonic clock must then be set forward. */
export function createMissedTime(): (moment: Moment) => number {
  let last: Moment | null = null;
  const reported = { wall: 0, database: 0 };
  let reportedAt = 0;

  function forget(): void {
    reported.wall = 0;
    reported.database = 0;
  }

  return (moment) => {
    const before = last ?? moment;
    last = moment;
    if (moment.monotonic - reportedAt > AGREE_WITHIN_MS) forget();
    const passed = moment.monotonic - before.monotonic;
    for (const clock of ["wall", "database"] as const) {
      const ahead = moment[clock] - before[clock] - passed;
      if (ahead < NOTICED_MS) continue;
      if (reported.wall + reported.database === 0) reportedAt = moment.monotonic;
      reported[clock] += ahead;
    }
    const missed = Math.min(reported.wall, reported.database);
    if (missed === 0) return 0;
    forget();
    last = { ...moment, monotonic: moment.monotonic + missed };
    return missed;
  };
}
