// Describes a rule in words: its conditions, which of them a request meets, and what happens while a request waits.

import { type Match, matcher } from "../../domain/policy/choose-rule.ts";
import { rightsOfStage } from "../../domain/escalation.ts";
import { type FollowUpRule, NO_FOLLOW_UP, type Stage } from "../../domain/policy/follow-up-rule.ts";
import type { Hours } from "../../domain/policy/hours.ts";
import { isNobody, type ListedPeople, NO_ONE } from "../../domain/policy/named-people.ts";
import { isComparison, type Pattern, patternText } from "../../domain/policy/pattern.ts";
import { BUILT_IN_RULE, type Facts, type Rule, type When } from "../../domain/policy/policy.ts";

/** The words of each condition. `requesters` and `requesterGroups` are one condition: either may hold. */
const CONDITIONS: { readonly [Condition in keyof Required<When>]: (when: When) => readonly string[] } = {
  channels: ({ channels }) => (channels === null ? [] : [`the channel is ${channels.join(" or ")}`]),
  requesters: ({ requesters, requesterGroups = [] }) => {
    const asked = [...(requesters ?? []), ...requesterGroups.map((group) => `a member of ${group}`)];
    return asked.length === 0 ? [] : [`the requester is ${asked.join(" or ")}`];
  },
  requesterGroups: () => [],
  action: ({ action }) => texts("the action", action),
  input: ({ input }) => texts("the input", input),
  fields: ({ fields }) =>
    Object.entries(fields).flatMap(([path, patterns]) => texts(`the field ${path}`, patterns)),
  hours: ({ hours }) => (hours === undefined ? [] : [`the time is ${hours.map(hoursInWords).join(" or ")}`]),
  outsideHours: ({ outsideHours }) =>
    outsideHours === undefined ? [] : [`the time is not ${outsideHours.map(hoursInWords).join(" or ")}`],
};

/** Follows "Applies". */
export function conditionsInWords(when: When): string {
  const parts = Object.values(CONDITIONS).flatMap((words) => words(when));
  const last = parts.pop();
  if (last === undefined) return "to every request";
  return `if ${parts.length === 0 ? last : `${parts.join(", ")}, and ${last}`}`;
}

function texts(name: string, patterns: readonly Pattern[] | null): string[] {
  const written = (pattern: Pattern): string =>
    isComparison(pattern) ? pattern.text : `"${patternText(pattern)}"`;
  return patterns === null ? [] : [`${name} is ${patterns.map(written).join(" or ")}`];
}

function hoursInWords({ tz, days, from, to }: Hours): string {
  const on = days.length === 7 ? "every day" : days.join(", ");
  return `${on} from ${from} to ${to}${to < from ? " on the next day" : ""} (${tz})`;
}

const { when: ALWAYS } = BUILT_IN_RULE;

/** Returns the keys of the rule's conditions that match in this way. */
export function conditionsOfKind({ when }: Rule, facts: Facts, kind: Match): string {
  const { channels, requesters, requesterGroups, action, input, fields, hours, outsideHours } = when;
  const requester = requesterGroups === undefined ? { requesters } : { requesters, requesterGroups };
  const singleConditions: readonly (readonly [string, When])[] = [
    ["channel", { ...ALWAYS, channels }],
    ["requester", { ...ALWAYS, ...requester }],
    ["action", { ...ALWAYS, action }],
    ["input", { ...ALWAYS, input }],
    ...Object.entries(fields).map(
      ([path, patterns]) => [`field ${path}`, { ...ALWAYS, fields: { [path]: patterns } }] as const,
    ),
    ["hours", hours === undefined ? ALWAYS : { ...ALWAYS, hours }],
    ["outside-hours", outsideHours === undefined ? ALWAYS : { ...ALWAYS, outsideHours }],
  ];
  const match = matcher(facts);
  return singleConditions
    .flatMap(([name, condition]) => (match(condition) === kind ? [name] : []))
    .join(", ");
}

// Describes in sentences what a rule does while a request waits.

type Words = {
  readonly time: (ms: number) => string;
  readonly people: (named: ListedPeople) => string;
};

export function followUpSentences(rule: Rule, { time, people }: Words): readonly string[] {
  const { followUp, expiry } = rule;
  const { remind, escalate, warnMs } = followUp;
  const sentences = [
    ...(remind === null
      ? []
      : [
          `Reminds the people who can decide after ${time(remind.afterMs)}, then ${remind.doubles ? "after twice as long each time" : "at the same interval"}, at most ${remind.atMost} times.`,
        ]),
    ...escalate.flatMap((stage) => stageSentences(stage, rule, { time, people })),
    ...(expiry === null
      ? []
      : [
          `The last reminder comes ${warnMs === null ? "when a quarter of the time is left, at most 15 min" : time(warnMs)} before the end.`,
        ]),
  ];
  const callSentences = sentences.length === 0 ? [] : [...sentences, hoursSentence(followUp)];
  return [...callSentences, ...timeSentences({ followUp, expiry }, time)];
}

/** Mentions only what differs from the defaults. */
function timeSentences(
  { followUp, expiry }: Pick<Rule, "followUp" | "expiry">,
  time: Words["time"],
): readonly string[] {
  const { claimMs, questionMs, extend } = followUp;
  return [
    ...(claimMs === NO_FOLLOW_UP.claimMs ? [] : [`"I'm looking at it" lasts ${time(claimMs)}.`]),
    ...(questionMs === NO_FOLLOW_UP.questionMs
      ? []
      : [`A question to the requester stops its clocks for at most ${time(questionMs)}.`]),
    ...(extend === null || expiry === null
      ? []
      : [
          `Anyone who may decide can extend its time by ${time(extend.byMs)}, by at most ${time(extend.atMostMs)} in total.`,
        ]),
  ];
}

function stageSentences(
  { afterMs, to, call }: Stage,
  rule: Rule,
  { time, people }: Words,
): readonly string[] {
  return [
    ...stageRights(to ?? NO_ONE, rule, people).map(
      (says) => `After ${time(afterMs)}, ${says}, even if they cannot see the channel.`,
    ),
    ...(call === null ? [] : callWords(call, people)).map((says) => `After ${time(afterMs)}, ${says}.`),
  ];
}

/** A channel is told in a message of its own, which mentions no one. */
function callWords(call: ListedPeople, people: Words["people"]): readonly string[] {
  const mentioned = { ...call, channels: [] };
  return [
    ...(isNobody(mentioned)
      ? []
      : [`a message in the thread mentions ${people(mentioned)}, but does not let them decide`]),
    ...call.channels.map(
      (channel) => `a message in ${channel} calls its members, but does not let them decide`,
    ),
  ];
}

/** Returns what the people of a stage may do, at most two clauses. */
export function stageRights(to: ListedPeople, rule: Rule, people: Words["people"]): readonly string[] {
  const { decide, denyOnly } = rightsOfStage(to, rule);
  const clause = (who: ListedPeople, may: string): readonly string[] =>
    isNobody(who) ? [] : [`${people(who)} may ${may}`];
  return [...clause(decide, "decide too"), ...clause(denyOnly, "deny, but not approve")];
}

function hoursSentence({ hours, urgent }: FollowUpRule): string {
  if (urgent) return "It is urgent: people are reminded and called at any time.";
  return hours === null
    ? "People are reminded and called at any time."
    : `People are reminded and called ${inWords(hours)}.`;
}

const inWords = ({ tz, days, from, to }: Hours): string =>
  `on ${days.join(", ")} from ${from} to ${to} (${tz}); outside these hours messages wait`;
