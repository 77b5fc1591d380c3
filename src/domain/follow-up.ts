// What has happened while a request waited, and how its time counts. Time in which people could not act does not count: Slack, the
// service or Countersign was unreachable, or the requester had not answered a question yet.

import type { ApprovalId, ChannelId, GroupId, MessageTs, Nonce, RunKey, UserId } from "./ids.ts";
import type { NamedPeople } from "./policy/named-people.ts";
import type { AppliedRule, CallingRule } from "./policy/policy.ts";
import type { Marks } from "./text/marks.ts";

/** The follow-up of one request. A changed request starts only with `answered`. */
export type FollowUp = {
  /**
   * The age (ms) up to which reminders were sent under each rule, by its name. A rule that takes over has its own people to remind.
   */
  readonly reminders?: readonly { readonly rule: string; readonly upToMs: number }[];
  /** The last reminder before the expiry was sent. */
  readonly warned?: true;
  /**
   * The stages of the escalation, in the order in which they were reached. If another rule, or a changed one, calls further people for what
   * was already reached, or lets in people who were only called, a stage of their own calls them, with the `afterMs` and the `age` of the
   * last one.
   */
  readonly stages?: readonly ReachedStage[];
  /** A reminder is due but waits until this time (monotonic): it is outside the rule's hours, or a person is looking at the request. */
  readonly quietUntil?: number;
  readonly claim?: Claim;
  /** The person whose claim lapsed without a decision. They are reminded first; others are reminded from `until` (monotonic) on. */
  readonly lapsed?: { readonly by: UserId; readonly until?: number };
  readonly questions?: readonly Question[];
  readonly extensions?: readonly Extension[];
  readonly handovers?: readonly Handover[];
  readonly pauses?: readonly Pause[];
  /** The answered questions about the request before it changed. */
  readonly answered?: readonly AnsweredQuestion[];
};

/** A stage that the request has reached. The stages of its rule up to `afterMs` count. */
export type ReachedStage = {
  readonly afterMs: number;
  /** When its people were called (wall time). */
  readonly at: number;
  /** The age at which the request reached it (ms), by its own clock. */
  readonly age: number;
  /** Everyone whom it called, as the rule named them then. */
  readonly called: NamedPeople;
  /** Those whom it did not let in, and who are called again once a rule does. Absent if there are none. */
  readonly onlyCalled?: NamedPeople;
  /** The number of its audit entry, once it is stored. */
  readonly entry?: number;
};

/** A person's statement that they are looking at the request. Everyone sees it, and it excludes no other person. */
export type Claim = {
  readonly by: UserId;
  /** When the person claimed it (wall time). */
  readonly at: number;
  /** When the claim lapses (monotonic). */
  readonly until: number;
  /** The person wants no reminder before this time (monotonic). */
  readonly snoozedUntil?: number;
  /** The form of the last snooze. */
  readonly snoozeForm?: Nonce;
  /** The person who handed the request over. Such a request cannot be handed on. */
  readonly from?: UserId;
  /** The person whose claim this one replaced. */
  readonly instead?: UserId;
};

/** A claim that one person handed over to another. */
export type Handover = {
  /** The id of the form in which this was done. */
  readonly id: Nonce;
  readonly from: UserId;
  readonly to: UserId;
  readonly at: number;
};

/** A question of an approver to the requester, and its answer. Both texts are untrusted. */
export type Question = {
  readonly id: Nonce;
  readonly by: UserId;
  readonly at: number;
  readonly text: string;
  readonly answer?: Answer;
};

export type Answer = {
  readonly by: UserId;
  readonly at: number;
  readonly text: string;
  /** The message in the thread that was the answer. Absent if it was given in the form. */
  readonly message?: MessageTs;
};

/** A question that was answered before its request changed. `message`: see `Answer`. */
export type AnsweredQuestion = Pick<Question, "id"> & Pick<Answer, "message">;

export type Extension = { readonly by: UserId; readonly at: number; readonly byMs: number };

/** A time in which the clock of the request stands still. Both times are monotonic. `until` is null while the cause lasts. */
export type Pause = {
  /** "stopped": Countersign was not running, or could not store anything. */
  readonly why: "slack" | "service" | "stopped" | "question";
  readonly from: number;
  readonly until: number | null;
  /** The question that caused the pause. */
  readonly of?: Nonce;
};

/** A message that calls people to a request that waits (see call.ts). */
export type Call = {
  /** Counts from 1, over all versions of the request. */
  readonly n: number;
  readonly says: "waits" | "last" | "reopened" | "stage" | "over";
  /** The first version of the card that showed the request in question. */
  readonly of: number;
  /** When it was due (wall time). */
  readonly at: number;
  /** When it may be posted (monotonic). */
  readonly notBefore: number;
  /** The people to mention. Null until they are looked up. */
  readonly who: Called | null;
  /** The number of failed look-ups of these people. */
  readonly tries: number;
  /** When the next look-up is due (monotonic). */
  readonly lookAt: number;
  /** The only person to mention, unless they can no longer decide. */
  readonly first?: UserId;
  /** For a stage: the age (ms) at which it begins. */
  readonly stageMs?: number;
  /** The channel that it goes to. Absent if it goes to the run's thread. */
  readonly channel?: ChannelId;
  /** It waits for the end of a freeze or of a claim. Its people are looked up after that. */
  readonly held?: true;
  /** The run that carries a combined message with this call, which is then not posted itself. */
  readonly within?: RunKey;
  /** The combined message contains this call. */
  readonly told?: true;
};

