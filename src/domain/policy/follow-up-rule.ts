// What a rule says about a request that waits: when people are reminded, who else is brought in, and how much time people may take.

import type { ChannelId, GroupId, UserId } from "../ids.ts";
import { isSameJson } from "../json.ts";
import type { Hours } from "./hours.ts";
import {
  areAllIn,
  inBoth,
  isNobody,
  type ListedPeople,
  listsOf,
  NO_ONE,
  type NamedPeople,
  together,
  withoutNamed,
} from "./named-people.ts";

export type FollowUpRule = {
  /** Null if there are no reminders. */
  readonly remind: Reminders | null;
  /** The stages of the escalation, in order of time. */
  readonly escalate: readonly Stage[];
  /** How long a claim ("I'm looking at it") lasts (ms). */
  readonly claimMs: number;
  /** The longest time that a question to the requester stops the clock of the request (ms). */
  readonly questionMs: number;
  /** How long before the expiry the last reminder is sent (ms). Null for a quarter of the time to decide, at most 15 minutes. */
  readonly warnMs: number | null;
  /** How people can extend the time to decide. Null if they cannot. */
  readonly extend: { readonly byMs: number; readonly atMostMs: number } | null;
  /** When people may be reminded and called. Null if at any time. */
  readonly hours: Hours | null;
  /** People are reminded and called at any time, regardless of `hours`. */
  readonly urgent: boolean;
};

/** `doubles`: each wait is twice as long as the one before. */
export type Reminders = { readonly afterMs: number; readonly doubles: boolean; readonly atMost: number };

/**
 * After the request has waited for `afterMs`, the people in `to` may also decide it. The people in `call` are only called. A combined rule
 * may need several lists: then `to` replaces the earlier stages, and `call` holds everyone who is called.
 */
export type Stage = {
  readonly afterMs: number;
  readonly to: ListedPeople | null;
  readonly call: NamedPeople | null;
};

/** The follow-up of a rule that does not mention it. */
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
 * Combines the follow-ups of two rules. A person may decide only once stages of both have let them in. Until then, a stage only calls them.
 * Of two times, the stricter one applies.
 */
export function combineFollowUps(a: FollowUpRule, b: FollowUpRule): FollowUpRule {
  const byTime = Map.groupBy([...a.escalate, ...b.escalate], ({ afterMs }) => afterMs);
  // Stages at the same time become one, because a request reaches them only once.
  const stages = [...byTime].map(([afterMs, sameTime]): Stage => {
    const called = together(sameTime.map(calledBy));
    const letIn = (upToMs: number) => inBoth(letInBy(a, upToMs), letInBy(b, upToMs));
    const to = addedTo(letIn(afterMs - 1), letIn(afterMs));
    const others = isOneList(to) ? withoutNamed(called, to) : called;
    return { afterMs, to: nullIfNobody(to), call: nullIfNobody(others) };
  });
  return {
    remind: sooner(a.remind, b.remind),
    escalate: stages.toSorted((one, other) => one.afterMs - other.afterMs),
    claimMs: Math.min(a.claimMs, b.claimMs),
    questionMs: Math.min(a.questionMs, b.questionMs),
    warnMs: a.warnMs === null || b.warnMs === null ? (a.warnMs ?? b.warnMs) : Math.max(a.warnMs, b.warnMs),
    extend: shorter(a.extend, b.extend),
    // Different hours have no simple intersection, and an extra reminder does less harm than a late one.
    hours: isSameJson(a.hours, b.hours) ? a.hours : null,
    urgent: a.urgent || b.urgent,
  };
}

/** Returns the people who may decide because of the stages up to this time. */
export const letInBy = ({ escalate }: Pick<FollowUpRule, "escalate">, upToMs: number): ListedPeople =>
  escalate
    .flatMap(({ afterMs, to }) => (to !== null && afterMs <= upToMs ? [to] : []))
    .reduce<ListedPeople>(
      (before, to) => (isOneList(before) && isOneList(to) ? together([before, to]) : to),
      NO_ONE,
    );

/** Returns the people whom a stage must add to `before` so that all of `after` may decide. */
function addedTo(before: ListedPeople, after: ListedPeople): ListedPeople {
  if (areAllIn(after, before)) return NO_ONE;
  return isOneList(before) && isOneList(after) ? withoutNamed(after, before) : after;
}

/** Returns everyone whom the stage calls. */
export const calledBy = ({ to, call }: Stage): NamedPeople =>
  together([to !== null && isOneList(to) ? to : NO_ONE, call ?? NO_ONE]);

const isOneList = (people: ListedPeople): boolean => people.alsoIn === undefined;

const nullIfNobody = <People extends ListedPeople>(people: People): People | null =>
  isNobody(people) ? null : people;

function sooner(a: Reminders | null, b: Reminders | null): Reminders | null {
  if (a === null || b === null) return a ?? b;
  return a.afterMs <= b.afterMs ? a : b;
}

function shorter(a: FollowUpRule["extend"], b: FollowUpRule["extend"]): FollowUpRule["extend"] {
  if (a === null || b === null) return null;
  return a.atMostMs < b.atMostMs ? a : b;
}

/** Returns every id that the follow-up names. */
export const idsOfFollowUp = ({ escalate }: FollowUpRule): readonly (UserId | GroupId | ChannelId)[] =>
  escalate
    .flatMap(({ to, call }) => [to ?? NO_ONE, call ?? NO_ONE].flatMap(listsOf))
    .flatMap(({ users, groups, channels }) => [...users, ...groups, ...channels]);
