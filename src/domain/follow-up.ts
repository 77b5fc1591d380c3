// What has been done about a request that waits, and how its time counts. Time in which people could not act, because Slack, the
// service or Countersign was unreachable or the requester owed them an answer, is not held against them.

import type { ApprovalId, ChannelId, GroupId, MessageTs, Nonce, RunKey, UserId } from "./ids.ts";

/** Belongs to one request: a changed request begins without any of it. */
export type FollowUp = {
  /** How many reminders were sent. */
  readonly reminded?: number;
  /** The last reminder before the expiry was sent. */
  readonly warned?: true;
  /** In the order in which they were reached. */
  readonly stages?: readonly ReachedStage[];
  /** A reminder is due, and waits until then (monotonic): it is outside the hours of its rule, or a person looks at the request. */
  readonly quietUntil?: number;
  readonly claim?: Claim;
  /** Whose claim has lapsed without a decision. They are reminded first and alone; the others not before `until` (monotonic). */
  readonly lapsed?: { readonly by: UserId; readonly until?: number };
  readonly questions?: readonly Question[];
  readonly extensions?: readonly Extension[];
  readonly handovers?: readonly Handover[];
  readonly pauses?: readonly Pause[];
};

/** The stage of the rule that begins after `afterMs`. */
export type ReachedStage = {
  readonly afterMs: number;
  /** Wall time. */
  readonly at: number;
  /** Of the request (ms), by its own clock. */
  readonly age: number;
  /** The number of its entry in the audit, once it is stored. */
  readonly entry?: number;
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
  /** The form in which it was snoozed last. */
  readonly snoozeForm?: Nonce;
  /** Who handed it over; a request that was handed over is not handed on. */
  readonly from?: UserId;
  /** Whose claim it replaced. */
  readonly instead?: UserId;
};

/** A person who looked at the request asked another to. `id`: of the form in which they did. */
export type Handover = {
  readonly id: Nonce;
  readonly from: UserId;
  readonly to: UserId;
  readonly at: number;
};

/** An approver asks, the requester answers. The texts are untrusted. */
export type Question = {
  readonly id: Nonce;
  readonly by: UserId;
  readonly at: number;
  readonly text: string;
  readonly answer?: Answer;
};

/** `message`: the one in the thread that it was. Left out: it was given in the form. */
export type Answer = {
  readonly by: UserId;
  readonly at: number;
  readonly text: string;
  readonly message?: MessageTs;
};

export type Extension = { readonly by: UserId; readonly at: number; readonly byMs: number };

/** The clocks of the request stand still in it. Monotonic. `until` null: as long as the cause lasts. */
export type Pause = {
  readonly why: "slack" | "service" | "stopped" | "question";
  readonly from: number;
  readonly until: number | null;
  /** The question that caused it. */
  readonly of?: Nonce;
};

/** A message that calls people to a request that waits, see `call.ts`. */
export type Call = {
  /** 1, 2 and so on, over all versions of the request. */
  readonly n: number;
  readonly says: "waits" | "last" | "stage" | "over";
  /** The version of the card that first showed the request in question. */
  readonly of: number;
  /** When it was due (wall time). */
  readonly at: number;
  /** It is posted no earlier (monotonic). */
  readonly notBefore: number;
  /** Null: who is called is still to be found out. */
  readonly who: Called | null;
  /** Failed attempts to find that out, and when the next one is due (monotonic). */
  readonly tries: number;
  readonly lookAt: number;
  /** Only this person is called, unless they can no longer decide. */
  readonly first?: UserId;
  /** Of a stage: the age (ms) at which it begins. */
  readonly stageMs?: number;
  /** It goes to this channel. Left out: to the run's thread. */
  readonly channel?: ChannelId;
  /** A notice that this run carries tells of it, so it is not posted itself. */
  readonly within?: RunKey;
  /** The notice has it. */
  readonly told?: true;
};

/** One message about several calls of a channel; see `call.ts`. */
export type Gathered = {
  /** When it was made (wall time), which names it. */
  readonly since: number;
  readonly says: Call["says"];
  /** It goes to this channel. Left out: to the run's. */
  readonly channel?: ChannelId;
  readonly of: readonly { readonly run: RunKey; readonly approval: ApprovalId; readonly n: number }[];
  /** When the oldest of the requests was first seen (wall time). */
  readonly oldest: number;
  readonly who: Called;
  /** None of the requests waits any more. */
  readonly over?: true;
};

/** `more`: so many people could decide, too, and are not mentioned. */
export type Called = {
  readonly users: readonly UserId[];
  readonly groups: readonly GroupId[];
  readonly more: number;
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