/** One message about several calls of a channel (see gathered-call.ts). */
export type Gathered = {
  /** When it was made (wall time). This also identifies it. */
  readonly since: number;
  readonly says: Call["says"];
  /** The channel that it goes to. Absent if it goes to the run's channel. */
  readonly channel?: ChannelId;
  readonly of: readonly GatheredCall[];
  /** When the oldest of the requests was first seen (wall time). */
  readonly oldest: number;
  readonly who: Called;
  /** None of the requests waits any longer. */
  readonly over?: true;
};

/** A call that a combined message contains. Only the first few have `asked`, `marks` and `card`: the message names no more of them. */
export type GatheredCall = {
  readonly run: RunKey;
  readonly approval: ApprovalId;
  readonly n: number;
  /** The request was closed without a decision when its time was up. Earlier releases did not store this. */
  readonly closed?: true;
  /** What the request asked for, as a line of a list shows it. */
  readonly asked?: string;
  /** Earlier releases stored none. */
  readonly marks?: Marks;
  /** The card of the request. Absent if it had none yet. */
  readonly card?: MessageTs;
  /** The request no longer waits. */
  readonly done?: true;
};

/** The people whom a call mentions. `more`: the number of other people who could decide. */
export type Called = {
  readonly users: readonly UserId[];
  readonly groups: readonly GroupId[];
  readonly more: number;
};

/** The fields of an approval that determine its time. */
type Timed = { readonly waitsSince: number; readonly followUp?: FollowUp };

/** Returns the age of the request: how long people could have acted on it (ms). */
export function ageAt({ waitsSince, followUp }: Timed, monotonic: number): number {
  const paused = merged(followUp?.pauses ?? [], waitsSince).reduce(
    (sum, { from, until }) => sum + Math.max(Math.min(until ?? monotonic, monotonic) - from, 0),
    0,
  );
  return Math.max(monotonic - waitsSince - paused, 0);
}

/** Returns until when a person looks at the request, so that other people are left alone (monotonic). 0 if no one does, or snoozed it. */
export function lookedAtUntil({ followUp }: Pick<Timed, "followUp">, monotonic: number): number {
  const { until = 0, snoozedUntil = 0 } = followUp?.claim ?? {};
  return snoozedUntil > monotonic ? 0 : until;
}

/** Returns the rule by which people are reminded and called now. */
export const callingRule = ({ appliedRule }: { readonly appliedRule: AppliedRule }): CallingRule =>
  appliedRule.inDoubt?.calledBy ?? appliedRule.rule;

/** Returns when the request reaches this age (monotonic). Returns null if a pause with no known end comes first. */
export function momentOfAge({ waitsSince, followUp }: Timed, ageMs: number): number | null {
  let moment = waitsSince + ageMs;
  for (const { from, until } of merged(followUp?.pauses ?? [], waitsSince)) {
    if (from >= moment) break;
    if (until === null) return null;
    moment += until - from;
  }
  return moment;
}

/** Returns how much time people added to what the rule allows (ms). */
export const extendedMs = ({ followUp }: Pick<Timed, "followUp">): number =>
  (followUp?.extensions ?? []).reduce((sum, { byMs }) => sum + byMs, 0);

/** Returns the pauses after `start`, in order. Overlapping pauses are merged. */
function merged(pauses: readonly Pause[], start: number): readonly Pick<Pause, "from" | "until">[] {
  const separate: { readonly from: number; readonly until: number | null }[] = [];
  for (const pause of pauses.toSorted((a, b) => a.from - b.from)) {
    const from = Math.max(pause.from, start);
    const last = separate.at(-1);
    if (pause.until !== null && pause.until <= from) continue;
    if (last === undefined || (last.until !== null && last.until < from)) {
      separate.push({ from, until: pause.until });
    } else if (last.until !== null && (pause.until === null || pause.until > last.until)) {
      separate[separate.length - 1] = { from: last.from, until: pause.until };
    }
  }
  return separate;
}

/** Returns what is left of the follow-up when the request changes: which questions were answered, because no further answer is expected. */
export function afterChange({ answered = [], questions = [] }: FollowUp = {}): Pick<Timed, "followUp"> {
  const ended = questions.flatMap(({ id, answer }) =>
    answer === undefined
      ? []
      : [{ id, ...(answer.message === undefined ? {} : { message: answer.message }) }],
  );
  const all = [...answered, ...ended];
  return all.length === 0 ? {} : { followUp: { answered: all } };
}

/** Returns the approval with these fields of its follow-up replaced. */
export function withFollowUp<Of extends Pick<Timed, "followUp">>(approval: Of, changes: FollowUp): Of {
  return { ...approval, followUp: { ...approval.followUp, ...changes } };
}
