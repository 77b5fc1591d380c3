// Finds out how long this machine was suspended. Its monotonic clock stands still meanwhile; its wall clock and the database's clock do not.
// Each of them alone may have been set forward, so only time that both of them report was missed.

/** One moment by three clocks (ms). The database's answer took `tookMs`, so by now its clock shows up to that much more than `database`. */
export type Moment = {
  readonly monotonic: number;
  readonly wall: number;
  readonly database: number;
  readonly tookMs: number;
};

/** A clock that gains less than this on the monotonic clock (ms) reports nothing, because NTP adjusts clocks. */
export const NOTICED_MS = 100;
/**
 * How much later than the other a clock may report the same suspension (ms). If the wall clock stood still as well, as in a paused virtual
 * machine, NTP may take half an hour to correct it (PollIntervalMaxSec of systemd-timesyncd: 2048 s).
 */
const AGREE_WITHIN_MS = 60 * 60_000;

/** By how much a clock is ahead of the monotonic clock (ms): at least `from`, at most `to`. */
type Lead = { readonly from: number; readonly to: number };
type Gain = { readonly at: number; readonly ms: number };

/** Returns a function that takes each new moment, and returns how much time was missed (ms), once. The monotonic clock must then be set forward. */
export function createMissedTime(): (moment: Moment) => number {
  const clocks = [createReports(), createReports()] as const;
  return ({ monotonic, wall, database, tookMs }) => {
    const [byWall, byDatabase] = [wall - monotonic, database - monotonic];
    const missed = Math.min(
      clocks[0].add(monotonic, { from: byWall, to: byWall }),
      clocks[1].add(monotonic, { from: byDatabase, to: byDatabase + tookMs }),
    );
    if (missed > 0) for (const clock of clocks) clock.settle(missed);
    return missed;
  };
}

/** What one clock gained on the monotonic clock. */
function createReports() {
  let known: Lead | null = null;
  let gains: readonly Gain[] = [];

  /** Returns how far the lead has moved for certain (ms), however long the answers took, and remembers what is known of it. */
  function moved(lead: Lead): number {
    const before = known ?? lead;
    const ms = Math.max(lead.from - before.to, 0) + Math.min(lead.to - before.from, 0);
    if (ms === 0) known = { from: Math.max(before.from, lead.from), to: Math.min(before.to, lead.to) };
    // A longer gain shows in the next answer, if that is quicker.
    else if (ms >= NOTICED_MS) known = { from: lead.from, to: lead.from };
    else if (ms <= -NOTICED_MS) known = lead;
    return Math.abs(ms) >= NOTICED_MS ? ms : 0;
  }

  /** Takes this much from the gains, the oldest first. */
  function take(ms: number): void {
    let left = ms;
    gains = gains.flatMap((gain) => {
      const rest = Math.max(gain.ms - left, 0);
      left -= gain.ms - rest;
      return rest > 0 ? [{ at: gain.at, ms: rest }] : [];
    });
  }

  /** Returns the gains of the last hour that are not settled (ms). A clock that is set back has not gained what it loses. */
  function add(at: number, lead: Lead): number {
    const ms = moved(lead);
    gains = gains.filter((gain) => at - gain.at < AGREE_WITHIN_MS);
    if (ms > 0) gains = [...gains, { at, ms }];
    else take(-ms);
    return gains.reduce((sum, each) => sum + each.ms, 0);
  }

  /** Takes this much from the gains, because the monotonic clock is set forward by it. */
  function settle(missed: number): void {
    take(missed);
    gains = gains.map(({ at, ms }) => ({ at: at + missed, ms }));
    if (known !== null) known = { from: known.from - missed, to: known.to - missed };
  }

  return { add, settle };
}
