// A freeze holds for a channel, or everywhere: no run starts and no approval is sent; denials are. It follows from the audit, so
// writing to the database alone neither makes one nor lifts one.

import type { ChannelId, UserId } from "./ids.ts";

export type Freeze = {
  /** The number of its audit entry. */
  readonly entry: number;
  /** Null: everywhere. */
  readonly channel: ChannelId | null;
  readonly by: UserId;
  readonly at: number;
  /** As typed; may be empty. Untrusted text. */
  readonly why: string;
};

/** What of an audit entry makes or lifts a freeze. */
export type FreezeEntry = {
  readonly seq: number;
  readonly entry: {
    readonly what: string;
    readonly channel: ChannelId | null;
    readonly by: { readonly user: UserId } | null;
    readonly at: number;
    readonly reason: string | null;
    /** For "freeze-lifted": the entry of the freeze. */
    readonly refers?: number;
  };
};

/** The freezes in force after these entries, oldest first. Entries of other kinds change nothing. */
export function freezesAfter(freezes: readonly Freeze[], entries: readonly FreezeEntry[]): readonly Freeze[] {
  return entries.reduce((before, { seq, entry }) => {
    const { what, channel, by, at, reason, refers } = entry;
    if (what === "freeze-lifted") return before.filter((each) => each.entry !== refers);
    if (what !== "frozen" || by === null) return before;
    return [...before, { entry: seq, channel, by: by.user, at, why: reason ?? "" }];
  }, freezes);
}

/** Null: none holds in this channel. One that holds everywhere comes first. */
export function freezeIn(freezes: readonly Freeze[], channel: ChannelId): Freeze | null {
  const here = freezes.filter((each) => each.channel === null || each.channel === channel);
  return here.find((each) => each.channel === null) ?? here[0] ?? null;
}
