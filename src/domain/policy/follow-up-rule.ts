// What a rule says about a request that waits: whom it reminds, which further people it brings in, and how much time people may take.

import type { ChannelId, GroupId, UserId } from "../ids.ts";
import { isSameJson } from "../json.ts";
import type { Hours } from "./hours.ts";
import { type NamedPeople, together } from "./named-people.ts";

export type FollowUpRule = {
  /** Null: no reminders. */
  readonly remind: Reminders | null;
  /** In order of time. */
  readonly escalate: readonly Stage[];
  /** How long "I'm looking at it" lasts (ms). */
  readonly claimMs: number;
  /** For how long a question to the requester stops the clocks of the request at most (ms). */
  readonly questionMs: number;
  /** The last reminder comes so long before the expiry (ms). Null: a fourth of the time to decide, at most 15 minutes. */
  readonly warnMs: number | null;
  /** Null: the time to decide cannot be extended. */
  readonly extend: { readonly byMs: number; readonly atMostMs: number } | null;
  /** When people are reminded and called. Null: at any time. */
  readonly hours: Hours | null;
  /** They are reminded and called at any time, whatever the hours. */
  readonly urgent: boolean;
};

/** `doubles`: each further wait is twice as long as the one before it. */
export type Reminders = { readonly afterMs: number; readonly doubles: boolean; readonly atMost: number };

/** When the request has waited for `afterMs`, `to` may decide it as well, and `call` is only called. */
export type Stage = {
  readonly afterMs: number;
  readonly to: NamedPeople | null;
  readonly call: NamedPeople | null;
};

/** Of a rule that says nothing about it. */
export const NO_FOLLOW_UP: FollowUpRule = {
  remind: null,
  escalate: [],
  claimMs: 30 * 60_000,
  questionMs: 60 * 60_000,
  warnMs: null,
  extend: null,
  hours: null,
  urgent: false,
};

/**
 * What two rules say together. No one decides by a stage of only one of them, so its people are only called; where time counts, the
 * shorter one applies.
 */
export function combineFollowUps(a: FollowUpRule, b: FollowUpRule): FollowUpRule {
  const at = Map.groupBy([...a.escalate, ...b.escalate], ({ afterMs }) => afterMs);
  // A request reaches the stages of one time once, so they are one.
  const stages = [...at].map(([afterMs, same]): Stage => ({
    afterMs,
    to: null,
    call: together(same.flatMap(({ to, call }) => [to, call].filter((each) => each !== null))),
  }));
  return {
    remind: sooner(a.remind, b.remind),
    escalate: stages.toSorted((one, other) => one.afterMs - other.afterMs),
    claimMs: Math.min(a.claimMs, b.claimMs),
    questionMs: Math.min(a.questionMs, b.questionMs),
    warnMs: a.warnMs === null || b.warnMs === null ? (a.warnMs ?? b.warnMs) : Math.max(a.warnMs, b.warnMs),
    extend:
      a.extend === null || b.extend === null
        ? null
        : a.extend.atMostMs < b.extend.atMostMs
          ? a.extend
          : b.extend,
    // Different hours have no simple common part; a reminder too many does less harm than one too late.
    hours: isSameJson(a.hours, b.hours) ? a.hours : null,
    urgent: a.urgent || b.urgent,
  };
}

function sooner(a: Reminders | null, b: Reminders | null): Reminders | null {
  if (a === null || b === null) return a ?? b;
  return a.afterMs <= b.afterMs ? a : b;
}

/** Every id that it names. */
export const idsOfFollowUp = ({ escalate }: FollowUpRule): readonly (UserId | GroupId | ChannelId)[] =>
  escalate.flatMap(({ to, call }) =>
    [to, call].flatMap((each) => (each === null ? [] : [...each.users, ...each.groups, ...each.channels])),
  );
