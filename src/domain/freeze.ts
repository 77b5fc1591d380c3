// A freeze applies to a channel or everywhere: no run starts and no approval is sent, but denials still are. It follows from the audit, so
// write access to the database is not enough to make or lift one.

import { type ChannelId, UNKNOWN_PERSON, type UserId } from "./ids.ts";
import { isSameJson } from "./json.ts";

export type Freeze = {
  /** The number of its audit entry. */
  readonly entry: number;
  /** The channel that it applies to. Null if it applies everywhere. */
  readonly channel: ChannelId | null;
  readonly by: UserId;
  readonly at: number;
  /** The reason as typed. It may be empty. Untrusted text. */
  readonly why: string;
};

/** The parts of an audit entry that make or lift a freeze. */
export type FreezeEntry = {
  readonly seq: number;
  readonly entry: {
    readonly what: string;
    readonly channel: ChannelId | null;
    readonly by: { readonly user: UserId } | null;
    readonly at: number;
    readonly reason: string | null;
    /** For "freeze-lifted": the number of the entry that made the freeze. Absent if that entry is lost. */
    readonly refers?: number;
  };
};

/** Returns the freezes in force after these entries, oldest first. Entries of other kinds change nothing. */
export function freezesAfter(freezes: readonly Freeze[], entries: readonly FreezeEntry[]): readonly Freeze[] {
  return entries.reduce((before, { seq, entry }) => {
    const { what, channel, by, at, reason, refers } = entry;
    if (what === "freeze-lifted") return before.filter((freeze) => freeze.entry !== refers);
    if (what !== "frozen") return before;
    const known = before.find((freeze) => freeze.entry === seq);
    // Entries that are not proven are read again.
    if (known?.by === UNKNOWN_PERSON && by === null) return before;
    const who = by === null ? { channel: null, by: UNKNOWN_PERSON } : { channel, by: by.user };
    return [...before.filter((other) => other !== known), { entry: seq, ...who, at, why: reason ?? "" }];
  }, freezes);
}

/**
 * Returns the freezes that are not among these entries, which are all that the audit has. An audit loses its newest entries when a standby
 * without them takes over; their numbers are then used again, so another entry may have the number of a lost one. A
 * freeze of the same channel that a person made takes the place of a lost one. A process that knew of the loss may already have written an
 * entry that ends one. Freezes and ends are told apart by time, because people act seconds after each other and numbers repeat.
 */
export function freezesLost(freezes: readonly Freeze[], entries: readonly FreezeEntry[]): readonly Freeze[] {
  const made = entries.flatMap((entry) => freezesAfter([], [entry]));
  const inForce = freezesAfter([], entries).filter(({ by }) => by !== UNKNOWN_PERSON);
  return freezes.filter(
    (freeze) =>
      !made.some((each) => isSameJson(each, freeze)) &&
      !inForce.some(({ channel }) => channel === freeze.channel) &&
      lostAfter(
        [freeze],
        entries.filter(({ entry }) => entry.at > freeze.at),
      ).length > 0,
  );
}

/**
 * Returns the lost freezes that hold after these newer entries. The end of a lost freeze names its channel and no entry, because its number
 * may be that of another one. Only a signed entry ends it.
 */
export function lostAfter(lost: readonly Freeze[], entries: readonly FreezeEntry[]): readonly Freeze[] {
  const ends = entries.filter(
    ({ entry: { what, by, refers } }) =>
      by !== null && (what === "frozen" || (what === "freeze-lifted" && refers === undefined)),
  );
  return lost.filter(({ channel }) => !ends.some(({ entry }) => entry.channel === channel));
}

/**
 * Returns what counts for an entry about a freeze that is not proven or cannot be read: a freeze everywhere, because no one knows what it
 * froze. Otherwise, people could lift a freeze by spoiling its entry.
 */
export const unknownFreeze = (seq: number): FreezeEntry => ({
  seq,
  entry: { what: "frozen", channel: null, by: null, at: 0, reason: null },
});

/** Returns the freezes that apply to the channel. Those that apply everywhere come first. */
export function freezesIn(freezes: readonly Freeze[], channel: ChannelId): readonly Freeze[] {
  const everywhere = freezes.filter((freeze) => freeze.channel === null);
  return [...everywhere, ...freezes.filter((freeze) => freeze.channel === channel)];
}

/** Returns the first of these freezes, or null. */
export const freezeIn = (freezes: readonly Freeze[], channel: ChannelId): Freeze | null =>
  freezesIn(freezes, channel)[0] ?? null;
