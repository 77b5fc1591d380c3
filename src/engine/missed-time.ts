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
const REMEMBERED_MS = 10 * 60_000;

type Timed = { readonly at: number; readonly ms: number };
type Other = Exclude<keyof Moment, "monotonic">;
const OTHERS: readonly Other[] = ["wall", "database"];

/** Returns a function that takes each new moment, and returns how much time was missed (ms), once. The monotonic clock must then be set forward. */
export function createMissedTime(): (moment: Moment) => number {
  const clocks = { wall: createReports(), database: createReports() };
  return ({ monotonic, ...others }) => {
    const totals = OTHERS.map((clock) => clocks[clock].add(monotonic, others[clock] - monotonic));
    const missed = Math.min(...totals);
    if (missed > 0) for (const clock of OTHERS) clocks[clock].settle(missed);
    return missed;
  };
}

/** What one clock gained on the monotonic clock. */
function createReports() {
  let leads: readonly Timed[] = [];
  let gains: readonly Timed[] = [];

  const within = (all: readonly Timed[], ms: number, now: number): Timed[] =>
    all.filter(({ at }) => now - at < ms);

  /** Returns by how much `lead` exceeds the largest one that still counts (ms), and remembers it. */
  function gain(at: number, lead: number): number {
    const recent = within(leads, REMEMBERED_MS, at);
    // After a long outage of the database, the leads from before it are all there is.
    const before = recent.length > 0 ? recent : leads;
    leads = [...recent, { at, ms: lead }];
    return before.length === 0 ? 0 : lead - Math.max(...before.map(({ ms }) => ms));
  }

  /** Returns the gains of the last hour that are not settled (ms). */
  function add(at: number, lead: number): number {
    const ms = gain(at, lead);
    gains = within(gains, AGREE_WITHIN_MS, at);
    if (ms >= NOTICED_MS) gains = [...gains, { at, ms }];
    return gains.reduce((sum, each) => sum + each.ms, 0);
  }

  /** Takes this much from the oldest gains, because the monotonic clock is set forward by it. */
  function settle(missed: number): void {
    let left = missed;
    gains = gains.flatMap(({ at, ms }) => {
      const rest = Math.max(ms - left, 0);
      left -= ms - rest;
      return rest > 0 ? [{ at: at + missed, ms: rest }] : [];
    });
    leads = leads.map(({ at, ms }) => ({ at: at + missed, ms: ms - missed }));
  }

  return { add, settle };
}
