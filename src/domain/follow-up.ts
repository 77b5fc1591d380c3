// What has been done about a request that waits, and how its time counts. Time in which people could not act, because Slack, the
// service or Countersign was unreachable or the requester owed them an answer, is not held against them.

import type { Nonce, UserId } from "./ids.ts";

/** Belongs to one request: a changed request begins without any of it. */
export type FollowUp = {
  /** How many reminders were sent. */
  readonly reminded?: number;
  /** The last reminder before the expiry was sent. */
  readonly warned?: true;
  /** The stages up to this age (ms) of the request were reached. */
  readonly escalatedMs?: number;
  readonly claim?: Claim;
  readonly questions?: readonly Question[];
  readonly extensions?: readonly Extension[];
  readonly pauses?: readonly Pause[];
};

/** A person looks at the request. It is visible and excludes no one else. */
export type Claim = {
  readonly by: UserId;
  /** Wall time. */
  readonly at: number;
  /** It lapses then (monotonic). */
  readonly until: number;
  /** The person asked for no reminder before this (monotonic). */
  readonly snoozedUntil?: number;
  /** Who handed it over; a request that was handed over is not handed on. */
  readonly from?: UserId;
};

/** An approver asks, the requester answers. The texts are untrusted. */
export type Question = {
  readonly id: Nonce;
  readonly by: UserId;
  readonly at: number;
  readonly text: string;
  readonly answer?: { readonly by: UserId; readonly at: number; readonly text: string };
};

export type Extension = { readonly by: UserId; readonly at: number; readonly byMs: number };

/** The clocks of the request stand still in it. Monotonic. `until` null: as long as the cause lasts. */
export type Pause = {
  readonly why: "slack" | "service" | "stopped" | "question";
  readonly from: number;
  readonly until: number | null;
};

/** The part of an approval that its time depends on. */
type Timed = { readonly waitsSince: number; readonly followUp?: FollowUp };

/** For how long people could have acted on the request (ms), at this moment (monotonic). */
export function ageAt({ waitsSince, followUp }: Timed, now: number): number {
  const paused = merged(followUp?.pauses ?? [], waitsSince).reduce(
    (sum, { from, until }) => sum + Math.max(Math.min(until ?? now, now) - from, 0),
    0,
  );
  return Math.max(now - waitsSince - paused, 0);
}

/** The moment (monotonic) at which the request reaches this age. Null: not before a pause ends whose end is unknown. */
export function momentOfAge({ waitsSince, followUp }: Timed, ageMs: number): number | null {
  let moment = waitsSince + ageMs;
  for (const { from, until } of merged(followUp?.pauses ?? [], waitsSince)) {
    if (from >= moment) break;
    if (until === null) return null;
    moment += until - from;
  }
  return moment;
}

/** How much time the request was given beyond what its rule says (ms). */
export const extendedMs = ({ followUp }: Pick<Timed, "followUp">): number =>
  (followUp?.extensions ?? []).reduce((sum, { byMs }) => sum + byMs, 0);

/** The pauses after `start` in order, none of which overlap. */
function merged(pauses: readonly Pause[], start: number): readonly Pick<Pause, "from" | "until">[] {
  const apart: { readonly from: number; readonly until: number | null }[] = [];
  for (const pause of pauses.toSorted((a, b) => a.from - b.from)) {
    const from = Math.max(pause.from, start);
    const last = apart.at(-1);
    if (pause.until !== null && pause.until <= from) continue;
    if (last === undefined || (last.until !== null && last.until < from)) {
      apart.push({ from, until: pause.until });
    } else if (last.until !== null && (pause.until === null || pause.until > last.until)) {
      apart[apart.length - 1] = { from: last.from, until: pause.until };
    }
  }
  return apart;
}

/** With this done about it, and the rest as before. */
export function withFollowUp<Of extends Pick<Timed, "followUp">>(approval: Of, done: FollowUp): Of {
  return { ...approval, followUp: { ...approval.followUp, ...done } };
}
